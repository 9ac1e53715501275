package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/diff"
)

// Reason says why an object is not as desired.
type Reason string

const (
	// ReasonForeign: the name is taken by an object that is not the owner's. Terminal.
	ReasonForeign Reason = v1alpha1.ReasonForeignOwner
	// ReasonImmutable: a field cannot be changed. Terminal; see Set.Recreate.
	ReasonImmutable Reason = v1alpha1.ReasonImmutableField
	// ReasonInvalid: the API server finds the object wrong. Terminal.
	ReasonInvalid Reason = "Invalid"
	// ReasonNotAllowed: appsvc itself refuses to write the object. Terminal.
	ReasonNotAllowed Reason = "NotAllowed"
	// ReasonNamespaceTerminating: the namespace is being deleted, or gone. Terminal: a
	// namespace never comes back from that.
	ReasonNamespaceTerminating Reason = "NamespaceTerminating"
	// ReasonNotServed: the cluster does not know the kind. It may be installed later.
	ReasonNotServed Reason = v1alpha1.ReasonKindNotServed
	// ReasonPredecessor: the object belongs to a deleted owner of the same name, and the
	// garbage collector has yet to delete it.
	ReasonPredecessor Reason = "Predecessor"
	// ReasonDeleting: the object is being deleted. It is made anew when it is gone.
	ReasonDeleting Reason = "Deleting"
	// ReasonQuota: the namespace's quota is used up.
	ReasonQuota Reason = "QuotaExceeded"
	// ReasonForbidden: access rules or an admission policy do not allow it.
	ReasonForbidden Reason = "Forbidden"
	// ReasonWebhook: an admission webhook cannot be called.
	ReasonWebhook Reason = "WebhookFailed"
	// ReasonConflict: the object changed each time while it was being written.
	ReasonConflict Reason = "Conflict"
	// ReasonFailed: the API server does not say more than a message. Server-side apply words
	// what it cannot read that way, such as a field that it does not know.
	ReasonFailed Reason = v1alpha1.ReasonApplyFailed
	// ReasonUnavailable: the API server could not be asked, or could not answer.
	ReasonUnavailable Reason = "Unavailable"
)

// lookAgain is when to try again what a person has to put right, perhaps without
// anything that a controller watches.
const lookAgain = 5 * time.Minute

// Error says why one object is not as desired, and what to do about it.
type Error struct {
	Object diff.ObjectRef
	Reason Reason
	// Fields are the paths that the API server or the check complains of, if any.
	Fields []string
	// Terminal says that the same attempt will fail until a person changes the spec, the
	// object or the cluster. Otherwise it is worth repeating.
	Terminal bool
	// RetryAfter is how long to wait, where that is known: because the API server says
	// so, or because nothing tells when the cause is gone. Zero means that the caller
	// decides; for a terminal error, that there is no use in repeating.
	RetryAfter time.Duration

	text  string
	cause error
}

// Error names the object and says what is wrong, in words that are the same at each
// attempt: neither resource version, UID nor time.
func (e *Error) Error() string { return e.Object.String() + ": " + e.text }

// Unwrap gives what the API server answered.
func (e *Error) Unwrap() error { return e.cause }

// Errors are those of several objects, in the order of the objects.
type Errors []*Error

