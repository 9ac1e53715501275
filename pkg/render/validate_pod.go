package render

import (
	"net/netip"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudevops.io/appsvc/api/v1alpha1"
)

func validatePod(s *v1alpha1.AppServiceSpec) field.ErrorList {
	var errs field.ErrorList
	spec := paths.spec
	if s.ServiceAccountName != "" {
		errs = append(errs, objectName(spec.Child("serviceAccountName"), s.ServiceAccountName)...)
	}
	if a := s.ServiceAccount; a != nil {
		errs = append(errs, annotationFaults(spec.Child("serviceAccount", "annotations"), a.Annotations)...)
		if a.Create && s.ServiceAccountName != "" {
			errs = append(errs, field.Forbidden(spec.Child("serviceAccountName"), "spec.serviceAccount.create makes a ServiceAccount of the AppService's name, and the pods have that"))
		}
	}
	if t := s.TerminationGracePeriodSeconds; t != nil && *t < 0 {
		errs = append(errs, field.Invalid(spec.Child("terminationGracePeriodSeconds"), *t, "must be 0 or more"))
	}
	seen := make(map[string]bool, len(s.HostAliases))
	for i, a := range s.HostAliases {
		at := spec.Child("hostAliases").Index(i)
		if _, err := netip.ParseAddr(a.IP); err != nil {
			errs = append(errs, field.Invalid(at.Child("ip"), a.IP, "must be an IP address"))
		} else if seen[a.IP] {
			errs = append(errs, field.Duplicate(at.Child("ip"), a.IP))
		}
		seen[a.IP] = true
		for j, host := range a.Hostnames {
			for _, msg := range validation.IsDNS1123Subdomain(host) {
				errs = append(errs, field.Invalid(at.Child("hostnames").Index(j), host, msg))
			}
		}
	}
	errs = append(errs, oneOf(spec.Child("dnsPolicy"), s.DNSPolicy,
		corev1.DNSClusterFirst, corev1.DNSClusterFirstWithHostNet, corev1.DNSDefault, corev1.DNSNone)...)
	if s.DNSPolicy == corev1.DNSNone && (s.DNSConfig == nil || len(s.DNSConfig.Nameservers) == 0) {
		errs = append(errs, field.Required(spec.Child("dnsConfig", "nameservers"), "dnsPolicy None takes its name servers from here"))
	}
	if c := s.PodSecurityContext; c != nil && (c.SeccompProfile != nil || c.AppArmorProfile != nil || len(c.Sysctls) > 0) {
		errs = append(errs, missing(spec.Child("podSecurityContext"), "", plain(c))...)
	}
	errs = append(errs, labelFaults(spec.Child("nodeSelector"), s.NodeSelector)...)
	errs = append(errs, validateTolerations(spec.Child("tolerations"), s.Tolerations)...)
	errs = append(errs, validateAffinity(spec.Child("affinity"), s.Affinity)...)
	errs = append(errs, validateSpread(spec.Child("topologySpreadConstraints"), s.TopologySpreadConstraints)...)
	if s.PriorityClassName != "" {
		errs = append(errs, objectName(spec.Child("priorityClassName"), s.PriorityClassName)...)
	}
	if s.RuntimeClassName != nil {
		errs = append(errs, objectName(spec.Child("runtimeClassName"), *s.RuntimeClassName)...)
	}
	return errs
}

func validateTolerations(at *field.Path, list []corev1.Toleration) field.ErrorList {
	var errs field.ErrorList
	for i, t := range list {
		here := at.Index(i)
		errs = append(errs, oneOf(here.Child("effect"), t.Effect,
			corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)...)
		errs = append(errs, oneOf(here.Child("operator"), t.Operator,
			corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt)...)
		if t.Key == "" && t.Operator != corev1.TolerationOpExists {
			errs = append(errs, field.Invalid(here.Child("operator"), t.Operator, "must be Exists where there is no key"))
		}
		if t.Key != "" {
			for _, msg := range validation.IsQualifiedName(t.Key) {
				errs = append(errs, field.Invalid(here.Child("key"), t.Key, msg))
			}
		}
		if t.Operator == corev1.TolerationOpExists && t.Value != "" {
			errs = append(errs, field.Invalid(here.Child("value"), t.Value, "must be empty where the operator is Exists"))
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			errs = append(errs, field.Invalid(here.Child("effect"), t.Effect, "must be NoExecute where there are tolerationSeconds"))
		}
	}
	return errs
}

