package render

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What a pod can say of itself in an environment variable and in a file
// (validEnvDownwardAPIFieldPathExpressions and its twin for volumes in
// k8s.io/kubernetes pkg/apis/core/validation/validation.go). Each may also name one
// label or annotation: metadata.labels['key'].
var (
	envFields = [...]string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
	}
	fileFields = [...]string{
		"metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.annotations",
	}
)

func validateFieldRef(at *field.Path, r *corev1.ObjectFieldSelector, allowed []string) field.ErrorList {
	errs := oneOf(at.Child("apiVersion"), r.APIVersion, "v1")
	if r.FieldPath == "" {
		return append(errs, field.Required(at.Child("fieldPath"), ""))
	}
	if slices.Contains(allowed, r.FieldPath) {
		return errs
	}
	for _, of := range []string{"metadata.labels['", "metadata.annotations['"} {
		rest, ok := strings.CutPrefix(r.FieldPath, of)
		key, closed := strings.CutSuffix(rest, "']")
		if !ok || !closed {
			continue
		}
		// Annotation keys are compared without regard to case.
		if of == "metadata.annotations['" {
			key = strings.ToLower(key)
		}
		for _, msg := range validation.IsQualifiedName(key) {
			errs = append(errs, field.Invalid(at.Child("fieldPath"), r.FieldPath, msg))
		}
		return errs
	}
	return append(errs, field.NotSupported(at.Child("fieldPath"), r.FieldPath, append(slices.Clone(allowed), "metadata.labels['KEY']", "metadata.annotations['KEY']")))
}

func validateResourceFieldRef(at *field.Path, r *corev1.ResourceFieldSelector) field.ErrorList {
	if r.Resource == "" {
		return field.ErrorList{field.Required(at.Child("resource"), "")}
	}
	side, name, _ := strings.Cut(r.Resource, ".")
	divisors := map[string][]string{
		"cpu":               {"1m", "1"},
		"memory":            {"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"},
		"ephemeral-storage": {"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"},
	}
	allowed, known := divisors[name]
	if strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) {
		allowed, known = divisors["memory"], true
	}
	if !known || (side != "limits" && side != "requests") {
		return field.ErrorList{field.Invalid(at.Child("resource"), r.Resource,
			"must be limits or requests of cpu, memory, ephemeral-storage or hugepages-<size>, such as limits.cpu")}
	}
	if divisor := canonical(r.Divisor); !r.Divisor.IsZero() && !slices.Contains(allowed, divisor) {
		return field.ErrorList{field.Invalid(at.Child("divisor"), divisor, fmt.Sprintf("must be one of %s", strings.Join(allowed, ", ")))}
	}
	return nil
}

// validateDownward checks the files of a volume that a pod writes about itself.
func validateDownward(at *field.Path, items []corev1.DownwardAPIVolumeFile, containers map[string]bool) field.ErrorList {
	var errs field.ErrorList
	for i := range items {
		item, here := &items[i], at.Index(i)
		errs = append(errs, relativePath(here.Child("path"), item.Path, true)...)
		switch {
		case item.FieldRef != nil && item.ResourceFieldRef != nil:
			errs = append(errs, field.Forbidden(here, "more than one source: fieldRef, resourceFieldRef"))
		case item.FieldRef != nil:
			errs = append(errs, validateFieldRef(here.Child("fieldRef"), item.FieldRef, fileFields[:])...)
		case item.ResourceFieldRef != nil:
			errs = append(errs, validateResourceFieldRef(here.Child("resourceFieldRef"), item.ResourceFieldRef)...)
			if !containers[item.ResourceFieldRef.ContainerName] {
				errs = append(errs, field.NotFound(here.Child("resourceFieldRef", "containerName"), item.ResourceFieldRef.ContainerName))
			}
		default:
			errs = append(errs, field.Required(here, "name a source, fieldRef or resourceFieldRef"))
		}
	}
	return errs
}
