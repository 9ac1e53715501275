package controlplane_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudevops.io/appsvc/test/controlplane"
)

// testDiffRendered applies what the golden cases render to. Afterwards there is nothing
// left to do, and what was said beforehand of what is there came true.
func testDiffRendered(t *testing.T, s *diffServer) {
	files, err := filepath.Glob("../../testdata/*/expected.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Fatalf("there are only %d golden cases: they are not where this test looks for them", len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("kind: ResourceList")) {
			continue // what the function prints holds the same objects
		}
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			t.Parallel()
			objects, err := controlplane.ReadObjects(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			namespaces := make(map[string]string)
			for _, o := range objects {
				object, ok := o.(*unstructured.Unstructured)
				if !ok || object.GetLabels()["app.kubernetes.io/managed-by"] != "appsvc" || object.GetKind() == "ServiceMonitor" {
					continue // passed through, and not checked; or of a kind that is not served here
				}
				as := object.GetNamespace()
				if namespaces[as] == "" {
					namespaces[as] = s.cluster.Namespace(t)
				}
				object.SetNamespace(namespaces[as])
				withoutNodePorts(object)
				s.apply(t, ours.Manager, object)
				if v := s.agree(t, object, ours); v.changed || len(v.change.Fields) > 0 {
					t.Errorf("%s %s was just applied: Changed %t, %q", object.GetKind(), object.GetName(), v.changed, changesIn(v.change.Fields))
				}
			}
		})
	}
}

// withoutNodePorts takes away what only one Service of a cluster can have.
func withoutNodePorts(object *unstructured.Unstructured) {
	ports, _, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "ports")
	list, _ := ports.([]any)
	for _, p := range list {
		if p, ok := p.(map[string]any); ok {
			delete(p, "nodePort")
		}
	}
}
