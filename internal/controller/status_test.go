package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kudevops.io/appsvc/api/v1alpha1"
	v1alpha1ac "kudevops.io/appsvc/api/v1alpha1/applyconfiguration/api/v1alpha1"
)

// sent notes the statuses that are applied.
type sent struct {
	statuses []*v1alpha1ac.AppServiceApplyConfiguration
	err      error
}

func (s *sent) client() client.Client {
	return interceptor.NewClient(nil, interceptor.Funcs{
		SubResourceApply: func(_ context.Context, _ client.Client, _ string, object runtime.ApplyConfiguration, _ ...client.SubResourceApplyOption) error {
			if s.err == nil {
				s.statuses = append(s.statuses, object.(*v1alpha1ac.AppServiceApplyConfiguration))
			}
			return s.err
		},
	})
}

// TestStatusIsWrittenOnTransitions: with a clock that stands still unless it is moved.
func TestStatusIsWrittenOnTransitions(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	var out sent
	w := newStatusWriter(out.client(), func() time.Time { return now })
	app := &v1alpha1.AppService{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "1", ResourceVersion: "10", Generation: 1}}
	ready := func(status metav1.ConditionStatus, reason, message string) []metav1.Condition {
		return []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: status, Reason: reason, Message: message, ObservedGeneration: 1}}
	}
	for _, step := range []struct {
		name    string
		reason  string
		after   time.Duration
		version string // that the cache shows
		status  v1alpha1.AppServiceStatus
		wait    time.Duration
		writes  int
	}{
		{"the first", "", 0, "10", v1alpha1.AppServiceStatus{Replicas: 1, Conditions: ready("False", v1alpha1.ReasonProgressing, "1 of 3")}, 0, 1},
		{"the same again, and the cache is behind", "what was written counts", 0, "10", v1alpha1.AppServiceStatus{Replicas: 1, Conditions: ready("False", v1alpha1.ReasonProgressing, "1 of 3")}, 0, 0},
		{"another count, half a second later", "too early", 500 * time.Millisecond, "10", v1alpha1.AppServiceStatus{Replicas: 2, Conditions: ready("False", v1alpha1.ReasonProgressing, "2 of 3")}, 1500 * time.Millisecond, 0},
		{"another count, when it is time", "", 1500 * time.Millisecond, "10", v1alpha1.AppServiceStatus{Replicas: 2, Conditions: ready("False", v1alpha1.ReasonProgressing, "2 of 3")}, 0, 1},
		{"a transition", "is never held up", 0, "10", v1alpha1.AppServiceStatus{Replicas: 3, Conditions: ready("True", v1alpha1.ReasonAvailable, "3 of 3")}, 0, 1},
	} {
		now = now.Add(step.after)
		app.ResourceVersion = step.version
		before := len(out.statuses)
		wait, err := w.write(t.Context(), app, step.status)
		if err != nil || wait != step.wait || len(out.statuses)-before != step.writes {
			t.Errorf("%s: wait %s, %d writes, %v; want %s and %d (%s)", step.name, wait, len(out.statuses)-before, err, step.wait, step.writes, step.reason)
		}
	}
	last := out.statuses[len(out.statuses)-1]
	if *last.UID != "1" {
		t.Error("the UID is not sent: a new AppService of the name could be hit")
	}
	if got := last.Status.Conditions[0].LastTransitionTime; !got.Time.Equal(now) {
		t.Errorf("the time of the transition is %s, want %s", got, now)
	}
}

// TestStatusOfTheCacheCounts: when the cache has moved on, it is believed. A status that
// somebody else has written is put right.
func TestStatusOfTheCacheCounts(t *testing.T) {
	t.Parallel()
	var out sent
	w := newStatusWriter(out.client(), time.Now)
	app := &v1alpha1.AppService{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "1", ResourceVersion: "10"}}
	status := v1alpha1.AppServiceStatus{RenderDigest: "sha256:1"}
	write := func() {
		t.Helper()
		if _, err := w.write(t.Context(), app, status); err != nil {
			t.Fatal(err)
		}
	}
	write()
	app.ResourceVersion, app.Status = "11", v1alpha1.AppServiceStatus{RenderDigest: "another"}
	write()
	if len(out.statuses) != 2 {
		t.Errorf("%d writes, want 2", len(out.statuses))
	}
	app.UID, app.ResourceVersion, app.Status = "2", "11", v1alpha1.AppServiceStatus{}
	write()
	if len(out.statuses) != 3 || *out.statuses[2].UID != "2" {
		t.Errorf("%d writes, want 3: what was written to the one before says nothing of the new one", len(out.statuses))
	}
}

