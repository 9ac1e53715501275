package apply

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// recreate deletes an object that the API server will not change, and makes it anew. Its
// dependants (pods, say) are deleted in the background, so that the new ones need not
// wait for them. It happens once for a Key: if the new object has the wrong value too,
// somebody else sees to that.
func (r *run) recreate(ctx context.Context, t target, s step, refusal *Error) (ObjectResult, *Error) {
	again := false
	r.withHistory(t, func(h *history) { again = h.recreated })
	if again {
		return ObjectResult{}, refusal
	}
	if err := r.delete(ctx, s.live); err != nil {
		return ObjectResult{}, failure(t.ref, err, nil)
	}
	r.withHistory(t, func(h *history) { h.recreated = true })
	left, e := r.get(ctx, t.ref)
	switch {
	case e != nil:
		return ObjectResult{}, e
	case left != nil:
		return ObjectResult{}, wait(t.ref, ReasonDeleting, "is being deleted, to be made anew")
	}
	outcome, e := r.create(ctx, t)
	if e != nil {
		return ObjectResult{}, e
	}
	outcome.Action = Recreated
	outcome.describe(s.change)
	return outcome, r.restoreReplicas(ctx, t, s.live, &outcome)
}

// restoreReplicas gives a new object the number of replicas that the old one had, where
// that is not ours to say.
func (r *run) restoreReplicas(ctx context.Context, t target, old *unstructured.Unstructured, outcome *ObjectResult) *Error {
	replicas, had := replicasIn(old)
	if _, wanted := replicasIn(t.desired); wanted || !had {
		return nil
	}
	var e *Error
	// Its controller reports on a new object at once, which makes the version an old one.
	for range attempts {
		var created *unstructured.Unstructured
		if created, e = r.get(ctx, t.ref); e != nil || created == nil || replicasOf(created) == replicas {
			return e
		}
		returned, err := r.applyReplicas(ctx, created, replicas)
		if err == nil {
			r.verify(t, returned, outcome)
			return nil
		}
		if e = failure(t.ref, err, nil); e.Reason != ReasonConflict {
			break
		}
	}
	return e
}

// delete deletes exactly this object in exactly this version.
func (r *run) delete(ctx context.Context, live *unstructured.Unstructured) error {
	uid, version := live.GetUID(), live.GetResourceVersion()
	r.writes++
	err := r.client.Delete(ctx, live,
		client.Preconditions{UID: &uid, ResourceVersion: &version},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	return client.IgnoreNotFound(err)
}
