package apply

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kudevops.io/appsvc/pkg/diff"
)

// settle makes a live object be as desired; live is nil where there is none. A conflict
// means that it is to be read anew.
func (r *run) settle(ctx context.Context, t target, live *unstructured.Unstructured) (ObjectResult, *Error) {
	if live == nil {
		if r.set.DriftOnly {
			return ObjectResult{Object: t.ref, Action: Drifted, Effect: diff.EffectNone}, nil
		}
		return r.create(ctx, t)
	}
	if err := mayWrite(t.ref, live, r.set); err != nil {
		return ObjectResult{}, err
	}
	seen := versionOf(live)
	if verdict, ok := r.memory.verdict(r.owner(), t.ref, seen, t.digest); ok {
		return verdict, nil // the cache is behind
	}
	desired := r.ignorer.Keep(t.desired, live)
	if !r.checker.Changed(desired, live) {
		return r.unchanged(t, live), nil
	}
	s, err := r.step(t.ref, desired, live)
	if err != nil {
		return ObjectResult{}, err
	}
	if r.set.DriftOnly {
		return r.drifted(t, s, seen), nil
	}
	if outcome, gaveUp := r.contested(t, s.change); gaveUp {
		return outcome, nil
	}
	return r.write(ctx, t, s)
}

// mayWrite says whose a live object is.
func mayWrite(ref diff.ObjectRef, live *unstructured.Unstructured, set *Set) *Error {
	switch set.Owner.claimOn(live) {
	case others:
		return foreign(ref, live)
	case predecessors:
		return wait(ref, ReasonPredecessor, "belongs to a deleted AppService of the same name, and is about to be deleted")
	case unclaimed:
		if !set.Adopt {
			return foreign(ref, live)
		}
	}
	if live.GetDeletionTimestamp() != nil {
		return wait(ref, ReasonDeleting, "is being deleted")
	}
	return nil
}

// step is how to get from a live object to the desired one.
type step struct {
	desired *unstructured.Unstructured // ignored fields as they are live
	live    *unstructured.Unstructured
	change  *diff.ObjectChange
	// migrate are the field managers whose fields are made ours first.
	migrate []string
	// handOver says that spec.replicas is handed over first.
	handOver bool
	// prepared says that both was done.
	prepared bool
}

// step works out what has to be done.
func (r *run) step(ref diff.ObjectRef, desired, live *unstructured.Unstructured) (step, *Error) {
	opts := r.options(r.set)
	s := step{desired: desired, live: live, migrate: diff.Migrates(live, opts)}
	compared := live
	if s.handOver = handsOver(desired, live, opts); s.handOver {
		compared = handedOver(live)
	}
	opts.Ignore = nil // desired has what is ignored
	changes, err := diff.Diff([]*unstructured.Unstructured{compared}, []*unstructured.Unstructured{desired}, opts)
	if err != nil {
		return step{}, faulty(ref, err)
	}
	s.change = &changes.Objects[0]
	return s, nil
}

// drifted reports a difference that is left alone. Fields that only have to become ours
// are none.
func (r *run) drifted(t target, s step, seen version) ObjectResult {
	if !s.change.Changed() {
		return r.unchanged(t, s.live)
	}
	outcome := ObjectResult{Object: t.ref, Action: Drifted, Managers: sortedManagers(s.change), Generation: s.live.GetGeneration()}
	outcome.describe(s.change)
	r.memory.remember(r.owner(), t.ref, seen, t.digest, outcome)
	return outcome
}

// contested says whether to give up because all that differs is changed back each time.
func (r *run) contested(t target, change *diff.ObjectChange) (ObjectResult, bool) {
	gaveUp := false
	r.withHistory(t, func(h *history) { gaveUp = h.gaveUp(pathsOf(change), r.now()) })
	if !gaveUp {
		return ObjectResult{}, false
	}
	outcome := ObjectResult{Object: t.ref, Action: Contested, Managers: sortedManagers(change)}
	outcome.describe(change)
	if len(change.Fields) == 0 {
		// No value differs, and the server takes what we apply for what is there.
		outcome.Action = Unchanged
	}
	return outcome, true
}

// stillContested answers from the cache for a field that was given up on.
func (r *run) stillContested(t target, desired, live *unstructured.Unstructured) (ObjectResult, bool) {
	any := false
	r.withHistory(t, func(h *history) { any = len(h.contested) > 0 })
	if !any || r.set.DriftOnly {
		return ObjectResult{}, false
	}
	s, err := r.step(t.ref, desired, live)
	if err != nil {
		return ObjectResult{}, false
	}
	return r.contested(t, s.change)
}

func (r *run) withHistory(t target, f func(*history)) {
	r.memory.withHistory(r.owner(), t.ref, historyKey{key: r.set.Key, digest: t.digest}, f)
}

// create applies an object that is not there. Without force: whoever makes one of that
// name in the same moment is found out by the conflict.
func (r *run) create(ctx context.Context, t target) (ObjectResult, *Error) {
	returned, err := r.send(ctx, t.desired)
	if err != nil {
		return ObjectResult{}, failure(t.ref, err, nil)
	}
	outcome := ObjectResult{Object: t.ref, Action: Created, Effect: diff.EffectNone}
	r.verify(t, returned, &outcome)
	return outcome, nil
}

