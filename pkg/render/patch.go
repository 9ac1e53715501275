package render

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
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
	against := make(map[string]int)
	for i := range app.Spec.Patches {
		p, at := &app.Spec.Patches[i], paths.spec.Child("patches").Index(i)
		if p.Target.Kind == "" {
			errs = append(errs, field.Required(at.Child("target", "kind"), ""))
			continue
		}
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
		if app.Spec.SecurityProfile == v1alpha1.SecurityProfileRestricted {
			blame(against, i, patched)
		}
	}
	for what, i := range against {
		errs = append(errs, field.Forbidden(paths.spec.Child("patches").Index(i), "leaves "+what))
	}
	return errs
}

// blame keeps what a Deployment has against the profile Restricted, and since which
// patch. One may put right what an earlier one did.
func blame(against map[string]int, patch int, object map[string]any) {
	deployment, ok := typeOf(object).(*appsv1.Deployment)
	if !ok || strictDecode(object, deployment) != nil {
		return // applyPatch has refused what cannot be decoded
	}
	var r restricted
	r.template(deployment)
	now := make(map[string]bool, len(r.errs))
	for _, e := range r.errs {
		what := e.Field + ": " + e.Detail
		now[what] = true
		if _, before := against[what]; !before {
			against[what] = patch
		}
	}
	maps.DeleteFunc(against, func(what string, _ int) bool { return !now[what] })
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
	patched, err := applyJSON(runtime.DeepCopyJSON(object), data)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		if now := identity(patched)[name]; now != kept[name] {
			return nil, fmt.Errorf("must not change %s, from %q to %q", name, kept[name], now)
		}
	}
	typed := typeOf(patched)
	if typed == nil {
		return patched, nil
	}
	if err := strictDecode(patched, typed); err != nil {
		return nil, err
	}
	before, ok := typeOf(object).(*appsv1.Deployment)
	if ok && isMapping(data) && strictDecode(object, before) == nil {
		keepOrder(&before.Spec.Template.Spec, &typed.(*appsv1.Deployment).Spec.Template.Spec)
	}
	return normalized(typed), nil
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

// isMapping says whether JSON is a mapping: a strategic merge patch, as opposed to a
// list, which says itself where things go.
func isMapping(data []byte) bool { return len(data) > 0 && data[0] == '{' }

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

// strictDecode refuses a field that the kind does not have, and a value of the wrong
// type: the API server would.
func strictDecode(object map[string]any, typed any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	strict, err := utiljson.UnmarshalStrict(text, typed)
	return errors.Join(append(strict, err)...)
}

// normalized writes a patched object as an unpatched one is written: canonical, with
// the defaults inside lists that are replaced as a whole, and nothing empty.
func normalized(typed any) map[string]any {
	if d, ok := typed.(*appsv1.Deployment); ok {
		pod := &d.Spec.Template.Spec
		for i := range pod.Containers {
			normalizeContainer(&pod.Containers[i])
		}
		for i := range pod.InitContainers {
			normalizeContainer(&pod.InitContainers[i])
		}
		for i := range pod.Volumes {
			normalizeVolume(&pod.Volumes[i])
		}
		canonicalList(pod.Overhead)
		if pod.Resources != nil {
			canonicalList(pod.Resources.Limits)
			canonicalList(pod.Resources.Requests)
		}
	}
	object := plain(typed)
	delete(object, "status") // which the Go types write empty
	if s, ok := typed.(*corev1.Service); ok {
		ports, _, _ := unstructured.NestedSlice(object, "spec", "ports")
		for i := range s.Spec.Ports {
			if s.Spec.Ports[i].TargetPort == (intstr.IntOrString{}) {
				delete(ports[i].(map[string]any), "targetPort") // written as 0
			}
		}
		if len(ports) > 0 {
			object["spec"].(map[string]any)["ports"] = ports
		}
	}
	return object
}

// keepOrder puts what a strategic merge patch added behind what was there: the patch
// itself puts it in front, and the first container is the one that tools take when
// none is named.
func keepOrder(before, after *corev1.PodSpec) {
	byName(before.Containers, after.Containers, func(c *corev1.Container) string { return c.Name })
	byName(before.InitContainers, after.InitContainers, func(c *corev1.Container) string { return c.Name })
	byName(before.Volumes, after.Volumes, func(v *corev1.Volume) string { return v.Name })
	for i := range after.Containers {
		for j := range before.Containers {
			if after.Containers[i].Name == before.Containers[j].Name {
				byName(before.Containers[j].Env, after.Containers[i].Env, func(e *corev1.EnvVar) string { return e.Name })
			}
		}
	}
}

// byName orders a list as another one orders the same names; others come last.
func byName[T any](before, after []T, name func(*T) string) {
	place := make(map[string]int, len(before))
	for i := range before {
		place[name(&before[i])] = i
	}
	at := func(item T) int {
		if i, ok := place[name(&item)]; ok {
			return i
		}
		return len(before)
	}
	slices.SortStableFunc(after, func(a, b T) int { return cmp.Compare(at(a), at(b)) })
}
