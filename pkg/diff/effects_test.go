package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEffects: what a change does, and how that is said. That the API server refuses what
// is said to need another object is tested in test/controlplane.
func TestEffects(t *testing.T) {
	t.Parallel()
	const (
		template   = `template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: "app:IMAGE"}]}}`
		selector   = `selector: {matchLabels: {app: web}}`
		deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {SPEC, ` + selector + `, ` + template + `}}`
		set        = `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {SPEC, ` + selector + `, ` + template + `}}`
		daemons    = `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web}, spec: {SPEC, ` + selector + `, ` + template + `}}`
		job        = `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {SPEC, ` + template + `}}`
		cronJob    = `{apiVersion: batch/v1, kind: CronJob, metadata: {name: web}, spec: {schedule: "SPEC", jobTemplate: {spec: {` + template + `}}}}`
		service    = `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {SPEC, ports: [{port: 80}]}}`
		ingress    = `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {SPEC}}`
		autoscaler = `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {SPEC}}`
		budget     = `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {SPEC}}`
		configMap  = `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, SPEC}`
		secret     = `{apiVersion: v1, kind: Secret, metadata: {name: web}, SPEC}`
		policy     = `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {}, SPEC}}`
		route      = `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: web}, spec: {SPEC}}`
		pod        = `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {SPEC, containers: [{name: app, image: "app:IMAGE"}]}}`
		claim      = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web}, spec: {SPEC}}`
		unknown    = `{apiVersion: example.com/v1, kind: Deployment, metadata: {name: web}, spec: {SPEC}}`
	)
	for _, test := range []struct {
		name, object string
		from, to     string // instead of SPEC
		image        string // the tag of the new image; the old one is 1
		want         Effect
		notes        []string
	}{
		{name: "nothing", object: deployment, from: "replicas: 3", to: "replicas: 3", want: EffectNone},
		{name: "image", object: deployment, from: "replicas: 3", to: "replicas: 3", image: "2", want: EffectRestart, notes: []string{"rolls 3 pods"}},
		{name: "image, one pod", object: deployment, from: "replicas: 1", to: "replicas: 1", image: "2", want: EffectRestart, notes: []string{"rolls 1 pod"}},
		{name: "image, no pods", object: deployment, from: "replicas: 0", to: "replicas: 0", image: "2", want: EffectRestart, notes: []string{"has no pods to roll"}},
		{name: "image, another's count", object: deployment, from: "minReadySeconds: 1", to: "minReadySeconds: 1", image: "2", want: EffectRestart, notes: []string{"rolls the pods"}},
		{name: "image, Recreate", object: deployment, from: "replicas: 2, strategy: {type: Recreate}", to: "replicas: 2, strategy: {type: Recreate}", image: "2", want: EffectRestart, notes: []string{"stops and starts 2 pods"}},
		{name: "image, paused", object: deployment, from: "paused: true", to: "paused: true", image: "2", want: EffectRestart, notes: []string{"replaces no pod until it is resumed (spec.paused)"}},
		{name: "scale", object: deployment, from: "replicas: 3", to: "replicas: 5", want: EffectScale, notes: []string{"scales from 3 to 5 pods"}},
		{name: "scale to zero", object: deployment, from: "replicas: 3", to: "replicas: 0", want: EffectScale, notes: []string{"scales to zero"}},
		{name: "count that is set", object: deployment, from: "paused: false", to: "replicas: 2", want: EffectScale, notes: []string{"scales to 2 pods"}},
		{name: "count that is left", object: deployment, from: "replicas: 2", to: "paused: false", want: EffectScale, notes: []string{"leaves the number of pods to others"}},
		{name: "scale and image", object: deployment, from: "replicas: 3", to: "replicas: 5", image: "2", want: EffectRestart, notes: []string{"rolls 5 pods", "scales from 3 to 5 pods"}},
		{name: "strategy", object: deployment, from: "strategy: {type: RollingUpdate}", to: "strategy: {type: Recreate}", want: EffectInPlace},
		{name: "another group's Deployment", object: unknown, from: "template: {a: b}", to: "template: {a: c}", want: EffectInPlace},

		{name: "set, image", object: set, from: "replicas: 3", to: "replicas: 3", image: "2", want: EffectRestart, notes: []string{"rolls 3 pods"}},
		{name: "set, on delete", object: set, from: "updateStrategy: {type: OnDelete}", to: "updateStrategy: {type: OnDelete}", image: "2", want: EffectRestart, notes: []string{"replaces each pod when it is deleted (updateStrategy OnDelete)"}},
		{name: "set, service", object: set, from: "serviceName: a", to: "serviceName: b", want: EffectRecreate, notes: []string{"must be recreated: spec.serviceName is immutable"}},
		{name: "set, image and service", object: set, from: "serviceName: a, replicas: 1", to: "serviceName: b, replicas: 1", image: "2", want: EffectRecreate, notes: []string{"must be recreated: spec.serviceName is immutable", "rolls 1 pod"}},
		{
			name: "set, claims", object: set,
			from: "volumeClaimTemplates: [{metadata: {name: a}, spec: {resources: {requests: {storage: 1Gi}}}}]",
			to:   "volumeClaimTemplates: [{metadata: {name: a}, spec: {resources: {requests: {storage: 2Gi}}}}]",
			want: EffectRecreate, notes: []string{"must be recreated: spec.volumeClaimTemplates is immutable"},
		},
		{name: "daemons, image", object: daemons, from: "minReadySeconds: 1", to: "minReadySeconds: 1", image: "2", want: EffectRestart, notes: []string{"rolls a pod on each node"}},

		{name: "job, template", object: job, from: "backoffLimit: 1", to: "backoffLimit: 1", image: "2", want: EffectRecreate, notes: []string{"must be recreated: spec.template is immutable"}},
		{name: "job, parallelism", object: job, from: "parallelism: 1", to: "parallelism: 2", want: EffectScale, notes: []string{"scales from 1 to 2 pods"}},
		{name: "job, limit", object: job, from: "backoffLimit: 1", to: "backoffLimit: 2", want: EffectInPlace},
		{name: "cron job, template", object: cronJob, from: "0 * * * *", to: "0 * * * *", image: "2", want: EffectInPlace},
		{name: "cron job, schedule", object: cronJob, from: "0 * * * *", to: "1 * * * *", want: EffectInPlace},
		{name: "pod, image", object: pod, from: "hostname: a", to: "hostname: a", image: "2", want: EffectRestart, notes: []string{"restarts its containers"}},
		{name: "pod, spec", object: pod, from: "hostname: a", to: "hostname: b", want: EffectRecreate, notes: []string{"must be recreated: spec.hostname is immutable"}},

		{name: "service, selector", object: service, from: "selector: {a: b}", to: "selector: {a: c}", want: EffectInPlace},
		{name: "service, headless", object: service, from: "clusterIP: 10.0.0.1", to: "clusterIP: None", want: EffectRecreate, notes: []string{"must be recreated: spec.clusterIP is immutable"}},
		{name: "service, type", object: service, from: "type: ClusterIP", to: "type: LoadBalancer", want: EffectInPlace},
		{name: "ingress", object: ingress, from: "ingressClassName: a", to: "ingressClassName: b", want: EffectInPlace},
		{name: "autoscaler", object: autoscaler, from: "maxReplicas: 3", to: "maxReplicas: 5", want: EffectInPlace},
		{name: "budget", object: budget, from: "minAvailable: 1", to: "minAvailable: 50%", want: EffectInPlace},
		{name: "policy", object: policy, from: "policyTypes: [Ingress]", to: "policyTypes: [Egress]", want: EffectInPlace},
		{name: "policy, order", object: policy, from: "policyTypes: [Ingress, Egress]", to: "policyTypes: [Egress, Ingress]", want: EffectOrder},
		{name: "route", object: route, from: "hostnames: [a.example]", to: "hostnames: [b.example]", want: EffectInPlace},
		{name: "configuration", object: configMap, from: "data: {a: b}", to: "data: {a: c}", want: EffectInPlace},
		{name: "configuration, immutable", object: configMap, from: "immutable: true, data: {a: b}", to: "immutable: true, data: {a: c}", want: EffectRecreate, notes: []string{"must be recreated: data.a is immutable"}},
		{name: "configuration, becoming immutable", object: configMap, from: "data: {a: b}", to: "immutable: true, data: {a: c}", want: EffectInPlace},
		{name: "secret", object: secret, from: "data: {a: YQ==}", to: "data: {a: Yg==}", want: EffectInPlace},
		{name: "secret, type", object: secret, from: "type: a.example/a", to: "type: a.example/b", want: EffectRecreate, notes: []string{"must be recreated: type is immutable"}},
		{name: "secret, immutable", object: secret, from: "immutable: true, data: {a: YQ==}", to: "immutable: true, stringData: {a: b}", want: EffectRecreate, notes: []string{"must be recreated: data.a is immutable"}},
		{name: "claim, growth", object: claim, from: "resources: {requests: {storage: 1Gi}}", to: "resources: {requests: {storage: 2Gi}}", want: EffectInPlace},
		{name: "claim, shrinking", object: claim, from: "resources: {requests: {storage: 2Gi}}", to: "resources: {requests: {storage: 1Gi}}", want: EffectRecreate, notes: []string{"must be recreated: spec.resources is immutable"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			image := test.image
			if image == "" {
				image = "1"
			}
			from := strings.NewReplacer("SPEC", test.from, "IMAGE", "1").Replace(test.object)
			to := strings.NewReplacer("SPEC", test.to, "IMAGE", image).Replace(test.object)
			set, err := Diff(objects(t, from), objects(t, to), Options{})
			if err != nil {
				t.Fatal(err)
			}
			c := set.Objects[0]
			if c.Effect != test.want {
				t.Errorf("the effect is %s, want %s: %q", c.Effect, test.want, written(set))
			}
			if d := cmp.Diff(test.notes, c.Notes); d != "" {
				t.Errorf("notes (-want +got):\n%s", d)
			}
		})
	}
}

// TestEffectOfMetadata: what is said about an object restarts nothing, and another
// version of its API changes nothing.
func TestEffectOfMetadata(t *testing.T) {
	t.Parallel()
	from := strings.Replace(typicalDeployment, "team: shop", "team: other", 1)
	for _, test := range []struct {
		name, from, to string
		want           Effect
	}{
		{"labels", from, typicalDeployment, EffectMetadata},
		{"version", strings.Replace(typicalDeployment, "apps/v1", "apps/v1beta2", 1), typicalDeployment, EffectNone},
		{"order in the template", typicalDeployment, strings.Replace(typicalDeployment, `
        - {name: LOG_LEVEL, value: info}
        - {name: DATABASE_HOST, value: db.shop.svc}`, `
        - {name: DATABASE_HOST, value: db.shop.svc}
        - {name: LOG_LEVEL, value: info}`, 1), EffectRestart},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			set, err := Diff(objects(t, test.from), objects(t, test.to), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if c := set.Objects[0]; c.Action != Update || c.Effect != test.want {
				t.Errorf("%s with effect %s, want %s: %q", c.Action, c.Effect, test.want, written(set))
			}
		})
	}
}
