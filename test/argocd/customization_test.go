package argocd_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v3/common"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	argodiff "github.com/argoproj/argo-cd/v3/util/argo/diff"
	"github.com/argoproj/argo-cd/v3/util/argo/normalizers"
	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/argoproj/argo-cd/v3/util/settings"
	"github.com/argoproj/gitops-engine/pkg/health"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/yaml"
)

// overrides are the customisations of argocd-cm.yaml, read by Argo CD.
func overrides(t *testing.T) map[string]v1alpha1.ResourceOverride {
	t.Helper()
	var cm corev1.ConfigMap
	if err := yaml.UnmarshalStrict([]byte(readFile(t, filepath.Join(repository, "config/argocd/argocd-cm.yaml"))), &cm); err != nil {
		t.Fatal(err)
	}
	cm.Namespace = "argocd"
	part := map[string]string{"app.kubernetes.io/part-of": "argocd"}
	cm.Labels = part
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: common.ArgoCDSecretName, Namespace: "argocd", Labels: part}}
	found, err := settings.NewSettingsManager(t.Context(), fake.NewClientset(&cm, secret), "argocd").GetResourceOverrides()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestHealth: the script is run by Argo CD, with the libraries that it allows.
func TestHealth(t *testing.T) {
	t.Parallel()
	checks := lua.ResourceHealthOverrides(overrides(t))
	const ready = "{type: Ready, status: 'True', reason: Available, message: 2 of 2 replicas}"
	notReady := func(reason string) string {
		return fmt.Sprintf("{type: Ready, status: 'False', reason: %s, message: why}", reason)
	}
	tests := []struct {
		name, reason string
		spec         string
		status       string
		want         health.HealthStatusCode
		message      string
	}{
		{"new", "nobody has seen it", "{}", "null", health.HealthStatusProgressing, "no controller has seen it yet"},
		{"new, with the default of the CRD", "the API server writes -1", "{}", "{observedGeneration: -1}", health.HealthStatusProgressing, "no controller has seen it yet"},
		{"an empty status", "the same", "{}", "{}", health.HealthStatusProgressing, "no controller has seen it yet"},
		{"changed", "the conditions are about what it was before", "{}", "{observedGeneration: 2, conditions: [" + ready + "]}", health.HealthStatusProgressing, "its latest change has not been handled yet"},
		{"changed while stalled", "the change may be the cure", "{}", "{observedGeneration: 2, conditions: [" + notReady("InvalidSpec") + ", {type: Stalled, status: 'True', reason: InvalidSpec}]}", health.HealthStatusProgressing, "its latest change has not been handled yet"},
		{"no condition", "the controller has begun", "{}", "{observedGeneration: 3}", health.HealthStatusProgressing, "it has no condition Ready yet"},
		{"ready", "all replicas are there", "{}", "{observedGeneration: 3, conditions: [" + ready + "]}", health.HealthStatusHealthy, "Available: 2 of 2 replicas"},
		{"ScaledToZero", "as wanted", "{replicas: 0}", "{observedGeneration: 3, conditions: [{type: Ready, status: 'True', reason: ScaledToZero, message: ''}]}", health.HealthStatusHealthy, "ScaledToZero"},
		{"without a reason", "an older controller, or another", "{}", "{observedGeneration: 3, conditions: [{type: Ready, status: 'True'}]}", health.HealthStatusHealthy, "Ready"},
		{"unknown", "it may be ready", "{}", "{observedGeneration: 3, conditions: [{type: Ready, status: Unknown, reason: Progressing, message: why}]}", health.HealthStatusProgressing, "Progressing: why"},
		{"Progressing", "a rollout is under way", "{}", "{observedGeneration: 3, conditions: [" + notReady("Progressing") + ", {type: Reconciling, status: 'True', reason: Progressing}]}", health.HealthStatusProgressing, "Progressing: why"},
		{"ready and reconciling", "there is more to come", "{}", "{observedGeneration: 3, conditions: [" + ready + ", {type: Reconciling, status: 'True', reason: Progressing, message: more}]}", health.HealthStatusProgressing, "Progressing: more"},
		{"not reconciling", "a condition that is False says nothing", "{}", "{observedGeneration: 3, conditions: [" + ready + ", {type: Reconciling, status: 'False', reason: Progressing}, {type: Stalled, status: 'False'}]}", health.HealthStatusHealthy, "Available: 2 of 2 replicas"},
		{"stalled", "a person has to act", "{}", "{observedGeneration: 3, conditions: [" + notReady("ForeignOwner") + ", {type: Stalled, status: 'True', reason: ForeignOwner, message: Service shop/web is somebody else's}]}", health.HealthStatusDegraded, "ForeignOwner: Service shop/web is somebody else's"},
		{"stalled, and ready still", "what runs is what was there before", "{}", "{observedGeneration: 3, conditions: [" + ready + ", {type: Stalled, status: 'True', reason: InvalidSpec, message: why}]}", health.HealthStatusDegraded, "InvalidSpec: why"},
		{"ProgressDeadlineExceeded", "the rollout is stuck", "{}", "{observedGeneration: 3, conditions: [" + notReady("ProgressDeadlineExceeded") + "]}", health.HealthStatusDegraded, "ProgressDeadlineExceeded: why"},
		{"InvalidSpec", "it cannot be rendered", "{}", "{observedGeneration: 3, conditions: [" + notReady("InvalidSpec") + "]}", health.HealthStatusDegraded, "InvalidSpec: why"},
		{"ForeignOwner", "an object is somebody else's", "{}", "{observedGeneration: 3, conditions: [" + notReady("ForeignOwner") + "]}", health.HealthStatusDegraded, "ForeignOwner: why"},
		{"ApplyFailed", "also while it is tried again", "{}", "{observedGeneration: 3, conditions: [" + notReady("ApplyFailed") + ", {type: Reconciling, status: 'True', reason: ApplyFailed}]}", health.HealthStatusDegraded, "ApplyFailed: why"},
		{"ImmutableField", "something has to be made anew", "{}", "{observedGeneration: 3, conditions: [" + notReady("ImmutableField") + "]}", health.HealthStatusDegraded, "ImmutableField: why"},
		{"KindNotServed", "a CRD is missing", "{}", "{observedGeneration: 3, conditions: [" + notReady("KindNotServed") + "]}", health.HealthStatusDegraded, "KindNotServed: why"},
		{"a reason that is new", "what is not known to be harmless shows", "{}", "{observedGeneration: 3, conditions: [" + notReady("SomethingElse") + "]}", health.HealthStatusDegraded, "SomethingElse: why"},
		{"suspended", "nothing else matters then", "{suspend: true}", "{observedGeneration: 2, conditions: [" + notReady("InvalidSpec") + "]}", health.HealthStatusSuspended, "spec.suspend is set"},
		{"new and suspended", "the same", "{suspend: true}", "{observedGeneration: -1}", health.HealthStatusSuspended, "spec.suspend is set"},
		{"Suspended", "as the controller says, which does not look then", "{}", "{observedGeneration: 3, conditions: [{type: Ready, status: Unknown, reason: Suspended, message: why}]}", health.HealthStatusSuspended, "Suspended: why"},
		{"not suspended", "as if it were not there", "{suspend: false}", "{observedGeneration: 3, conditions: [" + ready + "]}", health.HealthStatusHealthy, "Available: 2 of 2 replicas"},
		{"DriftDetected", "it runs; with driftPolicy Warn that is all", "{}", "{observedGeneration: 3, conditions: [" + ready + ", {type: Drifted, status: 'True', reason: DriftDetected, message: Service shop/web}]}", health.HealthStatusHealthy, "Available: 2 of 2 replicas; Drifted: DriftDetected: Service shop/web"},
		{"FieldContested", "it runs, and two want a field", "{}", "{observedGeneration: 3, conditions: [{type: Contested, status: 'True', reason: FieldContested, message: spec.replicas}, " + ready + "]}", health.HealthStatusHealthy, "Available: 2 of 2 replicas; Contested: FieldContested: spec.replicas"},
	}
	var covered strings.Builder
	for _, tt := range tests {
		covered.WriteString(tt.status)
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			object := parse(t, fmt.Sprintf("apiVersion: apps.kudevops.io/v1alpha1\nkind: AppService\nmetadata: {name: web, generation: 3}\nspec: %s\nstatus: %s\n", tt.spec, tt.status))
			got, err := checks.GetResourceHealth(object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&health.HealthStatus{Status: tt.want, Message: tt.message}, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tt.reason, diff)
			}
		})
	}
	for name, value := range constants(t, "Condition", "Reason") {
		if !strings.Contains(covered.String(), value) {
			t.Errorf("no row has %s (%s)", name, value)
		}
	}
}

