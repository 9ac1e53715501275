package render

import (
	"maps"
	"slices"

	"kudevops.io/appsvc/api/v1alpha1"
)

// route writes out the defaults of the Gateway API's schema, the empty group of a
// Service among them: the lists of an HTTPRoute are replaced as a whole, so without
// them every apply would be a change.
func (r *renderer) route() map[string]any {
	s := r.app.Spec.Route
	parents := make([]any, len(s.ParentRefs))
	for i, p := range s.ParentRefs {
		parent := map[string]any{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": p.Name}
		putString(parent, "namespace", p.Namespace)
		putString(parent, "sectionName", p.SectionName)
		if p.Port != nil {
			parent["port"] = int64(*p.Port)
		}
		parents[i] = parent
	}
	rules := s.Rules
	if len(rules) == 0 {
		rules = []v1alpha1.RouteRule{{}}
	}
	list := make([]any, len(rules))
	for i := range rules {
		list[i] = r.routeRule(&rules[i])
	}
	spec := map[string]any{"parentRefs": parents, "rules": list}
	put(spec, "hostnames", stringList(s.Hostnames))
	return map[string]any{
		"apiVersion": "gateway.networking.k8s.io/v1",
		"kind":       "HTTPRoute",
		"metadata":   r.metadata(nil, s.Annotations),
		"spec":       spec,
	}
}

func (r *renderer) routeRule(rule *v1alpha1.RouteRule) map[string]any {
	matches := rule.Matches
	if len(matches) == 0 {
		matches = []v1alpha1.RouteMatch{{}}
	}
	list := make([]any, len(matches))
	for i := range matches {
		list[i] = routeMatch(&matches[i])
	}
	backend := map[string]any{
		"group": "", "kind": "Service", "name": r.name(), "weight": int64(1),
		"port": int64(findPort(r.app.Spec.Ports, rule.Port).Port),
	}
	return map[string]any{"matches": list, "backendRefs": []any{backend}}
}

func routeMatch(m *v1alpha1.RouteMatch) map[string]any {
	path, kind := m.Path, m.PathType
	if path == "" {
		path = "/"
	}
	if kind == "" {
		kind = "PathPrefix"
	}
	match := map[string]any{"path": map[string]any{"type": kind, "value": path}}
	putString(match, "method", m.Method)
	var headers []any
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		headers = append(headers, map[string]any{"type": "Exact", "name": name, "value": m.Headers[name]})
	}
	put(match, "headers", headers)
	return match
}
