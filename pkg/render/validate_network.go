package render

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudevops.io/appsvc/api/v1alpha1"
)

func validateIngress(s *v1alpha1.AppServiceSpec) field.ErrorList {
	in := s.Ingress
	if in == nil {
		return nil
	}
	at := paths.spec.Child("ingress")
	errs := annotationFaults(at.Child("annotations"), in.Annotations)
	if len(s.Ports) == 0 {
		errs = append(errs, field.Required(paths.ports, "spec.ingress leads to one of them"))
	}
	errs = append(errs, atMost(at.Child("hosts"), len(in.Hosts), 50)...)
	errs = append(errs, atMost(at.Child("paths"), len(in.Paths), 50)...)
	if in.ClassName != nil {
		errs = append(errs, objectName(at.Child("className"), *in.ClassName)...)
	}
	errs = append(errs, hostsFaults(at.Child("hosts"), in.Hosts)...)
	for i, p := range in.Paths {
		here := at.Child("paths").Index(i)
		errs = append(errs, oneOfPointer(here.Child("pathType"), p.PathType,
			networkingv1.PathTypeExact, networkingv1.PathTypePrefix, networkingv1.PathTypeImplementationSpecific)...)
		if p.Path != "" && !strings.HasPrefix(p.Path, "/") {
			errs = append(errs, field.Invalid(here.Child("path"), p.Path, "must begin with '/'"))
		}
		if strings.Contains(p.Path, "//") || slices.ContainsFunc(strings.Split(p.Path, "/"), func(part string) bool { return part == "." || part == ".." }) {
			errs = append(errs, field.Invalid(here.Child("path"), p.Path, "must not contain '//', '.' or '..'"))
		}
		if p.Port != nil && findPort(s.Ports, p.Port) == nil {
			errs = append(errs, field.NotFound(here.Child("port"), p.Port.String()))
		}
	}
	for i, t := range in.TLS {
		here := at.Child("tls").Index(i)
		for j, host := range t.Hosts {
			errs = append(errs, hostFaults(here.Child("hosts").Index(j), host)...)
		}
		if t.SecretName != "" {
			errs = append(errs, objectName(here.Child("secretName"), t.SecretName)...)
		}
	}
	return errs
}

func validateRoute(s *v1alpha1.AppServiceSpec) field.ErrorList {
	route := s.Route
	if route == nil {
		return nil
	}
	at := paths.spec.Child("route")
	errs := annotationFaults(at.Child("annotations"), route.Annotations)
	if len(s.Ports) == 0 {
		errs = append(errs, field.Required(paths.ports, "spec.route leads to one of them"))
	}
	if len(route.ParentRefs) == 0 {
		errs = append(errs, field.Required(at.Child("parentRefs"), "name a Gateway"))
	}
	errs = append(errs, atMost(at.Child("parentRefs"), len(route.ParentRefs), 32)...)
	errs = append(errs, atMost(at.Child("hostnames"), len(route.Hostnames), 16)...)
	errs = append(errs, atMost(at.Child("rules"), len(route.Rules), 16)...)
	parents := make(map[string]bool, len(route.ParentRefs))
	for i, p := range route.ParentRefs {
		here := at.Child("parentRefs").Index(i)
		errs = append(errs, objectName(here.Child("name"), p.Name)...)
		if p.Namespace != "" {
			for _, msg := range validation.IsDNS1123Label(p.Namespace) {
				errs = append(errs, field.Invalid(here.Child("namespace"), p.Namespace, msg))
			}
		}
		if p.SectionName != "" {
			errs = append(errs, objectName(here.Child("sectionName"), p.SectionName)...)
		}
		port := int32(0)
		if p.Port != nil {
			port = *p.Port
			errs = append(errs, portFaults(here, "port", port)...)
		}
		key := fmt.Sprintf("%s/%s/%s/%d", p.Namespace, p.Name, p.SectionName, port)
		if parents[key] {
			errs = append(errs, field.Duplicate(here, p.Name))
		}
		parents[key] = true
	}
	errs = append(errs, hostsFaults(at.Child("hostnames"), route.Hostnames)...)
	for i, rule := range route.Rules {
		here := at.Child("rules").Index(i)
		if rule.Port != nil && findPort(s.Ports, rule.Port) == nil {
			errs = append(errs, field.NotFound(here.Child("port"), rule.Port.String()))
		}
		errs = append(errs, atMost(here.Child("matches"), len(rule.Matches), 8)...)
		for j := range rule.Matches {
			errs = append(errs, validateRouteMatch(here.Child("matches").Index(j), &rule.Matches[j])...)
		}
	}
	return errs
}

