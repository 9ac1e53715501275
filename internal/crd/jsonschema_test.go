package crd

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

func jsonSchema(t *testing.T) []byte {
	t.Helper()
	data, err := JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The library that checks here knows the words of draft-07 that OpenAPI has too,
// which is all but const: TestJSONSchemaType looks at that.
func TestJSONSchemaChecks(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		reason string
		object string
		want   []string // fields with faults
	}{
		{name: "sample", reason: "what people know has no fault", object: sample},
		{name: "other metadata", reason: "people write more than a name",
			object: parts{metadata: "{name: web, namespace: shop, labels: {a: b}, annotations: {c: d}, finalizers: [e]}"}.text()},
		{name: "maps", reason: "their keys are no fields",
			object: parts{spec: "{image: nginx, podLabels: {a: b}, resources: {limits: {cpu: 1, memory: 1Gi}}}"}.text()},
		{name: "ports by number and by name", reason: "an integer or a string",
			object: parts{spec: "{image: nginx, ports: [{name: a, port: 80, targetPort: 8080}, {name: b, port: 81, targetPort: http}]}"}.text()},
		{name: "typo in the spec", reason: "the reason why there is a schema for editors",
			object: parts{spec: "{image: nginx, replcas: 2}"}.text(), want: []string{"spec.replcas"}},
		{name: "typo in a list", reason: "lists of objects are closed too",
			object: parts{spec: "{image: nginx, ports: [{port: 80, tragetPort: 80}]}"}.text(), want: []string{"spec.ports[0].tragetPort"}},
		{name: "typo in a native type", reason: "types of Kubernetes are closed too",
			object: parts{spec: "{image: nginx, env: [{name: A, valueFrom: {secretKeyRef: {name: a, kye: b}}}]}"}.text(),
			want:   []string{"spec.env[0].valueFrom.secretKeyRef.key", "spec.env[0].valueFrom.secretKeyRef.kye"}},
		{name: "typo at the top", reason: "the object itself is closed",
			object: "{apiVersion: apps.kudevops.io/v1alpha1, kind: AppService, metadata: {name: web}, spec: {image: nginx}, sepc: {}}", want: []string{"sepc"}},
		{name: "nothing", reason: "what every manifest has",
			object: "{}", want: []string{"apiVersion", "kind", "metadata", "spec"}},
		{name: "no name", reason: "an editor sees manifests, which have one",
			object: parts{metadata: "{namespace: shop}"}.text(), want: []string{"metadata.name"}},
		{name: "long name", reason: "63 letters at most",
			object: parts{metadata: "{name: " + strings.Repeat("a", 64) + "}"}.text(), want: []string{"metadata.name"}},
		{name: "bad name", reason: "a DNS-1035 label",
			object: parts{metadata: "{name: 1web}"}.text(), want: []string{"metadata.name"}},
		{name: "label without quotes", reason: "a string, as all labels and annotations",
			object: parts{metadata: "{name: web, labels: {a: 1}, annotations: {b: true}}"}.text(), want: []string{"metadata.annotations.b", "metadata.labels.a"}},
		{name: "wrong values", reason: "rules of the fields themselves",
			object: parts{spec: "{image: '', replicas: -1, imagePullPolicy: always, ports: [{port: 65536}]}"}.text(),
			want:   []string{"spec.image", "spec.imagePullPolicy", "spec.ports[0].port", "spec.replicas"}},
	}
	schema := &spec.Schema{}
	if err := json.Unmarshal(jsonSchema(t), schema); err != nil {
		t.Fatal(err)
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			result := validate.NewSchemaValidator(schema, nil, "", strfmt.Default).Validate(decodeYAML(t, tc.object))
			if diff := cmp.Diff(tc.want, faultyFields(result), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s\n%v", tc.reason, diff, result.Errors)
			}
		})
	}
}

