package render

import (
	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateAffinity(at *field.Path, a *corev1.Affinity) field.ErrorList {
	if a == nil {
		return nil
	}
	var errs field.ErrorList
	if n := a.NodeAffinity; n != nil {
		errs = append(errs, validateNodeAffinity(at.Child("nodeAffinity"), n)...)
	}
	if p := a.PodAffinity; p != nil {
		errs = append(errs, validatePodTerms(at.Child("podAffinity"),
			p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)...)
	}
	if p := a.PodAntiAffinity; p != nil {
		errs = append(errs, validatePodTerms(at.Child("podAntiAffinity"),
			p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)...)
	}
	return errs
}

const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
)

func validateNodeAffinity(at *field.Path, n *corev1.NodeAffinity) field.ErrorList {
	var errs field.ErrorList
	if r := n.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
		terms := at.Child(required, "nodeSelectorTerms")
		if len(r.NodeSelectorTerms) == 0 {
			errs = append(errs, field.Required(terms, "name a term"))
		}
		for i := range r.NodeSelectorTerms {
			errs = append(errs, validateNodeTerm(terms.Index(i), &r.NodeSelectorTerms[i])...)
		}
	}
	for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
		term, here := &n.PreferredDuringSchedulingIgnoredDuringExecution[i], at.Child(preferred).Index(i)
		errs = append(errs, validateWeight(here, term.Weight)...)
		if len(term.Preference.MatchExpressions)+len(term.Preference.MatchFields) == 0 {
			errs = append(errs, field.Required(here.Child("preference"), "without one, all nodes are preferred alike"))
		}
		errs = append(errs, validateNodeTerm(here.Child("preference"), &term.Preference)...)
	}
	return errs
}

func validateNodeTerm(at *field.Path, term *corev1.NodeSelectorTerm) field.ErrorList {
	var errs field.ErrorList
	for i := range term.MatchExpressions {
		r, here := &term.MatchExpressions[i], at.Child("matchExpressions").Index(i)
		for _, msg := range validation.IsQualifiedName(r.Key) {
			errs = append(errs, field.Invalid(here.Child("key"), r.Key, msg))
		}
		errs = append(errs, validateRequirement(here, r)...)
	}
	for i := range term.MatchFields {
		r, here := &term.MatchFields[i], at.Child("matchFields").Index(i)
		if r.Key != "metadata.name" {
			errs = append(errs, field.NotSupported(here.Child("key"), r.Key, []string{"metadata.name"}))
		}
		errs = append(errs, validateRequirement(here, r)...)
	}
	return errs
}

// validateRequirement demands the number of values that the operator takes.
func validateRequirement(at *field.Path, r *corev1.NodeSelectorRequirement) field.ErrorList {
	values := at.Child("values")
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) == 0 {
			return field.ErrorList{field.Required(values, "In and NotIn compare with them")}
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			return field.ErrorList{field.Forbidden(values, "Exists and DoesNotExist take none")}
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(r.Values) != 1 {
			return field.ErrorList{field.Required(values, "Gt and Lt take one")}
		}
	default:
		return field.ErrorList{field.NotSupported(at.Child("operator"), r.Operator, []corev1.NodeSelectorOperator{
			corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
			corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt,
		})}
	}
	return nil
}

func validatePodTerms(at *field.Path, must []corev1.PodAffinityTerm, should []corev1.WeightedPodAffinityTerm) field.ErrorList {
	var errs field.ErrorList
	for i := range must {
		errs = append(errs, validatePodTerm(at.Child(required).Index(i), &must[i])...)
	}
	for i := range should {
		here := at.Child(preferred).Index(i)
		errs = append(errs, validateWeight(here, should[i].Weight)...)
		errs = append(errs, validatePodTerm(here.Child("podAffinityTerm"), &should[i].PodAffinityTerm)...)
	}
	return errs
}

func validatePodTerm(at *field.Path, term *corev1.PodAffinityTerm) field.ErrorList {
	var errs field.ErrorList
	if term.TopologyKey == "" {
		errs = append(errs, field.Required(at.Child("topologyKey"), ""))
	} else {
		for _, msg := range validation.IsQualifiedName(term.TopologyKey) {
			errs = append(errs, field.Invalid(at.Child("topologyKey"), term.TopologyKey, msg))
		}
	}
	options := metav1validation.LabelSelectorValidationOptions{}
	if term.LabelSelector != nil {
		errs = append(errs, metav1validation.ValidateLabelSelector(term.LabelSelector, options, at.Child("labelSelector"))...)
	}
	if term.NamespaceSelector != nil {
		errs = append(errs, metav1validation.ValidateLabelSelector(term.NamespaceSelector, options, at.Child("namespaceSelector"))...)
	}
	for i, namespace := range term.Namespaces {
		for _, msg := range validation.IsDNS1123Label(namespace) {
			errs = append(errs, field.Invalid(at.Child("namespaces").Index(i), namespace, msg))
		}
	}
	return errs
}

func validateWeight(at *field.Path, weight int32) field.ErrorList {
	if weight < 1 || weight > 100 {
		return field.ErrorList{field.Invalid(at.Child("weight"), weight, "must be 1 to 100")}
	}
	return nil
}
