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

func protocols() []corev1.Protocol {
	return []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}
}

// validateContainerPorts leaves duplicates to resolvePorts.
func validateContainerPorts(path *field.Path, ports []corev1.ContainerPort) field.ErrorList {
	var errs field.ErrorList
	hosts := make(map[string]bool)
	for i, p := range ports {
		at := path.Index(i)
		errs = append(errs, portNumber(at.Child("containerPort"), p.ContainerPort)...)
		errs = append(errs, oneOf(at.Child("protocol"), p.Protocol, protocols()...)...)
		if p.Name != "" {
			for _, msg := range validation.IsValidPortName(p.Name) {
				errs = append(errs, field.Invalid(at.Child("name"), p.Name, msg))
			}
		}
		if p.HostIP != "" {
			if _, err := netip.ParseAddr(p.HostIP); err != nil {
				errs = append(errs, field.Invalid(at.Child("hostIP"), p.HostIP, "must be an IP address"))
			}
		}
		if p.HostPort == 0 {
			continue
		}
		errs = append(errs, portNumber(at.Child("hostPort"), p.HostPort)...)
		host := fmt.Sprintf("%s/%s/%d", protocolOf(p.Protocol), p.HostIP, p.HostPort)
		if hosts[host] {
			errs = append(errs, field.Duplicate(at.Child("hostPort"), host))
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
		p, at := &s.Ports[i], path.Index(i)
		errs = append(errs, portNumber(at.Child("port"), p.Port)...)
		errs = append(errs, oneOf(at.Child("protocol"), p.Protocol, protocols()...)...)
		key := portKey{p.Port, protocolOf(p.Protocol)}
		if keys[key] {
			errs = append(errs, field.Duplicate(at, fmt.Sprintf("%d/%s", key.number, key.protocol)))
		}
		keys[key] = true

		switch {
		case p.Name == "":
			if len(s.Ports) > 1 {
				errs = append(errs, field.Required(at.Child("name"), "each of several ports needs a name"))
			}
		case names[p.Name]:
			errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
		default:
			for _, msg := range validation.IsDNS1123Label(p.Name) {
				errs = append(errs, field.Invalid(at.Child("name"), p.Name, msg))
			}
		}
		names[p.Name] = true

		if t := targetOf(p); t != nil && t.Type == intstr.Int {
			errs = append(errs, portNumber(at.Child("targetPort"), t.IntVal)...)
		}
		if p.AppProtocol != nil && *p.AppProtocol != "" {
			for _, msg := range validation.IsQualifiedName(*p.AppProtocol) {
				errs = append(errs, field.Invalid(at.Child("appProtocol"), *p.AppProtocol, msg))
			}
		}
		if p.NodePort == 0 {
			continue
		}
		errs = append(errs, portNumber(at.Child("nodePort"), p.NodePort)...)
		if serviceType(s) == corev1.ServiceTypeClusterIP {
			errs = append(errs, field.Forbidden(at.Child("nodePort"), "a Service of type ClusterIP has no node ports"))
		}
		key = portKey{p.NodePort, protocolOf(p.Protocol)}
		if nodePorts[key] {
			errs = append(errs, field.Duplicate(at.Child("nodePort"), fmt.Sprintf("%d/%s", key.number, key.protocol)))
		}
		nodePorts[key] = true
	}
	return errs
}

func portNumber(path *field.Path, number int32) field.ErrorList {
	if msgs := validation.IsValidPortNum(int(number)); len(msgs) > 0 {
		return field.ErrorList{field.Invalid(path, number, strings.Join(msgs, "; "))}
	}
	return nil
}

func validateService(app *v1alpha1.AppService) field.ErrorList {
	s := app.Spec.Service
	if s == nil {
		return nil
	}
	path := field.NewPath("spec", "service")
	errs := oneOf(path.Child("type"), s.Type,
		corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer)
	errs = append(errs, metav1validation.ValidateLabels(s.Labels, path.Child("labels"))...)
	for k, v := range engineLabels(app) {
		if got, ok := s.Labels[k]; ok && got != v {
			errs = append(errs, field.Forbidden(path.Child("labels").Key(k), fmt.Sprintf("appsvc sets this label, to %q", v)))
		}
	}
	return append(errs, apivalidation.ValidateAnnotations(s.Annotations, path.Child("annotations"))...)
}
