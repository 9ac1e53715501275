package crd

import (
	_ "embed"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"kudevops.io/appsvc/api/v1alpha1"
)

// manifest is a copy of the file in config/crd/bases, which go:embed cannot reach.
// Both are written by make generate.
//
//go:embed appservices.yaml
var manifest string

// YAML returns the CustomResourceDefinition as it is applied. The caller owns the
// bytes.
func YAML() []byte { return []byte(manifest) }

// schemaProps returns the OpenAPI schema of AppService in the form that the API
// server's libraries take.
func schemaProps() (*apiextensions.JSONSchemaProps, error) {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(YAML(), definition); err != nil {
		return nil, err
	}
	for _, version := range definition.Spec.Versions {
		if version.Name != v1alpha1.Version || version.Schema == nil {
			continue
		}
		internal := &apiextensions.CustomResourceValidation{}
		if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(version.Schema, internal, nil); err != nil {
			return nil, err
		}
		return internal.OpenAPIV3Schema, nil
	}
	return nil, fmt.Errorf("%s has no schema for version %s", definition.Name, v1alpha1.Version)
}
