package apply

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/diff"
)

// Owner is what the objects belong to, and are deleted with.
type Owner struct {
	APIVersion, Kind, Namespace, Name string
	// UID is empty for an owner that is not in the cluster yet: see [Read].
	UID types.UID
}

// OwnerOf gives an AppService as an owner.
func OwnerOf(app *v1alpha1.AppService) Owner {
	return Owner{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "AppService",
		Namespace: app.Namespace, Name: app.Name, UID: app.UID,
	}
}

func (o Owner) key() types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
}

// reference is the ownerReference that every object has. The garbage collector deletes
// objects by it, before the owner when that is deleted in the foreground.
func (o Owner) reference() map[string]any {
	return map[string]any{
		"apiVersion": o.APIVersion, "kind": o.Kind, "name": o.Name, "uid": string(o.UID),
		"controller": true, "blockOwnerDeletion": true,
	}
}

// owned gives desired in the owner's namespace and with its reference, in a copy that
// shares all else. What patches may have written into ownerReferences stays.
func (o Owner) owned(desired *unstructured.Unstructured) *unstructured.Unstructured {
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
	metadata["namespace"] = o.Namespace
	if o.UID != "" {
		references, _ := metadata["ownerReferences"].([]any)
		metadata["ownerReferences"] = append(references[:len(references):len(references)], o.reference())
	}
	out["metadata"] = metadata
	return &unstructured.Unstructured{Object: out}
}

// claim says whose an object is.
type claim int

const (
	// unclaimed has no controller.
	unclaimed claim = iota
	// ours is controlled by the owner.
	ours
	// predecessors is controlled by an owner of the same name that is gone: the garbage
	// collector will delete it.
	predecessors
	// others is controlled by somebody else.
	others
)

// claimOn judges by UID: names are used again.
func (o Owner) claimOn(object metav1.Object) claim {
	controller := metav1.GetControllerOfNoCopy(object)
	switch {
	case controller == nil:
		return unclaimed
	case controller.UID == o.UID:
		return ours
	case controller.Kind == o.Kind && controller.Name == o.Name && groupOf(controller.APIVersion) == groupOf(o.APIVersion):
		return predecessors
	}
	return others
}

func groupOf(apiVersion string) string {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return apiVersion
	}
	return gv.Group
}

// refOf names an object.
func refOf(object *unstructured.Unstructured) diff.ObjectRef {
	return diff.ObjectRef{APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}
}

// identity is what makes two objects the same, whatever the version of their API.
type identity struct{ group, kind, namespace, name string }

func identityOf(ref diff.ObjectRef) identity {
	return identity{group: ref.Group(), kind: ref.Kind, namespace: ref.Namespace, name: ref.Name}
}
