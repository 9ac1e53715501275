package controlplane_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/crd"
	"kudevops.io/appsvc/internal/manifest"
	"kudevops.io/appsvc/pkg/render"
	"kudevops.io/appsvc/test/controlplane"
)

var update = flag.Bool("update", false, "write what is seen into testdata")

const verdictsFile = "testdata/verdicts.txt"

const verdictsHeader = `# What is said of each AppService of testdata, and of those at the edges of each rule of
# the CRD (crd.Cases): first by the CRD, which is a real API server's word on creation,
# then by the renderer. TestVerdicts holds this file to what it sees; with -update it
# writes it.
`

// TestVerdicts: over the AppServices of all golden cases and those on both sides of each
// rule of the CRD, the offline verdict of the CRD is the API server's, the renderer
// refuses all that the two refuse, and both verdicts are the ones that are recorded.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	cluster := controlplane.StartForTest(t, controlplane.Options{APIServerOnly: true, CRDs: []controlplane.CRDs{controlplane.AppServiceCRDs}})
	namespace := cluster.Namespace(t)
	client := cluster.Dynamic().Resource(v1alpha1.GroupVersion.WithResource(v1alpha1.Resource)).Namespace(namespace)
	offline, err := crd.NewValidator()
	if err != nil {
		t.Fatal(err)
	}

	subjects := append(goldenSubjects(t), ruleSubjects(t)...)
	lines := make([]string, len(subjects))
	var wait sync.WaitGroup
	next := make(chan int)
	for range 8 {
		wait.Go(func() {
			for i := range next {
				s := subjects[i]
				accepted, err := judge(t.Context(), client, offline, namespace, s.value)
				if err != nil {
					t.Errorf("%s: %v", s.name, err)
				}
				if !accepted && s.rendered {
					t.Errorf("%s: the API server refuses what the renderer takes", s.name)
				}
				lines[i] = fmt.Sprintf("%-8s  %-8s  %s\n", word(accepted), word(s.rendered), s.name)
			}
		})
	}
	for i := range subjects {
		next <- i
	}
	close(next)
	wait.Wait()

	refused, names := 0, make(map[string]bool, len(subjects))
	for i, line := range lines {
		if strings.HasPrefix(line, word(false)) {
			refused++
		}
		if names[subjects[i].name] {
			t.Errorf("two AppServices are called %s", subjects[i].name)
		}
		names[subjects[i].name] = true
	}
	if accepted := len(lines) - refused; accepted < 400 || refused < 400 {
		t.Errorf("%d AppServices accepted and %d refused are not all that there were", accepted, refused)
	}
	got := verdictsHeader + strings.Join(lines, "")
	if *update {
		if err := os.WriteFile(verdictsFile, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(verdictsFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (go test -run TestVerdicts -update writes it anew), -want +got:\n%s", verdictsFile, diff)
	}
}

func word(accepted bool) string {
	if accepted {
		return "accepted"
	}
	return "refused"
}

// subject is an AppService that is judged, and what the renderer says of it.
type subject struct {
	name     string
	value    map[string]any
	rendered bool
}

// judge asks the API server, and demands that the offline verdict is the same.
func judge(ctx context.Context, client dynamic.ResourceInterface, offline *crd.Validator, namespace string, value map[string]any) (accepted bool, err error) {
	meta, ok := value["metadata"].(map[string]any)
	if !ok {
		return false, errors.New("has no metadata to put a namespace into")
	}
	meta["namespace"] = namespace
	delete(meta, "resourceVersion") // refused by itself on creation
	delete(meta, "uid")
	object := &unstructured.Unstructured{Object: value}
	verdict := offline.Validate(ctx, object.DeepCopy().Object)
	_, err = client.Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
	if err != nil && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		return false, err
	}
	if verdict.Valid() != (err == nil) {
		return err == nil, fmt.Errorf("offline %v %v, the API server %v", verdict.Errors, verdict.UnknownFields, err)
	}
	return err == nil, nil
}

// renders says whether reading and rendering accept an object.
func renders(o *manifest.Object) bool {
	app, faults := o.AppService()
	if app == nil || len(faults) > 0 {
		return false
	}
	errs, _ := render.Validate(app, render.Options{})
	return len(errs) == 0
}

// goldenSubjects are the AppServices of the golden cases, but for those that no API
// server ever sees, since they cannot be read or have no metadata.
func goldenSubjects(t *testing.T) []subject {
	t.Helper()
	golden := goldenAppServices(t)
	var list []subject
	for _, name := range slices.Sorted(maps.Keys(golden)) {
		for i, o := range golden[name] {
			value, faults := o.Value()
			if _, ok := value["metadata"].(map[string]any); len(faults) > 0 || !ok {
				continue
			}
			list = append(list, subject{fmt.Sprintf("golden %s %d: %s", name, i+1, o.ID), value, renders(o)})
		}
	}
	return list
}

// ruleSubjects are the AppServices on both sides of each rule of the CRD.
func ruleSubjects(t *testing.T) []subject {
	t.Helper()
	cases, err := crd.Cases()
	if err != nil {
		t.Fatal(err)
	}
	list := make([]subject, len(cases))
	for i, c := range cases {
		text, err := json.Marshal(c.Object)
		if err != nil {
			t.Fatal(err)
		}
		found := appServices(t, text)
		if len(found) != 1 {
			t.Fatalf("%s: read as %d AppServices", c.Name, len(found))
		}
		list[i] = subject{"rule " + c.Name, c.Object, renders(found[0])}
	}
	return list
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
		found[filepath.Base(filepath.Dir(file))] = appServices(t, text)
	}
	return found
}

// appServices reads the AppServices in a text, up to where it cannot be read.
func appServices(t *testing.T, text []byte) []*manifest.Object {
	t.Helper()
	var found []*manifest.Object
	r := manifest.NewReader("input.yaml", bytes.NewReader(text))
	for {
		doc, err := r.Next()
		if err != nil {
			return found
		}
		objects, _, _ := manifest.Objects(doc)
		for _, o := range objects {
			if o.IsAppService() {
				found = append(found, o)
			}
		}
	}
}