// Error gives all texts, separated by semicolons.
func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i := range e {
		texts[i] = e[i].Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap gives each, for errors.As and errors.Is.
func (e Errors) Unwrap() []error {
	errs := make([]error, len(e))
	for i := range e {
		errs[i] = e[i]
	}
	return errs
}

// Terminal reports whether nothing of it is worth repeating.
func (e Errors) Terminal() bool {
	return !slices.ContainsFunc(e, func(err *Error) bool { return !err.Terminal })
}

// RetryAfter is the shortest time that any of the errors knows; zero when none does, or
// when one is worth repeating at a time that the caller decides.
func (e Errors) RetryAfter() time.Duration {
	shortest := time.Duration(0)
	for _, err := range e {
		switch {
		case err.RetryAfter == 0 && !err.Terminal:
			return 0
		case err.RetryAfter > 0 && (shortest == 0 || err.RetryAfter < shortest):
			shortest = err.RetryAfter
		}
	}
	return shortest
}

// orNil keeps an empty list from being an error.
func (e Errors) orNil() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

func refuse(ref diff.ObjectRef, reason Reason, text string, args ...any) *Error {
	e := &Error{Object: ref, Reason: reason, Terminal: true, text: fmt.Sprintf(text, args...)}
	if reason == ReasonForeign {
		e.RetryAfter = lookAgain // the other object may go, and nobody would tell
	}
	return e
}

func wait(ref diff.ObjectRef, reason Reason, text string, args ...any) *Error {
	return &Error{Object: ref, Reason: reason, text: fmt.Sprintf(text, args...)}
}

// faulty is the error of an object that no API server would take.
func faulty(ref diff.ObjectRef, err error) *Error {
	var faults diff.Faults
	if !errors.As(err, &faults) {
		return refuse(ref, ReasonInvalid, "%v", err)
	}
	e := refuse(ref, ReasonInvalid, "")
	var texts []string
	for _, fault := range faults {
		e.Fields = append(e.Fields, fault.Path.String())
		texts = append(texts, fault.Path.String()+" "+fault.Message)
	}
	e.text = strings.Join(texts, ", ")
	return e
}

// foreign is the error of an object that belongs to somebody else.
func foreign(ref diff.ObjectRef, object metav1.Object) *Error {
	if c := metav1.GetControllerOfNoCopy(object); c != nil {
		return refuse(ref, ReasonForeign, "exists already and is controlled by %s %s", c.Kind, c.Name)
	}
	return refuse(ref, ReasonForeign, "exists already and was not made by appsvc; it is taken over if the AppService has the annotation %s: \"true\"", v1alpha1.AdoptAnnotation)
}

// interrupted is the error of an object whose turn it was when the caller gave up.
func interrupted(ctx context.Context, ref diff.ObjectRef) *Error {
	return &Error{Object: ref, Reason: ReasonUnavailable, text: "was interrupted", cause: ctx.Err()}
}

// failure turns the error of a request into one that says what to do. change is what
// the request was to change, nil for a request that creates or reads.
//
// What a field's trouble is, is told by the causes of the answer, never by its text: a
// cause that names a field which pkg/diff knows to be immutable, in an object that has
// it otherwise.
func failure(ref diff.ObjectRef, err error, change *diff.ObjectChange) *Error {
	e := &Error{Object: ref, cause: err}
	var status apierrors.APIStatus
	isStatus := errors.As(err, &status)
	if after, ok := apierrors.SuggestsClientDelay(err); ok {
		e.RetryAfter = time.Duration(after) * time.Second
	}
	switch {
	case meta.IsNoMatchError(err), isStatus && notServed(status.Status()):
		e.Reason, e.RetryAfter = ReasonNotServed, lookAgain
		e.text = fmt.Sprintf("the cluster does not serve %s of %s", ref.Kind, ref.APIVersion)
	case !isStatus:
		e.Reason, e.text = ReasonUnavailable, "the API server could not be reached"
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause), apierrors.IsNotFound(err) && detailsOf(status).Kind == "namespaces":
		e.Reason, e.Terminal = ReasonNamespaceTerminating, true
		e.text = "the namespace is being deleted"
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err), anotherObject(status.Status()):
		e.Reason, e.text = ReasonConflict, "was changed by somebody else at the same time"
	case apierrors.IsInvalid(err):
		e.Terminal = true
		e.invalid(status.Status(), change)
	case apierrors.IsForbidden(err):
		e.Reason, e.text = ReasonForbidden, stable(status.Status().Message)
		if quota := quotaName.FindStringSubmatch(status.Status().Message); quota != nil {
			e.Reason, e.text = ReasonQuota, fmt.Sprintf("does not fit into ResourceQuota %s", quota[1])
		}
	case slices.Contains([]int32{http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}, status.Status().Code):
		e.Reason, e.Terminal, e.RetryAfter = ReasonInvalid, true, lookAgain
		e.text = stable(status.Status().Message)
	case status.Status().Reason == metav1.StatusReasonUnknown && status.Status().Message != "":
		e.Reason, e.text = ReasonFailed, stable(status.Status().Message)
	default:
		e.Reason, e.text = ReasonUnavailable, unavailable(status.Status())
		if webhook := webhookName.FindStringSubmatch(status.Status().Message); webhook != nil {
			e.Reason, e.text = ReasonWebhook, fmt.Sprintf("admission webhook %s cannot be called", webhook[1])
		}
	}
	return e
}

