package crd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// minimal is the least value that is valid at a path: of an object, the required
// fields, and those without which the API server would refuse what is rendered.
func minimal(path string, s *apiextensions.JSONSchemaProps) any {
	switch {
	case s.XIntOrString:
		return example(path, int64(80))
	case s.Type == "object":
		m := map[string]any{}
		for _, name := range s.Required {
			field := s.Properties[name]
			m[name] = minimal(path+"."+name, &field)
		}
		if more, ok := example(path, map[string]any(nil)).(map[string]any); ok {
			maps.Copy(m, more)
		}
		return m
	case s.Type == "array":
		return []any{minimal(path+"[]", s.Items.Schema)}
	case s.Type == "integer":
		return example(path, int64(max(deref(s.Minimum), 1)))
	case s.Type == "boolean":
		return true
	case len(s.Enum) > 0:
		i := slices.IndexFunc(s.Enum, func(v apiextensions.JSON) bool { return v != "" })
		return s.Enum[i]
	}
	return example(path, "x")
}

// example is the value of the longest end of a path that examples has.
func example(path string, otherwise any) any {
	known := examples()
	for rest := path; ; {
		if v, ok := known[rest]; ok {
			return v
		}
		_, after, ok := strings.Cut(rest, ".")
		if !ok {
			return otherwise
		}
		rest = after
	}
}

// varied is the i-th of values that do not get in each other's way.
func varied(v any, i int) any {
	switch v := v.(type) {
	case string:
		if prefix, ok := strings.CutSuffix(v, ".1"); ok { // an IP address
			return fmt.Sprintf("%s.%d", prefix, 1+i)
		}
		return fmt.Sprintf("%s-%d", v, i)
	case int64:
		return v + int64(i)
	case map[string]any:
		m := maps.Clone(v)
		for _, key := range []string{"name", "port", "containerPort", "mountPath", "devicePath", "ip", "topologyKey"} {
			// A mount is of a volume, which goes on to be the same.
			if m[key] != nil && (key != "name" || m["mountPath"] == nil) {
				m[key] = varied(m[key], i)
			}
		}
		return m
	}
	return v
}

