package render

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateEnv refuses a name that occurs twice: the API server keeps such a list
// under POST, and answers an apply of it with an error that names no field
// (kubernetes/kubernetes#58477).
func validateEnv(path *field.Path, vars []corev1.EnvVar, volumes map[string]bool) field.ErrorList {
	var errs field.ErrorList
	seen := make(map[string]bool, len(vars))
	for i := range vars {
		v := &vars[i]
		switch {
		case v.Name == "":
			errs = append(errs, field.Required(path.Index(i).Child("name"), ""))
		case seen[v.Name]:
			errs = append(errs, field.Duplicate(path.Index(i).Child("name"), v.Name))
		default:
			for _, msg := range validation.IsRelaxedEnvVarName(v.Name) {
				errs = append(errs, field.Invalid(path.Index(i).Child("name"), v.Name, msg))
			}
		}
		seen[v.Name] = true
		if v.ValueFrom == nil {
			continue
		}
		if v.Value != "" {
			errs = append(errs, field.Forbidden(path.Index(i).Child("valueFrom"), "there is a value already"))
		}
		errs = append(errs, validateEnvSource(path.Index(i).Child("valueFrom"), v.ValueFrom, volumes)...)
	}
	return errs
}

func validateEnvSource(path *field.Path, src *corev1.EnvVarSource, volumes map[string]bool) field.ErrorList {
	var errs field.ErrorList
	var given []string
	if r := src.FieldRef; r != nil {
		given = append(given, "fieldRef")
		errs = append(errs, validateFieldRef(path.Child("fieldRef"), r, envFields[:])...)
	}
	if r := src.ResourceFieldRef; r != nil {
		given = append(given, "resourceFieldRef")
		errs = append(errs, validateResourceFieldRef(path.Child("resourceFieldRef"), r)...)
	}
	if r := src.ConfigMapKeyRef; r != nil {
		given = append(given, "configMapKeyRef")
		errs = append(errs, keyRef(path.Child("configMapKeyRef"), r.Name, r.Key)...)
	}
	if r := src.SecretKeyRef; r != nil {
		given = append(given, "secretKeyRef")
		errs = append(errs, keyRef(path.Child("secretKeyRef"), r.Name, r.Key)...)
	}
	if r := src.FileKeyRef; r != nil {
		given = append(given, "fileKeyRef")
		at := path.Child("fileKeyRef")
		if !volumes[r.VolumeName] {
			errs = append(errs, field.NotFound(at.Child("volumeName"), r.VolumeName))
		}
		errs = append(errs, relativePath(at.Child("path"), r.Path, true)...)
		if r.Key == "" {
			errs = append(errs, field.Required(at.Child("key"), ""))
		}
	}
	switch len(given) {
	case 1:
	case 0:
		errs = append(errs, field.Required(path, "name a source, such as fieldRef or secretKeyRef"))
	default:
		errs = append(errs, field.Forbidden(path, "more than one source: "+strings.Join(given, ", ")))
	}
	return errs
}

func keyRef(path *field.Path, name, key string) field.ErrorList {
	errs := objectName(path.Child("name"), name)
	if key == "" {
		return append(errs, field.Required(path.Child("key"), ""))
	}
	for _, msg := range validation.IsConfigMapKey(key) {
		errs = append(errs, field.Invalid(path.Child("key"), key, msg))
	}
	return errs
}

func validateEnvFrom(path *field.Path, sources []corev1.EnvFromSource) field.ErrorList {
	var errs field.ErrorList
	for i := range sources {
		s, here := &sources[i], path.Index(i)
		if s.Prefix != "" {
			for _, msg := range validation.IsRelaxedEnvVarName(s.Prefix) {
				errs = append(errs, field.Invalid(here.Child("prefix"), s.Prefix, msg))
			}
		}
		switch {
		case s.ConfigMapRef != nil && s.SecretRef != nil:
			errs = append(errs, field.Forbidden(here, "more than one source: configMapRef, secretRef"))
		case s.ConfigMapRef != nil:
			errs = append(errs, objectName(here.Child("configMapRef", "name"), s.ConfigMapRef.Name)...)
		case s.SecretRef != nil:
			errs = append(errs, objectName(here.Child("secretRef", "name"), s.SecretRef.Name)...)
		default:
			errs = append(errs, field.Required(here, "name a source, configMapRef or secretRef"))
		}
	}
	return errs
}

