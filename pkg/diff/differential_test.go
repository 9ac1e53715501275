package diff

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"kudevops.io/appsvc/internal/diffcases"
)

// ownedBy gives what a field manager owns that applies an object, by the library that the
// API server uses: its leaves, without what is never owned.
func ownedBy(t *testing.T, object *unstructured.Unstructured) []fieldpath.Path {
	t.Helper()
	value, err := applyconfigurations.NewTypeConverter(scheme.Scheme).ObjectToTyped(object, typed.AllowDuplicates)
	if err != nil {
		t.Fatal(err)
	}
	set, err := value.ToFieldSet()
	if err != nil {
		t.Fatal(err)
	}
	var out []fieldpath.Path
	set.Leaves().Iterate(func(p fieldpath.Path) {
		head := *p[0].FieldName
		if head != "apiVersion" && head != "kind" && !(head == "metadata" && serverKept(*p[1].FieldName)) {
			out = append(out, p.Copy())
		}
	})
	return out
}

// asOurs gives a path of structured-merge-diff as this package writes it.
func asOurs(t *testing.T, path fieldpath.Path) Path {
	t.Helper()
	var out Path
	for _, e := range path {
		switch {
		case e.FieldName != nil:
			out = out.field(*e.FieldName)
		case e.Key != nil:
			var step PathElement
			for _, k := range *e.Key {
				step.Key = append(step.Key, KeyValue{Name: k.Name, Value: k.Value.Unstructured()})
			}
			slices.SortFunc(step.Key, func(a, b KeyValue) int { return strings.Compare(a.Name, b.Name) })
			out = out.with(step)
		case e.Value != nil:
			out = out.with(PathElement{Value: (*e.Value).Unstructured()})
		case e.Index != nil:
			out = out.with(PathElement{Index: *e.Index})
		}
	}
	return out
}

// knownKinds gives the second objects of the cases, of kinds that client-go knows and
// that are accepted.
func knownKinds(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	cases, err := diffcases.All()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*unstructured.Unstructured{"typical": parse(t, typicalDeployment)}
	for _, c := range cases {
		_, to, err := c.Objects("shop")
		if err != nil {
			t.Fatal(err)
		}
		if c.Fault == "" && c.Refused == "" && typeOf(to.GetAPIVersion(), to.GetKind()).name != "" {
			out[strings.TrimSpace(c.ID+" "+c.Name)] = to
		}
	}
	return out
}

// TestOwnershipIsThatOfTheServer: what this package takes for ours is what the library of
// the API server notes in managedFields: with that entry nothing is left to do; without
// it, everything is adopted, field by field; and each field that is missing from it makes
// a write necessary, and is the one that is adopted.
func TestOwnershipIsThatOfTheServer(t *testing.T) {
	t.Parallel()
	for name, desired := range knownKinds(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			desired := &unstructured.Unstructured{Object: folded(desired.Object)}
			live := applied(t, "ours", desired)
			if NewChecker("ours").Changed(desired, live) {
				t.Errorf("Changed says true of what was just applied:\n%v", live.GetManagedFields())
			}
			leaves := ownedBy(t, desired)

			bare := live.DeepCopy()
			bare.SetManagedFields(nil)
			if !NewChecker("ours").Changed(desired, bare) && len(leaves) > 0 {
				t.Error("Changed says false although nothing is ours")
			}
			all := adoptedOf(t, bare, desired)
			for _, leaf := range leaves {
				path := asOurs(t, leaf)
				if !present(live.Object, path) {
					continue // an empty value, which is not stored
				}
				if !slices.ContainsFunc(all, func(p Path) bool { return path.under(p) }) {
					t.Errorf("%s is not adopted where nothing is ours: %v", path, all)
				}
			}
			for _, leaf := range leaves {
				path := asOurs(t, leaf)
				lacking := live.DeepCopy()
				if !disown(t, lacking, leaf) || !present(live.Object, path) {
					continue
				}
				if !NewChecker("ours").Changed(desired, lacking) {
					t.Errorf("Changed says false although %s is not ours", path)
				}
				if got := adoptedOf(t, lacking, desired); len(got) == 0 || !path.under(got[0]) && !got[0].under(path) {
					t.Errorf("where %s alone is not ours, %v is adopted", path, got)
				}
			}
		})
	}
}

func present(object map[string]any, path Path) bool {
	v, ok := lookup(object, path)
	return ok && v != nil
}

// adoptedOf gives the paths that an apply would adopt.
func adoptedOf(t *testing.T, live, desired *unstructured.Unstructured) []Path {
	t.Helper()
	set, err := Diff([]*unstructured.Unstructured{live}, []*unstructured.Unstructured{desired}, Options{Manager: "ours"})
	if err != nil {
		t.Fatal(err)
	}
	var out []Path
	for _, f := range set.Objects[0].Adopted {
		out = append(out, f.Path)
	}
	return out
}

// disown takes a field away from our entry in managedFields, with what is empty without
// it, and reports whether it was there.
func disown(t *testing.T, live *unstructured.Unstructured, path fieldpath.Path) bool {
	t.Helper()
	list, _, _ := unstructured.NestedFieldNoCopy(live.Object, "metadata", "managedFields")
	entries, _ := list.([]any)
	entry, _ := entries[0].(map[string]any)
	owned, _ := entry["fieldsV1"].(map[string]any)
	return takeOut(t, owned, path)
}

func takeOut(t *testing.T, owned fieldSet, path fieldpath.Path) bool {
	t.Helper()
	key, err := fieldpath.SerializePathElement(path[0])
	if err != nil {
		t.Fatal(err)
	}
	below, ok := owned[key].(map[string]any)
	if !ok {
		return false
	}
	if len(path) > 1 && !takeOut(t, below, path[1:]) {
		return false
	}
	if len(path) == 1 || len(below) == 0 {
		delete(owned, key)
	}
	return true
}
