package render

import "kudevops.io/appsvc/api/v1alpha1"

func (r *renderer) serviceMonitor() map[string]any {
	m := r.app.Spec.Monitoring
	endpoint := map[string]any{"port": monitoredPort(&r.app.Spec)}
	putString(endpoint, "path", m.Path)
	putString(endpoint, "interval", m.Interval)
	return map[string]any{
		"apiVersion": "monitoring.coreos.com/v1",
		"kind":       "ServiceMonitor",
		"metadata":   r.metadata(m.Labels, nil),
		"spec": map[string]any{
			// The Service is found by labels that it has from here, and nobody else's.
			"selector":  map[string]any{"matchLabels": stringMap(engineLabels(r.app))},
			"endpoints": []any{endpoint},
		},
	}
}

// monitoredPort is the name of the port; empty when it has none.
func monitoredPort(s *v1alpha1.AppServiceSpec) string {
	if s.Monitoring.Port != "" || len(s.Ports) == 0 {
		return s.Monitoring.Port
	}
	return s.Ports[0].Name
}
