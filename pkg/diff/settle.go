package diff

import (
	"maps"
)

// settle does to a merged object what the API server does where the outcome depends on
// what was there before, or is no constant for two trees. after is changed.
func settle(before, after map[string]any) {
	spec, ok := after["spec"].(map[string]any)
	if !ok && kindOf(after) == "NetworkPolicy" {
		// It is stored with an empty selector, which selects all pods.
		after["spec"] = map[string]any{"podSelector": map[string]any{}, "policyTypes": []any{"Ingress"}}
	}
	if !ok {
		return
	}
	was, _ := before["spec"].(map[string]any)
	switch currentGroup(groupOf(apiVersionOf(after)), kindOf(after)) + "/" + kindOf(after) {
	case "apps/Deployment", "apps/StatefulSet", "apps/ReplicaSet", "/ReplicationController":
		// Nobody owns the count any more: it falls back to one.
		if spec["replicas"] == nil {
			spec["replicas"] = int64(1)
		}
	case "apps/DaemonSet":
		keepTemplateGeneration(before, after)
	case "batch/Job":
		fillJobSpec(spec) // completions are filled in when parallelism goes, and immutable
		fillJobLabels(after, spec)
	case "/Service":
		keepAllocated(was, spec)
		dropForType(was, spec)
		if affinity := textAt(spec, "sessionAffinity"); affinity == "" || affinity == "None" {
			delete(spec, "sessionAffinityConfig")
		}
	}
}

func groupOf(apiVersion string) string { return ObjectRef{APIVersion: apiVersion}.Group() }

// fillJobLabels gives a Job that has no labels those of its template.
func fillJobLabels(job, spec map[string]any) {
	template, _ := spec["template"].(map[string]any)
	described, _ := template["metadata"].(map[string]any)
	labels, _ := described["labels"].(map[string]any)
	metadata, ok := job["metadata"].(map[string]any)
	if ok && isEmpty(metadata["labels"]) && len(labels) > 0 {
		metadata["labels"] = maps.Clone(labels)
	}
}

// keepTemplateGeneration keeps an annotation that the API server makes out of a field of its
// own. (It counts changes of the template, which nobody wants to be told of.)
func keepTemplateGeneration(before, after map[string]any) {
	const name = "deprecated.daemonset.template.generation"
	was, _ := before["metadata"].(map[string]any)
	had, _ := was["annotations"].(map[string]any)
	is, ok := after["metadata"].(map[string]any)
	if had[name] == nil || !ok {
		return
	}
	annotations, ok := is["annotations"].(map[string]any)
	if !ok {
		annotations = make(map[string]any, 1)
		is["annotations"] = annotations
	}
	annotations[name] = had[name]
}

// keepAllocated gives a Service back what the API server has allocated for it, and nobody
// says otherwise.
//
// Source: patchAllocatedValues and initIPFamilyFields of
// k8s.io/kubernetes/pkg/registry/core/service/storage, v1.37.
func keepAllocated(was, is map[string]any) {
	if hasClusterIP(was) && hasClusterIP(is) {
		for _, field := range []string{"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"} {
			if v, ok := was[field]; ok && isEmpty(is[field]) {
				is[field] = v
			}
		}
	}
	if allocatesNodePorts(was) && allocatesNodePorts(is) {
		keepNodePorts(was, is)
	}
	if hasHealthPort(was) && hasHealthPort(is) && isEmpty(is["healthCheckNodePort"]) && was["healthCheckNodePort"] != nil {
		is["healthCheckNodePort"] = was["healthCheckNodePort"]
	}
}

// keepNodePorts finds the ports by their names, as the API server does.
func keepNodePorts(was, is map[string]any) {
	used, byName := nodePorts(is), make(map[string]any)
	for _, p := range ports(was) {
		byName[textAt(p, "name")] = p["nodePort"]
	}
	for _, p := range ports(is) {
		had, ok := asInt(byName[textAt(p, "name")])
		if ok && had != 0 && isEmpty(p["nodePort"]) && !used[had] {
			p["nodePort"] = had
		}
	}
}

// dropForType takes away what the new type of a Service has no use for, unless it was set
// anew.
//
// Source: dropTypeDependentFields of k8s.io/kubernetes/pkg/registry/core/service, v1.37.
func dropForType(was, is map[string]any) {
	drop := func(applied, applies bool, fields ...string) {
		for _, field := range fields {
			if applied && !applies && equal(was[field], is[field], unknown) {
				delete(is, field)
			}
		}
	}
	isBalanced := textAt(is, "type") == "LoadBalancer"
	wasBalanced := textAt(was, "type") == "LoadBalancer"
	drop(hasClusterIP(was), hasClusterIP(is), "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
	drop(hasHealthPort(was), hasHealthPort(is), "healthCheckNodePort")
	drop(wasBalanced, isBalanced, "allocateLoadBalancerNodePorts", "loadBalancerClass")
	drop(reachable(was), reachable(is), "externalTrafficPolicy")
	if !hasNodePorts(was) || hasNodePorts(is) {
		return
	}
	had, has := nodePorts(was), nodePorts(is)
	maps.DeleteFunc(has, func(number int64, _ bool) bool { return had[number] })
	if len(has) > 0 {
		return // refused: there are new ones
	}
	for _, p := range ports(is) {
		delete(p, "nodePort")
	}
}

func hasClusterIP(spec map[string]any) bool { return textAt(spec, "type") != "ExternalName" }

func hasNodePorts(spec map[string]any) bool {
	kind := textAt(spec, "type")
	return kind == "NodePort" || kind == "LoadBalancer"
}

func allocatesNodePorts(spec map[string]any) bool {
	return hasNodePorts(spec) && (textAt(spec, "type") == "NodePort" || spec["allocateLoadBalancerNodePorts"] != false)
}

func hasHealthPort(spec map[string]any) bool {
	return textAt(spec, "type") == "LoadBalancer" && textAt(spec, "externalTrafficPolicy") == "Local"
}

// reachable reports whether a Service can be reached from outside the cluster.
func reachable(spec map[string]any) bool {
	external, _ := spec["externalIPs"].([]any)
	return hasNodePorts(spec) || hasClusterIP(spec) && len(external) > 0
}

// ports gives the ports of a Service.
func ports(spec map[string]any) []map[string]any {
	list, _ := spec["ports"].([]any)
	out := make([]map[string]any, 0, len(list))
	for _, p := range list {
		if p, ok := p.(map[string]any); ok {
			out = append(out, p)
		}
	}
	return out
}

// nodePorts gives the node ports that are set.
func nodePorts(spec map[string]any) map[int64]bool {
	out := make(map[int64]bool)
	for _, p := range ports(spec) {
		if number, ok := asInt(p["nodePort"]); ok && number != 0 {
			out[number] = true
		}
	}
	return out
}