// examples are values where "x" or 1 would mean nothing, by the end of a path. Those of an
// object are added to its required fields. {key} is the key of a mapping, {prefix}
// what a text of any length begins with.
func examples() map[string]any {
	expression := map[string]any{"key": "x", "operator": "In", "values": []any{"x"}}
	return map[string]any{
		"spec": map[string]any{
			"image": "nginx", "ports": []any{map[string]any{"port": int64(80), "name": "http"}},
			"volumes":   []any{map[string]any{"name": "x", "emptyDir": map[string]any{}}},
			"resources": map[string]any{"requests": map[string]any{"cpu": "1", "memory": "1Gi"}},
		},
		"spec.ports[]":                             map[string]any{"name": "x"},
		"spec.initContainers[]":                    map[string]any{"image": "nginx", "restartPolicy": "Always"},
		"spec.sidecars[]":                          map[string]any{"image": "nginx"},
		"spec.volumes[]":                           map[string]any{"emptyDir": map[string]any{}},
		"volumeMounts[].mountPath":                 "/x",
		"volumeDevices[].devicePath":               "/x",
		"hostPath.path":                            "/x",
		"hostAliases[].ip":                         "10.0.0.1",
		"limits{key}":                              "cpu",
		"requests{key}":                            "cpu",
		"limits{}":                                 "2",
		"requests{}":                               "1",
		"files{key}":                               "/x",
		"headers{key}":                             "X-A",
		"matches[].path{prefix}":                   "/",
		"divisor":                                  "1",
		"sizeLimit":                                "1Gi",
		"fieldRef.fieldPath":                       "metadata.name",
		"resourceFieldRef.resource":                "limits.cpu",
		"items[].resourceFieldRef":                 map[string]any{"containerName": "app"},
		"configMapKeyRef":                          map[string]any{"name": "x"},
		"secretKeyRef":                             map[string]any{"name": "x"},
		"downwardAPI.items[]":                      map[string]any{"fieldRef": map[string]any{"fieldPath": "metadata.name"}},
		"volumes[].configMap":                      map[string]any{"name": "x"},
		"volumes[].secret":                         map[string]any{"secretName": "x"},
		"sources[].configMap":                      map[string]any{"name": "x"},
		"sources[].secret":                         map[string]any{"name": "x"},
		"clusterTrustBundle":                       map[string]any{"name": "x"},
		"podCertificate":                           map[string]any{"credentialBundlePath": "x"},
		"podCertificate.signerName":                "example.com/x",
		"podCertificate.keyType":                   "ED25519",
		"volumeClaimTemplate.spec":                 map[string]any{"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}},
		"operator":                                 "In",
		"matchExpressions[]":                       map[string]any{"values": []any{"x"}},
		"matchFields[]":                            map[string]any{"values": []any{"x"}},
		"matchFields[].key":                        "metadata.name",
		"preference":                               map[string]any{"matchExpressions": []any{expression}},
		"nodeSelectorTerms[]":                      map[string]any{"matchExpressions": []any{expression}},
		"whenUnsatisfiable":                        "DoNotSchedule",
		"resizePolicy[].resourceName":              "cpu",
		"resizePolicy[].restartPolicy":             "NotRequired",
		"restartPolicyRules[].action":              "Restart",
		"restartPolicyRules[]":                     map[string]any{"exitCodes": map[string]any{"operator": "In", "values": []any{int64(1)}}},
		"exitCodes":                                map[string]any{"values": []any{int64(1)}},
		"seccompProfile.type":                      "RuntimeDefault",
		"appArmorProfile.type":                     "RuntimeDefault",
		"sysctls[].name":                           "net.x",
		"ipBlock.cidr":                             "10.0.0.0/8",
		"spec.autoscaling":                         map[string]any{"cpu": int64(50)},
		"policies[].type":                          "Pods",
		"metrics[]":                                map[string]any{"type": "Resource", "resource": map[string]any{"name": "cpu", "target": map[string]any{"type": "Utilization", "averageUtilization": int64(50)}}},
		"metrics[].resource.name":                  "cpu",
		"metrics[].containerResource.name":         "cpu",
		"metrics[].containerResource.target":       map[string]any{"averageValue": "1"},
		"metrics[].containerResource.target.type":  "AverageValue",
		"metrics[].containerResource.target.value": "1",
		"metrics[].external.target":                map[string]any{"averageValue": "1"},
		"metrics[].external.target.type":           "AverageValue",
		"metrics[].external.target.value":          "1",
		"metrics[].object.target":                  map[string]any{"averageValue": "1"},
		"metrics[].object.target.type":             "AverageValue",
		"metrics[].object.target.value":            "1",
		"metrics[].pods.target":                    map[string]any{"averageValue": "1"},
		"metrics[].pods.target.type":               "AverageValue",
		"metrics[].pods.target.value":              "1",
		"metrics[].resource.target":                map[string]any{"averageValue": "1"},
		"metrics[].resource.target.type":           "AverageValue",
		"metrics[].resource.target.value":          "1",
		"metrics[].type":                           "Resource",
		"averageValue":                             "1",
		"tolerance":                                "1",
		"spec.disruptionBudget":                    map[string]any{"minAvailable": int64(1)},
		"spec.patches[].target.kind":               "Deployment",
		"spec.patches[].patch":                     "{}",
		"volumes[].csi.driver":                     "example.com",
		"scaleIO.secretRef":                        map[string]any{"name": "x"},
		"dataSource.kind":                          "PersistentVolumeClaim",
		"dataSourceRef.kind":                       "PersistentVolumeClaim",
	}
}

// beside are the fields that go with another one, by the path of that.
func beside() map[string]map[string]any {
	return map[string]map[string]any{
		"spec.autoscaling.metrics[].containerResource":     {"type": "ContainerResource"},
		"spec.autoscaling.metrics[].external":              {"type": "External"},
		"spec.autoscaling.metrics[].object":                {"type": "Object"},
		"spec.autoscaling.metrics[].pods":                  {"type": "Pods"},
		"spec.autoscaling.metrics[].resource":              {"type": "Resource"},
		"spec.autoscaling.metrics[].external.target.value": {"type": "Value"},
		"spec.autoscaling.metrics[].object.target.value":   {"type": "Value"},
		"spec.autoscaling.metrics[].pods.target.value":     {"type": "Value"},
		"spec.autoscaling.metrics[].resource.target.value": {"type": "Value"},
		"spec.service.externalTrafficPolicy":               {"type": "NodePort"},
		"spec.autoscaling.minReplicas":                     {"metrics": []any{map[string]any{"type": "External", "external": map[string]any{"metric": map[string]any{"name": "x"}, "target": map[string]any{"type": "Value", "value": "1"}}}}},
	}
}

// alternatives are fields of one object of which there is one.
func alternatives() [][]string {
	return [][]string{
		{"value", "averageValue", "averageUtilization"},
		{"fieldRef", "resourceFieldRef"},
		{"containerResource", "external", "object", "pods", "resource"},
		{
			"emptyDir", "awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "configMap", "csi", "downwardAPI", "ephemeral",
			"fc", "flexVolume", "flocker", "gcePersistentDisk", "gitRepo", "glusterfs", "hostPath", "image", "iscsi", "nfs",
			"persistentVolumeClaim", "photonPersistentDisk", "portworxVolume", "projected", "quobyte", "rbd", "scaleIO", "secret",
			"storageos", "vsphereVolume",
		},
	}
}

// expressions are values on both sides of each CEL rule, by its message: first one that
// it takes, then one that it refuses.
func expressions() map[string][2]any {
	ports := func(fields ...map[string]any) []any {
		list := make([]any, len(fields))
		for i, f := range fields {
			list[i] = f
		}
		return list
	}
	node := ports(map[string]any{"port": int64(80), "nodePort": int64(30080)})
	a, b := map[string]any{"port": int64(80), "name": "a"}, map[string]any{"port": int64(81), "name": "b"}
	return map[string][2]any{
		"a port has a nodePort, which a Service of type ClusterIP has none of": {
			map[string]any{"service": map[string]any{"type": "NodePort"}, "ports": node},
			map[string]any{"service": map[string]any{"type": "ClusterIP"}, "ports": node},
		},
		"minReplicas is above maxReplicas": {
			map[string]any{"minReplicas": int64(2), "maxReplicas": int64(2)},
			map[string]any{"minReplicas": int64(3), "maxReplicas": int64(2)},
		},
		"give one of minAvailable and maxUnavailable": {
			map[string]any{"maxUnavailable": int64(1), "minAvailable": absent{}},
			map[string]any{"maxUnavailable": int64(1)},
		},
		"each of several ports needs a name": {ports(a, b), ports(a, map[string]any{"port": int64(81)})},
		"two ports have one name":            {ports(b, a), ports(a, map[string]any{"port": int64(81), "name": "a"})},
	}
}
