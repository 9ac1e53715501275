package apply

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kudevops.io/appsvc/pkg/diff"
)

// migrateManagers makes the fields that others wrote ours, in one write, which names the
// resource version: a conflict means that live is old. What is not desired of them goes
// with the apply that follows. Not to do so leaves them for ever
// (kubernetes/kubernetes#99003).
func (r *run) migrateManagers(ctx context.Context, live *unstructured.Unstructured, managers []string) (*unstructured.Unstructured, error) {
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, sets.New(managers...), r.manager)
	if err != nil || patch == nil {
		return live, err
	}
	returned := live.DeepCopy()
	r.writes++
	err = r.client.Patch(ctx, returned, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(r.manager))
	return returned, err
}

// replicasPath is where the built-in kinds have the number that the scale subresource
// sets.
func replicasPath() diff.Path { return diff.Path{{Field: "spec"}, {Field: "replicas"}} }

// handsOver reports whether spec.replicas has to be handed over: it is there, nobody but
// us owns it, and it is no longer desired. To just leave it out would let the API server
// put its default, 1, in its place; and a scaler that had set the same number does not
// own it.
func handsOver(desired, live *unstructured.Unstructured, opts diff.Options) bool {
	if _, wanted := replicasIn(desired); wanted {
		return false
	}
	if _, there := replicasIn(live); !there {
		return false
	}
	own, others := diff.Owners(live, replicasPath(), opts)
	return own && len(others) == 0
}

func replicasIn(object *unstructured.Unstructured) (int64, bool) {
	n, ok, err := unstructured.NestedInt64(object.Object, "spec", "replicas")
	return n, ok && err == nil
}

func replicasOf(object *unstructured.Unstructured) int64 {
	n, _ := replicasIn(object)
	return n
}

// applyReplicas sets spec.replicas in the name of ReplicasManager. Naming the version
// keeps it from putting back a number that a scaler has changed meanwhile; naming the UID
// from making an object out of nothing else.
func (r *run) applyReplicas(ctx context.Context, live *unstructured.Unstructured, replicas int64) (*unstructured.Unstructured, error) {
	return r.sendAs(ctx, ReplicasManager, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": live.GetAPIVersion(),
		"kind":       live.GetKind(),
		"metadata": map[string]any{
			"name": live.GetName(), "namespace": live.GetNamespace(),
			"uid": string(live.GetUID()), "resourceVersion": live.GetResourceVersion(),
		},
		"spec": map[string]any{"replicas": replicas},
	}})
}

// handedOver gives a live object as it is after spec.replicas was handed over, in a copy.
func handedOver(live *unstructured.Unstructured) *unstructured.Unstructured {
	out := live.DeepCopy()
	entries, _, err := unstructured.NestedSlice(out.Object, "metadata", "managedFields")
	if err != nil {
		return out
	}
	entries = append(entries, map[string]any{
		"manager": ReplicasManager, "operation": "Apply", "apiVersion": live.GetAPIVersion(), "fieldsType": "FieldsV1",
		"fieldsV1": map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}},
	})
	if err := unstructured.SetNestedSlice(out.Object, entries, "metadata", "managedFields"); err != nil {
		return live
	}
	return out
}
