package crd

import (
	"fmt"
	"sync"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Validator checks and defaults AppServices as the API server does. It is made by
// [NewValidator] and safe for concurrent use.
type Validator struct {
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	// rules compiles the CEL rules when they are asked for the first time: that
	// takes much longer than all the rest, and not every caller needs them.
	rules func() *cel.Validator
}

// NewValidator parses the embedded CustomResourceDefinition. Every call does the
// work anew: make one Validator and share it.
func NewValidator() (*Validator, error) {
	props, err := schemaProps()
	if err != nil {
		return nil, fmt.Errorf("embedded CustomResourceDefinition: %w", err)
	}
	structural, err := structuralschema.NewStructural(props)
	if err != nil {
		return nil, fmt.Errorf("embedded CustomResourceDefinition: structural schema: %w", err)
	}
	schema, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return nil, fmt.Errorf("embedded CustomResourceDefinition: schema validator: %w", err)
	}
	return &Validator{
		structural: structural,
		schema:     schema,
		rules: sync.OnceValue(func() *cel.Validator {
			return cel.NewValidator(structural, true, celconfig.PerCallLimit)
		}),
	}, nil
}

// Default does to obj, in place, what the API server does to an AppService that
// it has decoded: a null that the schema does not allow is dropped, then absent
// fields that have a default get it. Unknown fields stay.
//
// An object without status gets the default status: that is how an AppService
// reads back that no controller has seen yet.
func (v *Validator) Default(obj map[string]any) {
	defaulting.PruneNonNullableNullsWithoutDefaults(obj, v.structural)
	defaulting.Default(obj, v.structural)
}