// write applies a change, after what has to come before it.
func (r *run) write(ctx context.Context, t target, s step) (ObjectResult, *Error) {
	before := versionOf(s.live)
	adopted := len(s.migrate) > 0 || r.set.Owner.claimOn(s.live) != ours
	returned, refusal := r.attempt(ctx, &s)
	if refusal != nil && refusal.Reason == ReasonInvalid {
		returned, refusal = r.attemptAlone(ctx, &s, refusal)
	}
	switch {
	case refusal == nil:
	case refusal.Reason == ReasonImmutable && r.set.Recreate:
		return r.recreate(ctx, t, s, refusal)
	default:
		return ObjectResult{}, refusal
	}

	outcome := ObjectResult{Object: t.ref, Action: Configured}
	switch {
	case adopted:
		outcome.Action = Adopted
	case versionOf(returned) == before:
		outcome.Action = Unchanged
	}
	outcome.describe(s.change)
	if outcome.Action == Unchanged {
		outcome.Fields, outcome.More, outcome.Effect = nil, 0, diff.EffectNone
	}
	r.withHistory(t, func(h *history) { h.apply(pathsOf(s.change), r.now()) })
	r.verify(t, returned, &outcome)
	outcome.contestRewritten()
	return outcome, nil
}

// attempt applies once, after what has to come before.
func (r *run) attempt(ctx context.Context, s *step) (*unstructured.Unstructured, *Error) {
	err := r.prepare(ctx, s)
	var returned *unstructured.Unstructured
	if err == nil {
		returned, err = r.sendOver(ctx, *s, client.ForceOwnership)
	}
	if err != nil {
		return nil, failure(refOf(s.desired), err, s.change)
	}
	return returned, nil
}

// attemptAlone applies again if items of others stood in the way, and were displaced.
func (r *run) attemptAlone(ctx context.Context, s *step, refusal *Error) (*unstructured.Unstructured, *Error) {
	live, err := r.displace(ctx, s.live, refusal)
	if err != nil {
		return nil, failure(refOf(s.desired), err, nil)
	}
	if live == nil {
		return nil, refusal
	}
	s.live = live
	return r.attempt(ctx, s)
}

// prepare migrates field managers and hands spec.replicas over. Before any of that it
// makes sure that the apply will not be refused for a field that cannot be changed: an
// object that we cannot have is not to be touched.
func (r *run) prepare(ctx context.Context, s *step) error {
	if len(s.migrate) == 0 && !s.handOver || s.prepared {
		return nil
	}
	if s.change.Effect == diff.EffectRecreate {
		if _, err := r.sendOver(ctx, *s, client.ForceOwnership, client.DryRunAll); err != nil {
			return err
		}
	}
	if len(s.migrate) > 0 {
		live, err := r.migrateManagers(ctx, s.live, s.migrate)
		if err != nil {
			return err
		}
		s.live = live
	}
	if s.handOver {
		live, err := r.applyReplicas(ctx, s.live, replicasOf(s.live))
		if err != nil {
			return err
		}
		s.live = live
	}
	s.prepared = true
	return nil
}

// send applies an object, and gives it as it is then.
func (r *run) send(ctx context.Context, desired *unstructured.Unstructured, opts ...client.ApplyOption) (*unstructured.Unstructured, error) {
	return r.sendAs(ctx, r.manager, desired, opts...)
}

func (r *run) sendAs(ctx context.Context, manager string, desired *unstructured.Unstructured, opts ...client.ApplyOption) (*unstructured.Unstructured, error) {
	sent := &unstructured.Unstructured{Object: desired.Object} // the answer takes its place
	r.writes++
	err := r.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(sent), append(opts, client.FieldOwner(manager))...)
	return sent, err
}

// sendOver applies over the live object of a step and no other: the API server refuses
// another UID (422, metadata.uid) and one that is gone (409). Where values were taken
// from the live object, the version has to be the same as well.
func (r *run) sendOver(ctx context.Context, s step, opts ...client.ApplyOption) (*unstructured.Unstructured, error) {
	version := ""
	if len(r.set.Ignore) > 0 {
		version = s.live.GetResourceVersion()
	}
	return r.send(ctx, pinned(s.desired, s.live, version), opts...)
}

// pinned gives desired with the UID of live, and with a resource version if there is one.
func pinned(desired, live *unstructured.Unstructured, resourceVersion string) *unstructured.Unstructured {
	out := make(map[string]any, len(desired.Object))
	for name, v := range desired.Object {
		out[name] = v
	}
	metadata := make(map[string]any)
	if m, ok := desired.Object["metadata"].(map[string]any); ok {
		for name, v := range m {
			metadata[name] = v
		}
	}
	metadata["uid"] = string(live.GetUID())
	if resourceVersion != "" {
		metadata["resourceVersion"] = resourceVersion
	}
	out["metadata"] = metadata
	return &unstructured.Unstructured{Object: out}
}

// verify looks at what an apply returned, and remembers it as settled. Values that are
// still others than those that were applied are reported; they are not applied again as
// long as the object stays as it is.
//
// An object that had no managedFields is not settled: the API server has only now made up
// who owned what was there, and that is to be migrated.
func (r *run) verify(t target, returned *unstructured.Unstructured, outcome *ObjectResult) {
	outcome.Generation = returned.GetGeneration()
	if len(diff.Migrates(returned, r.options(r.set))) > 0 {
		return
	}
	desired := r.ignorer.Keep(t.desired, returned)
	if r.checker.Changed(desired, returned) {
		if s, err := r.step(t.ref, desired, returned); err == nil {
			outcome.Rewritten, _ = bounded(pathsOf(s.change))
		}
	}
	settled := ObjectResult{Object: t.ref, Action: Unchanged, Effect: diff.EffectNone, Rewritten: outcome.Rewritten, Generation: outcome.Generation}
	settled.contestRewritten()
	r.memory.remember(r.owner(), t.ref, versionOf(returned), t.digest, settled)
}
