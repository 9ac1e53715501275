package controlplane_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"kudevops.io/appsvc/pkg/diff"
)

// fieldEdit is a merge patch (RFC 7396) and the effect that it is said to have.
type fieldEdit struct {
	patch string
	want  diff.Effect
}

// effectCase is an object and what single edits of it do.
type effectCase struct {
	name, object string
	prepare      func(*scene)
	edits        []fieldEdit
}

func effectCases() []effectCase {
	return []effectCase{
		{
			name:   "Deployment",
			object: `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web, tier: a}}, spec: {containers: [{name: app, image: "app:1"}]}}}}`,
			edits: []fieldEdit{
				{patch: `{metadata: {labels: {a: b}}}`, want: diff.EffectMetadata},
				{patch: `{spec: {selector: {matchLabels: {tier: a}}}}`, want: diff.EffectRecreate},
				{patch: `{spec: {replicas: 3}}`, want: diff.EffectScale},
				{patch: `{spec: {template: {metadata: {annotations: {a: b}}}}}`, want: diff.EffectRestart},
				{patch: `{spec: {template: {spec: {terminationGracePeriodSeconds: 5}}}}`, want: diff.EffectRestart},
				{patch: `{spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {minReadySeconds: 5}}`, want: diff.EffectInPlace},
				{patch: `{spec: {revisionHistoryLimit: 5}}`, want: diff.EffectInPlace},
				{patch: `{spec: {progressDeadlineSeconds: 60}}`, want: diff.EffectInPlace},
				{patch: `{spec: {paused: true}}`, want: diff.EffectInPlace},
			},
		},
		{
			name: "StatefulSet",
			object: `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {serviceName: web, replicas: 2, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0, maxUnavailable: 1}}, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web, tier: a}}, spec: {containers: [{name: app, image: "app:1"}]}},
				volumeClaimTemplates: [{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], volumeMode: Filesystem, resources: {requests: {storage: 1Gi}}}}]}}`,
			edits: []fieldEdit{
				{patch: `{spec: {selector: {matchLabels: {tier: a}}}}`, want: diff.EffectRecreate},
				{patch: `{spec: {serviceName: other}}`, want: diff.EffectRecreate},
				{patch: `{spec: {podManagementPolicy: Parallel}}`, want: diff.EffectRecreate},
				{patch: `{spec: {volumeClaimTemplates: null}}`, want: diff.EffectRecreate},
				{patch: `{spec: {replicas: 3}}`, want: diff.EffectScale},
				{patch: `{spec: {ordinals: {start: 1}}}`, want: diff.EffectRestart},
				{patch: `{spec: {template: {metadata: {annotations: {a: b}}}}}`, want: diff.EffectRestart},
				{patch: `{spec: {updateStrategy: {type: OnDelete, rollingUpdate: null}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {revisionHistoryLimit: 5}}`, want: diff.EffectInPlace},
				{patch: `{spec: {minReadySeconds: 5}}`, want: diff.EffectInPlace},
				{patch: `{spec: {persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "DaemonSet",
			object: `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web, tier: a}}, spec: {containers: [{name: app, image: "app:1"}]}}}}`,
			edits: []fieldEdit{
				{patch: `{spec: {selector: {matchLabels: {tier: a}}}}`, want: diff.EffectRecreate},
				{patch: `{spec: {template: {metadata: {annotations: {a: b}}}}}`, want: diff.EffectRestart},
				{patch: `{spec: {updateStrategy: {type: OnDelete}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {minReadySeconds: 5}}`, want: diff.EffectInPlace},
				{patch: `{spec: {revisionHistoryLimit: 5}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "ReplicaSet",
			object: `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web, tier: a}}, spec: {containers: [{name: app, image: "app:1"}]}}}}`,
			edits: []fieldEdit{
				{patch: `{spec: {selector: {matchLabels: {tier: a}}}}`, want: diff.EffectRecreate},
				{patch: `{spec: {replicas: 3}}`, want: diff.EffectScale},
				{patch: `{spec: {template: {metadata: {annotations: {a: b}}}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {minReadySeconds: 5}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "ReplicationController",
			object: `{apiVersion: v1, kind: ReplicationController, metadata: {name: web}, spec: {replicas: 1, selector: {app: web}, template: {metadata: {labels: {app: web, tier: a}}, spec: {containers: [{name: app, image: "app:1"}]}}}}`,
			edits: []fieldEdit{
				{patch: `{spec: {selector: {tier: a}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {replicas: 3}}`, want: diff.EffectScale},
				{patch: `{spec: {template: {metadata: {annotations: {a: b}}}}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "Job",
			object: `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {completions: 2, parallelism: 1, template: {spec: {restartPolicy: Never, containers: [{name: app, image: "app:1"}]}}}}`,
			edits: []fieldEdit{
				{patch: `{spec: {completions: 3}}`, want: diff.EffectRecreate},
				{patch: `{spec: {parallelism: 2}}`, want: diff.EffectScale},
				{patch: `{spec: {template: {metadata: {annotations: {a: b}}}}}`, want: diff.EffectRecreate},
				{patch: `{spec: {template: {spec: {nodeSelector: {a: b}}}}}`, want: diff.EffectRecreate},
				{patch: `{spec: {completionMode: Indexed}}`, want: diff.EffectRecreate},
				{patch: `{spec: {podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget, status: "True"}]}]}}}`, want: diff.EffectRecreate},
				{patch: `{spec: {managedBy: example.com/x}}`, want: diff.EffectRecreate},
				{patch: `{spec: {suspend: true}}`, want: diff.EffectInPlace},
				{patch: `{spec: {backoffLimit: 1}}`, want: diff.EffectInPlace},
				{patch: `{spec: {activeDeadlineSeconds: 100}}`, want: diff.EffectInPlace},
				{patch: `{spec: {ttlSecondsAfterFinished: 100}}`, want: diff.EffectInPlace},
				{patch: `{spec: {podReplacementPolicy: Failed}}`, want: diff.EffectInPlace},
				{patch: `{spec: {manualSelector: true}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "Job that is suspended",
			object: `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {suspend: true, template: {metadata: {labels: {a: a}}, spec: {restartPolicy: Never, containers: [{name: app, image: "app:1"}]}}}}`,
			edits: []fieldEdit{
				{patch: `{spec: {template: {metadata: {annotations: {a: b}}}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {template: {metadata: {labels: {a: b}}}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {template: {spec: {nodeSelector: {a: b}}}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {template: {spec: {tolerations: [{key: a, operator: Exists}]}}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {template: {spec: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}}}}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {template: {spec: {schedulingGates: [{name: example.com/a}]}}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {template: {spec: {terminationGracePeriodSeconds: 5}}}}`, want: diff.EffectRecreate},
				{patch: `{spec: {template: {spec: {containers: [{name: app, image: "app:2"}]}}}}`, want: diff.EffectRecreate},
				{patch: `{spec: {template: {spec: {containers: [{name: app, image: "app:1", resources: {limits: {cpu: 1}}}]}}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {suspend: false}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "Job that is indexed",
			object: `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {completionMode: Indexed, completions: 2, parallelism: 2, backoffLimitPerIndex: 1, template: {spec: {restartPolicy: Never, containers: [{name: app, image: "app:1"}]}}}}`,
			edits: []fieldEdit{
				{patch: `{spec: {completions: 3, parallelism: 3}}`, want: diff.EffectScale},
				{patch: `{spec: {completions: 3}}`, want: diff.EffectRecreate},
				{patch: `{spec: {backoffLimitPerIndex: 2}}`, want: diff.EffectRecreate},
				{patch: `{spec: {maxFailedIndexes: 1}}`, want: diff.EffectInPlace},
				{patch: `{spec: {successPolicy: {rules: [{succeededCount: 1}]}}}`, want: diff.EffectRecreate},
			},
		},
		{
			name:   "CronJob",
			object: `{apiVersion: batch/v1, kind: CronJob, metadata: {name: web}, spec: {schedule: "0 * * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: app, image: "app:1"}]}}}}}}`,
			edits: []fieldEdit{
				{patch: `{spec: {schedule: "1 * * * *"}}`, want: diff.EffectInPlace},
				{patch: `{spec: {timeZone: Europe/Berlin}}`, want: diff.EffectInPlace},
				{patch: `{spec: {suspend: true}}`, want: diff.EffectInPlace},
				{patch: `{spec: {concurrencyPolicy: Forbid}}`, want: diff.EffectInPlace},
				{patch: `{spec: {startingDeadlineSeconds: 100}}`, want: diff.EffectInPlace},
				{patch: `{spec: {successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 2}}`, want: diff.EffectInPlace},
				{patch: `{spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: app, image: "app:2"}]}}}}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {jobTemplate: {spec: {completions: 5}}}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "Pod",
			object: `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {automountServiceAccountToken: false, containers: [{name: app, image: "app:1"}], initContainers: [{name: init, image: "app:1"}], tolerations: [{key: a, operator: Exists}, {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}, {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 300}]}}`,
			prepare: func(s *scene) {
				s.server.apply(s.t, us, s.read("", `{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}`))
			},
			edits: []fieldEdit{
				{patch: `{metadata: {annotations: {a: b}}}`, want: diff.EffectMetadata},
				{patch: `{spec: {containers: [{name: app, image: "app:2"}]}}`, want: diff.EffectRestart},
				{patch: `{spec: {initContainers: [{name: init, image: "app:2"}]}}`, want: diff.EffectRestart},
				{patch: `{spec: {activeDeadlineSeconds: 100}}`, want: diff.EffectInPlace},
				{patch: `{spec: {tolerations: [{key: a, operator: Exists}, {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}, {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 300}, {key: b, operator: Exists}]}}`, want: diff.EffectInPlace},
				{patch: `{spec: {tolerations: [{key: b, operator: Exists}]}}`, want: diff.EffectRecreate},
				{patch: `{spec: {terminationGracePeriodSeconds: 5}}`, want: diff.EffectRecreate},
				{patch: `{spec: {containers: [{name: app, image: "app:1", env: [{name: A, value: a}]}]}}`, want: diff.EffectRecreate},
				{patch: `{spec: {containers: [{name: app, image: "app:1", resources: {limits: {cpu: 1}}}]}}`, want: diff.EffectRecreate},
				{patch: `{spec: {nodeSelector: {a: b}}}`, want: diff.EffectRecreate},
				{patch: `{spec: {hostname: a}}`, want: diff.EffectRecreate},
			},
		},
		{
			name:   "Service",
			object: `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}`,
			edits: []fieldEdit{
				{patch: `{spec: {selector: {app: other}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {ports: [{port: 81}]}}`, want: diff.EffectInPlace},
				{patch: `{spec: {ports: [{port: 80, targetPort: 8080}]}}`, want: diff.EffectInPlace},
				{patch: `{spec: {type: NodePort}}`, want: diff.EffectInPlace},
				{patch: `{spec: {type: LoadBalancer}}`, want: diff.EffectInPlace},
				{patch: `{spec: {type: LoadBalancer, loadBalancerClass: example.com/a}}`, want: diff.EffectInPlace},
				{patch: `{spec: {type: LoadBalancer, externalTrafficPolicy: Local}}`, want: diff.EffectInPlace},
				{patch: `{spec: {type: ExternalName, externalName: example.com, selector: null, ports: null}}`, want: diff.EffectInPlace},
				{patch: `{spec: {clusterIP: None}}`, want: diff.EffectRecreate},
				{patch: `{spec: {clusterIP: 10.96.77.77}}`, want: diff.EffectRecreate},
				{patch: `{spec: {clusterIP: 10.96.77.77, clusterIPs: [10.96.77.77]}}`, want: diff.EffectRecreate},
				{patch: `{spec: {ipFamilies: [IPv6]}}`, want: diff.EffectRecreate},
				{patch: `{spec: {sessionAffinity: ClientIP}}`, want: diff.EffectInPlace},
				{patch: `{spec: {internalTrafficPolicy: Local}}`, want: diff.EffectInPlace},
				{patch: `{spec: {publishNotReadyAddresses: true}}`, want: diff.EffectInPlace},
				{patch: `{spec: {trafficDistribution: PreferClose}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "Service that is a load balancer",
			object: `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: LoadBalancer, loadBalancerClass: example.com/a, externalTrafficPolicy: Local, selector: {app: web}, ports: [{port: 80}]}}`,
			edits: []fieldEdit{
				{patch: `{spec: {type: ClusterIP, loadBalancerClass: null, externalTrafficPolicy: null}}`, want: diff.EffectInPlace},
				{patch: `{spec: {loadBalancerClass: example.com/b}}`, want: diff.EffectRecreate},
				{patch: `{spec: {loadBalancerClass: null}}`, want: diff.EffectRecreate},
				{patch: `{spec: {externalTrafficPolicy: Cluster}}`, want: diff.EffectInPlace},
				{patch: `{spec: {healthCheckNodePort: 31234}}`, want: diff.EffectRecreate},
				{patch: `{spec: {allocateLoadBalancerNodePorts: false}}`, want: diff.EffectInPlace},
				{patch: `{spec: {loadBalancerSourceRanges: [192.0.2.0/24]}}`, want: diff.EffectInPlace},
				{patch: `{spec: {loadBalancerIP: 192.0.2.1}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "Service that is headless",
			object: `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {clusterIP: None, selector: {app: web}, ports: [{port: 80}]}}`,
			edits: []fieldEdit{
				{patch: `{spec: {clusterIP: 10.96.77.78}}`, want: diff.EffectRecreate},
				{patch: `{spec: {clusterIP: null}}`, want: diff.EffectNone},
				{patch: `{spec: {ports: [{port: 81}]}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "Service that is a name",
			object: `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: ExternalName, externalName: a.example.com}}`,
			edits: []fieldEdit{
				{patch: `{spec: {externalName: b.example.com}}`, want: diff.EffectInPlace},
				{patch: `{spec: {type: ClusterIP, externalName: null, ports: [{port: 80}]}}`, want: diff.EffectInPlace},
				{patch: `{spec: {type: ClusterIP, externalName: null, clusterIP: None, selector: {app: web}}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "Ingress",
			object: `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {ingressClassName: a, rules: [{host: a.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}}`,
			edits: []fieldEdit{
				{patch: `{spec: {ingressClassName: b}}`, want: diff.EffectInPlace},
				{patch: `{spec: {rules: [{host: b.example}]}}`, want: diff.EffectInPlace},
				{patch: `{spec: {tls: [{secretName: a}]}}`, want: diff.EffectInPlace},
				{patch: `{spec: {defaultBackend: {service: {name: b, port: {number: 80}}}}}`, want: diff.EffectInPlace},
				{patch: `{metadata: {annotations: {a: b}}}`, want: diff.EffectMetadata},
			},
		},
		{
			name:   "HorizontalPodAutoscaler",
			object: autoscaler(`minReplicas: 2, maxReplicas: 3, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]`),
			edits: []fieldEdit{
				{patch: `{spec: {maxReplicas: 5}}`, want: diff.EffectInPlace},
				{patch: `{spec: {minReplicas: 1}}`, want: diff.EffectInPlace},
				{patch: `{spec: {scaleTargetRef: {name: other}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {behavior: {scaleDown: {stabilizationWindowSeconds: 5}}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "PodDisruptionBudget",
			object: `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}}`,
			edits: []fieldEdit{
				{patch: `{spec: {minAvailable: 2}}`, want: diff.EffectInPlace},
				{patch: `{spec: {minAvailable: null, maxUnavailable: 1}}`, want: diff.EffectInPlace},
				{patch: `{spec: {selector: {matchLabels: {app: other}}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {unhealthyPodEvictionPolicy: AlwaysAllow}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "ConfigMap",
			object: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {a: b}}`,
			edits: []fieldEdit{
				{patch: `{data: {a: c}}`, want: diff.EffectInPlace},
				{patch: `{immutable: true}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "ConfigMap that is immutable",
			object: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, immutable: true, data: {a: b}, binaryData: {b: YQ==}}`,
			edits: []fieldEdit{
				{patch: `{data: {a: c}}`, want: diff.EffectRecreate},
				{patch: `{data: {c: c}}`, want: diff.EffectRecreate},
				{patch: `{binaryData: {b: Yg==}}`, want: diff.EffectRecreate},
				{patch: `{immutable: false}`, want: diff.EffectRecreate},
				{patch: `{immutable: null}`, want: diff.EffectRecreate},
				{patch: `{metadata: {labels: {a: b}}}`, want: diff.EffectMetadata},
			},
		},
		{
			name:   "Secret",
			object: `{apiVersion: v1, kind: Secret, metadata: {name: web}, type: example.com/a, data: {a: YQ==}}`,
			edits: []fieldEdit{
				{patch: `{data: {a: Yg==}}`, want: diff.EffectInPlace},
				{patch: `{type: example.com/b}`, want: diff.EffectRecreate},
				{patch: `{immutable: true}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "Secret that is immutable",
			object: `{apiVersion: v1, kind: Secret, metadata: {name: web}, immutable: true, data: {a: YQ==}}`,
			edits: []fieldEdit{
				{patch: `{data: {a: Yg==}}`, want: diff.EffectRecreate},
				{patch: `{immutable: false}`, want: diff.EffectRecreate},
			},
		},
		{
			name:   "NetworkPolicy",
			object: `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {matchLabels: {app: web}}, policyTypes: [Ingress], ingress: [{}]}}`,
			edits: []fieldEdit{
				{patch: `{spec: {podSelector: {matchLabels: {app: other}}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {ingress: null}}`, want: diff.EffectInPlace},
				{patch: `{spec: {policyTypes: [Egress]}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "HTTPRoute",
			object: `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: web}, spec: {hostnames: [a.example], rules: [{matches: [{path: {type: PathPrefix, value: /}}]}]}}`,
			edits: []fieldEdit{
				{patch: `{spec: {hostnames: [b.example]}}`, want: diff.EffectInPlace},
				{patch: `{spec: {rules: [{matches: [{path: {type: PathPrefix, value: /a}}]}]}}`, want: diff.EffectInPlace},
				{patch: `{spec: {parentRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: a}]}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "ServiceAccount",
			object: `{apiVersion: v1, kind: ServiceAccount, metadata: {name: web}}`,
			edits: []fieldEdit{
				{patch: `{automountServiceAccountToken: false}`, want: diff.EffectInPlace},
				{patch: `{imagePullSecrets: [{name: a}]}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "PersistentVolumeClaim",
			object: `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web}, spec: {storageClassName: a, volumeName: v, accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}, selector: {matchLabels: {a: b}}}}`,
			prepare: func(s *scene) {
				s.server.apply(s.t, us, s.read("", `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: a}, provisioner: example.com/a, allowVolumeExpansion: true}`))
			},
			edits: []fieldEdit{
				{patch: `{spec: {resources: {requests: {storage: 3Gi}}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {resources: {requests: {storage: 1Gi}}}}`, want: diff.EffectRecreate},
				{patch: `{spec: {resources: {limits: {storage: 5Gi}}}}`, want: diff.EffectRecreate},
				{patch: `{spec: {accessModes: [ReadOnlyMany]}}`, want: diff.EffectRecreate},
				{patch: `{spec: {storageClassName: b}}`, want: diff.EffectRecreate},
				{patch: `{spec: {volumeMode: Block}}`, want: diff.EffectRecreate},
				{patch: `{spec: {volumeName: w}}`, want: diff.EffectRecreate},
				{patch: `{spec: {selector: {matchLabels: {a: c}}}}`, want: diff.EffectRecreate},
				{patch: `{spec: {dataSource: {kind: PersistentVolumeClaim, name: x}}}`, want: diff.EffectRecreate},
				{patch: `{spec: {volumeAttributesClassName: x}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "StorageClass",
			object: `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: NAME}, provisioner: example.com/a, parameters: {a: b}}`,
			edits: []fieldEdit{
				{patch: `{provisioner: example.com/b}`, want: diff.EffectRecreate},
				{patch: `{parameters: {a: c}}`, want: diff.EffectRecreate},
				{patch: `{reclaimPolicy: Retain}`, want: diff.EffectRecreate},
				{patch: `{volumeBindingMode: WaitForFirstConsumer}`, want: diff.EffectRecreate},
				{patch: `{allowVolumeExpansion: true}`, want: diff.EffectInPlace},
				{patch: `{mountOptions: [a]}`, want: diff.EffectInPlace},
				{patch: `{allowedTopologies: [{matchLabelExpressions: [{key: a, values: [b]}]}]}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "PriorityClass",
			object: `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: NAME}, value: 5}`,
			edits: []fieldEdit{
				{patch: `{value: 6}`, want: diff.EffectRecreate},
				{patch: `{preemptionPolicy: Never}`, want: diff.EffectRecreate},
				{patch: `{description: a}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "IngressClass",
			object: `{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: NAME}, spec: {controller: example.com/a}}`,
			edits: []fieldEdit{
				{patch: `{spec: {controller: example.com/b}}`, want: diff.EffectRecreate},
				{patch: `{spec: {parameters: {kind: ConfigMap, name: a, scope: Cluster}}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "RuntimeClass",
			object: `{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: NAME}, handler: a}`,
			edits: []fieldEdit{
				{patch: `{handler: b}`, want: diff.EffectRecreate},
				{patch: `{overhead: {podFixed: {cpu: 1m}}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "Role",
			object: `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: web}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`,
			edits:  []fieldEdit{{patch: `{rules: [{apiGroups: [""], resources: [pods], verbs: [list]}]}`, want: diff.EffectInPlace}},
		},
		{
			name:   "RoleBinding",
			object: `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: web}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: a}, subjects: [{kind: ServiceAccount, name: a, namespace: default}]}`,
			edits: []fieldEdit{
				{patch: `{roleRef: {name: b}}`, want: diff.EffectRecreate},
				{patch: `{subjects: [{kind: ServiceAccount, name: b, namespace: default}]}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "ClusterRoleBinding",
			object: `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: NAME}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: a}}`,
			edits:  []fieldEdit{{patch: `{roleRef: {name: b}}`, want: diff.EffectRecreate}},
		},
		{
			name:   "PersistentVolume",
			object: `{apiVersion: v1, kind: PersistentVolume, metadata: {name: NAME}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /a}}}`,
			edits: []fieldEdit{
				{patch: `{spec: {hostPath: {path: /b}}}`, want: diff.EffectRecreate},
				{patch: `{spec: {volumeMode: Block}}`, want: diff.EffectRecreate},
				{patch: `{spec: {capacity: {storage: 2Gi}}}`, want: diff.EffectInPlace},
				{patch: `{spec: {persistentVolumeReclaimPolicy: Delete}}`, want: diff.EffectInPlace},
				{patch: `{spec: {storageClassName: b}}`, want: diff.EffectInPlace},
				{patch: `{spec: {nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "EndpointSlice",
			object: `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: web}, addressType: IPv4, endpoints: [{addresses: [192.0.2.1]}]}`,
			edits: []fieldEdit{
				{patch: `{addressType: IPv6, endpoints: [{addresses: ["2001:db8::1"]}]}`, want: diff.EffectRecreate},
				{patch: `{endpoints: [{addresses: [192.0.2.2]}]}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "ControllerRevision",
			object: `{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: web}, revision: 1, data: {a: b}}`,
			edits: []fieldEdit{
				{patch: `{data: {a: c}}`, want: diff.EffectRecreate},
				{patch: `{revision: 2}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "CSIDriver",
			object: `{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: NAME}, spec: {attachRequired: true, fsGroupPolicy: File}}`,
			edits: []fieldEdit{
				{patch: `{spec: {attachRequired: false}}`, want: diff.EffectRecreate},
				{patch: `{spec: {podInfoOnMount: true}}`, want: diff.EffectInPlace},
				{patch: `{spec: {volumeLifecycleModes: [Ephemeral]}}`, want: diff.EffectRecreate},
				{patch: `{spec: {fsGroupPolicy: None}}`, want: diff.EffectInPlace},
				{patch: `{spec: {storageCapacity: true}}`, want: diff.EffectInPlace},
			},
		},
		{
			name:   "VolumeAttributesClass",
			object: `{apiVersion: storage.k8s.io/v1, kind: VolumeAttributesClass, metadata: {name: NAME}, driverName: example.com, parameters: {a: b}}`,
			edits: []fieldEdit{
				{patch: `{driverName: example.org}`, want: diff.EffectRecreate},
				{patch: `{parameters: {a: c}}`, want: diff.EffectRecreate},
			},
		},
		{
			name:   "PriorityLevelConfiguration",
			object: `{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: PriorityLevelConfiguration, metadata: {name: NAME}, spec: {type: Limited, limited: {nominalConcurrencyShares: 5, limitResponse: {type: Reject}}}}`,
			edits:  []fieldEdit{{patch: `{spec: {limited: {nominalConcurrencyShares: 6}}}`, want: diff.EffectInPlace}},
		},
		{
			name:   "ResourceClaim",
			object: `{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: web}, spec: {devices: {requests: [{name: a, exactly: {deviceClassName: a}}]}}}`,
			edits:  []fieldEdit{{patch: `{spec: {devices: {requests: [{name: a, exactly: {deviceClassName: b}}]}}}`, want: diff.EffectRecreate}},
		},
	}
}

// testDiffEffects: the API server refuses a change exactly where its effect is said to be
// that the object must be recreated.
func testDiffEffects(t *testing.T, s *diffServer) {
	for _, c := range effectCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base := &scene{t: t, server: s, namespace: s.cluster.Namespace(t)}
			text := strings.ReplaceAll(c.object, "NAME", base.namespace)
			if c.prepare != nil {
				c.prepare(base)
			}
			base.object = base.read("", text)
			s.apply(t, us, base.object)
			if base.object.GetKind() == "PersistentVolumeClaim" {
				base.patchAs("binder", types.MergePatchType, `{status: {phase: Bound, capacity: {storage: 2Gi}}}`, "status")
			}
			for _, e := range c.edits {
				t.Run(e.patch, func(t *testing.T) {
					desired := base.object.DeepCopy()
					mergePatch(desired.Object, plain(t, e.patch))
					v := s.verdict(t, desired, ours)
					if v.change.Effect != e.want {
						t.Errorf("the effect is %s, want %s: %q", v.change.Effect, e.want, changesIn(v.change.Fields))
					}
					switch recreate := v.change.Effect == diff.EffectRecreate; {
					case recreate && v.refused == nil:
						t.Error("it is said to be refused, and the server takes it")
					case !recreate && v.refused != nil:
						t.Errorf("it is said to have effect %s, and the server refuses it: %v", v.change.Effect, v.refused)
					case recreate && !tellsImmutable(v.refused.Error()):
						t.Errorf("the server refuses it for another reason: %v", v.refused)
					}
				})
			}
		})
	}
}

// tellsImmutable knows the ways in which the API server says that a field cannot be
// changed.
func tellsImmutable(message string) bool {
	for _, words := range []string{
		"immutable", "may not change once set", "may not be changed", "updates to", "update is forbidden", "cannot change roleRef", "may not update",
		"cannot be changed", "can not be less than", "is forbidden after creation", "pod updates may not change", "in tandem with", "as indicated by `ipFamilies", "existing toleration can not be modified",
	} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

// mergePatch changes an object by a merge patch (RFC 7396).
func mergePatch(object, patch map[string]any) {
	for name, v := range patch {
		if v == nil {
			delete(object, name)
			continue
		}
		if p, ok := v.(map[string]any); ok {
			o, ok := object[name].(map[string]any)
			if !ok {
				o = map[string]any{}
				object[name] = o
			}
			mergePatch(o, p)
			continue
		}
		object[name] = v
	}
}
