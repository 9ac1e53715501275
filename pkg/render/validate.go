package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudevops.io/appsvc/api/v1alpha1"
)

// paths are those of the fields that validation names, made once.
var paths = struct {
	name, namespace, labels, annotations                                  *field.Path
	spec, profile, driftPolicy, imagePullPolicy, image, replicas          *field.Path
	selector, podLabels, podAnnotations, containerName                    *field.Path
	imagePullSecrets, env, envFrom, resources                             *field.Path
	containerPorts, ports, serviceType, serviceLabels, serviceAnnotations *field.Path
}{
	name:               field.NewPath("metadata", "name"),
	namespace:          field.NewPath("metadata", "namespace"),
	labels:             field.NewPath("metadata", "labels"),
	annotations:        field.NewPath("metadata", "annotations"),
	spec:               field.NewPath("spec"),
	profile:            field.NewPath("spec", "profile"),
	driftPolicy:        field.NewPath("spec", "driftPolicy"),
	imagePullPolicy:    field.NewPath("spec", "imagePullPolicy"),
	image:              field.NewPath("spec", "image"),
	replicas:           field.NewPath("spec", "replicas"),
	selector:           field.NewPath("spec", "selector"),
	podLabels:          field.NewPath("spec", "podLabels"),
	podAnnotations:     field.NewPath("spec", "podAnnotations"),
	containerName:      field.NewPath("spec", "containerName"),
	imagePullSecrets:   field.NewPath("spec", "imagePullSecrets"),
	env:                field.NewPath("spec", "env"),
	envFrom:            field.NewPath("spec", "envFrom"),
	resources:          field.NewPath("spec", "resources"),
	containerPorts:     field.NewPath("spec", "containerPorts"),
	ports:              field.NewPath("spec", "ports"),
	serviceType:        field.NewPath("spec", "service", "type"),
	serviceLabels:      field.NewPath("spec", "service", "labels"),
	serviceAnnotations: field.NewPath("spec", "service", "annotations"),
}

