package render

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudevops.io/appsvc/api/v1alpha1"
)

func validateAutoscaling(s *v1alpha1.AppServiceSpec) field.ErrorList {
	a := s.Autoscaling
	if a == nil {
		return nil
	}
	at := paths.spec.Child("autoscaling")
	var errs field.ErrorList
	if a.MaxReplicas < 1 {
		errs = append(errs, field.Invalid(at.Child("maxReplicas"), a.MaxReplicas, "must be 1 or more"))
	}
	if n := a.MinReplicas; n != nil {
		switch {
		case *n < 0:
			errs = append(errs, field.Invalid(at.Child("minReplicas"), *n, "must be 0 or more"))
		case *n > a.MaxReplicas:
			errs = append(errs, field.Invalid(at.Child("minReplicas"), *n, "must be at most maxReplicas"))
		case *n == 0 && !scalesFromOutside(a.Metrics):
			errs = append(errs, field.Invalid(at.Child("minReplicas"), *n, "with no pod there is nothing to measure: needs a metric of type Object or External"))
		}
	}
	if a.CPU == nil && a.Memory == nil && len(a.Metrics) == 0 {
		errs = append(errs, field.Required(at, "name what to scale by: cpu, memory or metrics"))
	}
	errs = append(errs, validateUtilization(at.Child("cpu"), a.CPU, corev1.ResourceCPU, s)...)
	errs = append(errs, validateUtilization(at.Child("memory"), a.Memory, corev1.ResourceMemory, s)...)
	for i := range a.Metrics {
		errs = append(errs, validateMetric(at.Child("metrics").Index(i), &a.Metrics[i])...)
	}
	if b := a.Behavior; b != nil {
		errs = append(errs, validateScaling(at.Child("behavior", "scaleUp"), b.ScaleUp)...)
		errs = append(errs, validateScaling(at.Child("behavior", "scaleDown"), b.ScaleDown)...)
	}
	return errs
}

func scalesFromOutside(metrics []autoscalingv2.MetricSpec) bool {
	for i := range metrics {
		if metrics[i].Type == autoscalingv2.ObjectMetricSourceType || metrics[i].Type == autoscalingv2.ExternalMetricSourceType {
			return true
		}
	}
	return false
}

// validateUtilization demands that each container requests what a percentage of is
// aimed at: without, the autoscaler computes nothing and does nothing. A limit
// without a request counts as one.
func validateUtilization(at *field.Path, target *int32, name corev1.ResourceName, s *v1alpha1.AppServiceSpec) field.ErrorList {
	if target == nil {
		return nil
	}
	var errs field.ErrorList
	if *target < 1 {
		errs = append(errs, field.Invalid(at, *target, "must be 1 or more"))
	}
	requests := func(r *corev1.ResourceRequirements) bool {
		_, requested := r.Requests[name]
		_, limited := r.Limits[name]
		return requested || limited
	}
	missing := func(container *field.Path) {
		errs = append(errs, field.Required(container.Child("resources", "requests").Key(string(name)),
			fmt.Sprintf("%s is a percentage of it", at)))
	}
	if !requests(&s.Resources) {
		missing(paths.spec)
	}
	for i := range s.Sidecars {
		if !requests(&s.Sidecars[i].Resources) {
			missing(paths.spec.Child("sidecars").Index(i))
		}
	}
	return errs
}

