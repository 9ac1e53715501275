package render

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// put sets a list, unless it is empty: an empty list is never meant.
func put(m map[string]any, key string, list []any) {
	if len(list) > 0 {
		m[key] = list
	}
}

// putMap sets a mapping, unless it is empty.
func putMap(m map[string]any, key string, value map[string]any) {
	if len(value) > 0 {
		m[key] = value
	}
}

// putString sets a string, unless it is empty.
func putString[T ~string](m map[string]any, key string, value T) {
	if value != "" {
		m[key] = string(value)
	}
}

// putPointer sets a string that may be absent.
func putPointer[T ~string](m map[string]any, key string, value *T) {
	if value != nil {
		putString(m, key, *value)
	}
}

// intOrString gives a number or a string, never the number 0 for a string.
func intOrString(v intstr.IntOrString) any {
	if v.Type == intstr.String {
		return v.StrVal
	}
	return int64(v.IntVal)
}

func stringMap(src map[string]string) map[string]any {
	dst := make(map[string]any, len(src))
	overlay(dst, src)
	return dst
}

func stringList(src []string) []any {
	dst := make([]any, len(src))
	for i, s := range src {
		dst[i] = s
	}
	return dst
}

func env(vars []corev1.EnvVar) []any {
	list := make([]any, len(vars))
	for i := range vars {
		m := map[string]any{"name": vars[i].Name}
		// An empty value is what no value means: the server drops it.
		if vars[i].Value != "" {
			m["value"] = vars[i].Value
		}
		if vars[i].ValueFrom != nil {
			m["valueFrom"] = envSource(vars[i].ValueFrom)
		}
		list[i] = m
	}
	return list
}

func envSource(src *corev1.EnvVarSource) map[string]any {
	src = src.DeepCopy()
	normalizeFieldRefs(src.FieldRef, src.ResourceFieldRef)
	return plain(src)
}

func envFrom(sources []corev1.EnvFromSource) []any {
	list := make([]any, len(sources))
	for i := range sources {
		list[i] = plain(&sources[i])
	}
	return list
}

func resources(r *corev1.ResourceRequirements) map[string]any {
	m := make(map[string]any, 2)
	if len(r.Limits) > 0 {
		m["limits"] = quantities(r.Limits)
	}
	if len(r.Requests) > 0 {
		m["requests"] = quantities(r.Requests)
	}
	return m
}

// quantities writes amounts as the API server stores them: canonical, and rounded
// up to a thousandth (SetDefaults_ResourceList in k8s.io/kubernetes
// pkg/apis/core/v1/defaults.go).
func quantities(list corev1.ResourceList) map[string]any {
	m := make(map[string]any, len(list))
	for name, q := range list {
		q = q.DeepCopy()
		q.RoundUp(resource.Milli)
		m[string(name)] = canonical(q)
	}
	return m
}

// canonical spells a quantity the one way that the API server answers with.
// Quantity.String does not: it repeats what was parsed, 1000 for 1k.
func canonical(q resource.Quantity) string {
	number, suffix := q.CanonicalizeBytes(make([]byte, 0, 24))
	return string(number) + string(suffix)
}
