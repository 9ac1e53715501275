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

func (k portKey) String() string { return fmt.Sprintf("%d/%s", k.number, k.protocol) }

// portTable is every port of the main container, in the order in which it is
// written: those of spec.containerPorts, then what spec.ports adds.
type portTable struct {
	container []corev1.ContainerPort
}

// resolvePorts works out the ports of the main container.
//
//  1. A port that spec.containerPorts lists is written as it stands there.
//  2. A Service port that targets a name means the port of that name and protocol
//     in spec.containerPorts; a name that is its own means the number in port, which
//     then has that name. Anything else is an error: Kubernetes would send the
//     traffic nowhere. The name of another Service port is no exception: that is a
//     name in the Service, and not one of the container.
//  3. A Service port that targets a number adds that number, once for each
//     protocol, under the Service port's name when that is a valid name for a
//     container port and no other one has it.
func resolvePorts(spec *v1alpha1.AppServiceSpec) (portTable, field.ErrorList) {
	listed := make(map[portKey]string, len(spec.ContainerPorts)) // to their names
	byName := make(map[string]portKey, len(spec.ContainerPorts)+len(spec.Ports))
	table := portTable{container: make([]corev1.ContainerPort, 0, len(spec.ContainerPorts)+len(spec.Ports))}
	errs := duplicatePorts(paths.containerPorts, spec.ContainerPorts)
	for _, p := range spec.ContainerPorts {
		p.Protocol = protocolOf(p.Protocol)
		key := portKey{p.ContainerPort, p.Protocol}
		listed[key] = p.Name
		if p.Name != "" {
			byName[p.Name] = key
		}
		table.container = append(table.container, p)
	}

	// The names that rule 2 gives come before those of rule 3.
	given := make(map[portKey]string, len(spec.Ports))
	for i := range spec.Ports {
		p := &spec.Ports[i]
		target := targetOf(p)
		if target == nil || target.Type != intstr.String {
			continue
		}
		key := portKey{p.Port, protocolOf(p.Protocol)}
		if fault := nameFault(p, key, listed, byName); fault != "" {
			errs = append(errs, field.Invalid(paths.ports.Index(i).Child("targetPort"), target.StrVal, fault))
		} else if _, ok := byName[target.StrVal]; !ok {
			given[key] = p.Name
		}
	}
	for key, name := range given {
		byName[name] = key
	}

	added := make(map[portKey]bool, len(spec.Ports))
	for i := range spec.Ports {
		p := &spec.Ports[i]
		key := portKey{p.Port, protocolOf(p.Protocol)}
		switch target := targetOf(p); {
		case target == nil:
		case target.Type == intstr.Int:
			key.number = target.IntVal
		case given[key] != p.Name:
			continue // it leads to one of spec.containerPorts, or nowhere
		}
		if _, ok := listed[key]; ok || added[key] {
			continue
		}
		added[key] = true
		name := given[key]
		if name == "" && p.Name != "" && len(validation.IsValidPortName(p.Name)) == 0 {
			if _, taken := byName[p.Name]; !taken {
				name = p.Name
				byName[name] = key
			}
		}
		table.container = append(table.container, corev1.ContainerPort{ContainerPort: key.number, Protocol: key.protocol, Name: name})
	}
	return table, errs
}

// nameFault says why the name that a Service port targets leads nowhere, or "".
func nameFault(p *v1alpha1.ServicePort, own portKey, listed map[portKey]string, byName map[string]portKey) string {
	target := p.TargetPort.StrVal
	if key, ok := byName[target]; ok {
		if key.protocol != own.protocol {
			return fmt.Sprintf("the container port of this name is %s, this port is %s", key.protocol, own.protocol)
		}
		return ""
	}
	if target != p.Name {
		return "no such name among spec.containerPorts, and it is not the name of this port"
	}
	if msgs := validation.IsValidPortName(target); len(msgs) > 0 {
		return "is no name for a container port: " + strings.Join(msgs, "; ")
	}
	if name, ok := listed[own]; ok {
		if name == "" {
			return fmt.Sprintf("spec.containerPorts lists %s without a name", own)
		}
		return fmt.Sprintf("spec.containerPorts calls %s %q", own, name)
	}
	return ""
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
