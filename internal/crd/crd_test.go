package crd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"kudevops.io/appsvc/api/v1alpha1"
)

// maxSize is how long the definition may be as JSON. Plain kubectl apply keeps a
// copy of it in an annotation, and all annotations of an object together have
// 262,144 bytes.
const maxSize = 240_000

func definition(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	out := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(YAML(), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// validateDefinition says what the API server says when crd is created.
func validateDefinition(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	t.Helper()
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
		t.Fatal(err)
	}
	internal.Status.StoredVersions = []string{v1alpha1.Version}
	return validation.ValidateCustomResourceDefinition(t.Context(), internal)
}

func TestDefinitionIsAccepted(t *testing.T) {
	t.Parallel()
	if errs := validateDefinition(t, definition(t)); len(errs) > 0 {
		t.Errorf("the API server would refuse the definition:\n%v", errs.ToAggregate())
	}
}

// The estimated cost of the CEL rules is part of what is checked: without its
// bound, the list of ports is too long for rules that compare every two of them.
func TestDefinitionRuleCostCounts(t *testing.T) {
	t.Parallel()
	crd := definition(t)
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	ports := spec.Properties["ports"]
	ports.MaxItems = nil
	spec.Properties["ports"] = ports
	errs := validateDefinition(t, crd)
	if len(errs) == 0 || !strings.Contains(errs.ToAggregate().Error(), "estimated rule cost exceeds budget") {
		t.Errorf("got %v, want a rule whose estimated cost exceeds the budget", errs.ToAggregate())
	}
}

func TestDefinitionSize(t *testing.T) {
	t.Parallel()
	data, err := yaml.YAMLToJSON(YAML())
	if err != nil {
		t.Fatal(err)
	}
	if len(data) >= maxSize {
		t.Errorf("the definition has %d bytes as JSON, want less than %d", len(data), maxSize)
	}
}

func TestDefinitionCopiesAreEqual(t *testing.T) {
	t.Parallel()
	applied, err := os.ReadFile(filepath.Join("..", "..", "config", "crd", "bases", "apps.kudevops.io_appservices.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(applied, YAML()) {
		t.Errorf("config/crd and internal/crd differ: run make generate (-config +embedded)\n%s", cmp.Diff(string(applied), manifest))
	}
}

func TestYAMLIsTheCallersOwn(t *testing.T) {
	t.Parallel()
	changed := YAML()
	clear(changed)
	if bytes.Equal(changed, YAML()) {
		t.Error("a change to what YAML returned shows in what it returns next")
	}
}

// What an AppService renders to may depend on nothing that was not written, so a
// default may stand only where Kubernetes insists on one, and in the status.
func TestDefinitionDefaults(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"spec.containerPorts[].protocol":         `"TCP"`,
		"spec.initContainers[].ports[].protocol": `"TCP"`,
		"spec.ports[].protocol":                  `"TCP"`,
		"spec.sidecars[].ports[].protocol":       `"TCP"`,
		"status":                                 `{"observedGeneration":-1}`,
	}
	got := map[string]string{}
	collectDefaults(got, "", definition(t).Spec.Versions[0].Schema.OpenAPIV3Schema)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults in the schema (-want +got):\n%s", diff)
	}
}

func collectDefaults(found map[string]string, path string, schema *apiextensionsv1.JSONSchemaProps) {
	if schema.Default != nil {
		found[path] = string(schema.Default.Raw)
	}
	for name, property := range schema.Properties {
		collectDefaults(found, strings.TrimPrefix(path+"."+name, "."), &property)
	}
	if schema.Items != nil {
		collectDefaults(found, path+"[]", schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		collectDefaults(found, path+"{}", schema.AdditionalProperties.Schema)
	}
}

func TestDefinitionNames(t *testing.T) {
	t.Parallel()
	crd := definition(t)
	want := apiextensionsv1.CustomResourceDefinitionNames{
		Plural:     v1alpha1.Resource,
		Singular:   "appservice",
		Kind:       v1alpha1.Kind,
		ListKind:   v1alpha1.ListKind,
		ShortNames: []string{"appsvc"},
		Categories: []string{"all"},
	}
	if diff := cmp.Diff(want, crd.Spec.Names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if got, want := crd.Name, v1alpha1.Resource+"."+v1alpha1.Group; got != want {
		t.Errorf("the definition is called %q, want %q", got, want)
	}
	if crd.Spec.Scope != apiextensionsv1.NamespaceScoped {
		t.Errorf("the scope is %s, want %s", crd.Spec.Scope, apiextensionsv1.NamespaceScoped)
	}
}

func TestDefinitionVersion(t *testing.T) {
	t.Parallel()
	crd := definition(t)
	if len(crd.Spec.Versions) != 1 {
		t.Fatalf("there are %d versions, want 1", len(crd.Spec.Versions))
	}
	got := crd.Spec.Versions[0]
	got.Schema = nil
	selector := ".status.selector"
	want := apiextensionsv1.CustomResourceDefinitionVersion{
		Name:    v1alpha1.Version,
		Served:  true,
		Storage: true,
		Subresources: &apiextensionsv1.CustomResourceSubresources{
			Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
			Scale: &apiextensionsv1.CustomResourceSubresourceScale{
				SpecReplicasPath:   ".spec.replicas",
				StatusReplicasPath: ".status.replicas",
				LabelSelectorPath:  &selector,
			},
		},
		AdditionalPrinterColumns: []apiextensionsv1.CustomResourceColumnDefinition{
			{Name: "Ready", Type: "string", JSONPath: `.status.conditions[?(@.type=="Ready")].status`},
			{Name: "Reason", Type: "string", JSONPath: `.status.conditions[?(@.type=="Ready")].reason`, Priority: 1},
			{Name: "Replicas", Type: "integer", JSONPath: ".status.replicas"},
			{Name: "Image", Type: "string", JSONPath: ".spec.image", Priority: 1},
			{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("version (-want +got):\n%s", diff)
	}
}
