package render

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudevops.io/appsvc/api/v1alpha1"
)

// protocolFaults and portFaults take the entry and the field apart, so that no path
// is made for what is right.
func protocolFaults(entry *field.Path, p corev1.Protocol) field.ErrorList {
	switch p {
	case "", corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP:
		return nil
	}
	return field.ErrorList{field.NotSupported(entry.Child("protocol"), p,
		[]corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP})}
}

func portFaults(entry *field.Path, name string, number int32) field.ErrorList {
	if msgs := validation.IsValidPortNum(int(number)); len(msgs) > 0 {
		return field.ErrorList{field.Invalid(entry.Child(name), number, strings.Join(msgs, "; "))}
	}
	return nil
}

// validateContainerPorts leaves duplicates to resolvePorts.
func validateContainerPorts(path *field.Path, ports []corev1.ContainerPort) field.ErrorList {
	var errs field.ErrorList
	hosts := make(map[string]bool)
	for i, p := range ports {
		here := path.Index(i)
		errs = append(errs, portFaults(here, "containerPort", p.ContainerPort)...)
		errs = append(errs, protocolFaults(here, p.Protocol)...)
		if p.Name != "" {
			for _, msg := range validation.IsValidPortName(p.Name) {
				errs = append(errs, field.Invalid(here.Child("name"), p.Name, msg))
			}
		}
		if p.HostIP != "" {
			if _, err := netip.ParseAddr(p.HostIP); err != nil {
				errs = append(errs, field.Invalid(here.Child("hostIP"), p.HostIP, "must be an IP address"))
			}
		}
		if p.HostPort == 0 {
			continue
		}
		errs = append(errs, portFaults(here, "hostPort", p.HostPort)...)
		host := fmt.Sprintf("%s/%s/%d", protocolOf(p.Protocol), p.HostIP, p.HostPort)
		if hosts[host] {
			errs = append(errs, field.Duplicate(here.Child("hostPort"), host))
		}
		hosts[host] = true
	}
	return errs
}

// validateServicePorts checks each entry by itself and against the others; what
// the targets lead to is resolvePorts' business.
func validateServicePorts(path *field.Path, s *v1alpha1.AppServiceSpec) field.ErrorList {
	errs := atMost(path, len(s.Ports), 100)
	keys := make(map[portKey]bool, len(s.Ports))
	names := make(map[string]bool, len(s.Ports))
	nodePorts := make(map[portKey]bool)
	for i := range s.Ports {
		p, here := &s.Ports[i], path.Index(i)
		errs = append(errs, portFaults(here, "port", p.Port)...)
		errs = append(errs, protocolFaults(here, p.Protocol)...)
		key := portKey{p.Port, protocolOf(p.Protocol)}
		if keys[key] {
			errs = append(errs, field.Duplicate(here, key.String()))
		}
		keys[key] = true

		switch {
		case p.Name == "":
			if len(s.Ports) > 1 {
				errs = append(errs, field.Required(here.Child("name"), "each of several ports needs a name"))
			}
		case names[p.Name]:
			errs = append(errs, field.Duplicate(here.Child("name"), p.Name))
		default:
			for _, msg := range validation.IsDNS1123Label(p.Name) {
				errs = append(errs, field.Invalid(here.Child("name"), p.Name, msg))
			}
		}
		names[p.Name] = true

		if t := targetOf(p); t != nil && t.Type == intstr.Int {
			errs = append(errs, portFaults(here, "targetPort", t.IntVal)...)
		}
		if p.AppProtocol != nil && *p.AppProtocol != "" {
			for _, msg := range validation.IsQualifiedName(*p.AppProtocol) {
				errs = append(errs, field.Invalid(here.Child("appProtocol"), *p.AppProtocol, msg))
			}
		}
		if p.NodePort == 0 {
			continue
		}
		errs = append(errs, portFaults(here, "nodePort", p.NodePort)...)
		if serviceType(s) == corev1.ServiceTypeClusterIP {
			errs = append(errs, field.Forbidden(here.Child("nodePort"), "a Service of type ClusterIP has no node ports"))
		}
		key = portKey{p.NodePort, protocolOf(p.Protocol)}
		if nodePorts[key] {
			errs = append(errs, field.Duplicate(here.Child("nodePort"), key.String()))
		}
		nodePorts[key] = true
	}
	return errs
}

