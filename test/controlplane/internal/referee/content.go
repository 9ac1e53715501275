package referee

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// written is what of an object makes a write: all but its version and the times of
// managedFields.
func written(object *unstructured.Unstructured) map[string]any {
	object = object.DeepCopy()
	metadata := at(object.Object, "metadata")
	delete(metadata, "resourceVersion")
	list, _ := metadata["managedFields"].([]any)
	for _, e := range list {
		if e, ok := e.(map[string]any); ok {
			delete(e, "time")
		}
	}
	return object.Object
}

// content is what an object says, without who says it and what became of it.
func content(object *unstructured.Unstructured) map[string]any {
	object = object.DeepCopy()
	metadata := at(object.Object, "metadata")
	for _, field := range []string{"resourceVersion", "managedFields", "generation", "creationTimestamp", "uid"} {
		delete(metadata, field)
	}
	// A count of changes.
	delete(at(metadata, "annotations"), "deprecated.daemonset.template.generation")
	delete(object.Object, "status")
	out, _ := whole(object.Object).(map[string]any)
	return out
}

// whole gives a value with whole numbers for the floats that are such.
func whole(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = whole(v[name])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}

// withoutAllocated takes away what the API server has allocated in this very dry-run: the
// next one allocates something else.
func withoutAllocated(object, predicted *unstructured.Unstructured) *unstructured.Unstructured {
	if object.GetKind() != "Service" {
		return object
	}
	object = object.DeepCopy()
	spec, wanted := at(object.Object, "spec"), at(predicted.Object, "spec")
	for _, field := range []string{"clusterIP", "clusterIPs", "healthCheckNodePort", "ipFamilies", "ipFamilyPolicy"} {
		if _, ok := wanted[field]; !ok {
			delete(spec, field)
		}
	}
	ports, _ := spec["ports"].([]any)
	given, _ := wanted["ports"].([]any)
	for i, p := range ports {
		p, _ := p.(map[string]any)
		if i < len(given) {
			if w, ok := given[i].(map[string]any); ok && (w["nodePort"] == nil || whole(w["nodePort"]) == int64(0)) {
				delete(p, "nodePort")
			}
		}
	}
	return object
}
