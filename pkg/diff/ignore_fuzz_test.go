package diff

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// FuzzIgnore reads any rules, and applies them to any objects. It demands that
//
//   - rules that are taken are taken by NewIgnorer too, and their paths read back as they
//     are written;
//   - neither object is changed;
//   - of two trees, to becomes from where nothing but ignored fields differ, so that
//     applying the rules again to the result finds nothing;
//   - with a cluster, what is kept is kept again.
func FuzzIgnore(f *testing.F) {
	files, err := filepath.Glob("testdata/ignore/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no rules to begin with: %v", err)
	}
	live := "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  managedFields:\n  - {manager: us, operation: Apply, apiVersion: apps/v1, fieldsV1: {f:spec: {f:replicas: {}, f:template: {f:spec: {f:containers: {'k:{\"name\":\"app\"}': {.: {}, f:name: {}, f:image: {}}}}}}}}\n" +
		"spec: {replicas: 2, template: {spec: {containers: [{name: app, image: a}, {name: log, args: [x, y]}]}}}\n"
	desired := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, finalizers: [a]}\nspec: {replicas: 3, template: {spec: {containers: [{name: log, args: [y]}, {name: app, image: b}]}}}\n"
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), live, desired)
	}
	for _, path := range []string{"/spec", "spec.template.spec.containers[name=app]", "spec.template.spec.containers[][]", ".spec[]", `metadata.finalizers[="a"]`, "/metadata/managedFields/0"} {
		f.Add("- paths: ['"+path+"']", live, desired)
		f.Add("- paths: ['"+path+"']\n  managers: [us, mesh]", desired, live)
	}
	f.Fuzz(func(t *testing.T, rules, fromText, toText string) {
		parsed, err := ParseIgnore("f", []byte(rules))
		if err != nil {
			return
		}
		for _, r := range parsed {
			for _, p := range r.Paths {
				again, err := ParsePathPattern(p.String())
				if err == nil && again.String() != p.String() {
					t.Errorf("%q reads back as %q", p, again)
				}
			}
		}
		from, to := anyObject(fromText), anyObject(toText)
		if from == nil || to == nil {
			return
		}
		from2, to2 := anyObject(fromText), anyObject(toText)
		for _, manager := range []string{"", "us"} {
			ig, err := NewIgnorer(Options{Ignore: parsed, Manager: manager})
			if err != nil {
				t.Fatalf("taken by ParseIgnore and not by NewIgnorer: %v", err)
			}
			own, _ := split(from, &ig.opts)
			ref := refOf(to, "")
			kept, ignored := ig.keep(from, to, ref, own, nil)
			if !reflect.DeepEqual(from, from2) || !reflect.DeepEqual(to, to2) {
				t.Fatalf("an object was changed: %s%s", cmp.Diff(from2, from), cmp.Diff(to2, to))
			}
			if ignored < 0 || ignored > 0 && manager == "" && !kept.changed {
				t.Errorf("%d fields are ignored, changed is %t", ignored, kept.changed)
			}
			again, left := ig.keep(from, kept.object, ref, own, nil)
			if again.changed && manager == "" {
				t.Errorf("kept %d fields of what was kept: %s", left, cmp.Diff(kept.object, again.object))
			}
		}
	})
}

// anyObject reads a mapping, or gives nil.
func anyObject(text string) map[string]any {
	if len(text) > 4096 {
		return nil
	}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil
	}
	var m map[string]any
	if json.UnmarshalCaseSensitivePreserveInts(data, &m) != nil {
		return nil
	}
	return m
}