func validateService(app *v1alpha1.AppService) field.ErrorList {
	s := app.Spec.Service
	if s == nil {
		return nil
	}
	errs := oneOf(paths.serviceType, s.Type,
		corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer)
	errs = append(errs, labelFaults(paths.serviceLabels, s.Labels)...)
	for k, v := range engineLabels(app) {
		if got, ok := s.Labels[k]; ok && got != v {
			errs = append(errs, field.Forbidden(paths.serviceLabels.Key(k), fmt.Sprintf("appsvc sets this label, to %q", v)))
		}
	}
	errs = append(errs, annotationFaults(paths.serviceAnnotations, s.Annotations)...)
	return append(errs, validateServiceOptions(app)...)
}

// validateServiceOptions refuses what the API server would, for the type that the
// Service gets.
func validateServiceOptions(app *v1alpha1.AppService) field.ErrorList {
	s, path := app.Spec.Service, field.NewPath("spec", "service")
	kind := serviceType(&app.Spec)
	errs := oneOf(path.Child("externalTrafficPolicy"), s.ExternalTrafficPolicy,
		corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal)
	errs = append(errs, oneOf(path.Child("sessionAffinity"), s.SessionAffinity,
		corev1.ServiceAffinityNone, corev1.ServiceAffinityClientIP)...)
	errs = append(errs, oneOfPointer(path.Child("internalTrafficPolicy"), s.InternalTrafficPolicy,
		corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal)...)
	errs = append(errs, oneOfPointer(path.Child("ipFamilyPolicy"), s.IPFamilyPolicy,
		corev1.IPFamilyPolicySingleStack, corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack)...)
	errs = append(errs, oneOfPointer(path.Child("trafficDistribution"), s.TrafficDistribution,
		corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode)...)
	if s.Headless && kind != corev1.ServiceTypeClusterIP {
		errs = append(errs, field.Forbidden(path.Child("headless"), fmt.Sprintf("goes with type ClusterIP, not with %s", kind)))
	}
	if s.ExternalTrafficPolicy != "" && kind == corev1.ServiceTypeClusterIP {
		errs = append(errs, field.Forbidden(path.Child("externalTrafficPolicy"), "a Service of type ClusterIP has no traffic from outside"))
	}
	if kind != corev1.ServiceTypeLoadBalancer {
		if s.LoadBalancerClass != nil {
			errs = append(errs, field.Forbidden(path.Child("loadBalancerClass"), "goes with type LoadBalancer only"))
		}
		if len(s.LoadBalancerSourceRanges) > 0 {
			errs = append(errs, field.Forbidden(path.Child("loadBalancerSourceRanges"), "goes with type LoadBalancer only"))
		}
	}
	if s.LoadBalancerClass != nil {
		for _, msg := range validation.IsQualifiedName(*s.LoadBalancerClass) {
			errs = append(errs, field.Invalid(path.Child("loadBalancerClass"), *s.LoadBalancerClass, msg))
		}
	}
	seen := make(map[string]bool, len(s.LoadBalancerSourceRanges))
	for i, r := range s.LoadBalancerSourceRanges {
		at := path.Child("loadBalancerSourceRanges").Index(i)
		if prefix, err := netip.ParsePrefix(r); err != nil || prefix != prefix.Masked() {
			errs = append(errs, field.Invalid(at, r, "must be a range of addresses, such as 10.9.8.0/24"))
		} else if seen[r] {
			errs = append(errs, field.Duplicate(at, r))
		}
		seen[r] = true
	}
	return errs
}

// oneOfPointer is oneOf for a field that may be absent, and not empty.
func oneOfPointer[T ~string](path *field.Path, value *T, allowed ...T) field.ErrorList {
	if value == nil || slices.Contains(allowed, *value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, *value, allowed)}
}
