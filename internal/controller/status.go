package controller

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kudevops.io/appsvc/api/v1alpha1"
	v1alpha1ac "kudevops.io/appsvc/api/v1alpha1/applyconfiguration/api/v1alpha1"
)

// countsEvery is how often the counts of pods alone are written: a rollout of hundreds of
// pods would else be hundreds of writes.
const countsEvery = 2 * time.Second

// status is what is to be reported, without the times of transitions.
func (o *outcome) status(app *v1alpha1.AppService) v1alpha1.AppServiceStatus {
	s := *app.Status.DeepCopy()
	s.ObservedGeneration = app.Generation
	s.Conditions = o.conditions(app.Generation)
	s.LastHandledReconcileAt = app.Annotations[v1alpha1.ReconcileAnnotation]
	if len(o.invalid) > 0 {
		return s // the children are as they were
	}
	s.Replicas, s.ReadyReplicas, s.UpdatedReplicas, s.AvailableReplicas = o.health.replicas, o.health.ready, o.health.updated, o.health.available
	if o.suspended {
		return s
	}
	s.Selector = o.selector
	s.Inventory = o.inventory
	if o.err == nil {
		s.RenderDigest = o.digest
	}
	return s
}

// statusWriter writes a status when it changed.
type statusWriter struct {
	client client.Client
	now    func() time.Time

	mu      sync.Mutex
	written map[types.NamespacedName]writtenStatus
}

// writtenStatus is the last status that was written. until is the resource version that
// it was written over: as long as the cache shows that one, it is behind.
type writtenStatus struct {
	uid    types.UID
	until  string
	at     time.Time
	status v1alpha1.AppServiceStatus
}

func newStatusWriter(c client.Client, now func() time.Time) *statusWriter {
	return &statusWriter{client: c, now: now, written: make(map[types.NamespacedName]writtenStatus)}
}

func (w *statusWriter) forget(name types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.written, name)
}

// write reports a status. Where only counts changed it may be too early for that: the
// result then says how long to wait.
func (w *statusWriter) write(ctx context.Context, app *v1alpha1.AppService, status v1alpha1.AppServiceStatus) (time.Duration, error) {
	name := client.ObjectKeyFromObject(app)
	w.mu.Lock()
	last := w.written[name]
	w.mu.Unlock()

	present := app.Status
	if last.uid == app.UID && last.until == app.ResourceVersion {
		present = last.status
	}
	present.Conditions = slices.DeleteFunc(slices.Clone(present.Conditions), isOfOthers)
	status.Conditions = withTimes(present.Conditions, status.Conditions, metav1.NewTime(w.now()))
	if equality.Semantic.DeepEqual(present, status) {
		return 0, nil
	}
	if early := w.now().Sub(last.at); last.uid == app.UID && early < countsEvery && equality.Semantic.DeepEqual(withoutCounts(present), withoutCounts(status)) {
		return countsEvery - early, nil
	}
	if err := w.client.Status().Apply(ctx, applyConfiguration(app, &status), client.FieldOwner(v1alpha1.FieldManager), client.ForceOwnership); err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.written[name] = writtenStatus{uid: app.UID, until: app.ResourceVersion, at: w.now(), status: status}
	return 0, nil
}

// isOfOthers: tools may add conditions of their own to an AppService. They stay, and are
// none of our business.
func isOfOthers(c metav1.Condition) bool {
	switch c.Type {
	case v1alpha1.ConditionReady, v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled, v1alpha1.ConditionDrifted, v1alpha1.ConditionContested:
		return false
	}
	return true
}

// withTimes gives conditions the time of their last transition: the one before, unless
// the status is another one. A time that moves at every pass would be a write each time.
func withTimes(before, after []metav1.Condition, now metav1.Time) []metav1.Condition {
	out := slices.Clone(after)
	for i := range out {
		out[i].LastTransitionTime = now
		if was := meta.FindStatusCondition(before, out[i].Type); was != nil && was.Status == out[i].Status {
			out[i].LastTransitionTime = was.LastTransitionTime
		}
	}
	return out
}

// withoutCounts gives a status without what changes with every pod.
func withoutCounts(s v1alpha1.AppServiceStatus) v1alpha1.AppServiceStatus {
	s.Replicas, s.ReadyReplicas, s.UpdatedReplicas, s.AvailableReplicas = 0, 0, 0, 0
	s.Conditions = slices.Clone(s.Conditions)
	for i := range s.Conditions {
		if s.Conditions[i].Reason == v1alpha1.ReasonProgressing {
			s.Conditions[i].Message = "" // holds counts
		}
	}
	return s
}

// applyConfiguration gives the status as it is applied: whole, so that what is no longer
// said goes. The UID keeps it from an AppService that was made anew under the name.
func applyConfiguration(app *v1alpha1.AppService, s *v1alpha1.AppServiceStatus) *v1alpha1ac.AppServiceApplyConfiguration {
	status := v1alpha1ac.AppServiceStatus().
		WithObservedGeneration(s.ObservedGeneration).
		WithReplicas(s.Replicas).WithReadyReplicas(s.ReadyReplicas).
		WithUpdatedReplicas(s.UpdatedReplicas).WithAvailableReplicas(s.AvailableReplicas)
	for i := range s.Conditions {
		c := &s.Conditions[i]
		status.WithConditions(metav1ac.Condition().WithType(c.Type).WithStatus(c.Status).WithReason(c.Reason).
			WithMessage(c.Message).WithObservedGeneration(c.ObservedGeneration).WithLastTransitionTime(c.LastTransitionTime))
	}
	for i := range s.Inventory {
		e := &s.Inventory[i]
		entry := v1alpha1ac.InventoryEntry().WithVersion(e.Version).WithKind(e.Kind).WithName(e.Name)
		if e.Group != "" {
			entry.WithGroup(e.Group)
		}
		status.WithInventory(entry)
	}
	if s.Selector != "" {
		status.WithSelector(s.Selector)
	}
	if s.RenderDigest != "" {
		status.WithRenderDigest(s.RenderDigest)
	}
	if s.LastHandledReconcileAt != "" {
		status.WithLastHandledReconcileAt(s.LastHandledReconcileAt)
	}
	return v1alpha1ac.AppService(app.Name, app.Namespace).WithUID(app.UID).WithStatus(status)
}
