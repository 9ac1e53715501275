package controller

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/apply"
	"kudevops.io/appsvc/pkg/diff"
)

// TestConditions: which conditions there are, and what they give as the reason.
func TestConditions(t *testing.T) {
	t.Parallel()
	terminal := &apply.Error{Reason: apply.ReasonForeign, Terminal: true}
	passing := &apply.Error{Reason: apply.ReasonQuota}
	deployment := diff.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}
	for _, test := range []struct {
		name    string
		reason  string
		outcome outcome
		want    []string
	}{
		{"healthy", "nothing more is to be said", outcome{health: health{state: healthy, reason: v1alpha1.ReasonAvailable}},
			[]string{"Ready True Available"}},
		{"a rollout is under way", "kstatus waits for Reconciling", outcome{health: health{reason: v1alpha1.ReasonProgressing}},
			[]string{"Ready False Progressing", "Reconciling True Progressing"}},
		{"a rollout is stuck", "kstatus fails on Stalled", outcome{health: health{state: failed, reason: v1alpha1.ReasonProgressDeadlineExceeded}},
			[]string{"Ready False ProgressDeadlineExceeded", "Stalled True ProgressDeadlineExceeded"}},
		{"suspended", "whether it is Ready is nobody's business", outcome{suspended: true, health: health{state: healthy}},
			[]string{"Ready Unknown Suspended"}},
		{"a broken spec", "it is not tried again", outcome{invalid: field.ErrorList{field.Required(field.NewPath("spec", "image"), "")}},
			[]string{"Ready False InvalidSpec", "Stalled True InvalidSpec"}},
		{"somebody has to act", "it is not tried again soon", outcome{err: apply.Errors{terminal}, health: health{state: healthy}},
			[]string{"Ready False ForeignOwner", "Stalled True ForeignOwner"}},
		{"it may pass", "it is tried again", outcome{err: apply.Errors{passing}},
			[]string{"Ready False QuotaExceeded", "Reconciling True QuotaExceeded"}},
		{"both", "what a person has to do comes first, and the rest goes on", outcome{err: apply.Errors{passing, terminal}},
			[]string{"Ready False ForeignOwner", "Reconciling True ForeignOwner", "Stalled True ForeignOwner"}},
		{"a read failed", "nothing is known", outcome{err: errors.New("dial tcp 10.0.0.1:443: connection refused")},
			[]string{"Ready False ApplyFailed", "Reconciling True ApplyFailed"}},
		{"drift", "the pods are well all the same", outcome{health: health{state: healthy, reason: v1alpha1.ReasonAvailable},
			result: apply.Result{Objects: []apply.ObjectResult{{Object: deployment, Action: apply.Drifted}}}},
			[]string{"Ready True Available", "Drifted True DriftDetected"}},
		{"contested", "the pods are well all the same", outcome{health: health{state: healthy, reason: v1alpha1.ReasonAvailable},
			result: apply.Result{Objects: []apply.ObjectResult{{Object: deployment, Action: apply.Contested}}}},
			[]string{"Ready True Available", "Contested True FieldContested"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range test.outcome.conditions(7) {
				got = append(got, c.Type+" "+string(c.Status)+" "+c.Reason)
				if c.ObservedGeneration != 7 {
					t.Errorf("%s is of generation %d, want 7", c.Type, c.ObservedGeneration)
				}
				if strings.Contains(c.Message, "10.0.0.1") {
					t.Errorf("%s holds what changes at each attempt: %q", c.Type, c.Message)
				}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("conditions, %s (-want +got):\n%s", test.reason, d)
			}
		})
	}
}

// TestDescribe: what is said of an object, in conditions and events.
func TestDescribe(t *testing.T) {
	t.Parallel()
	ref := diff.ObjectRef{Kind: "Service", Name: "web"}
	for _, test := range []struct {
		name   string
		object apply.ObjectResult
		want   string
	}{
		{"fields and who wants them otherwise", apply.ObjectResult{Object: ref, Action: apply.Contested, Fields: []string{"spec.type", "spec.ports"}, Managers: []string{"other"}},
			"Service web: spec.type, spec.ports (other)"},
		{"more fields than are listed", apply.ObjectResult{Object: ref, Action: apply.Configured, Fields: []string{"spec.type"}, More: 12}, "Service web: spec.type and 12 more"},
		{"a child that is gone", apply.ObjectResult{Object: ref, Action: apply.Drifted}, "Service web is missing"},
		{"a child that was created", apply.ObjectResult{Object: ref, Action: apply.Created}, "Service web"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := describe(&test.object); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestDone: an event names what was written, by what was done; what needed no write is not
// in it.
func TestDone(t *testing.T) {
	t.Parallel()
	objects := []apply.ObjectResult{
		{Object: diff.ObjectRef{Kind: "ServiceAccount", Name: "web"}, Action: apply.Unchanged},
		{Object: diff.ObjectRef{Kind: "Deployment", Name: "web"}, Action: apply.Configured, Fields: []string{"spec.template"}, Effect: diff.EffectRestart},
		{Object: diff.ObjectRef{Kind: "Service", Name: "web"}, Action: apply.Created},
		{Object: diff.ObjectRef{Kind: "Ingress", Name: "web"}, Action: apply.Pruned},
		{Object: diff.ObjectRef{Kind: "ConfigMap", Name: "web"}, Action: apply.Kept},
	}
	if got, want := done(objects, false), "configured Deployment web: spec.template (restart); created Service web"; got != want {
		t.Errorf("applied: %q, want %q", got, want)
	}
	if got, want := done(objects, true), "pruned Ingress web"; got != want {
		t.Errorf("pruned: %q, want %q", got, want)
	}
	if got := done(objects[:1], false); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

// TestBounded: a message has at most a kilobyte and a bit, and is valid text.
func TestBounded(t *testing.T) {
	t.Parallel()
	if got := bounded(strings.Repeat("é", 1000)); len(got) > 1027 || !utf8.ValidString(got) || !strings.HasSuffix(got, "...") {
		t.Errorf("%d bytes: %q", len(got), got[max(0, len(got)-10):])
	}
	if got := bounded("short"); got != "short" {
		t.Errorf("%q", got)
	}
}
