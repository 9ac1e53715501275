package apply

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kudevops.io/appsvc/pkg/diff"
)

// fromCache says what there is to do as far as the cache can tell: nothing. In any doubt
// it is not known.
func (r *run) fromCache(ctx context.Context, t target) (ObjectResult, bool) {
	cached := newObject(r.client.Scheme(), t.desired.GroupVersionKind())
	// It is only read, and converted to a copy.
	err := r.client.Get(ctx, types.NamespacedName{Namespace: t.ref.Namespace, Name: t.ref.Name}, cached, client.UnsafeDisableDeepCopy)
	switch {
	case err != nil:
		// Not there, or of a kind that is not in the cache: the API server knows.
		return ObjectResult{}, false
	case r.set.Owner.claimOn(cached) != ours || cached.GetDeletionTimestamp() != nil:
		return ObjectResult{}, false
	}
	seen := versionOf(cached)
	if verdict, ok := r.memory.verdict(r.owner(), t.ref, seen, t.digest); ok {
		return verdict, true
	}
	live, err := toUnstructured(cached, t.desired.GroupVersionKind())
	if err != nil {
		return ObjectResult{}, false // the live one will do
	}
	desired := r.ignorer.Keep(t.desired, live)
	if r.checker.Changed(desired, live) {
		return r.stillContested(t, desired, live)
	}
	return r.unchanged(t, cached), true
}

// unchanged notes that a live object is as desired.
func (r *run) unchanged(t target, live client.Object) ObjectResult {
	outcome := ObjectResult{Object: t.ref, Action: Unchanged, Effect: diff.EffectNone, Generation: live.GetGeneration()}
	r.withHistory(t, (*history).settle)
	r.memory.remember(r.owner(), t.ref, versionOf(live), t.digest, outcome)
	return outcome
}

// newObject gives a typed object where the scheme knows the kind: caches hold those in
// a third of the memory.
func newObject(scheme *runtime.Scheme, gvk schema.GroupVersionKind) client.Object {
	if typed, err := scheme.New(gvk); err == nil {
		if object, ok := typed.(client.Object); ok {
			return object
		}
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(gvk)
	return object
}

// toUnstructured gives an object as plain JSON values. The empty values that typed objects
// write where there is none make no difference in a live object.
func toUnstructured(object client.Object, gvk schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	if u, ok := object.(*unstructured.Unstructured); ok {
		return u, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gvk) // an object out of a cache does not say
	return u, nil
}

func versionOf(object client.Object) version {
	return version{uid: object.GetUID(), resourceVersion: object.GetResourceVersion()}
}

// get reads an object past any cache. It gives nil when there is none.
func (r *run) get(ctx context.Context, ref diff.ObjectRef) (*unstructured.Unstructured, *Error) {
	return getLive(ctx, r.live, ref)
}

func getLive(ctx context.Context, reader client.Reader, ref diff.ObjectRef) (*unstructured.Unstructured, *Error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	err := reader.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, live)
	switch {
	case apierrors.IsNotFound(err) && !notServedErr(err):
		return nil, nil
	case err != nil:
		return nil, failure(ref, err, nil)
	}
	return live, nil
}

// notServedErr reports whether it is the kind that was not found.
func notServedErr(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && notServed(status.Status())
}
