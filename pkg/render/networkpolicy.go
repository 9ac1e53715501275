package render

import (
	networkingv1 "k8s.io/api/networking/v1"

	"kudevops.io/appsvc/api/v1alpha1"
)

func (r *renderer) networkPolicy() map[string]any {
	p := r.app.Spec.NetworkPolicy
	types := policyTypes(p)
	list := make([]any, len(types))
	for i, t := range types {
		list[i] = string(t)
	}
	spec := map[string]any{
		"podSelector": map[string]any{"matchLabels": stringMap(selector(r.app))},
		"policyTypes": list,
	}
	put(spec, "ingress", nativeList(p.Ingress, func(rule *networkingv1.NetworkPolicyIngressRule) { normalizePolicyPorts(rule.Ports) }))
	put(spec, "egress", nativeList(p.Egress, func(rule *networkingv1.NetworkPolicyEgressRule) { normalizePolicyPorts(rule.Ports) }))
	return map[string]any{
		"apiVersion": "networking.k8s.io/v1",
		"kind":       "NetworkPolicy",
		"metadata":   r.metadata(nil, nil),
		"spec":       spec,
	}
}

// policyTypes are written always: what the API server would fill in closes a
// direction that nobody spoke of.
func policyTypes(p *v1alpha1.NetworkPolicySpec) []networkingv1.PolicyType {
	if len(p.PolicyTypes) > 0 {
		return p.PolicyTypes
	}
	var types []networkingv1.PolicyType
	if len(p.Ingress) > 0 || len(p.Egress) == 0 {
		types = append(types, networkingv1.PolicyTypeIngress)
	}
	if len(p.Egress) > 0 {
		types = append(types, networkingv1.PolicyTypeEgress)
	}
	return types
}

// normalizePolicyPorts writes out the protocol: rules are replaced as a whole.
func normalizePolicyPorts(ports []networkingv1.NetworkPolicyPort) {
	for i := range ports {
		if ports[i].Protocol == nil {
			ports[i].Protocol = new(protocolOf(""))
		}
	}
}