func validateMetric(at *field.Path, m *autoscalingv2.MetricSpec) field.ErrorList {
	given := map[autoscalingv2.MetricSourceType]bool{
		autoscalingv2.ObjectMetricSourceType:            m.Object != nil,
		autoscalingv2.PodsMetricSourceType:              m.Pods != nil,
		autoscalingv2.ResourceMetricSourceType:          m.Resource != nil,
		autoscalingv2.ContainerResourceMetricSourceType: m.ContainerResource != nil,
		autoscalingv2.ExternalMetricSourceType:          m.External != nil,
	}
	if m.Type == "" {
		return field.ErrorList{field.Required(at.Child("type"), "")}
	}
	if set, known := given[m.Type]; !known {
		return field.ErrorList{field.Invalid(at.Child("type"), m.Type, "must be Object, Pods, Resource, ContainerResource or External")}
	} else if !set {
		return field.ErrorList{field.Required(at, fmt.Sprintf("has the type %s and no source of it", m.Type))}
	}
	errs := missing(at, "", plain(m))
	list := targets(m)
	if len(list) > 1 {
		errs = append(errs, field.Forbidden(at, "more than one source"))
	}
	for _, t := range list {
		set := 0
		for _, is := range []bool{t.Value != nil, t.AverageValue != nil, t.AverageUtilization != nil} {
			if is {
				set++
			}
		}
		if set != 1 {
			errs = append(errs, field.Invalid(at, string(m.Type), "its target needs one of value, averageValue and averageUtilization"))
		}
	}
	return errs
}

func validateScaling(at *field.Path, r *autoscalingv2.HPAScalingRules) field.ErrorList {
	if r == nil {
		return nil
	}
	var errs field.ErrorList
	if w := r.StabilizationWindowSeconds; w != nil && (*w < 0 || *w > 3600) {
		errs = append(errs, field.Invalid(at.Child("stabilizationWindowSeconds"), *w, "must be 0 to 3600"))
	}
	if r.SelectPolicy != nil {
		errs = append(errs, oneOf(at.Child("selectPolicy"), *r.SelectPolicy,
			autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect, autoscalingv2.DisabledPolicySelect)...)
	}
	for i, p := range r.Policies {
		here := at.Child("policies").Index(i)
		if p.Type == "" {
			errs = append(errs, field.Required(here.Child("type"), ""))
		}
		errs = append(errs, oneOf(here.Child("type"), p.Type, autoscalingv2.PodsScalingPolicy, autoscalingv2.PercentScalingPolicy)...)
		if p.Value < 1 {
			errs = append(errs, field.Invalid(here.Child("value"), p.Value, "must be 1 or more"))
		}
		if p.PeriodSeconds < 1 || p.PeriodSeconds > 1800 {
			errs = append(errs, field.Invalid(here.Child("periodSeconds"), p.PeriodSeconds, "must be 1 to 1800"))
		}
	}
	return errs
}

func validateDisruptionBudget(s *v1alpha1.AppServiceSpec) field.ErrorList {
	b := s.DisruptionBudget
	if b == nil {
		return nil
	}
	at := paths.spec.Child("disruptionBudget")
	errs := validateShare(at.Child("minAvailable"), b.MinAvailable)
	errs = append(errs, validateShare(at.Child("maxUnavailable"), b.MaxUnavailable)...)
	errs = append(errs, oneOf(at.Child("unhealthyPodEvictionPolicy"), b.UnhealthyPodEvictionPolicy,
		policyv1.IfHealthyBudget, policyv1.AlwaysAllow)...)
	if (b.MinAvailable == nil) == (b.MaxUnavailable == nil) {
		errs = append(errs, field.Required(at, "give one of minAvailable and maxUnavailable"))
	}
	return errs
}

// blocksEviction says why a budget lets no pod be evicted, or "".
func blocksEviction(s *v1alpha1.AppServiceSpec) string {
	b := s.DisruptionBudget
	switch {
	case b == nil:
	case isZero(b.MaxUnavailable):
		return "maxUnavailable is 0"
	case b.MinAvailable == nil:
	case percent(*b.MinAvailable) >= 100:
		return "minAvailable is all pods"
	case percent(*b.MinAvailable) < 0 && s.Autoscaling == nil && s.Replicas != nil && *s.Replicas > 0 && b.MinAvailable.IntVal >= *s.Replicas:
		return "minAvailable is not below replicas"
	case percent(*b.MinAvailable) < 0 && s.Autoscaling != nil && b.MinAvailable.IntVal >= s.Autoscaling.MaxReplicas:
		return "minAvailable is not below maxReplicas"
	}
	return ""
}