// constants are the string constants of the API whose names begin in one of these
// ways.
func constants(t *testing.T, prefixes ...string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(repository, "api/v1alpha1/names.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		value, ok := spec.Values[0].(*ast.BasicLit)
		for _, p := range prefixes {
			if ok && strings.HasPrefix(spec.Names[0].Name, p) {
				text, err := strconv.Unquote(value.Value)
				if err != nil {
					t.Fatal(err)
				}
				found[spec.Names[0].Name] = text
			}
		}
		return true
	})
	if len(found) == 0 {
		t.Fatal("names.go has no constants")
	}
	return found
}

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	json, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var object unstructured.Unstructured
	if err := object.UnmarshalJSON(json); err != nil {
		t.Fatal(err)
	}
	return &object
}

// TestIgnoreDifferences: what the server writes and what autoscalers own is no
// difference; what a person changes is. Argo CD itself judges.
func TestIgnoreDifferences(t *testing.T) {
	t.Parallel()
	with := overrides(t)
	// Argo CD's own default is left, for the other half of the proof.
	without := map[string]v1alpha1.ResourceOverride{"*/*": with["*/*"]}

	const (
		app = `apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata: {name: web, namespace: shop}
spec:
  image: nginx
  replicas: 2
  ports: [{name: http, port: 80}, {name: dns, port: 53, protocol: UDP}]
  containerPorts: [{name: admin, containerPort: 8081}]
  initContainers: [{name: init, image: busybox, ports: [{containerPort: 1}]}]
  sidecars: [{name: proxy, image: envoy, ports: [{containerPort: 2}]}]
`
		defaulted = `apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata: {name: web, namespace: shop}
spec:
  image: nginx
  replicas: 2
  ports: [{name: http, port: 80, protocol: TCP}, {name: dns, port: 53, protocol: UDP}]
  containerPorts: [{name: admin, containerPort: 8081, protocol: TCP}]
  initContainers: [{name: init, image: busybox, ports: [{containerPort: 1, protocol: TCP}]}]
  sidecars: [{name: proxy, image: envoy, ports: [{containerPort: 2, protocol: TCP}]}]
status: {observedGeneration: -1}
`
	)
	deployment := func(replicas int) string {
		return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: %d
  selector: {matchLabels: {apps.kudevops.io/appservice: web}}
  template:
    metadata: {labels: {apps.kudevops.io/appservice: web}}
    spec: {containers: [{name: app, image: nginx}]}
`, replicas)
	}
	tests := []struct {
		name, reason  string
		desired, live string
		// manager owns spec.replicas of the live object.
		manager       string
		with, without bool // are they different
	}{
		{"nothing", "the same twice", app, app, "", false, false},
		{"defaults of the CRD", "the server writes the protocol; Argo CD leaves out what only the cluster has, in lists too", app, defaulted, "", false, false},
		{"another protocol", "that is a change", strings.Replace(app, "UDP", "SCTP", 1), defaulted, "", true, true},
		{"a port more", "that is a change", app, strings.Replace(defaulted, "ports: [{", "ports: [{name: more, port: 1, protocol: TCP}, {", 1), "", true, true},
		{"an autoscaler for the AppService", "it scales through kube-controller-manager", app, strings.Replace(app, "replicas: 2", "replicas: 7", 1), "kube-controller-manager", false, true},
		{"kubectl scale on the AppService", "that is drift", app, strings.Replace(app, "replicas: 2", "replicas: 7", 1), "kubectl", true, true},
		{"an autoscaler for the Deployment", "it scales through kube-controller-manager", deployment(2), deployment(7), "kube-controller-manager", false, true},
		{"kubectl scale on the Deployment", "that is drift", deployment(2), deployment(7), "kubectl", true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			desired, live := parse(t, tt.desired), parse(t, tt.live)
			// The desired state is the one that was applied.
			applied, err := desired.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			live.SetAnnotations(map[string]string{corev1.LastAppliedConfigAnnotation: string(applied)})
			if tt.manager != "" {
				live.SetManagedFields([]metav1.ManagedFieldsEntry{{
					Manager: tt.manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "scale",
					APIVersion: live.GetAPIVersion(), FieldsType: "FieldsV1",
					FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{"f:replicas":{}}}`)},
				}})
			}
			for _, c := range []struct {
				overrides map[string]v1alpha1.ResourceOverride
				which     string
				want      bool
			}{{with, "with argocd-cm.yaml", tt.with}, {without, "without it", tt.without}} {
				config, err := argodiff.NewDiffConfigBuilder().
					WithDiffSettings(nil, c.overrides, false, normalizers.IgnoreNormalizerOpts{}).
					WithTracking("", string(v1alpha1.TrackingMethodAnnotation)).
					WithNoCache().
					Build()
				if err != nil {
					t.Fatal(err)
				}
				got, err := argodiff.StateDiff(live, desired, config)
				if err != nil {
					t.Fatal(err)
				}
				if got.Modified != c.want {
					t.Errorf("%s: different %t, want %t: %s\nlive %s\npredicted %s", c.which, got.Modified, c.want, tt.reason, got.NormalizedLive, got.PredictedLive)
				}
			}
		})
	}
}
