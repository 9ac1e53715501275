package render

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudevops.io/appsvc/api/v1alpha1"
)

// portKey identifies a container port, as the API server's list keys do.
type portKey struct {
	number   int32
	protocol corev1.Protocol
}

// portTable is every port of the main container, in the order in which it is
// written: those of spec.containerPorts, then what spec.ports adds.
type portTable struct {
	container []corev1.ContainerPort
}

// resolvePorts works out the ports of the main container.
//
//  1. A port that spec.containerPorts lists is written as it stands there.
//  2. A Service port that targets a number adds that number, once for each
//     protocol, under the Service port's name when that is a valid and unused
//     name of a container port.
//  3. A Service port that targets a name means the container port of that name
//     and protocol; a name that is its own means the number in port. Anything
//     else is an error: Kubernetes would send the traffic nowhere.
func resolvePorts(spec *v1alpha1.AppServiceSpec) (portTable, field.ErrorList) {
	var errs field.ErrorList
	table := portTable{container: make([]corev1.ContainerPort, 0, len(spec.ContainerPorts)+len(spec.Ports))}
	seen := make(map[portKey]bool, cap(table.container))
	named := make(map[string]portKey, cap(table.container))

	path := paths.containerPorts
	for i, p := range spec.ContainerPorts {
		p.Protocol = protocolOf(p.Protocol)
		key := portKey{p.ContainerPort, p.Protocol}
		if seen[key] {
			errs = append(errs, field.Duplicate(path.Index(i), fmt.Sprintf("%d/%s", key.number, key.protocol)))
		}
		if _, taken := named[p.Name]; taken && p.Name != "" {
			errs = append(errs, field.Duplicate(path.Index(i).Child("name"), p.Name))
		}
		seen[key] = true
		if p.Name != "" {
			named[p.Name] = key
		}
		table.container = append(table.container, p)
	}

	path = paths.ports
	for i := range spec.Ports {
		p := &spec.Ports[i]
		protocol := protocolOf(p.Protocol)
		number := p.Port
		if target := targetOf(p); target != nil {
			if target.Type == intstr.String {
				if key, ok := named[target.StrVal]; ok {
					if key.protocol == protocol {
						continue
					}
					// A container port of that name with another protocol: the
					// Service would have no endpoints for it.
					errs = append(errs, field.Invalid(path.Index(i).Child("targetPort"), target.StrVal,
						fmt.Sprintf("the container port of this name is %s, this port is %s", key.protocol, protocol)))
					continue
				}
				if target.StrVal != p.Name {
					errs = append(errs, field.Invalid(path.Index(i).Child("targetPort"), target.StrVal,
						"no such name among spec.containerPorts, and it is not the name of this port"))
					continue
				}
				if msgs := validation.IsValidPortName(target.StrVal); len(msgs) > 0 {
					errs = append(errs, field.Invalid(path.Index(i).Child("targetPort"), target.StrVal,
						"is no name for a container port: "+strings.Join(msgs, "; ")))
					continue
				}
			} else {
				number = target.IntVal
			}
		}
		key := portKey{number, protocol}
		if seen[key] {
			if target := targetOf(p); target != nil && target.Type == intstr.String {
				errs = append(errs, field.Invalid(path.Index(i).Child("targetPort"), target.StrVal,
					fmt.Sprintf("container port %d/%s has another name", number, protocol)))
			}
			continue
		}
		seen[key] = true
		port := corev1.ContainerPort{ContainerPort: number, Protocol: protocol}
		if p.Name != "" && len(validation.IsValidPortName(p.Name)) == 0 {
			if _, taken := named[p.Name]; !taken {
				port.Name = p.Name
				named[p.Name] = key
			}
		}
		table.container = append(table.container, port)
	}
	return table, errs
}

func protocolOf(p corev1.Protocol) corev1.Protocol {
	if p == "" {
		return corev1.ProtocolTCP
	}
	return p
}

// targetOf is the target port of an entry, or nil when it has none. The number 0
// and the empty name count as none: that is what core/v1 takes them for, and what
// a ServicePort that a program has written says when nothing was set.
func targetOf(p *v1alpha1.ServicePort) *intstr.IntOrString {
	t := p.TargetPort
	if t == nil || (t.Type == intstr.Int && t.IntVal == 0) || (t.Type == intstr.String && t.StrVal == "") {
		return nil
	}
	return t
}