func validateResources(path *field.Path, r *corev1.ResourceRequirements) field.ErrorList {
	if len(r.Limits) == 0 && len(r.Requests) == 0 && len(r.Claims) == 0 {
		return nil
	}
	limits, requests := path.Child("limits"), path.Child("requests")
	errs := validateAmounts(limits, r.Limits)
	errs = append(errs, validateAmounts(requests, r.Requests)...)
	for name, request := range r.Requests {
		limit, ok := r.Limits[name]
		switch {
		case !ok:
			if !overcommits(name) {
				errs = append(errs, field.Required(limits.Key(string(name)),
					"this resource is not overcommitted: request and limit go together"))
			}
		case request.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(requests.Key(string(name)), request.String(), "must be at most the limit, "+limit.String()))
		case request.Cmp(limit) != 0 && !overcommits(name):
			errs = append(errs, field.Invalid(requests.Key(string(name)), request.String(),
				"must equal the limit, "+limit.String()+": this resource is not overcommitted"))
		}
	}
	if len(r.Claims) > 0 {
		errs = append(errs, field.Forbidden(path.Child("claims"), "refers to resourceClaims of the pod, which an AppService has none of"))
	}
	return append(errs, validateHugePages(path, r)...)
}

// validateHugePages demands what the kubelet does: pages in whole numbers, and a
// request for something else beside them.
func validateHugePages(path *field.Path, r *corev1.ResourceRequirements) field.ErrorList {
	var errs field.ErrorList
	pages, others := false, false
	for name, q := range r.Limits {
		switch size, ok := strings.CutPrefix(string(name), corev1.ResourceHugePagesPrefix); {
		case ok:
			pages = true
			at := path.Child("limits").Key(string(name))
			if page, err := resource.ParseQuantity(size); err != nil || page.Sign() <= 0 {
				errs = append(errs, field.Invalid(at, string(name), "must end with the size of a page, such as 2Mi"))
			} else if q.Value()%page.Value() != 0 {
				errs = append(errs, field.Invalid(at, q.String(), "must be a multiple of the size of a page"))
			}
		case name == corev1.ResourceCPU, name == corev1.ResourceMemory:
			others = true
		}
	}
	_, cpu := r.Requests[corev1.ResourceCPU]
	_, memory := r.Requests[corev1.ResourceMemory]
	if pages && !others && !cpu && !memory {
		errs = append(errs, field.Required(path.Child("limits"), "huge pages need cpu or memory beside them"))
	}
	return errs
}

func validateAmounts(path *field.Path, list corev1.ResourceList) field.ErrorList {
	var errs field.ErrorList
	for name, q := range list {
		if msg := resourceName(string(name)); msg != "" {
			errs = append(errs, field.Invalid(path.Key(string(name)), string(name), msg))
		}
		if q.Sign() < 0 {
			errs = append(errs, field.Invalid(path.Key(string(name)), q.String(), "must be 0 or more"))
		}
		if !overcommits(name) && q.Cmp(*resource.NewQuantity(q.Value(), q.Format)) != 0 {
			errs = append(errs, field.Invalid(path.Key(string(name)), q.String(), "must be a whole number"))
		}
	}
	return errs
}

// overcommits says whether requests of a resource may be below its limit, which
// holds for the native ones but huge pages (IsOvercommitAllowed in
// k8s.io/kubernetes pkg/apis/core/v1/helper).
func overcommits(name corev1.ResourceName) bool {
	return native(string(name)) && !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func native(name string) bool {
	prefix, _, qualified := strings.Cut(name, "/")
	return !qualified || strings.HasSuffix(prefix, "kubernetes.io")
}

func resourceName(name string) string {
	if msgs := validation.IsQualifiedName(name); len(msgs) > 0 {
		return strings.Join(msgs, "; ")
	}
	if strings.HasPrefix(name, "requests.") {
		return "must not begin with \"requests.\", which quotas use"
	}
	if strings.Contains(name, "/") {
		return ""
	}
	switch corev1.ResourceName(name) {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return ""
	}
	if strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) {
		return ""
	}
	return fmt.Sprintf("is no resource of a container: cpu, memory, ephemeral-storage, %s<size>, or a name with a domain", corev1.ResourceHugePagesPrefix)
}
