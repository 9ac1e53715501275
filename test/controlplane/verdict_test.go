package controlplane_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/crd"
	"kudevops.io/appsvc/internal/manifest"
	"kudevops.io/appsvc/pkg/render"
	"kudevops.io/appsvc/test/controlplane"
)

// TestVerdicts: over all AppServices of the golden cases, the offline verdict of the
// CRD is the API server's, and the renderer refuses all that the two refuse.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	cluster := controlplane.StartForTest(t, controlplane.Options{APIServerOnly: true, CRDs: []controlplane.CRDs{controlplane.AppServiceCRDs}})
	namespace := cluster.Namespace(t)
	client := cluster.Dynamic().Resource(v1alpha1.GroupVersion.WithResource(v1alpha1.Resource)).Namespace(namespace)
	offline, err := crd.NewValidator()
	if err != nil {
		t.Fatal(err)
	}

	accepted, refused := 0, 0
	for name, objects := range goldenAppServices(t) {
		for _, o := range objects {
			value, faults := o.Value()
			if len(faults) > 0 {
				continue // no API server ever sees it
			}
			meta, ok := value["metadata"].(map[string]any)
			if !ok {
				continue
			}
			meta["namespace"] = namespace
			delete(meta, "resourceVersion") // refused by itself on creation
			delete(meta, "uid")

			object := &unstructured.Unstructured{Object: value}
			verdict := offline.Validate(t.Context(), object.DeepCopy().Object)
			_, err := client.Create(t.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
			if err != nil && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
				t.Fatalf("%s: %s: %v", name, o.ID, err)
			}
			if verdict.Valid() != (err == nil) {
				t.Errorf("%s: %s: offline %v %v, the API server %v", name, o.ID, verdict.Errors, verdict.UnknownFields, err)
			}
			if err == nil {
				accepted++
				continue
			}
			refused++
			if app, faults := o.AppService(); app != nil && len(faults) == 0 {
				if _, errs := render.Render(app, render.Options{}); len(errs) == 0 {
					t.Errorf("%s: %s: the API server refuses what the renderer takes: %v", name, o.ID, err)
				}
			}
		}
	}
	t.Logf("%d accepted, %d refused", accepted, refused)
	if accepted+refused < 200 || refused < 40 {
		t.Errorf("%d AppServices accepted and %d refused are too few to show anything", accepted, refused)
	}
}

// goldenAppServices reads the AppServices of all cases that are no ResourceList.
func goldenAppServices(t *testing.T) map[string][]*manifest.Object {
	t.Helper()
	files, err := filepath.Glob("../../testdata/*/input.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string][]*manifest.Object, len(files))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nkind: ResourceList\n") {
			continue
		}
		name := filepath.Base(filepath.Dir(file))
		r := manifest.NewReader("input.yaml", bytes.NewReader(text))
		for {
			doc, err := r.Next()
			if err != nil {
				break
			}
			objects, _, _ := manifest.Objects(doc)
			for _, o := range objects {
				if o.IsAppService() {
					found[name] = append(found[name], o)
				}
			}
		}
	}
	return found
}
