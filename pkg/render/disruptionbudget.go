package render

func (r *renderer) disruptionBudget() map[string]any {
	b := r.app.Spec.DisruptionBudget
	spec := map[string]any{
		"selector": map[string]any{"matchLabels": stringMap(selector(r.app))},
	}
	if b.MinAvailable != nil {
		spec["minAvailable"] = intOrString(*b.MinAvailable)
	}
	if b.MaxUnavailable != nil {
		spec["maxUnavailable"] = intOrString(*b.MaxUnavailable)
	}
	putString(spec, "unhealthyPodEvictionPolicy", b.UnhealthyPodEvictionPolicy)
	return map[string]any{
		"apiVersion": "policy/v1",
		"kind":       "PodDisruptionBudget",
		"metadata":   r.metadata(nil, nil),
		"spec":       spec,
	}
}
