package diff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
)

// TestLaws edits an object at random and holds the laws of the package comment.
func TestLaws(t *testing.T) {
	t.Parallel()
	base := parse(t, typicalDeployment)
	rapid.Check(t, func(t *rapid.T) {
		a := edited(t, base.Object, "a")
		b := edited(t, base.Object, "b")
		keepA, keepB := runtime.DeepCopyJSON(a), runtime.DeepCopyJSON(b)

		there := only(t, a, b)
		back := only(t, b, a)
		if there.Changed() != back.Changed() {
			t.Fatalf("there %v, back %v", there.Fields, back.Fields)
		}
		if same := only(t, a, a); same.Changed() {
			t.Fatalf("an object differs from itself: %v", same.Fields)
		}
		if got := cmp.Equal(a, b, CmpOptions()); got == there.Changed() {
			t.Fatalf("go-cmp with CmpOptions says equal: %v\nchanges: %v\n%s", got, there.Fields, cmp.Diff(a, b, CmpOptions()))
		}
		if d := cmp.Diff(keepA, a) + cmp.Diff(keepB, b); d != "" {
			t.Fatalf("the input was changed:\n%s", d)
		}
		result := withDefaults(a)
		applyChanges(t, result, there.Fields)
		for _, left := range only(t, result, b).Fields {
			if _, written := lookup(a, left.Path); left.Op != Remove || written {
				t.Fatalf("applying %v leaves %v", there.Fields, left)
			}
		}
	})
}

// withDefaults gives an object as a cluster would hold it.
func withDefaults(object map[string]any) map[string]any {
	filled, _ := newDefaulter().fill(runtime.DeepCopyJSON(object), typeOf(apiVersionOf(object), kindOf(object))).(map[string]any)
	return runtime.DeepCopyJSON(filled)
}

func only(t *rapid.T, a, b map[string]any) ObjectChange {
	set, err := Diff([]*unstructured.Unstructured{{Object: a}}, []*unstructured.Unstructured{{Object: b}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Objects) != 1 {
		t.Fatalf("%d objects: %v %v", len(set.Objects), set.Objects[0].Object, set.Objects[1].Object)
	}
	return set.Objects[0]
}

// edited gives a copy of an object with a few changes that leave it valid.
func edited(t *rapid.T, object map[string]any, label string) map[string]any {
	out := runtime.DeepCopyJSON(object)
	for i := range rapid.IntRange(0, 4).Draw(t, label+" edits") {
		edit(t, out, nil, fmt.Sprint(label, i))
	}
	return out
}

// edit walks down to a random place and changes what is there.
func edit(t *rapid.T, at any, path []string, label string) {
	switch v := at.(type) {
	case map[string]any:
		names := slices.DeleteFunc(fieldNames(v, nil), func(name string) bool {
			return len(path) == 0 && (name == "kind" || name == "apiVersion") || len(path) == 1 && (name == "name" || name == "namespace")
		})
		if len(names) == 0 {
			return
		}
		name := rapid.SampledFrom(names).Draw(t, label+" field")
		below := v[name]
		if rapid.IntRange(0, 9).Draw(t, label+" stop") == 0 && name != "metadata" && name != "spec" {
			delete(v, name)
			return
		}
		switch below.(type) {
		case map[string]any, []any:
			edit(t, below, append(path, name), label)
		default:
			v[name] = otherValue(t, below, label)
		}
	case []any:
		if len(v) == 0 {
			return
		}
		i := rapid.IntRange(0, len(v)-1).Draw(t, label+" item")
		j := rapid.IntRange(0, len(v)-1).Draw(t, label+" other item")
		if rapid.Bool().Draw(t, label+" swap") {
			v[i], v[j] = v[j], v[i]
			return
		}
		if m, ok := v[i].(map[string]any); ok {
			edit(t, m, append(path, "[]"), label)
			return
		}
		v[i] = otherValue(t, v[i], label)
	}
}

// otherValue gives a value of the same type, which may mean the same.
func otherValue(t *rapid.T, v any, label string) any {
	switch v := v.(type) {
	case string:
		return rapid.SampledFrom([]string{v, "", "100m", "0.1", "1Gi", "1024Mi", "25%", "other", "TCP", "IfNotPresent"}).Draw(t, label+" text")
	case int64:
		return rapid.SampledFrom([]any{v, float64(v), v + 1, int64(0)}).Draw(t, label+" number")
	case bool:
		return !v
	}
	return v
}

// applyChanges does to an object what the changes say.
func applyChanges(t *rapid.T, object map[string]any, changes []FieldChange) {
	// What goes first leaves the places of what comes.
	for _, c := range slices.Backward(changes) {
		if c.Op == Remove {
			parent, ok := lookup(object, c.Path[:len(c.Path)-1])
			if !ok {
				continue // its holder was a default only
			}
			setAt(t, object, c.Path[:len(c.Path)-1], without(parent, c.Path[len(c.Path)-1]))
		}
	}
	for _, c := range changes {
		switch c.Op {
		case Rename:
			list, _ := lookup(object, c.Path[:len(c.Path)-1])
			for _, item := range list.([]any) {
				if m := item.(map[string]any); m["name"] == c.Before {
					m["name"] = c.After
				}
			}
		case Reorder:
			list, _ := lookup(object, c.Path)
			setAt(t, object, c.Path, reordered(list.([]any), c.After.([]any)))
		}
	}
	for _, c := range changes {
		if c.Op == Add || c.Op == Replace {
			setAt(t, object, c.Path, runtime.DeepCopyJSONValue(c.After))
		}
	}
}

func without(parent any, e PathElement) any {
	switch p := parent.(type) {
	case map[string]any:
		delete(p, e.Field)
		return p
	case []any:
		return slices.DeleteFunc(p, e.matches)
	}
	return parent
}

// reordered gives items the order of the keys, which leave out what is new.
func reordered(items, order []any) []any {
	out := make([]any, 0, len(items))
	for _, key := range order {
		if m, ok := key.(map[string]any); ok {
			out = append(out, m)
			continue
		}
		for _, item := range items {
			m, ok := item.(map[string]any)
			if !ok {
				if item == key {
					out = append(out, item)
					break
				}
				continue
			}
			if m["name"] == key || m["mountPath"] == key || strings.HasPrefix(fmt.Sprint(key), fmt.Sprint(m["containerPort"], "/")) {
				out = append(out, item)
			}
		}
	}
	return out
}

func setAt(t *rapid.T, object map[string]any, path Path, v any) {
	var at any = object
	for i, e := range path {
		last := i == len(path)-1
		switch p := at.(type) {
		case map[string]any:
			if last {
				p[e.Field] = v
				return
			}
			if p[e.Field] == nil {
				p[e.Field] = map[string]any{}
			}
			at = p[e.Field]
		case []any:
			below, ok := e.step(p)
			if !ok && last {
				setAt(t, object, path[:i], slices.Insert(p, min(e.Index, len(p)), v))
				return
			}
			if last {
				p[slices.IndexFunc(p, func(item any) bool { return cmp.Equal(item, below) })] = v
				return
			}
			at = below
		default:
			t.Fatalf("no place for %v", path)
		}
	}
}
