package render

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kudevops.io/appsvc/api/v1alpha1"
)

func (r *renderer) ingress() map[string]any {
	in := r.app.Spec.Ingress
	hosts := in.Hosts
	if len(hosts) == 0 {
		hosts = []string{""} // any
	}
	rules := make([]any, len(hosts))
	for i, host := range hosts {
		rule := map[string]any{"http": map[string]any{"paths": r.ingressPaths()}}
		putString(rule, "host", host)
		rules[i] = rule
	}
	spec := map[string]any{"rules": rules}
	putPointer(spec, "ingressClassName", in.ClassName)
	put(spec, "tls", nativeList(in.TLS, nil))
	return map[string]any{
		"apiVersion": "networking.k8s.io/v1",
		"kind":       "Ingress",
		"metadata":   r.metadata(nil, in.Annotations),
		"spec":       spec,
	}
}

func (r *renderer) ingressPaths() []any {
	paths := r.app.Spec.Ingress.Paths
	if len(paths) == 0 {
		paths = []v1alpha1.IngressPath{{}}
	}
	list := make([]any, len(paths))
	for i, p := range paths {
		kind := networkingv1.PathTypePrefix
		if p.PathType != nil {
			kind = *p.PathType
		}
		path := p.Path
		if path == "" {
			path = "/"
		}
		list[i] = map[string]any{
			"path":     path,
			"pathType": string(kind),
			"backend":  map[string]any{"service": map[string]any{"name": r.name(), "port": backendPort(findPort(r.app.Spec.Ports, p.Port))}},
		}
	}
	return list
}

// backendPort refers to a port of the Service by its name, where it has one.
func backendPort(p *v1alpha1.ServicePort) map[string]any {
	if p.Name != "" {
		return map[string]any{"name": p.Name}
	}
	return map[string]any{"number": int64(p.Port)}
}

// findPort gives the port that a name or a number refers to: the first one for
// none, nil for one that is not there.
func findPort(ports []v1alpha1.ServicePort, ref *intstr.IntOrString) *v1alpha1.ServicePort {
	for i := range ports {
		p := &ports[i]
		if ref == nil || (ref.Type == intstr.String && p.Name == ref.StrVal) || (ref.Type == intstr.Int && p.Port == ref.IntVal) {
			return p
		}
	}
	return nil
}
