package controlplane_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudevops.io/appsvc/pkg/diff"
)

// defaultCase is an object that says as little as can be said.
type defaultCase struct {
	name, object string
	// left is what the API server adds and pkg/diff does not take for a default, since it
	// is allocated, or depends on the cluster.
	left []string
}

// inPod makes cases of pods, in a Deployment, which nothing but defaults touches.
func inPod(name, spec string, left ...string) defaultCase {
	return defaultCase{name: name, object: deploymentWith(spec), left: append([]string{"remove spec.replicas"}, left...)}
}

func deploymentWith(pod string) string {
	return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {` + pod + `}}}}`
}

// withVolume makes cases of volumes.
func withVolume(name, source string, left ...string) defaultCase {
	return inPod("volume "+name, `containers: [{name: app, image: "app:1"}], volumes: [{name: a`+source+`}]`, left...)
}

// withContainer makes cases of containers.
func withContainer(name, fields string) defaultCase {
	return inPod("container "+name, `containers: [{name: app, `+fields+`}]`)
}

// addresses are what a Service is given.
var addresses = []string{"remove spec.clusterIP", "remove spec.clusterIPs", "remove spec.ipFamilies", "remove spec.ipFamilyPolicy"}

func defaultCases() []defaultCase {
	allocated := []string{"remove metadata.labels", "remove spec.selector", "remove spec.template.metadata"}
	protected := []string{"remove metadata.finalizers"}
	const app = `containers: [{name: app, image: "app:1"}]`
	const template = `template: {metadata: {labels: {app: web}}, spec: {` + app + `}}`
	const jobTemplate = `template: {spec: {restartPolicy: Never, ` + app + `}}`
	const target = `maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}`
	return []defaultCase{
		inPod("Deployment", app),
		{name: "Deployment, Recreate", object: strings.Replace(deploymentWith(app), "spec: {", "spec: {strategy: {type: Recreate}, ", 1), left: []string{"remove spec.replicas"}},
		{name: "Deployment, one bound", object: strings.Replace(deploymentWith(app), "spec: {", "spec: {strategy: {rollingUpdate: {maxSurge: 1}}, ", 1), left: []string{"remove spec.replicas"}},
		{name: "StatefulSet", object: `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {serviceName: web, selector: {matchLabels: {app: web}}, ` + template + `, volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}`, left: []string{"remove spec.replicas"}},
		{name: "StatefulSet, OnDelete", object: `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {serviceName: web, updateStrategy: {type: OnDelete}, persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}, selector: {matchLabels: {app: web}}, ` + template + `}}`, left: []string{"remove spec.replicas"}},
		{name: "DaemonSet", object: `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, ` + template + `}}`, left: []string{"remove metadata.annotations"}},
		{name: "ReplicaSet", object: `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, ` + template + `}}`, left: []string{"remove spec.replicas"}},
		{name: "ReplicationController", object: `{apiVersion: v1, kind: ReplicationController, metadata: {name: web}, spec: {` + template + `}}`, left: []string{"remove metadata.labels", "remove spec.replicas", "remove spec.selector"}},
		{name: "PodTemplate", object: `{apiVersion: v1, kind: PodTemplate, metadata: {name: web}, ` + template + `}`},
		{name: "Job", object: `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {` + jobTemplate + `}}`, left: allocated},
		{name: "Job, parallel", object: `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {parallelism: 3, ` + jobTemplate + `}}`, left: allocated},
		{name: "Job, failure policy", object: `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}, ` + jobTemplate + `}}`, left: allocated},
		{name: "Job, indexed", object: `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {completionMode: Indexed, completions: 3, backoffLimitPerIndex: 1, ` + jobTemplate + `}}`, left: allocated},
		{name: "CronJob", object: `{apiVersion: batch/v1, kind: CronJob, metadata: {name: web}, spec: {schedule: "0 * * * *", jobTemplate: {spec: {` + jobTemplate + `}}}}`},

		inPod("host network", `hostNetwork: true, containers: [{name: app, image: "app:1", ports: [{containerPort: 80}]}], initContainers: [{name: init, image: "app:1", ports: [{containerPort: 81}]}]`),
		inPod("account", `serviceAccountName: a, `+app),
		inPod("alias", `serviceAccount: a, `+app),
		inPod("security", `securityContext: {runAsUser: 1, seccompProfile: {type: RuntimeDefault}}, `+app),
		inPod("spread", `topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}], `+app),
		inPod("affinity", `affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: zone, labelSelector: {matchLabels: {app: web}}}}]}}, `+app),
		inPod("tolerations", `tolerations: [{key: a}], hostAliases: [{ip: 192.0.2.1, hostnames: [a]}], imagePullSecrets: [{name: a}], dnsConfig: {nameservers: [192.0.2.1], options: [{name: ndots}]}, readinessGates: [{conditionType: a}], `+app),
		inPod("claims", `resourceClaims: [{name: a, resourceClaimName: b}], `+app),

		withContainer("latest", `image: app`),
		withContainer("digest", `image: "app@sha256:0000000000000000000000000000000000000000000000000000000000000000"`),
		withContainer("tag and digest", `image: "app:latest@sha256:0000000000000000000000000000000000000000000000000000000000000000"`),
		withContainer("registry with port", `image: "registry.example:5000/app"`),
		withContainer("ports", `image: "app:1", ports: [{containerPort: 80}, {containerPort: 53, protocol: UDP}]`),
		withContainer("probes", `image: "app:1", livenessProbe: {httpGet: {port: 80}}, readinessProbe: {tcpSocket: {port: 80}}, startupProbe: {grpc: {port: 80}}`),
		withContainer("exec probe", `image: "app:1", livenessProbe: {exec: {command: [a]}}`),
		withContainer("lifecycle", `image: "app:1", lifecycle: {postStart: {httpGet: {port: 80}}, preStop: {sleep: {seconds: 1}}}`),
		withContainer("env", `image: "app:1", env: [{name: A}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: C, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}, {name: D, valueFrom: {configMapKeyRef: {name: a, key: b}}}, {name: E, valueFrom: {secretKeyRef: {name: a, key: b}}}], envFrom: [{configMapRef: {name: a}}]`),
		withContainer("resources", `image: "app:1", resources: {limits: {cpu: 1}}`),
		withContainer("security", `image: "app:1", securityContext: {privileged: true, capabilities: {add: [A]}}`),
		withContainer("mounts", `image: "app:1", volumeMounts: []`),
		inPod("init containers", `initContainers: [{name: init, image: app, restartPolicy: Always}], `+app),

		withVolume("none", ``),
		withVolume("emptyDir", `, emptyDir: {}`),
		withVolume("hostPath", `, hostPath: {path: /a}`),
		withVolume("configMap", `, configMap: {name: a}`),
		withVolume("secret", `, secret: {secretName: a}`),
		withVolume("downwardAPI", `, downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}, {path: b, resourceFieldRef: {containerName: app, resource: limits.cpu}}]}`),
		withVolume("projected", `, projected: {sources: [{serviceAccountToken: {path: t}}, {downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}]}}, {configMap: {name: a}}, {secret: {name: a}}, {clusterTrustBundle: {name: a, path: b}}]}`),
		withVolume("podCertificate", `, projected: {sources: [{podCertificate: {signerName: example.com/a, keyType: ED25519, credentialBundlePath: a}}]}`),
		withVolume("claim", `, persistentVolumeClaim: {claimName: a}`),
		withVolume("ephemeral", `, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}`),
		withVolume("image", `, image: {reference: app}`),
		withVolume("csi", `, csi: {driver: example.com}`),
		withVolume("nfs", `, nfs: {server: a, path: /a}`),
		withVolume("iscsi", `, iscsi: {targetPortal: "192.0.2.1:3260", iqn: "iqn.2001-04.com.example:storage", lun: 0}`),
		withVolume("rbd", `, rbd: {monitors: [a], image: b}`),
		withVolume("azureDisk", `, azureDisk: {diskName: a, diskURI: "https://a.blob.core.windows.net/a/a.vhd"}`),
		withVolume("azureFile", `, azureFile: {secretName: a, shareName: b}`),
		withVolume("scaleIO", `, scaleIO: {gateway: a, system: b, volumeName: c, secretRef: {name: d}}`),
		withVolume("cephfs", `, cephfs: {monitors: [a]}`),
		withVolume("cinder", `, cinder: {volumeID: a}`),
		withVolume("fc", `, fc: {targetWWNs: [a], lun: 1}`),
		withVolume("flexVolume", `, flexVolume: {driver: a/b}`),
		withVolume("glusterfs", `, glusterfs: {endpoints: a, path: b}`),
		withVolume("storageos", `, storageos: {volumeName: a}`),
		withVolume("portworx", `, portworxVolume: {volumeID: a}`),
		withVolume("quobyte", `, quobyte: {registry: "a:1", volume: b}`),
		withVolume("vsphere", `, vsphereVolume: {volumePath: a}`),
		withVolume("gce", `, gcePersistentDisk: {pdName: a}`),
		withVolume("aws", `, awsElasticBlockStore: {volumeID: a}`),

		{name: "Service", object: service(`ports: [{port: 80}]`), left: addresses},
		{name: "Service, named target", object: service(`ports: [{port: 80, targetPort: http}]`), left: addresses},
		{name: "Service, NodePort", object: service(`type: NodePort, ports: [{port: 80}]`), left: append(addresses[:4:4], "remove spec.ports[port=80,protocol=TCP].nodePort")},
		{name: "Service, LoadBalancer", object: service(`type: LoadBalancer, ports: [{port: 80}]`), left: append(addresses[:4:4], "remove spec.ports[port=80,protocol=TCP].nodePort")},
		{name: "Service, Local", object: service(`type: LoadBalancer, externalTrafficPolicy: Local, ports: [{port: 80}]`), left: []string{
			"remove spec.clusterIP", "remove spec.clusterIPs", "remove spec.healthCheckNodePort", "remove spec.ipFamilies", "remove spec.ipFamilyPolicy", "remove spec.ports[port=80,protocol=TCP].nodePort",
		}},
		{name: "Service, headless", object: service(`clusterIP: None, ports: [{port: 80}]`), left: []string{"remove spec.clusterIPs", "remove spec.ipFamilies", "remove spec.ipFamilyPolicy"}},
		{name: "Service, ExternalName", object: `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: ExternalName, externalName: a.example}}`},
		{name: "Service, external IPs", object: service(`externalIPs: [192.0.2.1], ports: [{port: 80}]`), left: addresses},
		{name: "Service, ClientIP", object: service(`sessionAffinity: ClientIP, ports: [{port: 80}]`), left: addresses},
		{name: "Service, ClientIP in part", object: service(`sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {}}, ports: [{port: 80}]`), left: addresses},
		{name: "Endpoints", object: `{apiVersion: v1, kind: Endpoints, metadata: {name: web}, subsets: [{addresses: [{ip: 192.0.2.1}], ports: [{port: 80}]}]}`},
		{name: "EndpointSlice", object: `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: web}, addressType: IPv4, endpoints: [{addresses: [192.0.2.1]}], ports: [{port: 80}]}`},
		{name: "Ingress", object: `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {rules: [{http: {paths: [{pathType: ImplementationSpecific, backend: {service: {name: web, port: {name: http}}}}]}}]}}`},
		{name: "IngressClass", object: `{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: NAME}, spec: {controller: example.com/a, parameters: {kind: ConfigMap, name: a}}}`},
		{name: "NetworkPolicy", object: `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {}}}`},
		{name: "NetworkPolicy, egress", object: `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {}, ingress: [{ports: [{port: 80}]}], egress: [{}]}}`},

		{name: "HorizontalPodAutoscaler", object: autoscaler(`maxReplicas: 3`)},
		{name: "HorizontalPodAutoscaler, behavior", object: `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {` + target + `, behavior: {}}}`},
		{name: "HorizontalPodAutoscaler, scaleDown", object: `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {` + target + `, behavior: {scaleDown: {stabilizationWindowSeconds: 5}}}}`},
		{name: "HorizontalPodAutoscaler, scaleUp", object: `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {` + target + `, behavior: {scaleUp: {policies: [{type: Pods, value: 1, periodSeconds: 5}]}}}}`},
		{name: "HorizontalPodAutoscaler, v1", object: `{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {` + target + `}}`},
		{name: "PodDisruptionBudget", object: `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {minAvailable: 1}}`},

		{name: "ConfigMap", object: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}`},
		{name: "Secret", object: `{apiVersion: v1, kind: Secret, metadata: {name: web}}`},
		{name: "Secret, stringData", object: `{apiVersion: v1, kind: Secret, metadata: {name: web}, stringData: {a: b}}`},
		{name: "ServiceAccount", object: `{apiVersion: v1, kind: ServiceAccount, metadata: {name: web}}`},
		{name: "Namespace", object: `{apiVersion: v1, kind: Namespace, metadata: {name: NAME-x}}`, left: []string{"remove metadata.labels", "remove spec"}},
		{name: "ResourceQuota", object: `{apiVersion: v1, kind: ResourceQuota, metadata: {name: web}, spec: {hard: {pods: 1000}}}`},
		{name: "LimitRange", object: `{apiVersion: v1, kind: LimitRange, metadata: {name: web}, spec: {limits: [{type: Container, max: {cpu: 1}, min: {memory: 1Mi}}]}}`},
		{name: "Role", object: `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: web}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`},
		{name: "ClusterRole", object: `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: NAME}}`},
		{name: "RoleBinding", object: `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: web}, roleRef: {kind: Role, name: a}, subjects: [{kind: ServiceAccount, name: a, namespace: default}, {kind: User, name: a}, {kind: Group, name: a}]}`},
		{name: "ClusterRoleBinding", object: `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: NAME}, roleRef: {kind: ClusterRole, name: a}, subjects: [{kind: User, name: a}]}`},

		{name: "PersistentVolumeClaim", object: `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`, left: protected},
		{name: "PersistentVolumeClaim, source", object: `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web}, spec: {dataSource: {kind: PersistentVolumeClaim, name: a}, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`, left: []string{"remove metadata.finalizers", "remove spec.dataSourceRef"}},
		{name: "PersistentVolume", object: `{apiVersion: v1, kind: PersistentVolume, metadata: {name: NAME}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /a}}}`, left: protected},
		{name: "PersistentVolume, iscsi", object: `{apiVersion: v1, kind: PersistentVolume, metadata: {name: NAME}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], iscsi: {targetPortal: "192.0.2.1:3260", iqn: "iqn.2001-04.com.example:storage", lun: 0}}}`, left: protected},
		{name: "PersistentVolume, rbd", object: `{apiVersion: v1, kind: PersistentVolume, metadata: {name: NAME}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], rbd: {monitors: [a], image: b}}}`, left: protected},
		{name: "PersistentVolume, scaleIO", object: `{apiVersion: v1, kind: PersistentVolume, metadata: {name: NAME}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], scaleIO: {gateway: a, system: b, volumeName: c, secretRef: {name: d}}}}`, left: protected},
		{name: "PersistentVolume, csi", object: `{apiVersion: v1, kind: PersistentVolume, metadata: {name: NAME}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], csi: {driver: example.com, volumeHandle: a}}}`, left: protected},
		{name: "StorageClass", object: `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: NAME}, provisioner: example.com/a}`},
		{name: "CSIDriver", object: `{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: NAME}, spec: {podInfoOnMount: true}}`},
		{name: "PriorityClass", object: `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: NAME}, value: 5}`},
		{name: "RuntimeClass", object: `{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: NAME}, handler: a}`},
		{name: "Lease", object: `{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: web}, spec: {holderIdentity: a}}`},

		{name: "MutatingWebhookConfiguration", object: `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: NAME}, webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {service: {name: a, namespace: b}}, rules: [{operations: [CREATE], apiGroups: [none.example], apiVersions: [v1], resources: [nones]}]}]}`},
		{name: "ValidatingWebhookConfiguration", object: `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: NAME}, webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: "https://a.example"}, rules: [{operations: [CREATE], apiGroups: [none.example], apiVersions: [v1], resources: [nones]}]}]}`},
		{name: "ValidatingAdmissionPolicy", object: `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: NAME}, spec: {matchConstraints: {resourceRules: [{operations: [CREATE], apiGroups: [none.example], apiVersions: [v1], resources: [nones]}]}, validations: [{expression: "true"}]}}`},
		{name: "ValidatingAdmissionPolicyBinding", object: `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: NAME}, spec: {policyName: a, validationActions: [Deny], matchResources: {}}}`},
		{name: "MutatingAdmissionPolicy", object: `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, metadata: {name: NAME}, spec: {reinvocationPolicy: Never, matchConstraints: {resourceRules: [{operations: [CREATE], apiGroups: [none.example], apiVersions: [v1], resources: [nones]}]}, mutations: [{patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: "test", path: "/a", value: 1}]'}}]}}`},
		{name: "FlowSchema", object: `{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: FlowSchema, metadata: {name: NAME}, spec: {priorityLevelConfiguration: {name: a}}}`},
		{name: "PriorityLevelConfiguration", object: `{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: PriorityLevelConfiguration, metadata: {name: NAME}, spec: {type: Limited, limited: {limitResponse: {type: Queue, queuing: {}}}}}`},
		{name: "PriorityLevelConfiguration, reject", object: `{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: PriorityLevelConfiguration, metadata: {name: NAME}, spec: {type: Limited, limited: {limitResponse: {type: Reject}}}}`},
		{name: "ResourceClaim, all", object: `{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: web}, spec: {devices: {requests: [{name: a, exactly: {deviceClassName: a, allocationMode: All}}, {name: b, firstAvailable: [{name: c, deviceClassName: a}]}]}}}`},
		{name: "ResourceClaim", object: `{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: web}, spec: {devices: {requests: [{name: a, exactly: {deviceClassName: a}}]}}}`},
	}
}

// testDiffDefaults: what the API server makes of an object that says little is the same
// as the object, when two trees are compared.
func testDiffDefaults(t *testing.T, s *diffServer) {
	for _, c := range defaultCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scene := &scene{t: t, server: s, namespace: s.cluster.Namespace(t)}
			minimal := scene.read("", strings.ReplaceAll(c.object, "NAME", scene.namespace))
			filled, err := s.clientFor(t, minimal).Create(t.Context(), minimal.DeepCopy(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if err != nil {
				t.Fatal(err)
			}
			filled.SetManagedFields(nil)
			set, err := diff.Diff([]*unstructured.Unstructured{filled}, []*unstructured.Unstructured{minimal}, diff.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.left, changesIn(set.Objects[0].Fields)); d != "" {
				t.Errorf("what is left between the server's object and the minimal one (-want +got):\n%s", d)
			}
		})
	}
}
