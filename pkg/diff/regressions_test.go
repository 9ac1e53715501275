package diff

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The cases of this file were found by the referee (docs/exactness.md), which compares the
// engine with a real API server. Each was wrong once.

// byApply is an entry of managedFields that a server-side apply of manager has written.
func byApply(manager, apiVersion, fields string) string {
	return fmt.Sprintf("{manager: %s, operation: Apply, apiVersion: %s, fieldsType: FieldsV1, fieldsV1: %s}", manager, apiVersion, fields)
}

// byUpdate is one that another kind of write has written.
func byUpdate(manager, apiVersion, fields string) string {
	return fmt.Sprintf("{manager: %s, operation: Update, apiVersion: %s, fieldsType: FieldsV1, fieldsV1: %s}", manager, apiVersion, fields)
}

func TestChangedRegressions(t *testing.T) {
	t.Parallel()
	const (
		deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: {containers: [{name: app, resources: {limits: {cpu: %s}}}]}}}}`
		cpu        = `{"f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"app"}': {".": {}, "f:name": {}, "f:resources": {"f:limits": {"f:cpu": {}}}}}}}}}`
		monitor    = `{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {name: web%s}, spec: {selector: {matchLabels: {a: b}}}}`
	)
	for _, test := range []struct {
		name, reason  string
		desired, live string // live without managedFields
		managed       []string
		want          bool
	}{
		{
			name: "owner reference", reason: "an item that is replaced as a whole is owned without any of its fields",
			desired: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: u}]}}`,
			live:    `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: u}]}}`,
			managed: []string{byApply("us", "v1", `{"f:metadata": {"f:ownerReferences": {'k:{"uid":"u"}': {}}}}`)},
		},
		{
			name: "migrated and not applied since", reason: `an apply takes away the mark "." that an update has left`,
			desired: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {a: b}}`,
			live:    `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {a: b}}`,
			managed: []string{byApply("us", "v1", `{"f:data": {".": {}, "f:a": {}}}`)},
			want:    true,
		},
		{
			name: "empty mapping that is not ours", reason: "an empty mapping is owned once it is applied",
			desired: `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web, labels: {a: b}}, spec: {}}`,
			live:    `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web, labels: {a: b}}, spec: {}}`,
			managed: []string{byApply("us", "policy/v1", `{"f:metadata": {"f:labels": {"f:a": {}}}}`)},
			want:    true,
		},
		{
			name: "empty keyed list that is not ours", reason: "a list without items is never owned",
			desired: `{apiVersion: v1, kind: ServiceAccount, metadata: {name: web, labels: {a: b}}, secrets: []}`,
			live:    `{apiVersion: v1, kind: ServiceAccount, metadata: {name: web, labels: {a: b}}}`,
			managed: []string{byApply("us", "v1", `{"f:metadata": {"f:labels": {"f:a": {}}}}`)},
		},
		{
			name: "empty list of a NetworkPolicy", reason: "its generation goes up with each write of one",
			desired: `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {egress: []}}`,
			live:    `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {}, policyTypes: [Ingress]}}`,
			managed: []string{byApply("us", "networking.k8s.io/v1", `{"f:spec": {"f:egress": {}}}`)},
			want:    true,
		},
		{
			name: "fields of a structure that we own as an empty one", reason: "the fields are not ours yet",
			desired: `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {rules: [{host: a}]}}`,
			live:    `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {rules: [{host: a}]}}`,
			managed: []string{byApply("us", "networking.k8s.io/v1", `{"f:spec": {}}`), byUpdate("them", "networking.k8s.io/v1", `{"f:spec": {"f:rules": {}}}`)},
			want:    true,
		},
		{
			name: "stringData without anything in it", reason: "it is not sent as data either",
			desired: `{apiVersion: v1, kind: Secret, metadata: {name: web}, type: Opaque, stringData: {}}`,
			live:    `{apiVersion: v1, kind: Secret, metadata: {name: web}, type: Opaque}`,
			managed: []string{byApply("us", "v1", `{"f:type": {}}`)},
		},
		{
			name: "quantity written in another way", reason: "it is stored as it was",
			desired: fmt.Sprintf(deployment, "1000m"), live: fmt.Sprintf(deployment, `"1"`),
			managed: []string{byApply("them", "apps/v1", `{"f:metadata": {"f:labels": {}}}`), byApply("us", "apps/v1", cpu)},
		},
		{
			name: "quantity of others, too, written in another way", reason: "the API server takes it from them",
			desired: fmt.Sprintf(deployment, "1000m"), live: fmt.Sprintf(deployment, `"1"`),
			managed: []string{byApply("them", "apps/v1", cpu), byApply("us", "apps/v1", cpu)},
			want:    true,
		},
		{
			name: "quantity written in another way, and a later applier", reason: "our entry moves behind theirs",
			desired: fmt.Sprintf(deployment, "1000m"), live: fmt.Sprintf(deployment, `"1"`),
			managed: []string{byApply("us", "apps/v1", cpu), byApply("them", "apps/v1", `{"f:metadata": {"f:labels": {}}}`)},
			want:    true,
		},
		{
			name: "two entries of others that are one to the API server", reason: "it drops the first",
			desired: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {a: b}}`,
			live:    `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {a: b, c: d, e: f}}`,
			managed: []string{
				byApply("us", "v1", `{"f:data": {"f:a": {}}}`),
				byUpdate("them", "v1", `{"f:data": {"f:c": {}}}`), byUpdate("them", "v1", `{"f:data": {"f:e": {}}}`),
			},
			want: true,
		},
		{
			name: "mapping of an unknown type that is ours as a whole", reason: "it is compared as a whole",
			desired: fmt.Sprintf(monitor, ""), live: fmt.Sprintf(monitor, ""),
			managed: []string{byApply("us", "monitoring.coreos.com/v1", `{"f:spec": {"f:selector": {}}}`)},
		},
		{
			name: "empty mapping of an unknown type", reason: "where nobody owns a part of it, it is replaced as a whole",
			desired: `{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {name: web}, spec: {selector: {}}}`,
			live:    fmt.Sprintf(monitor, ""),
			managed: []string{byApply("us", "monitoring.coreos.com/v1", `{"f:spec": {"f:selector": {}}}`)},
			want:    true,
		},
		{
			name: "empty mapping of an unknown type that others fill", reason: "what they own of it stays",
			desired: `{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {name: web, labels: {a: b}}, spec: {}}`,
			live:    fmt.Sprintf(monitor, ", labels: {a: b}"),
			managed: []string{
				byApply("us", "monitoring.coreos.com/v1", `{"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {}}`),
				byApply("them", "monitoring.coreos.com/v1", `{"f:spec": {"f:selector": {}}}`),
			},
		},
		{
			name: "mapping of an unknown type of which others own a part", reason: "it is not replaced as a whole, and what is in it is not ours",
			desired: fmt.Sprintf(monitor, ""), live: fmt.Sprintf(monitor, ""),
			managed: []string{
				byApply("us", "monitoring.coreos.com/v1", `{"f:spec": {"f:selector": {}}}`),
				byUpdate("them", "monitoring.coreos.com/v1", `{"f:spec": {"f:selector": {"f:matchLabels": {}}}}`),
			},
			want: true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			live := withEntries(t, test.live, test.managed)
			if got := NewChecker("us").Changed(parse(t, test.desired), live); got != test.want {
				t.Errorf("Changed = %t, want %t: %s", got, test.want, test.reason)
			}
		})
	}
}

