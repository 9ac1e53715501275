package render

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kudevops.io/appsvc/api/v1alpha1"
)

func (r *renderer) service() map[string]any {
	spec := map[string]any{
		"type":     string(serviceType(&r.app.Spec)),
		"selector": stringMap(selector(r.app)),
		"ports":    servicePorts(r.app.Spec.Ports),
	}
	var labels, annotations map[string]string
	if s := r.app.Spec.Service; s != nil {
		labels, annotations = s.Labels, s.Annotations
		serviceOptions(spec, s)
	}
	return map[string]any{
		"apiVersion": "v1",
		"kind":       "Service",
		"metadata":   r.metadata(labels, annotations),
		"spec":       spec,
	}
}

func serviceOptions(spec map[string]any, s *v1alpha1.ServiceSpec) {
	if s.Headless {
		spec["clusterIP"] = corev1.ClusterIPNone
	}
	if s.PublishNotReadyAddresses {
		spec["publishNotReadyAddresses"] = true
	}
	putString(spec, "externalTrafficPolicy", s.ExternalTrafficPolicy)
	putString(spec, "sessionAffinity", s.SessionAffinity)
	putPointer(spec, "internalTrafficPolicy", s.InternalTrafficPolicy)
	putPointer(spec, "ipFamilyPolicy", s.IPFamilyPolicy)
	putPointer(spec, "loadBalancerClass", s.LoadBalancerClass)
	putPointer(spec, "trafficDistribution", s.TrafficDistribution)
	ranges := slices.Clone(s.LoadBalancerSourceRanges)
	slices.Sort(ranges)
	put(spec, "loadBalancerSourceRanges", stringList(ranges))
}

// serviceType is NodePort when a port asks for a node port, and else opens none.
func serviceType(s *v1alpha1.AppServiceSpec) corev1.ServiceType {
	if s.Service != nil && s.Service.Type != "" {
		return s.Service.Type
	}
	for i := range s.Ports {
		if s.Ports[i].NodePort != 0 {
			return corev1.ServiceTypeNodePort
		}
	}
	return corev1.ServiceTypeClusterIP
}

func servicePorts(ports []v1alpha1.ServicePort) []any {
	list := make([]any, len(ports))
	for i := range ports {
		p := &ports[i]
		m := map[string]any{"port": int64(p.Port), "protocol": string(protocolOf(p.Protocol))}
		if p.Name != "" {
			m["name"] = p.Name
		}
		if t := targetOf(p); t != nil {
			m["targetPort"] = intOrString(*t)
		}
		if p.NodePort != 0 {
			m["nodePort"] = int64(p.NodePort)
		}
		if p.AppProtocol != nil && *p.AppProtocol != "" {
			m["appProtocol"] = *p.AppProtocol
		}
		list[i] = m
	}
	return list
}
