package crd

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kudevops.io/appsvc/api/v1alpha1"
)

// JSONSchema returns a JSON schema (draft-07) of an AppService for editors, made
// from the embedded CustomResourceDefinition. The caller owns the bytes.
//
// It is stricter than the API server in two ways, so that an editor points out
// what is most likely a slip: a field that the schema does not have is wrong, and
// so is a field that is there but null. It knows nothing of CEL rules and of the
// keys of lists: [Validator] does.
func JSONSchema() ([]byte, error) {
	root, err := rootSchema()
	if err != nil {
		return nil, fmt.Errorf("embedded CustomResourceDefinition: %w", err)
	}
	draft07(root)
	if err := describeObject(root); err != nil {
		return nil, fmt.Errorf("embedded CustomResourceDefinition: %w", err)
	}
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(out, '\n'), nil
}

// rootSchema returns the OpenAPI schema of AppService as it stands in the file.
func rootSchema() (map[string]any, error) {
	var definition map[string]any
	if err := yaml.UnmarshalStrict(YAML(), &definition); err != nil {
		return nil, err
	}
	versions, _, err := unstructured.NestedSlice(definition, "spec", "versions")
	if err != nil {
		return nil, err
	}
	for _, version := range versions {
		version, ok := version.(map[string]any)
		if !ok || version["name"] != v1alpha1.Version {
			continue
		}
		root, ok, err := unstructured.NestedMap(version, "schema", "openAPIV3Schema")
		if err == nil && !ok {
			err = fmt.Errorf("no schema for version %s", v1alpha1.Version)
		}
		return root, err
	}
	return nil, fmt.Errorf("no version %s", v1alpha1.Version)
}

// draft07 turns a structural schema into JSON schema, in place:
//
//  1. An object with named properties has no others, unless Kubernetes lets it
//     keep unknown fields. A structural schema names every property outside allOf,
//     anyOf, oneOf and not, so those stay open: closed, they would contradict it.
//  2. x-kubernetes-int-or-string becomes what it means.
//  3. Kubernetes' other extensions go.
func draft07(schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	_, hasValues := schema["additionalProperties"]
	if len(properties) > 0 && !hasValues && schema["x-kubernetes-preserve-unknown-fields"] != true {
		schema["additionalProperties"] = false
	}
	if schema["x-kubernetes-int-or-string"] == true {
		schema["anyOf"] = []any{map[string]any{"type": "integer"}, map[string]any{"type": "string"}}
	}
	for keyword := range schema {
		if strings.HasPrefix(keyword, "x-kubernetes-") {
			delete(schema, keyword)
		}
	}
	for _, property := range properties {
		if property, ok := property.(map[string]any); ok {
			draft07(property)
		}
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if nested, ok := schema[keyword].(map[string]any); ok {
			draft07(nested)
		}
	}
}

// describeObject adds to the schema of the whole object what Kubernetes knows
// without being told: which object it is for, and what metadata looks like.
func describeObject(root map[string]any) error {
	name, ok, err := unstructured.NestedMap(root, "properties", "metadata", "properties", "name")
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("the schema has no rule for metadata.name")
	}
	properties := root["properties"].(map[string]any)
	properties["apiVersion"] = map[string]any{"const": v1alpha1.APIVersion}
	properties["kind"] = map[string]any{"const": v1alpha1.Kind}
	properties["metadata"] = map[string]any{
		"type":     "object",
		"required": []any{"name"},
		"properties": map[string]any{
			"name":        name,
			"labels":      stringMap(),
			"annotations": stringMap(),
		},
	}
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = v1alpha1.Kind
	root["required"] = []any{"apiVersion", "kind", "metadata", "spec"}
	return nil
}

func stringMap() map[string]any {
	return map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}}
}
