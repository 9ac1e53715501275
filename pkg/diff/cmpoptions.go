package diff

import (
	"maps"
	gotime "time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// CmpOptions make go-cmp compare Kubernetes objects as Diff compares two trees: quantities
// by amount, defaults filled in on both sides, empty values that nobody stores as none,
// stringData as data; status and what the API server writes into metadata are left out.
// They apply to *unstructured.Unstructured, and to a map[string]any that has an apiVersion
// and a kind, wherever in a value these stand.
//
//	if d := cmp.Diff(want, got, diff.CmpOptions()); d != "" {
//		t.Errorf("rendered objects differ (-want +got):\n%s", d)
//	}
//
// Invariant: cmp.Equal(a, b, CmpOptions()) is true when, and only when, Diff finds a and b
// unchanged.
//
// For tests: what go-cmp prints differs from run to run, and shows the values of Secrets.
func CmpOptions() cmp.Option {
	return cmp.Options{
		cmp.Transformer("diff.Object", func(u *unstructured.Unstructured) normal {
			if u == nil {
				return nil
			}
			return normalize(u.Object)
		}),
		cmp.FilterValues(func(a, b map[string]any) bool { return isObject(a) && isObject(b) },
			cmp.Transformer("diff.Object", normalize)),
	}
}

// normal is an object of which equal ones are the same. It has a type of its own, so that
// it is not taken for one that has yet to be transformed.
type normal map[string]any

func isObject(m map[string]any) bool { return kindOf(m) != "" && apiVersionOf(m) != "" }

func normalize(object map[string]any) normal {
	ref := refOf(object, "")
	t := typeOf(ref.APIVersion, ref.Kind)
	filled := newDefaulter().fill(shown(folded(object), ref), t)
	out, _ := canonical(filled, t).(map[string]any)
	// As identity has it: a kind is the same one in the group that it has moved to.
	return normal(out)
}

// canonical gives a value in the one form that all equal ones have.
func canonical(v any, t *typeInfo) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, below := range v {
			typ, dropped := t.at(name)
			if !isNone(below, dropped) {
				out[name] = canonical(below, typ)
			}
		}
		maps.DeleteFunc(out, func(name string, below any) bool {
			_, dropped := t.at(name)
			return isNone(below, dropped)
		})
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = canonical(v[i], t.item())
		}
		return out
	}
	switch t.shape {
	case shapeQuantity:
		if q, ok := asQuantity(v); ok {
			return q.AsDec().String()
		}
	case shapeTime:
		if s, ok := v.(string); ok {
			if instant, err := gotime.Parse(gotime.RFC3339, s); err == nil {
				return instant.UTC().Format(gotime.RFC3339Nano)
			}
		}
	}
	if i, ok := asInt(v); ok {
		return i
	}
	return v
}