func validateSpread(at *field.Path, list []corev1.TopologySpreadConstraint) field.ErrorList {
	var errs field.ErrorList
	type key struct{ topology, action string }
	seen := make(map[key]bool, len(list))
	for i, c := range list {
		here := at.Index(i)
		if c.MaxSkew < 1 {
			errs = append(errs, field.Invalid(here.Child("maxSkew"), c.MaxSkew, "must be 1 or more"))
		}
		if c.TopologyKey == "" {
			errs = append(errs, field.Required(here.Child("topologyKey"), ""))
		}
		if c.WhenUnsatisfiable == "" {
			errs = append(errs, field.Required(here.Child("whenUnsatisfiable"), "DoNotSchedule or ScheduleAnyway"))
		}
		errs = append(errs, oneOf(here.Child("whenUnsatisfiable"), c.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway)...)
		k := key{c.TopologyKey, string(c.WhenUnsatisfiable)}
		if seen[k] {
			errs = append(errs, field.Duplicate(here, k.topology+", "+k.action))
		}
		seen[k] = true
		if c.MinDomains != nil {
			if *c.MinDomains < 1 {
				errs = append(errs, field.Invalid(here.Child("minDomains"), *c.MinDomains, "must be 1 or more"))
			}
			if c.WhenUnsatisfiable != corev1.DoNotSchedule {
				errs = append(errs, field.Invalid(here.Child("minDomains"), *c.MinDomains, "goes with whenUnsatisfiable DoNotSchedule only"))
			}
		}
		if c.LabelSelector != nil {
			errs = append(errs, metav1validation.ValidateLabelSelector(c.LabelSelector, metav1validation.LabelSelectorValidationOptions{}, here.Child("labelSelector"))...)
		}
	}
	return errs
}

func validateRollout(s *v1alpha1.AppServiceSpec) field.ErrorList {
	var errs field.ErrorList
	spec := paths.spec
	if s.MinReadySeconds < 0 {
		errs = append(errs, field.Invalid(spec.Child("minReadySeconds"), s.MinReadySeconds, "must be 0 or more"))
	}
	if n := s.RevisionHistoryLimit; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(spec.Child("revisionHistoryLimit"), *n, "must be 0 or more"))
	}
	deadline := int32(600) // the API server's default
	if n := s.ProgressDeadlineSeconds; n != nil {
		deadline = *n
		if *n < 1 {
			errs = append(errs, field.Invalid(spec.Child("progressDeadlineSeconds"), *n, "must be 1 or more"))
		}
	}
	if s.MinReadySeconds >= deadline {
		errs = append(errs, field.Invalid(spec.Child("minReadySeconds"), s.MinReadySeconds, "must be below progressDeadlineSeconds, which is 600 unless given"))
	}
	st := s.Strategy
	if st == nil {
		return errs
	}
	at := spec.Child("strategy")
	errs = append(errs, oneOf(at.Child("type"), st.Type, appsv1.RollingUpdateDeploymentStrategyType, appsv1.RecreateDeploymentStrategyType)...)
	if st.RollingUpdate == nil {
		return errs
	}
	if st.Type == appsv1.RecreateDeploymentStrategyType {
		return append(errs, field.Forbidden(at.Child("rollingUpdate"), "goes with type RollingUpdate, not with Recreate"))
	}
	surge, unavailable := st.RollingUpdate.MaxSurge, st.RollingUpdate.MaxUnavailable
	errs = append(errs, validateShare(at.Child("rollingUpdate", "maxSurge"), surge)...)
	errs = append(errs, validateShare(at.Child("rollingUpdate", "maxUnavailable"), unavailable)...)
	if unavailable != nil && percent(*unavailable) > 100 {
		errs = append(errs, field.Invalid(at.Child("rollingUpdate", "maxUnavailable"), unavailable.String(), "must be at most 100%"))
	}
	if isZero(surge) && isZero(unavailable) {
		errs = append(errs, field.Invalid(at.Child("rollingUpdate", "maxUnavailable"), unavailable.String(), "must not be 0 where maxSurge is 0: no pod could be replaced"))
	}
	return errs
}

// validateShare demands a number of pods or a percentage of them.
func validateShare(at *field.Path, v *intstr.IntOrString) field.ErrorList {
	switch {
	case v == nil:
	case v.Type == intstr.Int && v.IntVal < 0:
		return field.ErrorList{field.Invalid(at, v.IntVal, "must be 0 or more")}
	case v.Type == intstr.String && len(validation.IsValidPercent(v.StrVal)) > 0:
		return field.ErrorList{field.Invalid(at, v.StrVal, "must be a number or a percentage, such as 25%")}
	}
	return nil
}

// percent is the percentage that a share says, or -1 when it says a number.
func percent(v intstr.IntOrString) int {
	if v.Type == intstr.Int {
		return -1
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(&v, 100, false)
	if err != nil {
		return -1
	}
	return n
}

func isZero(v *intstr.IntOrString) bool {
	return v != nil && ((v.Type == intstr.Int && v.IntVal == 0) || percent(*v) == 0)
}
