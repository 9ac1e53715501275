package apply

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kudevops.io/appsvc/pkg/diff"
)

func statusError(code int32, reason metav1.StatusReason, message string, causes ...metav1.StatusCause) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Code: code, Reason: reason, Message: message, Details: &metav1.StatusDetails{Name: "web", Kind: "services", Causes: causes},
	}}
}

func TestFailure(t *testing.T) {
	t.Parallel()
	ref := diff.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}
	selector := &diff.ObjectChange{Fields: []diff.FieldChange{
		{Path: diff.Path{{Field: "spec"}, {Field: "selector"}, {Field: "matchLabels"}, {Field: "app"}}, Effect: diff.EffectRecreate},
		{Path: diff.Path{{Field: "spec"}, {Field: "replicas"}}, Effect: diff.EffectScale},
	}}
	cause := func(field string) metav1.StatusCause {
		return metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: field, Message: "Invalid value: 1: field is immutable"}
	}
	busy := apierrors.NewTooManyRequests("slow down", 7)
	for _, test := range []struct {
		name, reason string
		err          error
		change       *diff.ObjectChange
		want         Error
		text         string
	}{
		{
			name: "kind unknown", reason: "CRDs come later", err: &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "apps", Kind: "Deployment"}},
			want: Error{Reason: ReasonNotServed, RetryAfter: lookAgain}, text: "the cluster does not serve Deployment of apps/v1",
		},
		{
			name: "path unknown", reason: "the CRD has gone since", err: statusError(404, metav1.StatusReasonNotFound, "the server could not find the requested resource",
				metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse, Message: "404 page not found"}),
			want: Error{Reason: ReasonNotServed, RetryAfter: lookAgain}, text: "the cluster does not serve Deployment of apps/v1",
		},
		{
			name: "object unknown", reason: "it was deleted since it was read", err: statusError(404, metav1.StatusReasonNotFound, "not found"),
			want: Error{Reason: ReasonConflict}, text: "was changed by somebody else at the same time",
		},
		{
			name: "no answer", reason: "the message has a port and differs each time", err: errors.New(`Patch "https://127.0.0.1:4321/": EOF`),
			want: Error{Reason: ReasonUnavailable}, text: "the API server could not be reached",
		},
		{
			name: "conflict", reason: "read anew and try again", err: statusError(409, metav1.StatusReasonConflict, "the object has been modified"),
			want: Error{Reason: ReasonConflict}, text: "was changed by somebody else at the same time",
		},
		{
			name: "another UID", reason: "it is another object than the one that was read", err: statusError(422, metav1.StatusReasonInvalid, "", cause("metadata.uid")),
			want: Error{Reason: ReasonConflict}, text: "was changed by somebody else at the same time",
		},
		{
			name: "immutable", reason: "the cause names a field that changes and cannot", err: statusError(422, metav1.StatusReasonInvalid, "", cause("spec.selector")), change: selector,
			want: Error{Reason: ReasonImmutable, Fields: []string{"spec.selector"}, Terminal: true},
			text: "spec.selector cannot be changed; the object is deleted and made anew if the AppService has the annotation apps.kudevops.io/recreate with its generation",
		},
		{
			name: "immutable by its text only", reason: "the text decides nothing", err: statusError(422, metav1.StatusReasonInvalid, "", cause("spec.replicas")), change: selector,
			want: Error{Reason: ReasonInvalid, Fields: []string{"spec.replicas"}, Terminal: true, RetryAfter: lookAgain}, text: "spec.replicas: Invalid value: 1: field is immutable",
		},
		{
			name: "created", reason: "what is not there cannot be immutable", err: statusError(422, metav1.StatusReasonInvalid, "", cause("spec.selector")),
			want: Error{Reason: ReasonInvalid, Fields: []string{"spec.selector"}, Terminal: true, RetryAfter: lookAgain}, text: "spec.selector: Invalid value: 1: field is immutable",
		},
		{
			name: "quota", reason: "what is used differs each time", err: statusError(403, metav1.StatusReasonForbidden, `pods "a" is forbidden: exceeded quota: few, requested: pods=1, used: pods=3, limited: pods=3`),
			want: Error{Reason: ReasonQuota}, text: "does not fit into ResourceQuota few",
		},
		{
			name: "terminating", reason: "a namespace never comes back", err: statusError(403, metav1.StatusReasonForbidden, "is being terminated", metav1.StatusCause{Type: "NamespaceTerminating"}),
			want: Error{Reason: ReasonNamespaceTerminating, Terminal: true}, text: "the namespace is being deleted",
		},
		{
			name: "too many requests", reason: "the API server says when to come back", err: busy,
			want: Error{Reason: ReasonUnavailable, RetryAfter: 7 * time.Second}, text: "the API server has too many requests",
		},
		{
			name: "webhook", reason: "its address is of no use to anybody", err: apierrors.NewInternalError(errors.New(`failed calling webhook "a.example.com": Post "https://10.0.0.1:443/": EOF`)),
			want: Error{Reason: ReasonWebhook}, text: "admission webhook a.example.com cannot be called",
		},
		{
			name: "too large", reason: "it will be as large next time", err: statusError(http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge, "limit is 3145728"),
			want: Error{Reason: ReasonInvalid, Terminal: true, RetryAfter: lookAgain}, text: "limit is 3145728",
		},
		{
			name: "without a reason", reason: "what server-side apply says of a field that it does not know", err: &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: "failed to create typed patch object: .spec.foo: field not declared in schema"}},
			want: Error{Reason: ReasonFailed}, text: "failed to create typed patch object: .spec.foo: field not declared in schema",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := failure(ref, test.err, test.change)
			test.want.Object = ref
			if d := cmp.Diff(test.want, *got, cmpopts.IgnoreUnexported(Error{})); d != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, d)
			}
			if want := "Deployment shop/web: " + test.text; got.Error() != want {
				t.Errorf("it says %q, want %q: %s", got, want, test.reason)
			}
			if !errors.Is(got, test.err) {
				t.Error("what the API server answered is lost")
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	terminal, slow, quick := &Error{Terminal: true}, &Error{RetryAfter: time.Minute}, &Error{}
	hint := &Error{Terminal: true, RetryAfter: time.Hour}
	for _, test := range []struct {
		name, reason string
		errs         Errors
		terminal     bool
		after        time.Duration
	}{
		{name: "terminal", reason: "there is no use in repeating", errs: Errors{terminal}, terminal: true},
		{name: "hint", reason: "the cause may go without anybody telling", errs: Errors{hint, terminal}, terminal: true, after: time.Hour},
		{name: "slow", reason: "one of them is worth it", errs: Errors{terminal, slow, hint}, after: time.Minute},
		{name: "quick", reason: "the caller decides", errs: Errors{slow, quick}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.errs.Terminal() != test.terminal || test.errs.RetryAfter() != test.after {
				t.Errorf("terminal %t, after %s; want %t, %s: %s", test.errs.Terminal(), test.errs.RetryAfter(), test.terminal, test.after, test.reason)
			}
			var one *Error
			if err := test.errs.orNil(); !errors.As(err, &one) || one != test.errs[0] {
				t.Errorf("errors.As gives %v", one)
			}
		})
	}
	if err := (Errors{}).orNil(); err != nil {
		t.Errorf("none is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := interrupted(ctx, diff.ObjectRef{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted is %v", err)
	}
}

func TestStable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, message, want string }{
		{"UID", "uid mismatch: 16ccdc8f-fb03-4bf5-a3a1-2147c48d8798 is gone", "uid mismatch: ... is gone"},
		{"address", "dial tcp 10.96.0.1:443: refused", "dial tcp ...: refused"},
		{"time", "at 2030-01-01T00:00:00Z, it", "at ..., it"},
		{"pointer", "map 0xc000123abc", "map ..."},
		{"field", "spec.ports[0].nodePort: 31999 is taken", "spec.ports[0].nodePort: 31999 is taken"},
		{"none", "", "was refused without a message"},
		{"long", strings.Repeat("ä", maxText), strings.Repeat("ä", maxText/2) + "..."},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := stable(test.message); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