// TestStatusThatCannotBeWritten: it is tried again.
func TestStatusThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	out := sent{err: errors.New("no")}
	w := newStatusWriter(out.client(), time.Now)
	app := &v1alpha1.AppService{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "1", ResourceVersion: "10"}}
	status := v1alpha1.AppServiceStatus{RenderDigest: "sha256:1"}
	if _, err := w.write(t.Context(), app, status); err == nil {
		t.Error("no error")
	}
	out.err = nil
	if _, err := w.write(t.Context(), app, status); err != nil || len(out.statuses) != 1 {
		t.Errorf("%d writes, %v", len(out.statuses), err)
	}
}

// TestTimesOfTransitions: they move with the status, and with nothing else.
func TestTimesOfTransitions(t *testing.T) {
	t.Parallel()
	then, now := metav1.Unix(1000, 0), metav1.Unix(2000, 0)
	before := []metav1.Condition{{Type: "Ready", Status: "True", Reason: "A", LastTransitionTime: then}, {Type: "Stalled", Status: "True", LastTransitionTime: then}}
	after := []metav1.Condition{{Type: "Ready", Status: "True", Reason: "B"}, {Type: "Stalled", Status: "False"}, {Type: "Drifted", Status: "True"}}
	want := []metav1.Condition{
		{Type: "Ready", Status: "True", Reason: "B", LastTransitionTime: then},
		{Type: "Stalled", Status: "False", LastTransitionTime: now},
		{Type: "Drifted", Status: "True", LastTransitionTime: now},
	}
	if d := cmp.Diff(want, withTimes(before, after, now)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if !after[0].LastTransitionTime.IsZero() {
		t.Error("what was passed was changed")
	}
}

// TestStatusOfWhatWasNotApplied: what is known of the children stays, since they are as
// they were. Only what was seen of them is new.
func TestStatusOfWhatWasNotApplied(t *testing.T) {
	t.Parallel()
	before := v1alpha1.AppServiceStatus{
		ObservedGeneration: 2, Replicas: 3, ReadyReplicas: 3, Selector: "a=b", RenderDigest: "sha256:1",
		Inventory: []v1alpha1.InventoryEntry{{Version: "v1", Kind: "Service", Name: "web"}},
	}
	for _, test := range []struct {
		name     string
		outcome  outcome
		replicas int32
		digest   string
	}{
		{"a broken spec", outcome{invalid: field.ErrorList{field.Required(field.NewPath("spec", "image"), "")}}, 3, "sha256:1"},
		{"suspended", outcome{suspended: true, health: health{replicas: 2}}, 2, "sha256:1"},
		{"an error", outcome{err: errors.New("no"), digest: "sha256:2", health: health{replicas: 2}, selector: "a=b", inventory: before.Inventory}, 2, "sha256:1"},
		{"none of these", outcome{digest: "sha256:2", health: health{replicas: 2}, selector: "a=b", inventory: before.Inventory}, 2, "sha256:2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			app := &v1alpha1.AppService{Status: *before.DeepCopy()}
			app.Generation = 3
			app.Annotations = map[string]string{v1alpha1.ReconcileAnnotation: "now"}
			got := test.outcome.status(app)
			got.Conditions = nil
			want := v1alpha1.AppServiceStatus{
				ObservedGeneration: 3, Replicas: test.replicas, Selector: "a=b", RenderDigest: test.digest, Inventory: before.Inventory, LastHandledReconcileAt: "now",
			}
			if test.replicas == 3 {
				want.ReadyReplicas = 3
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestConditionsOfOthers: they are no difference, and are not sent.
func TestConditionsOfOthers(t *testing.T) {
	t.Parallel()
	var out sent
	w := newStatusWriter(out.client(), time.Now)
	ready := metav1.Condition{Type: v1alpha1.ConditionReady, Status: "True", Reason: v1alpha1.ReasonAvailable, LastTransitionTime: metav1.Unix(1000, 0)}
	other := metav1.Condition{Type: "Promoted", Status: "True", Reason: "Done", LastTransitionTime: metav1.Unix(1000, 0)}
	app := &v1alpha1.AppService{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "1", ResourceVersion: "10"}}
	app.Status.Conditions = []metav1.Condition{other, ready}
	status := v1alpha1.AppServiceStatus{Conditions: []metav1.Condition{{Type: ready.Type, Status: ready.Status, Reason: ready.Reason}}}
	if _, err := w.write(t.Context(), app, status); err != nil || len(out.statuses) > 0 {
		t.Errorf("%d writes, %v; want none", len(out.statuses), err)
	}
	status.RenderDigest = "sha256:1"
	if _, err := w.write(t.Context(), app, status); err != nil || len(out.statuses) != 1 || len(out.statuses[0].Status.Conditions) != 1 {
		t.Errorf("%d writes, %v; want one of our own condition", len(out.statuses), err)
	}
	if len(app.Status.Conditions) != 2 {
		t.Error("the cached object was changed")
	}
}