// faultyFields returns the first word of each error: the path of its field.
func faultyFields(result *validate.Result) []string {
	var out []string
	for _, err := range result.Errors {
		path, _, _ := strings.Cut(err.Error(), " ")
		out = append(out, strings.TrimPrefix(path, "."))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestJSONSchemaType(t *testing.T) {
	t.Parallel()
	var got struct {
		Schema     string   `json:"$schema"`
		Title      string   `json:"title"`
		Type       string   `json:"type"`
		Required   []string `json:"required"`
		Properties map[string]struct {
			Const string `json:"const"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(jsonSchema(t), &got); err != nil {
		t.Fatal(err)
	}
	if want := "http://json-schema.org/draft-07/schema#"; got.Schema != want {
		t.Errorf("$schema is %q, want %q", got.Schema, want)
	}
	if got.Title != "AppService" || got.Type != "object" {
		t.Errorf("title and type are %q and %q, want AppService and object", got.Title, got.Type)
	}
	if got, want := got.Properties["apiVersion"].Const, "apps.kudevops.io/v1alpha1"; got != want {
		t.Errorf("apiVersion is the constant %q, want %q", got, want)
	}
	if got, want := got.Properties["kind"].Const, "AppService"; got != want {
		t.Errorf("kind is the constant %q, want %q", got, want)
	}
}

func TestJSONSchemaIsDeterministic(t *testing.T) {
	t.Parallel()
	first := jsonSchema(t)
	for range 10 {
		if diff := cmp.Diff(string(first), string(jsonSchema(t))); diff != "" {
			t.Fatalf("two runs differ (-first +later):\n%s", diff)
		}
	}
}

func TestDraft07(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		reason string
		in     string
		want   string
	}{
		{name: "object", reason: "what is not named is a typo",
			in:   "{type: object, properties: {a: {type: string}}}",
			want: "{type: object, properties: {a: {type: string}}, additionalProperties: false}"},
		{name: "object without properties", reason: "nothing says what it may hold",
			in:   "{type: object}",
			want: "{type: object}"},
		{name: "map", reason: "any key goes, and its values are objects like any other",
			in:   "{type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}",
			want: "{type: object, additionalProperties: {type: object, properties: {a: {type: string}}, additionalProperties: false}}"},
		{name: "preserved fields", reason: "Kubernetes keeps what is not named",
			in:   "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}",
			want: "{type: object, properties: {a: {type: string}}}"},
		{name: "closed inside preserved fields", reason: "a named object is closed again, as for Kubernetes",
			in:   "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: object, properties: {b: {type: string}}}}}",
			want: "{type: object, properties: {a: {type: object, properties: {b: {type: string}}, additionalProperties: false}}}"},
		{name: "list-map", reason: "the extensions of Kubernetes go, the items are closed",
			in:   "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: {type: object, properties: {a: {type: string}}}}",
			want: "{type: array, items: {type: object, properties: {a: {type: string}}, additionalProperties: false}}"},
		{name: "int or string", reason: "the extension alone says what it is",
			in:   "{x-kubernetes-int-or-string: true, pattern: x}",
			want: "{anyOf: [{type: integer}, {type: string}], pattern: x}"},
		{name: "property that is named like an extension", reason: "a name is no keyword",
			in:   "{type: object, properties: {x-kubernetes-a: {type: string}}}",
			want: "{type: object, properties: {x-kubernetes-a: {type: string}}, additionalProperties: false}"},
		{name: "rules beside the properties", reason: "closed, they would contradict the object that they are about",
			in:   "{type: object, properties: {a: {type: string}}, allOf: [{properties: {a: {minLength: 1}}}]}",
			want: "{type: object, properties: {a: {type: string}}, allOf: [{properties: {a: {minLength: 1}}}], additionalProperties: false}"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := decodeYAML(t, tc.in)
			draft07(got)
			if diff := cmp.Diff(decodeYAML(t, tc.want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// A keyword that means one thing in OpenAPI 3.0 and another, or nothing, in
// draft-07 (nullable, exclusiveMinimum...) would make JSONSchema wrong in silence.
func TestDefinitionHasOnlyKeywordsOfDraft07(t *testing.T) {
	t.Parallel()
	root, err := rootSchema()
	if err != nil {
		t.Fatal(err)
	}
	checkKeywords(t, "", root)
}

func checkKeywords(t *testing.T, path string, schema map[string]any) {
	t.Helper()
	known := []string{
		"additionalProperties", "anyOf", "default", "description", "enum", "format", "items", "maxItems", "minItems", "maxProperties", "maxLength",
		"maximum", "minLength", "minProperties", "minimum", "pattern", "properties", "required", "type",
	}
	for keyword, value := range schema {
		switch {
		case strings.HasPrefix(keyword, "x-kubernetes-"):
		case !slices.Contains(known, keyword):
			t.Errorf("%s: what does %s mean in draft-07?", path, keyword)
		case keyword == "properties":
			for name, property := range value.(map[string]any) {
				checkKeywords(t, path+"."+name, property.(map[string]any))
			}
		case keyword == "items" || keyword == "additionalProperties":
			checkKeywords(t, path+"."+keyword, value.(map[string]any))
		}
	}
}