func validateRouteMatch(at *field.Path, m *v1alpha1.RouteMatch) field.ErrorList {
	errs := oneOf(at.Child("pathType"), m.PathType, "Exact", "PathPrefix", "RegularExpression")
	errs = append(errs, oneOf(at.Child("method"), m.Method,
		"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH")...)
	if m.PathType != "RegularExpression" && m.Path != "" {
		// The rules of the Gateway API's own schema.
		switch {
		case !strings.HasPrefix(m.Path, "/"):
			errs = append(errs, field.Invalid(at.Child("path"), m.Path, "must begin with '/'"))
		case strings.Contains(m.Path, "//"), strings.Contains(m.Path, "#"),
			slices.ContainsFunc(strings.Split(m.Path, "/"), func(part string) bool { return part == "." || part == ".." }),
			strings.Contains(strings.ToLower(m.Path), "%2f"):
			errs = append(errs, field.Invalid(at.Child("path"), m.Path, "must not contain '//', '.', '..', '#' or an escaped slash"))
		case !routePath.MatchString(m.Path):
			errs = append(errs, field.Invalid(at.Child("path"), m.Path, "must be a path of a URL"))
		}
	}
	if len(m.Path) > 1024 {
		errs = append(errs, field.TooLong(at.Child("path"), field.OmitValueType{}, 1024))
	}
	errs = append(errs, atMost(at.Child("headers"), len(m.Headers), 16)...)
	for name, value := range m.Headers {
		for _, msg := range validation.IsHTTPHeaderName(name) {
			errs = append(errs, field.Invalid(at.Child("headers").Key(name), name, msg))
		}
		if value == "" {
			errs = append(errs, field.Required(at.Child("headers").Key(name), "the value that it must have"))
		}
	}
	return errs
}

// routePath is what the Gateway API takes for a path.
var routePath = regexp.MustCompile(`^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})+$`)

// hostsFaults demands names of hosts, each once.
func hostsFaults(at *field.Path, hosts []string) field.ErrorList {
	var errs field.ErrorList
	seen := make(map[string]bool, len(hosts))
	for i, host := range hosts {
		errs = append(errs, hostFaults(at.Index(i), host)...)
		if seen[host] {
			errs = append(errs, field.Duplicate(at.Index(i), host))
		}
		seen[host] = true
	}
	return errs
}

// hostFaults demands a name of a host, or a wild card for the first part of one.
func hostFaults(at *field.Path, host string) field.ErrorList {
	check := validation.IsDNS1123Subdomain
	if strings.Contains(host, "*") {
		check = validation.IsWildcardDNS1123Subdomain
	}
	var errs field.ErrorList
	for _, msg := range check(host) {
		errs = append(errs, field.Invalid(at, host, msg))
	}
	return errs
}

func validateNetworkPolicy(s *v1alpha1.AppServiceSpec) field.ErrorList {
	p := s.NetworkPolicy
	if p == nil {
		return nil
	}
	at := paths.spec.Child("networkPolicy")
	var errs field.ErrorList
	seen := make(map[networkingv1.PolicyType]bool)
	for i, t := range p.PolicyTypes {
		here := at.Child("policyTypes").Index(i)
		if t != networkingv1.PolicyTypeIngress && t != networkingv1.PolicyTypeEgress {
			errs = append(errs, field.NotSupported(here, t, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}))
		}
		if seen[t] {
			errs = append(errs, field.Duplicate(here, t))
		}
		seen[t] = true
	}
	types := policyTypes(p)
	if len(p.Ingress) > 0 && !slices.Contains(types, networkingv1.PolicyTypeIngress) {
		errs = append(errs, field.Forbidden(at.Child("ingress"), "policyTypes does not list Ingress: the rules would have no effect"))
	}
	if len(p.Egress) > 0 && !slices.Contains(types, networkingv1.PolicyTypeEgress) {
		errs = append(errs, field.Forbidden(at.Child("egress"), "policyTypes does not list Egress: the rules would have no effect"))
	}
	for i, r := range p.Ingress {
		here := at.Child("ingress").Index(i)
		errs = append(errs, validatePeers(here.Child("from"), r.From)...)
		errs = append(errs, validatePolicyPorts(here.Child("ports"), r.Ports)...)
	}
	for i, r := range p.Egress {
		here := at.Child("egress").Index(i)
		errs = append(errs, validatePeers(here.Child("to"), r.To)...)
		errs = append(errs, validatePolicyPorts(here.Child("ports"), r.Ports)...)
	}
	return errs
}

