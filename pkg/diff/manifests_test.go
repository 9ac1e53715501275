package diff

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// publicManifests holds manifests of well-known applications, as their authors publish
// them. It is no part of the repository.
const publicManifests = "../../../shared/inputs/manifests"

// TestPublicManifests: each is the same as itself, and with one field changed that field
// is all that differs.
func TestPublicManifests(t *testing.T) {
	t.Parallel()
	objects := readManifests(t)
	if len(objects) < 50 {
		t.Fatalf("%d objects are too few to be all", len(objects))
	}
	for _, object := range objects {
		list := []*unstructured.Unstructured{object}
		set, err := Diff(list, []*unstructured.Unstructured{object.DeepCopy()}, Options{})
		if err != nil {
			t.Errorf("%s: %v", object.GetName(), err)
			continue
		}
		if set.Changed() {
			t.Errorf("%s differs from itself: %v", set.Objects[0].Object, set.Objects[0].Fields)
		}
		for path, change := range oneField(object.Object) {
			set, err := Diff(list, []*unstructured.Unstructured{{Object: change}}, Options{})
			if err != nil {
				t.Errorf("%s with another %s: %v", object.GetName(), path, err)
				continue
			}
			var paths []string
			for _, f := range set.Objects[0].Fields {
				paths = append(paths, f.Path.String())
			}
			if d := cmp.Diff([]string{path}, paths); d != "" {
				t.Errorf("%s with another %s (-want +got):\n%s", set.Objects[0].Object, path, d)
			}
		}
	}
}

// oneField gives copies of an object in which one field is another, by the field's path.
func oneField(object map[string]any) map[string]map[string]any {
	out := map[string]map[string]any{}
	change := func(path string, v any, fields ...string) {
		if _, ok, _ := unstructured.NestedFieldNoCopy(object, fields[:len(fields)-1]...); !ok {
			return
		}
		copied := runtime.DeepCopyJSON(object)
		if unstructured.SetNestedField(copied, v, fields...) == nil {
			out[path] = copied
		}
	}
	change("metadata.labels[example.com/changed]", "yes", "metadata", "labels", "example.com/changed")
	switch kindOf(object) {
	case "Deployment":
		change("spec.minReadySeconds", int64(7), "spec", "minReadySeconds")
		change("spec.template.spec.hostNetwork", true, "spec", "template", "spec", "hostNetwork")
		containers, _, _ := unstructured.NestedSlice(object, "spec", "template", "spec", "containers")
		if len(containers) > 0 {
			first, _ := containers[0].(map[string]any)
			first["tty"] = true
			change("spec.template.spec.containers[name="+textAt(first, "name")+"].tty", containers, "spec", "template", "spec", "containers")
		}
	case "Service":
		change("spec.publishNotReadyAddresses", true, "spec", "publishNotReadyAddresses")
	}
	return out
}

func readManifests(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	if _, err := os.Stat(publicManifests); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the public manifests are not part of the repository, and there are none in %s", publicManifests)
	}
	var out []*unstructured.Unstructured
	err := filepath.WalkDir(publicManifests, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") || strings.HasPrefix(entry.Name(), "kustomization") {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		decoder := utilyaml.NewYAMLOrJSONDecoder(file, 4096)
		for {
			u := &unstructured.Unstructured{}
			if err := decoder.Decode(&u.Object); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			if u.GetKind() != "" {
				out = append(out, u)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