// notServed tells a path that the API server does not know from an object that is not
// there, whose kind the details name.
func notServed(s metav1.Status) bool {
	return s.Reason == metav1.StatusReasonNotFound && (s.Details == nil || s.Details.Name == "" ||
		slices.ContainsFunc(s.Details.Causes, func(c metav1.StatusCause) bool { return c.Type == metav1.CauseTypeUnexpectedServerResponse }))
}

func detailsOf(s apierrors.APIStatus) metav1.StatusDetails {
	if d := s.Status().Details; d != nil {
		return *d
	}
	return metav1.StatusDetails{}
}

// anotherObject reports whether the object is not the one that was read: it has another
// UID, or got a controller.
func anotherObject(s metav1.Status) bool {
	return s.Reason == metav1.StatusReasonInvalid && s.Details != nil && slices.ContainsFunc(s.Details.Causes, func(c metav1.StatusCause) bool {
		return c.Field == "metadata.uid" || c.Field == "metadata.ownerReferences"
	})
}

// invalid says which fields are wrong, or immutable.
func (e *Error) invalid(s metav1.Status, change *diff.ObjectChange) {
	e.Reason, e.RetryAfter = ReasonInvalid, lookAgain
	var texts []string
	var fixed []string
	if s.Details != nil {
		for _, c := range s.Details.Causes {
			e.Fields = append(e.Fields, c.Field)
			texts = append(texts, c.Field+": "+c.Message)
			if change != nil && immutable(c, change) {
				fixed = append(fixed, c.Field)
			}
		}
	}
	if len(fixed) > 0 {
		e.Reason, e.Fields, e.RetryAfter = ReasonImmutable, fixed, 0
		e.text = fmt.Sprintf("%s cannot be changed; the object is deleted and made anew if the AppService has the annotation %s with its generation",
			strings.Join(fixed, ", "), v1alpha1.RecreateAnnotation)
		return
	}
	slices.Sort(texts)
	e.text = stable(strings.Join(texts, ", "))
	if len(texts) == 0 {
		e.text = stable(s.Message)
	}
}

// immutable reports whether a cause is about a field that is to be changed and cannot be.
func immutable(c metav1.StatusCause, change *diff.ObjectChange) bool {
	if c.Type != metav1.CauseTypeFieldValueInvalid && c.Type != metav1.CauseType("FieldValueForbidden") {
		return false
	}
	blamed := strings.Split(plainPath(c.Field), ".")
	return slices.ContainsFunc(change.Fields, func(f diff.FieldChange) bool {
		if f.Effect != diff.EffectRecreate {
			return false
		}
		changed := strings.Split(plainPath(f.Path.String()), ".")
		n := min(len(blamed), len(changed))
		return slices.Equal(blamed[:n], changed[:n]) || relatedIPs(blamed, changed)
	})
}

// relatedIPs: the API server blames spec.clusterIPs for a change of spec.clusterIP.
func relatedIPs(a, b []string) bool {
	isIP := func(p []string) bool {
		return len(p) == 2 && p[0] == "spec" && (p[1] == "clusterIP" || p[1] == "clusterIPs")
	}
	return isIP(a) && isIP(b)
}

// plainPath gives a path without the steps into lists.
func plainPath(path string) string { return inBrackets.ReplaceAllString(path, "") }

// unavailable words an answer of the API server that says nothing about the object.
func unavailable(s metav1.Status) string {
	switch s.Code {
	case http.StatusTooManyRequests:
		return "the API server has too many requests"
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusBadGateway:
		return "the API server is not available"
	case http.StatusUnauthorized:
		return "the API server does not accept the credentials"
	}
	return stable(s.Message)
}

// Only wording depends on these, and whether a denial is called one by quota: no answer
// says that otherwise.
var (
	quotaName   = regexp.MustCompile(`exceeded quota: ([^,]+)`)
	webhookName = regexp.MustCompile(`failed calling webhook "([^"]+)"`)
	inBrackets  = regexp.MustCompile(`\[[^\]]*\]`)
	volatile    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}` + // UID
		`|\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}[^ ,;]*` + // time
		`|0x[0-9a-f]+` + // pointer
		`|(?:\d{1,3}\.){3}\d{1,3}:\d+`) // address of a connection
)

// maxText bounds what is taken over from the API server.
const maxText = 512

// stable gives a message without what would differ at the next attempt.
func stable(message string) string {
	message = volatile.ReplaceAllString(message, "...")
	if len(message) > maxText {
		message = strings.ToValidUTF8(message[:maxText], "") + "..."
	}
	if message == "" {
		return "was refused without a message"
	}
	return message
}