func validatePeers(at *field.Path, peers []networkingv1.NetworkPolicyPeer) field.ErrorList {
	var errs field.ErrorList
	for i, p := range peers {
		here := at.Index(i)
		selected := p.PodSelector != nil || p.NamespaceSelector != nil
		switch {
		case p.IPBlock != nil && selected:
			errs = append(errs, field.Forbidden(here, "an ipBlock stands alone"))
		case p.IPBlock == nil && !selected:
			errs = append(errs, field.Required(here, "name a peer: podSelector, namespaceSelector or ipBlock"))
		}
		for name, sel := range map[string]*metav1.LabelSelector{"podSelector": p.PodSelector, "namespaceSelector": p.NamespaceSelector} {
			if sel != nil {
				errs = append(errs, metav1validation.ValidateLabelSelector(sel, metav1validation.LabelSelectorValidationOptions{}, here.Child(name))...)
			}
		}
		if b := p.IPBlock; b != nil {
			block, err := netip.ParsePrefix(b.CIDR)
			if err != nil || block != block.Masked() {
				errs = append(errs, field.Invalid(here.Child("ipBlock", "cidr"), b.CIDR, "must be a range of addresses, such as 10.9.8.0/24"))
			}
			for j, e := range b.Except {
				inner, innerErr := netip.ParsePrefix(e)
				if innerErr != nil || inner != inner.Masked() || (err == nil && (!block.Contains(inner.Addr()) || inner.Bits() <= block.Bits())) {
					errs = append(errs, field.Invalid(here.Child("ipBlock", "except").Index(j), e, "must be a smaller range within cidr"))
				}
			}
		}
	}
	return errs
}

func validatePolicyPorts(at *field.Path, ports []networkingv1.NetworkPolicyPort) field.ErrorList {
	var errs field.ErrorList
	for i, p := range ports {
		here := at.Index(i)
		if p.Protocol != nil {
			errs = append(errs, protocolFaults(here, *p.Protocol)...)
		}
		switch {
		case p.Port == nil:
			if p.EndPort != nil {
				errs = append(errs, field.Required(here.Child("port"), "endPort is the end of what begins there"))
			}
		case p.Port.Type == intstr.String:
			for _, msg := range validation.IsValidPortName(p.Port.StrVal) {
				errs = append(errs, field.Invalid(here.Child("port"), p.Port.StrVal, msg))
			}
			if p.EndPort != nil {
				errs = append(errs, field.Forbidden(here.Child("endPort"), "goes with a number as port"))
			}
		default:
			errs = append(errs, portFaults(here, "port", p.Port.IntVal)...)
			if p.EndPort != nil {
				errs = append(errs, portFaults(here, "endPort", *p.EndPort)...)
				if *p.EndPort < p.Port.IntVal {
					errs = append(errs, field.Invalid(here.Child("endPort"), *p.EndPort, "must not be below port"))
				}
			}
		}
	}
	return errs
}

// duration is what the Prometheus operator takes for one.
var duration = regexp.MustCompile(`^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$`)

func validateMonitoring(app *v1alpha1.AppService) field.ErrorList {
	s := &app.Spec
	m := s.Monitoring
	if m == nil {
		return nil
	}
	at := paths.spec.Child("monitoring")
	errs := labelFaults(at.Child("labels"), m.Labels)
	for k, v := range engineLabels(app) {
		if got, ok := m.Labels[k]; ok && got != v {
			errs = append(errs, field.Forbidden(at.Child("labels").Key(k), fmt.Sprintf("appsvc sets this label, to %q", v)))
		}
	}
	switch {
	case len(s.Ports) == 0:
		errs = append(errs, field.Required(paths.ports, "spec.monitoring looks at one of them"))
	case monitoredPort(s) == "":
		errs = append(errs, field.Required(paths.ports.Index(0).Child("name"), "a ServiceMonitor refers to ports by name"))
	case !slices.ContainsFunc(s.Ports, func(p v1alpha1.ServicePort) bool { return p.Name == monitoredPort(s) }):
		errs = append(errs, field.NotFound(at.Child("port"), m.Port))
	}
	if m.Path != "" && !strings.HasPrefix(m.Path, "/") {
		errs = append(errs, field.Invalid(at.Child("path"), m.Path, "must begin with '/'"))
	}
	if m.Interval != "" && !duration.MatchString(m.Interval) {
		errs = append(errs, field.Invalid(at.Child("interval"), m.Interval, "must be a duration, such as 30s"))
	}
	return errs
}
