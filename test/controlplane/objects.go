package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
)

// fieldManager is the field manager of what the cluster itself applies.
const fieldManager = "controlplane"

// ReadObjects reads objects from YAML documents, such as `kubectl kustomize`
// prints, or JSON. They are *unstructured.Unstructured.
func ReadObjects(r io.Reader) ([]runtime.Object, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(r, 4096)
	var objects []runtime.Object
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, fmt.Errorf("read object %d: %w", len(objects)+1, err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// Apply makes objects be as given, by server-side apply as admin. Typed objects of
// Kubernetes' own kinds need no apiVersion and kind.
func (c *Cluster) Apply(ctx context.Context, objects ...runtime.Object) error {
	for _, object := range objects {
		u, err := toUnstructured(object)
		if err != nil {
			return err
		}
		client, err := c.clientFor(u)
		if err != nil {
			return err
		}
		if _, err := client.Apply(ctx, u.GetName(), u, metav1.ApplyOptions{FieldManager: fieldManager, Force: true}); err != nil {
			return fmt.Errorf("apply %s %s/%s: %w", u.GetKind(), u.GetNamespace(), u.GetName(), err)
		}
	}
	return nil
}

// toUnstructured returns object with its apiVersion and kind and without what only
// the server says.
func toUnstructured(object runtime.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("convert %T: %w", object, err)
	}
	u := &unstructured.Unstructured{Object: content}
	if u.GetKind() == "" {
		kinds, _, err := scheme.Scheme.ObjectKinds(object)
		if err != nil {
			return nil, err
		}
		u.SetGroupVersionKind(kinds[0])
	}
	u.SetManagedFields(nil)
	return u, nil
}

// clientFor is the client for the kind and namespace of an object.
func (c *Cluster) clientFor(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	client := c.dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return client.Namespace(object.GetNamespace()), nil
	}
	return client, nil
}
