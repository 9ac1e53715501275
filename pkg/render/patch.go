package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utiljson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"kudevops.io/appsvc/api/v1alpha1"
)

// patch applies spec.patches, in their order, to the rendered objects. What comes
// out has the identity and the labels of appsvc that went in, and no field that the
// kind does not have.
func patch(app *v1alpha1.AppService, objects []*unstructured.Unstructured) field.ErrorList {
	var errs field.ErrorList
	for i := range app.Spec.Patches {
		p, at := &app.Spec.Patches[i], paths.spec.Child("patches").Index(i)
		target := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool {
			return o.GetKind() == p.Target.Kind && (p.Target.Name == "" || o.GetName() == p.Target.Name)
		})
		if target < 0 {
			errs = append(errs, field.Invalid(at.Child("target"), strings.TrimSpace(p.Target.Kind+" "+p.Target.Name),
				"is not among what is rendered: "+strings.Join(refs(objects), ", ")))
			continue
		}
		if objects[target].GetKind() == "ConfigMap" {
			errs = append(errs, field.Forbidden(at.Child("target", "kind"), "the name of a ConfigMap is a hash of spec.files, and what is in it goes by those"))
			continue
		}
		patched, err := applyPatch(objects[target].Object, p.Patch)
		if err != nil {
			errs = append(errs, field.Invalid(at.Child("patch"), field.OmitValueType{}, err.Error()))
			continue
		}
		objects[target] = &unstructured.Unstructured{Object: patched}
	}
	return errs
}

func refs(objects []*unstructured.Unstructured) []string {
	list := make([]string, len(objects))
	for i, o := range objects {
		list[i] = o.GetKind() + " " + o.GetName()
	}
	return list
}

func applyPatch(object map[string]any, text string) (map[string]any, error) {
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return nil, err
	}
	kept := identity(object)
	patched, err := applyJSON(object, data)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		if now := identity(patched)[name]; now != kept[name] {
			return nil, fmt.Errorf("must not change %s, from %q to %q", name, kept[name], now)
		}
	}
	canonicalResources(patched)
	return patched, known(patched)
}

// identity is what appsvc finds an object again by.
func identity(object map[string]any) map[string]string {
	o := unstructured.Unstructured{Object: object}
	labels := o.GetLabels()
	return map[string]string{
		"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(),
		"metadata.name": o.GetName(), "metadata.namespace": o.GetNamespace(),
		"metadata.labels[" + v1alpha1.NameLabel + "]":      labels[v1alpha1.NameLabel],
		"metadata.labels[" + v1alpha1.InstanceLabel + "]":  labels[v1alpha1.InstanceLabel],
		"metadata.labels[" + v1alpha1.ManagedByLabel + "]": labels[v1alpha1.ManagedByLabel],
	}
}

func applyJSON(object map[string]any, data []byte) (map[string]any, error) {
	var parsed any
	if err := utiljson.UnmarshalCaseSensitivePreserveInts(data, &parsed); err != nil {
		return nil, err
	}
	switch parsed := parsed.(type) {
	case []any:
		return jsonPatch(object, data)
	case map[string]any:
		if typed := typeOf(object); typed != nil {
			return strategicpatch.StrategicMergeMapPatch(object, parsed, typed)
		}
		return mergePatch(object, data)
	}
	return nil, errors.New("must be a mapping (a strategic merge patch) or a list (a JSON 6902 patch)")
}

func jsonPatch(object map[string]any, data []byte) (map[string]any, error) {
	operations, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	// One by one: each copy can double what is there.
	for i := range operations {
		if text, err = operations[i : i+1].Apply(text); err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		if len(text) > maxPatched {
			return nil, fmt.Errorf("[%d]: leaves an object of more than %d MiB", i, maxPatched>>20)
		}
	}
	return decode(text)
}

// maxPatched is the size, in bytes, over which an object that a patch makes is
// refused. etcd takes about 1.5 MiB.
const maxPatched = 2 << 20

// mergePatch is for custom resources, whose lists nobody knows keys of.
func mergePatch(object map[string]any, data []byte) (map[string]any, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if text, err = jsonpatch.MergePatch(text, data); err != nil {
		return nil, err
	}
	return decode(text)
}

func decode(text []byte) (map[string]any, error) {
	var object map[string]any
	if err := utiljson.UnmarshalCaseSensitivePreserveInts(text, &object); err != nil {
		return nil, err
	}
	if object == nil {
		return nil, errors.New("must leave an object")
	}
	return object, nil
}

// typeOf is a new value of the Go type of an object, or nil for a custom resource.
func typeOf(object map[string]any) any {
	o := unstructured.Unstructured{Object: object}
	for _, c := range children {
		if c.gvk == o.GroupVersionKind() && c.typed != nil {
			return c.typed()
		}
	}
	return nil
}

// known refuses a field that the kind does not have, and a value of the wrong type:
// the API server would.
func known(object map[string]any) error {
	typed := typeOf(object)
	if typed == nil {
		return nil
	}
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	strict, err := utiljson.UnmarshalStrict(text, typed)
	return errors.Join(append(strict, err)...)
}

// canonicalResources spells what a patch says of resources as the API server stores
// it.
func canonicalResources(v any) {
	switch v := v.(type) {
	case []any:
		for _, child := range v {
			canonicalResources(child)
		}
	case map[string]any:
		if resources, ok := v["resources"].(map[string]any); ok {
			for _, side := range []string{"limits", "requests"} {
				amounts, _ := resources[side].(map[string]any)
				for name, amount := range amounts {
					if q, err := resource.ParseQuantity(fmt.Sprint(amount)); err == nil {
						q.RoundUp(resource.Milli)
						amounts[name] = canonical(q)
					}
				}
			}
		}
		for _, child := range v {
			canonicalResources(child)
		}
	}
}
