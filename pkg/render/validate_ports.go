package render

import (
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
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
	var errs field.ErrorList
	if max := 100; len(s.Ports) > max {
		errs = append(errs, field.TooMany(path, len(s.Ports), max))
	}
	keys := make(map[portKey]bool, len(s.Ports))
	names := make(map[string]bool, len(s.Ports))
	nodePorts := make(map[portKey]bool)
	for i := range s.Ports {
		p, here := &s.Ports[i], path.Index(i)
		errs = append(errs, portFaults(here, "port", p.Port)...)
		errs = append(errs, protocolFaults(here, p.Protocol)...)
		key := portKey{p.Port, protocolOf(p.Protocol)}
		if keys[key] {
			errs = append(errs, field.Duplicate(here, fmt.Sprintf("%d/%s", key.number, key.protocol)))
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
			errs = append(errs, field.Duplicate(here.Child("nodePort"), fmt.Sprintf("%d/%s", key.number, key.protocol)))
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
	errs = append(errs, metav1validation.ValidateLabels(s.Labels, paths.serviceLabels)...)
	for k, v := range engineLabels(app) {
		if got, ok := s.Labels[k]; ok && got != v {
			errs = append(errs, field.Forbidden(paths.serviceLabels.Key(k), fmt.Sprintf("appsvc sets this label, to %q", v)))
		}
	}
	return append(errs, apivalidation.ValidateAnnotations(s.Annotations, paths.serviceAnnotations)...)
}