func TestPredictRegressions(t *testing.T) {
	t.Parallel()
	const envVar = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1, template: {spec: {containers: [{name: app, env: %s}]}}}}`
	for _, test := range []struct {
		name, reason  string
		desired, live string // live without managedFields
		managed       []string
		migrate       []string
		want          []string
		effect        Effect
	}{
		{
			name: "Service without node ports", reason: "what the new type has no use for goes with the old one",
			desired: `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: ClusterIP, ports: [{port: 80}]}}`,
			live: `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: NodePort, clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1],
				externalTrafficPolicy: Cluster, ports: [{port: 80, protocol: TCP, targetPort: 80, nodePort: 30000}]}}`,
			managed: []string{byApply("us", "v1", `{"f:spec": {"f:type": {}, "f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}}}}}`)},
			want: []string{
				"remove spec.externalTrafficPolicy: Cluster -> <nil>",
				"remove spec.ports[port=80,protocol=TCP].nodePort: 30000 -> <nil>",
				"replace spec.type: NodePort -> ClusterIP",
			},
			effect: EffectInPlace,
		},
		{
			name: "what a Service was given is ours by migration", reason: "it is given back",
			desired: `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: NodePort, ports: [{name: a, port: 80}]}}`,
			live: `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: NodePort, clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1],
				ipFamilies: [IPv4], ipFamilyPolicy: SingleStack, ports: [{name: a, port: 80, protocol: TCP, nodePort: 30000}]}}`,
			managed: []string{byUpdate("us", "v1", `{"f:spec": {"f:type": {}, "f:clusterIP": {}, "f:clusterIPs": {}, "f:ipFamilies": {}, "f:ipFamilyPolicy": {},
				"f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:name": {}, "f:port": {}, "f:nodePort": {}}}}}`)},
		},
		{
			name: "nobody's replicas", reason: "the count falls back to one",
			desired: `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {paused: true}}`,
			live:    `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {paused: true, replicas: 3}}`,
			managed: []string{byApply("us", "apps/v1", `{"f:spec": {"f:paused": {}, "f:replicas": {}}}`)},
			want:    []string{"replace spec.replicas: 3 -> 1"},
			effect:  EffectScale,
		},
		{
			name: "mapping of an unknown type that others own as a whole", reason: "it is replaced as a whole",
			desired: `{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {name: web}, spec: {selector: {}}}`,
			live:    `{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {name: web}, spec: {selector: {matchLabels: {a: b}}}}`,
			managed: []string{byUpdate("them", "monitoring.coreos.com/v1", `{"f:spec": {".": {}, "f:selector": {}}}`)},
			want:    []string{"replace spec.selector: map[matchLabels:map[a:b]] -> map[]"},
			effect:  EffectInPlace,
		},
		{
			name: "owner reference of an unknown type", reason: "the metadata of every object is known",
			desired: `{apiVersion: example.com/v1, kind: Thing, metadata: {name: web, ownerReferences: [{kind: A, uid: u}]}}`,
			live:    `{apiVersion: example.com/v1, kind: Thing, metadata: {name: web, ownerReferences: [{kind: B, uid: v}]}}`,
			want:    []string{"add metadata.ownerReferences[uid=u]: <nil> -> map[kind:A uid:u]"},
			effect:  EffectMetadata,
		},
		{
			name: "mapping that loses all it has", reason: "it goes, though an empty one is desired",
			desired: fmt.Sprintf(envVar, `[{name: A, valueFrom: {}}]`),
			live:    fmt.Sprintf(envVar, `[{name: A, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}]`),
			managed: []string{byApply("us", "apps/v1", `{"f:spec": {"f:replicas": {}, "f:template": {"f:spec": {"f:containers": {'k:{"name":"app"}': {".": {}, "f:name": {}, "f:env": {'k:{"name":"A"}': {".": {}, "f:name": {}, "f:valueFrom": {"f:fieldRef": {}}}}}}}}}}`)},
			want:    []string{"remove spec.template.spec.containers[name=app].env[name=A].valueFrom: map[fieldRef:map[apiVersion:v1 fieldPath:metadata.name]] -> <nil>"},
			effect:  EffectRestart,
		},
		{
			name: "mapping that holds one that loses all it has", reason: "it stays, empty",
			desired: `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {affinity: {podAffinity: {}}}}`,
			live:    `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: []}}}}`,
			managed: []string{byApply("us", "v1", `{"f:spec": {"f:affinity": {"f:podAffinity": {"f:requiredDuringSchedulingIgnoredDuringExecution": {}}}}}`)},
			want:    []string{"replace spec.affinity: map[podAffinity:map[requiredDuringSchedulingIgnoredDuringExecution:[]]] -> map[]"},
			effect:  EffectRecreate,
		},
		{
			name: "mapping that loses all it has but an empty list", reason: "it stays, since one with a list is desired",
			desired: `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {volumes: [{name: a, projected: {sources: []}}]}}`,
			live:    `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {volumes: [{name: a, projected: {defaultMode: 420}}]}}`,
			managed: []string{byApply("us", "v1", `{"f:spec": {"f:volumes": {'k:{"name":"a"}': {".": {}, "f:name": {}, "f:projected": {"f:defaultMode": {}}}}}}`)},
		},
		{
			name: "session affinity of a Service", reason: "without it, what configures it goes too",
			desired: `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: ClusterIP}}`,
			live: `{apiVersion: v1, kind: Service, metadata: {name: web},
				spec: {type: ClusterIP, sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 10800}}}}`,
			managed: []string{byApply("us", "v1", `{"f:spec": {"f:type": {}, "f:sessionAffinity": {}}}`)},
			want: []string{
				"remove spec.sessionAffinity: ClientIP -> None",
				"remove spec.sessionAffinityConfig: map[clientIP:map[timeoutSeconds:10800]] -> <nil>",
			},
			effect: EffectInPlace,
		},
		{
			name: "item of which others own a field", reason: "that does not keep it",
			desired: fmt.Sprintf(envVar, `[{name: A, value: a}]`),
			live:    fmt.Sprintf(envVar, `[{name: A, value: a}, {name: B, value: b}]`),
			managed: []string{
				byApply("us", "apps/v1", `{"f:spec": {"f:replicas": {}, "f:template": {"f:spec": {"f:containers": {'k:{"name":"app"}': {".": {}, "f:name": {}, "f:env": {'k:{"name":"A"}': {".": {}, "f:name": {}, "f:value": {}}, 'k:{"name":"B"}': {".": {}, "f:name": {}}}}}}}}}`),
				byUpdate("them", "apps/v1", `{"f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"app"}': {"f:env": {'k:{"name":"B"}': {"f:value": {}}}}}}}}}`),
			},
			want:   []string{"remove spec.template.spec.containers[name=app].env[name=B]: map[name:B value:b] -> <nil>"},
			effect: EffectRestart,
		},
		{
			name: "item that others have written twice", reason: "nothing of the two is merged",
			desired: fmt.Sprintf(envVar, `[{name: A, value: a}]`),
			live:    fmt.Sprintf(envVar, `[{name: A, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}, {name: A, value: b}]`),
			managed: []string{byUpdate("them", "apps/v1", `{"f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"app"}': {"f:env": {'k:{"name":"A"}': {}}}}}}}}`)},
			want: []string{
				"replace spec.template.spec.containers[name=app].env: [map[name:A valueFrom:map[fieldRef:map[apiVersion:v1 fieldPath:metadata.name]]] map[name:A value:b]] -> [map[name:A value:a]]",
			},
			effect: EffectRestart,
		},
		{
			name: "item without its key", reason: "it is another item, with an empty key",
			desired: fmt.Sprintf(envVar, `[{value: a}]`),
			live:    fmt.Sprintf(envVar, `[{name: A, value: a}]`),
			want:    []string{"add spec.template.spec.containers[name=app].env[name=]: <nil> -> map[value:a]"},
			effect:  EffectRestart,
		},
		{
			name: "parallelism of a Job", reason: "without it, completions are filled in, which are immutable",
			desired: `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {backoffLimit: 1}}`,
			live:    `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {backoffLimit: 1, parallelism: 1, manualSelector: false}}`,
			managed: []string{byApply("us", "batch/v1", `{"f:spec": {"f:backoffLimit": {}, "f:parallelism": {}}}`)},
			want:    []string{"add spec.completions: <nil> -> 1"},
			effect:  EffectRecreate,
		},
		{
			name: "labels of a Job", reason: "without any, it has those of its template",
			desired: `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {parallelism: 1}}`,
			live:    `{apiVersion: batch/v1, kind: Job, metadata: {name: web, labels: {a: x}}, spec: {parallelism: 1, template: {metadata: {labels: {a: b}}}}}`,
			managed: []string{byApply("us", "batch/v1", `{"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:parallelism": {}}}`)},
			want:    []string{"replace metadata.labels.a: x -> b"},
			effect:  EffectMetadata,
		},
		{
			name: "default of a Job that was ours", reason: "it comes back",
			desired: `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {parallelism: 1}}`,
			live:    `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {parallelism: 1, manualSelector: false}}`,
			managed: []string{byApply("us", "batch/v1", `{"f:spec": {"f:parallelism": {}, "f:manualSelector": {}}}`)},
		},
		{
			name: "spec of a NetworkPolicy", reason: "it is stored empty, and selects all pods",
			desired: `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}}`,
			live:    `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {}, policyTypes: [Ingress]}}`,
			managed: []string{byApply("us", "networking.k8s.io/v1", `{"f:spec": {"f:podSelector": {}, "f:policyTypes": {}}}`)},
		},
		{
			name: "empty mapping in what is empty", reason: "it is not stored",
			desired: `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {matchLabels: {}}}}`,
			live:    `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {}, policyTypes: [Ingress]}}`,
			managed: []string{byApply("us", "networking.k8s.io/v1", `{"f:spec": {"f:podSelector": {}}}`)},
		},
		{
			name: "second entry of one manager", reason: "csaupgrade makes the first one ours, and drops the other: its fields are nobody's, and stay",
			desired: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {a: a}}`,
			live:    `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {a: a, b: b, c: c}}`,
			managed: []string{
				byApply("us", "v1", `{"f:data": {"f:a": {}}}`),
				byUpdate("before-first-apply", "v1", `{"f:data": {"f:b": {}}}`), byUpdate("before-first-apply", "v1", `{"f:data": {"f:c": {}}}`),
			},
			want:   []string{"remove data.b: b -> <nil>"},
			effect: EffectInPlace,
		},
		{
			name: "template generation of a DaemonSet", reason: "the API server keeps it, whoever owns it",
			desired: `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web}, spec: {revisionHistoryLimit: 5}}`,
			live: `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web, annotations: {deprecated.daemonset.template.generation: "2"}},
				spec: {revisionHistoryLimit: 5}}`,
			managed: []string{byUpdate("us", "apps/v1", `{"f:metadata": {"f:annotations": {".": {}, "f:deprecated.daemonset.template.generation": {}}}, "f:spec": {"f:revisionHistoryLimit": {}}}`)},
		},
		{
			name: "image that cannot be read", reason: "its tag is not latest",
			desired: `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: app, image: $(A)}]}}`,
			live:    `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: app, image: $(A), imagePullPolicy: IfNotPresent}]}}`,
			managed: []string{byApply("us", "v1", `{"f:spec": {"f:containers": {'k:{"name":"app"}': {".": {}, "f:name": {}, "f:image": {}, "f:imagePullPolicy": {}}}}}`)},
		},
		{
			name: "resources of a claim", reason: "it may grow, and do nothing else",
			desired: `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web}, spec: {storageClassName: fast}}`,
			live:    `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web}, spec: {storageClassName: fast, resources: {requests: {storage: 1Gi}}}}`,
			managed: []string{byApply("us", "v1", `{"f:spec": {"f:storageClassName": {}, "f:resources": {"f:requests": {"f:storage": {}}}}}`)},
			want:    []string{"remove spec.resources: map[requests:map[storage:1Gi]] -> <nil>"},
			effect:  EffectRecreate,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			live := withEntries(t, test.live, test.managed)
			set, err := Diff([]*unstructured.Unstructured{live}, []*unstructured.Unstructured{parse(t, test.desired)}, Options{Manager: "us", Migrate: test.migrate})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range set.Objects[0].Fields {
				got = append(got, fmt.Sprintf("%s %s: %v -> %v", f.Op, f.Path, f.Before, f.After))
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, d)
			}
			if want := graver(test.effect, EffectNone); set.Objects[0].Effect != want {
				t.Errorf("%s: the effect is %q, want %q", test.reason, set.Objects[0].Effect, want)
			}
		})
	}
}

// withEntries gives a live object with entries of managedFields.
func withEntries(t *testing.T, live string, entries []string) *unstructured.Unstructured {
	t.Helper()
	object := parse(t, live)
	list := make([]any, len(entries))
	for i := range entries {
		list[i] = parse(t, entries[i]).Object
	}
	if err := unstructured.SetNestedSlice(object.Object, list, "metadata", "managedFields"); err != nil {
		t.Fatal(err)
	}
	return object
}