// validate finds every fault of an AppService, in no order, and gives the ports
// that were worked out on the way. It refuses all that the CRD refuses, and what
// the API server would refuse, or silently break, in the objects rendered from it.
func validate(app *v1alpha1.AppService) (portTable, field.ErrorList) {
	var errs field.ErrorList
	errs = append(errs, validateMetadata(app)...)

	s := &app.Spec
	errs = append(errs, oneOf(paths.profile, s.Profile, profiles()...)...)
	errs = append(errs, oneOf(paths.driftPolicy, s.DriftPolicy,
		v1alpha1.DriftPolicyCorrect, v1alpha1.DriftPolicyWarn)...)
	errs = append(errs, oneOf(paths.imagePullPolicy, s.ImagePullPolicy,
		corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	errs = append(errs, validateImage(paths.image, s.Image)...)
	if s.Replicas != nil && *s.Replicas < 0 {
		errs = append(errs, field.Invalid(paths.replicas, *s.Replicas, "must be 0 or more"))
	}
	errs = append(errs, validateSelector(app)...)
	errs = append(errs, validatePodLabels(app)...)
	errs = append(errs, annotationFaults(paths.podAnnotations, s.PodAnnotations)...)
	if s.ContainerName != "" {
		for _, msg := range validation.IsDNS1123Label(s.ContainerName) {
			errs = append(errs, field.Invalid(paths.containerName, s.ContainerName, msg))
		}
	}
	errs = append(errs, validatePullSecrets(paths.imagePullSecrets, s.ImagePullSecrets)...)
	errs = append(errs, validateEnvFrom(paths.envFrom, s.EnvFrom)...)
	errs = append(errs, validateResources(paths.resources, &s.Resources)...)
	errs = append(errs, validateContainerPorts(paths.containerPorts, s.ContainerPorts)...)
	errs = append(errs, validateContainers(s)...)
	errs = append(errs, validatePod(s)...)
	errs = append(errs, validateSecurityProfile(s)...)
	errs = append(errs, validateRollout(s)...)
	errs = append(errs, validateAutoscaling(s)...)
	errs = append(errs, validateDisruptionBudget(s)...)
	errs = append(errs, atMost(paths.spec.Child("patches"), len(s.Patches), 50)...)
	errs = append(errs, validateFiles(s)...)
	errs = append(errs, validateIngress(s)...)
	errs = append(errs, validateRoute(s)...)
	errs = append(errs, validateNetworkPolicy(s)...)
	errs = append(errs, validateMonitoring(app)...)
	errs = append(errs, validateService(app)...)
	errs = append(errs, validateServicePorts(paths.ports, s)...)

	ports, portErrs := resolvePorts(s)
	return ports, append(errs, portErrs...)
}

// sorted orders faults by field, with [2] before [10], and by text where one field
// has several, so that a report of them is the same each time.
func sorted(errs field.ErrorList) field.ErrorList {
	slices.SortFunc(errs, func(a, b *field.Error) int {
		return cmp.Or(comparePaths(a.Field, b.Field), cmp.Compare(a.Error(), b.Error()))
	})
	return slices.CompactFunc(errs, func(a, b *field.Error) bool { return a.Error() == b.Error() })
}

// comparePaths orders field paths, numbers in them by value.
func comparePaths(a, b string) int {
	for a != "" && b != "" {
		na, nb := leadingDigits(a), leadingDigits(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// oneOf refuses a value that is neither empty nor one of those listed.
func oneOf[T ~string](path *field.Path, value T, allowed ...T) field.ErrorList {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, allowed)}
}

// atMost refuses a list or mapping that is longer than the CRD allows.
func atMost(path *field.Path, have, limit int) field.ErrorList {
	if have <= limit {
		return nil
	}
	return field.ErrorList{field.TooMany(path, have, limit)}
}

func validateMetadata(app *v1alpha1.AppService) field.ErrorList {
	var errs field.ErrorList
	if app.Name == "" {
		errs = append(errs, field.Required(paths.name, "the children have this name"))
	} else {
		// The portable rule: a Service of this name may begin with a digit only
		// since Kubernetes 1.37 (RelaxedServiceNameValidation).
		for _, msg := range validation.IsDNS1035Label(app.Name) {
			errs = append(errs, field.Invalid(paths.name, app.Name, msg))
		}
	}
	if app.Namespace != "" {
		for _, msg := range validation.IsDNS1123Label(app.Namespace) {
			errs = append(errs, field.Invalid(paths.namespace, app.Namespace, msg))
		}
	}
	errs = append(errs, labelFaults(paths.labels, app.Labels)...)
	return append(errs, annotationFaults(paths.annotations, app.Annotations)...)
}

// labelFaults names the key of each fault, which the API's own validation does not.
func labelFaults(path *field.Path, labels map[string]string) field.ErrorList {
	return keyFaults(path, labels, metav1validation.ValidateLabels)
}

// annotationFaults does so for annotations.
func annotationFaults(path *field.Path, annotations map[string]string) field.ErrorList {
	return keyFaults(path, annotations, apivalidation.ValidateAnnotations)
}

func keyFaults(path *field.Path, entries map[string]string, validate func(map[string]string, *field.Path) field.ErrorList) field.ErrorList {
	all := validate(entries, path)
	if len(all) == 0 {
		return nil
	}
	var errs field.ErrorList
	for k, v := range entries {
		errs = append(errs, validate(map[string]string{k: v}, path.Key(k))...)
	}
	if len(errs) == 0 {
		return all // it is all of them together that are too large
	}
	return errs
}

func validateImage(path *field.Path, image string) field.ErrorList {
	switch {
	case image == "":
		return field.ErrorList{field.Required(path, "")}
	case strings.ContainsFunc(image, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return field.ErrorList{field.Invalid(path, image, "must not hold white space or control characters")}
	}
	return nil
}

func validateSelector(app *v1alpha1.AppService) field.ErrorList {
	path := paths.selector
	if app.Spec.Selector != nil && len(app.Spec.Selector) == 0 {
		// The CRD says the same (minProperties). An empty selector selects nothing,
		// or everything, depending on who reads it.
		return field.ErrorList{field.Invalid(path, "{}", "must have at least one label")}
	}
	return labelFaults(path, app.Spec.Selector)
}

// validatePodLabels refuses what would contradict the selector, and the labels
// that appsvc sets itself.
func validatePodLabels(app *v1alpha1.AppService) field.ErrorList {
	path := paths.podLabels
	errs := labelFaults(path, app.Spec.PodLabels)
	selects := selector(app)
	for k, v := range engineLabels(app) {
		if got, ok := app.Spec.PodLabels[k]; ok && got != v {
			if selects[k] != got {
				errs = append(errs, field.Forbidden(path.Key(k), fmt.Sprintf("appsvc sets this label, to %q", v)))
			}
		}
	}
	for k, v := range selects {
		if got, ok := app.Spec.PodLabels[k]; ok && got != v {
			errs = append(errs, field.Forbidden(path.Key(k), fmt.Sprintf("the pods are selected by this label, with %q", v)))
		}
	}
	return errs
}

func validatePullSecrets(path *field.Path, secrets []v1alpha1.ImagePullSecret) field.ErrorList {
	var errs field.ErrorList
	seen := make(map[string]bool, len(secrets))
	for i, s := range secrets {
		name := path.Index(i).Child("name")
		switch {
		case s.Name == "":
			errs = append(errs, field.Required(name, ""))
		case seen[s.Name]:
			errs = append(errs, field.Duplicate(name, s.Name))
		default:
			errs = append(errs, objectName(name, s.Name)...)
		}
		seen[s.Name] = true
	}
	return errs
}

// objectName checks a reference to a ConfigMap or a Secret.
func objectName(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	var errs field.ErrorList
	for _, msg := range validation.IsDNS1123Subdomain(name) {
		errs = append(errs, field.Invalid(path, name, msg))
	}
	return errs
}

// warnings name what is allowed and probably not meant, sorted by field.
func warnings(app *v1alpha1.AppService) []Warning {
	s := &app.Spec
	var list []Warning
	if s.Service != nil && len(s.Ports) == 0 {
		list = append(list, Warning{"spec.service", "has no effect: without ports there is no Service"})
	}
	if s.Autoscaling != nil && s.Replicas != nil {
		list = append(list, Warning{"spec.replicas", "has no effect: with autoscaling, their number is the autoscaler's"})
	}
	for i := range s.Ports {
		p := &s.Ports[i]
		for _, c := range s.ContainerPorts {
			if targetOf(p) == nil && p.Name != "" && c.Name == p.Name && c.ContainerPort != p.Port {
				list = append(list, Warning{paths.ports.Index(i).String(),
					fmt.Sprintf("has no targetPort and so leads to %d; the container port called %q is %d: targetPort: %s leads there", p.Port, c.Name, c.ContainerPort, c.Name)})
			}
		}
	}
	if why := blocksEviction(s); why != "" {
		list = append(list, Warning{"spec.disruptionBudget", "blocks every eviction, and so the draining of nodes: " + why})
	}
	slices.SortFunc(list, func(a, b Warning) int { return comparePaths(a.Field, b.Field) })
	return list
}
