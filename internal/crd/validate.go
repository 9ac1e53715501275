package crd

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"kudevops.io/appsvc/api/v1alpha1"
)

// Verdict is what the API server would say of an object.
type Verdict struct {
	// Errors are the faults, sorted by field and then by text, each one once.
	// A field is written as the API server writes it: spec.ports[0].name, and the
	// key of a map after a dot, even if it has dots itself. Only a label or an
	// annotation of the object that is no string has its key in brackets.
	Errors field.ErrorList
	// UnknownFields are the paths of fields that the schema does not have, sorted.
	// The API server refuses them with fieldValidation=Strict, which is what
	// kubectl sends, and drops them otherwise.
	UnknownFields []string
	// RulesSkipped says that the CEL rules were not evaluated: because Errors has
	// faults that would make them meaningless (a wrong type, a missing field...),
	// where the API server skips them too, or because the caller did not want them.
	RulesSkipped bool
}

// Valid reports whether the API server would take the object with
// fieldValidation=Strict. When the caller left out the CEL rules, they may still
// refuse it.
func (v Verdict) Valid() bool { return len(v.Errors) == 0 && len(v.UnknownFields) == 0 }

// Validate says whether the API server would create obj. The argument is not
// changed; nor does it have to be defaulted first.
//
// An object without namespace is taken to be in some valid one, and one with
// metadata.generateName to get a name. The status does not count, since the API
// server drops it on creation, but its unknown fields do. What is said about
// spec.replicas for the sake of the scale subresource is left out: the schema
// says it already.
func (v *Validator) Validate(ctx context.Context, obj map[string]any) Verdict {
	return v.validateCreate(ctx, obj, true)
}

// ValidateSchema is Validate without the CEL rules, which it does not compile.
func (v *Validator) ValidateSchema(ctx context.Context, obj map[string]any) Verdict {
	return v.validateCreate(ctx, obj, false)
}

// ValidateUpdate says whether the API server would replace old, which it has
// stored, with obj. Rules that compare the two are checked here only; faults that
// the schema or a rule finds in what did not change do not count (ratcheting).
//
// Fields of obj that belong to the server, such as metadata.resourceVersion and
// the status, are taken from old where obj does not have them. The faults of old
// itself are not reported. Neither argument is changed.
func (v *Validator) ValidateUpdate(ctx context.Context, obj, old map[string]any) Verdict {
	if errs := validateTypeMeta(obj); len(errs) > 0 {
		return Verdict{Errors: errs, RulesSkipped: true}
	}
	before, err := v.decode(old)
	if err != nil {
		return Verdict{Errors: field.ErrorList{err}, RulesSkipped: true}
	}
	after, err := v.decode(obj)
	if err != nil {
		return Verdict{Errors: field.ErrorList{err}, RulesSkipped: true}
	}
	errs := append(after.errs, after.prepareUpdate(ctx, before)...)
	unchanged := common.NewCorrelatedObject(after.content, before.content, &model.Structural{Structural: v.structural})
	errs = append(errs, located(validation.ValidateCustomResourceUpdate(nil, after.content, before.content, v.schema, validation.WithRatcheting(unchanged)))...)
	errs = append(errs, objectmeta.Validate(ctx, nil, after.content, v.structural, false)...)
	if len(listtype.ValidateListSetsAndMaps(nil, v.structural, before.content)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.structural, after.content)...)
	}
	skip := blocksRules(errs)
	if !skip {
		broken, _ := v.rules().Validate(ctx, nil, v.structural, after.content, before.content, celconfig.RuntimeCELCostBudget, cel.WithRatcheting(unchanged))
		errs = append(errs, broken...)
	}
	return Verdict{Errors: sorted(errs), UnknownFields: after.unknown, RulesSkipped: skip}
}

func (v *Validator) validateCreate(ctx context.Context, obj map[string]any, rules bool) Verdict {
	if errs := validateTypeMeta(obj); len(errs) > 0 {
		return Verdict{Errors: errs, RulesSkipped: true}
	}
	o, err := v.decode(obj)
	if err != nil {
		return Verdict{Errors: field.ErrorList{err}, RulesSkipped: true}
	}
	errs := append(o.errs, o.prepareCreate(ctx)...)
	errs = append(errs, located(validation.ValidateCustomResource(nil, o.content, v.schema))...)
	errs = append(errs, objectmeta.Validate(ctx, nil, o.content, v.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.structural, o.content)...)
	skip := !rules || blocksRules(errs)
	if !skip {
		broken, _ := v.rules().Validate(ctx, nil, v.structural, o.content, nil, celconfig.RuntimeCELCostBudget)
		errs = append(errs, broken...)
	}
	return Verdict{Errors: sorted(errs), UnknownFields: o.unknown, RulesSkipped: skip}
}

// validateTypeMeta says whether obj is an AppService of the version that the
// schema is for. Nothing else can be said of an object that is not.
func validateTypeMeta(obj map[string]any) field.ErrorList {
	var errs field.ErrorList
	if obj["apiVersion"] != v1alpha1.APIVersion {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), obj["apiVersion"], "must be "+v1alpha1.APIVersion))
	}
	if obj["kind"] != v1alpha1.Kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), obj["kind"], "must be "+v1alpha1.Kind))
	}
	return errs
}

// located gives their field to the errors of the schema validator that name it in
// their text alone. There are two kinds:
//
//	Checked value must be of type integer with format int32 in spec.replicas
//	"spec.ports[0].targetPort" must validate at least one schema (anyOf)
//
// (kube-openapi/pkg/validation/validate, values.go and schema_messages.go).
func located(errs field.ErrorList) field.ErrorList {
	var nowhere *field.Path
	for _, err := range errs {
		if err.Field != nowhere.String() {
			continue
		}
		if path := fieldInText(err.Detail); path != "" {
			err.Field, err.BadValue = path, field.OmitValueType{}
		}
	}
	return errs
}

func fieldInText(text string) string {
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		path, _ := strconv.Unquote(quoted)
		return path
	}
	_, path, _ := strings.Cut(text, " in ")
	return path
}

// blocksRules reports whether the API server would leave out the CEL rules: they
// are written for objects that have the form of the schema
// (hasBlockingErr in apiextensions-apiserver/pkg/registry/customresource).
func blocksRules(errs field.ErrorList) bool {
	return slices.ContainsFunc(errs, func(err *field.Error) bool {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		default:
			return false
		}
	})
}

// sorted returns errs in an order that does not depend on that of maps, without
// the repetitions that come from checking metadata in several places.
func sorted(errs field.ErrorList) field.ErrorList {
	slices.SortFunc(errs, func(a, b *field.Error) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Error(), b.Error()))
	})
	return slices.CompactFunc(errs, func(a, b *field.Error) bool { return a.Error() == b.Error() })
}
