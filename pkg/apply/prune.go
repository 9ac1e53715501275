package apply

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/diff"
)

// prune deletes what the owner has and no longer wants. What the cache lists is read
// again, live, before it is deleted.
func (r *run) prune(ctx context.Context, desired []*unstructured.Unstructured) ([]ObjectResult, Errors) {
	wanted := identities(desired)
	var out []ObjectResult
	var errs Errors
	for _, gvk := range r.set.Kinds {
		list := newList(r.client.Scheme(), gvk)
		found, err := listOwned(ctx, r.client, list, gvk, r.set, r.ownerIndex)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, ref := range found {
			if wanted[identityOf(ref)] {
				continue
			}
			outcome, gone := r.pruneObject(ctx, gvk, ref)
			if gone {
				continue
			}
			out = append(out, outcome)
			if outcome.Err != nil {
				errs = append(errs, outcome.Err)
			}
		}
	}
	return out, errs
}

func identities(objects []*unstructured.Unstructured) map[identity]bool {
	out := make(map[identity]bool, len(objects))
	for _, object := range objects {
		out[identityOf(refOf(object))] = true
	}
	return out
}

// pruneObject deletes one object, if it still is what it was listed as, and reports
// whether there is none.
func (r *run) pruneObject(ctx context.Context, gvk schema.GroupVersionKind, ref diff.ObjectRef) (ObjectResult, bool) {
	live, err := r.get(ctx, ref)
	switch {
	case err != nil:
		return failed(err), false
	case live == nil || !prunable(live, r.set):
		return ObjectResult{}, true
	}
	outcome := ObjectResult{Object: ref, Action: Kept, Effect: diff.EffectNone}
	if outcome.Note, err = keptBecause(ctx, r.live, gvk, live, r.set); err != nil {
		return failed(err), false
	}
	if outcome.Note != "" {
		return outcome, false
	}
	if err := r.delete(ctx, live); err != nil {
		return failed(failure(ref, err, nil)), false
	}
	r.memory.drop(r.owner(), ref)
	outcome.Action = Pruned
	return outcome, false
}

// prunable reports whether an object is the owner's to delete, by label and by UID: a
// name guessed, or one of the two alone, has deleted other people's objects.
func prunable(object metav1.Object, set *Set) bool {
	return object.GetLabels()[v1alpha1.ManagedByLabel] == v1alpha1.ManagedBy &&
		set.Owner.claimOn(object) == ours && object.GetDeletionTimestamp() == nil
}

// keptBecause says why an object that is no longer desired stays; empty when it does not.
func keptBecause(ctx context.Context, reader client.Reader, gvk schema.GroupVersionKind, object *unstructured.Unstructured, set *Set) (string, *Error) {
	if object.GetAnnotations()[v1alpha1.PruneAnnotation] == pruneDisabled {
		return fmt.Sprintf("its annotation %s is %q", v1alpha1.PruneAnnotation, pruneDisabled), nil
	}
	if !slices.Contains(set.ContentHashed, gvk) {
		return "", nil
	}
	if len(set.Selector) == 0 {
		return "ReplicaSets that may need it are not known", nil
	}
	return neededBy(ctx, reader, object, set)
}

// pruneDisabled is the value of v1alpha1.PruneAnnotation that keeps an object.
const pruneDisabled = "disabled"

// neededBy finds a ReplicaSet that refers to an object, also one that is scaled down: a
// roll-back starts it again.
func neededBy(ctx context.Context, reader client.Reader, object *unstructured.Unstructured, set *Set) (string, *Error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSetList"})
	if err := reader.List(ctx, list, client.InNamespace(set.Owner.Namespace), client.MatchingLabels(set.Selector)); err != nil {
		return "", failure(diff.ObjectRef{APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: set.Owner.Namespace, Name: "*"}, err, nil)
	}
	for i := range list.Items {
		template, _, err := unstructured.NestedMap(list.Items[i].Object, "spec", "template", "spec")
		if err == nil && mentions(template, object.GetName()) {
			return "a ReplicaSet of an earlier revision needs it", nil
		}
	}
	return "", nil
}

// mentions reports whether a name stands anywhere in a value: rather too often than too
// seldom.
func mentions(v any, name string) bool {
	switch v := v.(type) {
	case string:
		return v == name
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return mentions(item, name) })
	case map[string]any:
		for _, item := range v {
			if mentions(item, name) {
				return true
			}
		}
	}
	return false
}

// listOwned names the objects of a kind that the owner has and could prune, by name.
func listOwned(ctx context.Context, reader client.Reader, list client.ObjectList, gvk schema.GroupVersionKind, set *Set, index string) ([]diff.ObjectRef, *Error) {
	opts := []client.ListOption{
		client.InNamespace(set.Owner.Namespace),
		client.MatchingLabels{v1alpha1.ManagedByLabel: v1alpha1.ManagedBy},
		client.UnsafeDisableDeepCopy, // it is only looked at
	}
	if index != "" {
		opts = append(opts, client.MatchingFields{index: string(set.Owner.UID)})
	}
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	if err := reader.List(ctx, list, opts...); err != nil {
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			return nil, nil // not served: there is nothing of it
		}
		return nil, failure(diff.ObjectRef{APIVersion: apiVersion, Kind: kind, Namespace: set.Owner.Namespace, Name: "*"}, err, nil)
	}
	var refs []diff.ObjectRef
	err := meta.EachListItem(list, func(item runtime.Object) error {
		object, err := meta.Accessor(item)
		if err == nil && prunable(object, set) {
			refs = append(refs, diff.ObjectRef{APIVersion: apiVersion, Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()})
		}
		return err
	})
	if err != nil {
		return nil, failure(diff.ObjectRef{APIVersion: apiVersion, Kind: kind, Namespace: set.Owner.Namespace, Name: "*"}, err, nil)
	}
	slices.SortFunc(refs, func(a, b diff.ObjectRef) int { return cmp.Compare(a.Name, b.Name) })
	return refs, nil
}

// newList gives a typed list where the scheme knows the kind.
func newList(scheme *runtime.Scheme, gvk schema.GroupVersionKind) client.ObjectList {
	gvk.Kind += "List"
	if typed, err := scheme.New(gvk); err == nil {
		if list, ok := typed.(client.ObjectList); ok {
			return list
		}
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	return list
}
