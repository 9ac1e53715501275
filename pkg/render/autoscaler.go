package render

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func (r *renderer) autoscaler() map[string]any {
	a := r.app.Spec.Autoscaling
	var metrics []any
	if a.CPU != nil {
		metrics = append(metrics, utilization(corev1.ResourceCPU, *a.CPU))
	}
	if a.Memory != nil {
		metrics = append(metrics, utilization(corev1.ResourceMemory, *a.Memory))
	}
	metrics = append(metrics, nativeList(a.Metrics, normalizeMetric)...)
	spec := map[string]any{
		"scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": r.name()},
		"maxReplicas":    int64(a.MaxReplicas),
	}
	if a.MinReplicas != nil {
		spec["minReplicas"] = int64(*a.MinReplicas)
	}
	put(spec, "metrics", metrics)
	if a.Behavior != nil {
		putMap(spec, "behavior", plain(a.Behavior))
	}
	return map[string]any{
		"apiVersion": "autoscaling/v2",
		"kind":       "HorizontalPodAutoscaler",
		"metadata":   r.metadata(nil, nil),
		"spec":       spec,
	}
}

func utilization(name corev1.ResourceName, percent int32) map[string]any {
	return map[string]any{
		"type": string(autoscalingv2.ResourceMetricSourceType),
		"resource": map[string]any{
			"name": string(name),
			"target": map[string]any{
				"type":               string(autoscalingv2.UtilizationMetricType),
				"averageUtilization": int64(percent),
			},
		},
	}
}

// normalizeMetric spells quantities the one way that the API server answers with:
// the list of metrics is replaced as a whole.
func normalizeMetric(m *autoscalingv2.MetricSpec) {
	for _, target := range targets(m) {
		for _, q := range []**resource.Quantity{&target.Value, &target.AverageValue} {
			if *q != nil {
				c := canonicalQuantity(**q)
				*q = &c
			}
		}
	}
}

// targets gives the targets of the sources of a metric, of which there is one in a
// valid one.
func targets(m *autoscalingv2.MetricSpec) []*autoscalingv2.MetricTarget {
	var list []*autoscalingv2.MetricTarget
	if m.Object != nil {
		list = append(list, &m.Object.Target)
	}
	if m.Pods != nil {
		list = append(list, &m.Pods.Target)
	}
	if m.Resource != nil {
		list = append(list, &m.Resource.Target)
	}
	if m.ContainerResource != nil {
		list = append(list, &m.ContainerResource.Target)
	}
	if m.External != nil {
		list = append(list, &m.External.Target)
	}
	return list
}
