package controlplane_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/arbitrary"
	"kudevops.io/appsvc/pkg/render"
	"kudevops.io/appsvc/test/controlplane"
)

// rendered are the kinds that an AppService renders to.
var rendered = map[string]schema.GroupVersionResource{
	"ServiceAccount":          {Version: "v1", Resource: "serviceaccounts"},
	"Service":                 {Version: "v1", Resource: "services"},
	"Deployment":              {Group: "apps", Version: "v1", Resource: "deployments"},
	"HorizontalPodAutoscaler": {Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
	"ConfigMap":               {Version: "v1", Resource: "configmaps"},
	"NetworkPolicy":           {Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	"Ingress":                 {Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"},
	"HTTPRoute":               {Group: "gateway.networking.k8s.io", Version: "v1", Resource: "httproutes"},
	"ServiceMonitor":          {Group: "monitoring.coreos.com", Version: "v1", Resource: "servicemonitors"},
	"PodDisruptionBudget":     {Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
}

// TestRenderedIsAccepted: the API server accepts each object of each golden case by
// server-side apply, and answers with the values that were sent. A value that it
// spells in another way would be a difference for ever.
func TestRenderedIsAccepted(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	namespace := cluster.Namespace(t)
	files, err := filepath.Glob("../../testdata/*/expected.yaml")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("kind: ResourceList")) {
			continue // what the function prints holds the same objects
		}
		objects, err := controlplane.ReadObjects(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, o := range objects {
			object, ok := o.(*unstructured.Unstructured)
			if !ok || object.GetLabels()["app.kubernetes.io/managed-by"] != "appsvc" {
				continue // passed through, and not checked
			}
			count++
			for _, complaint := range dryRun(t.Context(), cluster, namespace, object) {
				t.Errorf("%s: %s", filepath.Base(filepath.Dir(file)), complaint)
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d objects were tried: the golden cases are not where this test looks for them", count)
	}
}

// TestArbitraryIsAccepted: the same for what AppServices drawn at random render to.
func TestArbitraryIsAccepted(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	namespace := cluster.Namespace(t)
	rapid.Check(t, func(t *rapid.T) {
		app := arbitrary.AppService(t)
		result, errs := render.Render(app, render.Options{})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		for _, object := range result.Objects {
			for _, complaint := range dryRun(t.Context(), cluster, namespace, object) {
				t.Error(complaint)
			}
		}
	})
}

// dryRun asks the API server to apply an object, as the controller would, and gives
// what it refuses or changes.
func dryRun(ctx context.Context, cluster *controlplane.Cluster, namespace string, object *unstructured.Unstructured) []string {
	name := object.GetKind() + " " + object.GetName()
	resource, known := rendered[object.GetKind()]
	if !known {
		return []string{name + ": this test does not know the kind"}
	}
	object.SetNamespace(namespace)
	got, err := cluster.Dynamic().Resource(resource).Namespace(namespace).Apply(ctx, object.GetName(), object,
		metav1.ApplyOptions{FieldManager: v1alpha1.FieldManager, Force: true, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return []string{fmt.Sprintf("%s is refused: %v", name, err)}
	}
	var complaints []string
	for _, difference := range changed(object.Object, got.Object, "") {
		complaints = append(complaints, name+": "+difference)
	}
	return complaints
}

// whole are the lists that are replaced as a whole: a default in one of them, which
// the server has and we did not send, is a difference too.
var whole = []string{".rules", ".parentRefs", ".endpoints", ".metrics", ".tls", ".spec.ingress", ".egress", ".policies", ".fieldRef", ".resourceFieldRef", ".sources", ".items"}

// changed lists what of sent came back as something else. What came back and was
// not sent are the server's defaults.
func changed(sent, got any, path string) []string {
	var differences []string
	switch sent := sent.(type) {
	case map[string]any:
		m, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s came back as %T", path, got)}
		}
		if i := slices.IndexFunc(whole, func(name string) bool {
			return strings.Contains(path+".", name+".") || strings.Contains(path, name+"[")
		}); i >= 0 && len(m) > len(sent) {
			differences = append(differences, fmt.Sprintf("%s: sent %v, came back as %v", path, sent, m))
		}
		for key, value := range sent {
			differences = append(differences, changed(value, m[key], path+"."+key)...)
		}
	case []any:
		l, ok := got.([]any)
		if !ok || len(l) != len(sent) {
			return []string{fmt.Sprintf("%s came back as %v", path, got)}
		}
		for i, value := range sent {
			differences = append(differences, changed(value, l[i], fmt.Sprintf("%s[%d]", path, i))...)
		}
	default:
		if number(sent) != number(got) {
			return []string{fmt.Sprintf("%s: sent %#v, came back as %#v", strings.TrimPrefix(path, "."), sent, got)}
		}
	}
	return differences
}

// number makes numbers of one type of those that decoders choose.
func number(v any) any {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v
}
