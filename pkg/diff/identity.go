package diff

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// identity is what makes two objects the same: not the version of their API.
type identity struct{ group, kind, namespace, name string }

// identityOf gives the identity, with kinds that have moved to another group in the
// newer one.
func identityOf(ref ObjectRef) identity {
	return identity{group: currentGroup(ref.Group(), ref.Kind), kind: ref.Kind, namespace: ref.Namespace, name: ref.Name}
}

// currentGroup knows the moves of Kubernetes' own kinds: all of them left extensions,
// and events have a group of their own beside the core one.
func currentGroup(group, kind string) string {
	if group != "extensions" {
		return group
	}
	switch kind {
	case "Deployment", "DaemonSet", "ReplicaSet":
		return "apps"
	case "Ingress", "NetworkPolicy":
		return "networking.k8s.io"
	case "PodSecurityPolicy":
		return "policy"
	}
	return group
}

// clusterScoped reports whether objects of a kind have no namespace. Kinds that it does
// not know are taken to have one.
func clusterScoped(group, kind string) bool {
	switch group {
	case "":
		return kind == "Namespace" || kind == "Node" || kind == "PersistentVolume" || kind == "ComponentStatus"
	case "rbac.authorization.k8s.io":
		return kind == "ClusterRole" || kind == "ClusterRoleBinding"
	case "storage.k8s.io":
		return kind != "CSIStorageCapacity"
	case "networking.k8s.io":
		return kind == "IngressClass" || kind == "IPAddress" || kind == "ServiceCIDR"
	case "gateway.networking.k8s.io":
		return kind == "GatewayClass"
	case "certificates.k8s.io":
		return kind != "PodCertificateRequest"
	case "resource.k8s.io":
		return kind == "DeviceClass" || kind == "ResourceSlice" || kind == "DeviceTaintRule"
	case "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "scheduling.k8s.io",
		"node.k8s.io", "flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io", "storagemigration.k8s.io":
		return kind != "Workload" && kind != "PodGroup"
	}
	return false
}

// refOf names an object, in the namespace that it would go to.
func refOf(object map[string]any, namespace string) ObjectRef {
	metadata, _ := object["metadata"].(map[string]any)
	ref := ObjectRef{
		APIVersion: apiVersionOf(object), Kind: kindOf(object),
		Namespace: textAt(metadata, "namespace"), Name: textAt(metadata, "name"),
	}
	switch {
	case clusterScoped(currentGroup(ref.Group(), ref.Kind), ref.Kind):
		ref.Namespace = ""
	case ref.Namespace == "":
		ref.Namespace = namespace
	}
	return ref
}

// side is one of the two sets of objects.
type side struct {
	refs    []ObjectRef
	objects []map[string]any
	index   map[identity]int
}

// newSide indexes objects, and reports those that are there twice.
func newSide(list []*unstructured.Unstructured, namespace string) (side, Faults) {
	s := side{
		refs:    make([]ObjectRef, len(list)),
		objects: make([]map[string]any, len(list)),
		index:   make(map[identity]int, len(list)),
	}
	var faults Faults
	for i, object := range list {
		ref := refOf(object.Object, namespace)
		s.refs[i], s.objects[i] = ref, object.Object
		id := identityOf(ref)
		if _, twice := s.index[id]; twice {
			faults = append(faults, Fault{Object: ref, Message: "is there twice"})
		}
		s.index[id] = i
	}
	return s, faults
}

// rename pairs an object that goes with one that comes and differs in the content hash at
// the end of its name alone: what kustomize and this engine make of a changed ConfigMap.
// The result leads from the new index to the old one. What is not unique is left apart.
func rename(from, to *side) map[int]int {
	type stem struct{ group, kind, namespace, name string }
	stemOf := func(ref ObjectRef) (stem, bool) {
		name, ok := withoutHash(ref)
		return stem{ref.Group(), ref.Kind, ref.Namespace, name}, ok
	}
	gone, ambiguous := make(map[stem]int), make(map[stem]bool)
	for i, ref := range from.refs {
		if _, stays := to.index[identityOf(ref)]; stays {
			continue
		}
		if s, ok := stemOf(ref); ok {
			_, twice := gone[s]
			ambiguous[s] = ambiguous[s] || twice
			gone[s] = i
		}
	}
	maps.DeleteFunc(gone, func(s stem, _ int) bool { return ambiguous[s] })
	if len(gone) == 0 {
		return nil
	}
	pairs, taken := make(map[int]int), make(map[int]int)
	for i, ref := range to.refs {
		if _, stays := from.index[identityOf(ref)]; stays {
			continue
		}
		s, ok := stemOf(ref)
		if !ok {
			continue
		}
		old, ok := gone[s]
		if !ok {
			continue
		}
		if first, twice := taken[old]; twice {
			delete(pairs, first)
			continue
		}
		taken[old] = i
		pairs[i] = old
	}
	return pairs
}

// withoutHash gives a name without the content hash at its end: eight to ten digits and
// letters, as kustomize (its own alphabet, without vowels) and this engine (hexadecimal)
// write them. A word has no digit.
func withoutHash(ref ObjectRef) (string, bool) {
	if ref.Group() != "" || ref.Kind != "ConfigMap" && ref.Kind != "Secret" {
		return "", false
	}
	i := strings.LastIndexByte(ref.Name, '-')
	if i <= 0 {
		return "", false
	}
	const digits, letters = "0123456789", "abcdefghjklmnpqrstvwxz"
	hash := ref.Name[i+1:]
	if len(hash) < 8 || len(hash) > 10 || strings.Trim(hash, digits+letters) != "" || !strings.ContainsAny(hash, digits) {
		return "", false
	}
	return ref.Name[:i], true
}
