package controlplane_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/diffcases"
	"kudevops.io/appsvc/pkg/diff"
	"kudevops.io/appsvc/test/controlplane"
)

// diffCase is a live object with a history, and what we would apply over it.
type diffCase struct {
	id, name, reason string
	// live makes the object.
	live func(*scene)
	// in and desired are as in diffcases.Case.
	in, desired string
	// edit, if given, changes what is desired in a way that YAML cannot say.
	edit    func(map[string]any)
	migrate []string
	// want are the changes of the content; adopted, kept and foreign are paths with the
	// owners.
	want, adopted, kept, foreign []string
	// changed is what the Checker says.
	changed bool
	// refused is part of the server's message where it refuses the apply.
	refused string
	// unlike says why the server's verdict is not the Checker's.
	unlike string
	note   string
	also   func(*testing.T, diff.ObjectChange)
}

// scene is where a case plays.
type scene struct {
	t         *testing.T
	server    *diffServer
	namespace string
	object    *unstructured.Unstructured
}

// us is the field manager whose applies are foretold.
const us = v1alpha1.FieldManager

// plain reads plain JSON values from YAML.
func plain(t *testing.T, text string) map[string]any {
	t.Helper()
	written, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := kjson.Unmarshal(written, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// read reads an object, or a part of one, from YAML.
func (s *scene) read(in, text string) *unstructured.Unstructured {
	s.t.Helper()
	part := plain(s.t, text)
	c := diffcases.Case{In: in, From: part, To: part}
	object, _, err := c.Objects(s.namespace)
	if err != nil {
		s.t.Fatal(err)
	}
	if !s.server.namespaced(s.t, object) {
		object.SetNamespace("")
	}
	return object
}

// apply applies an object as a field manager.
func (s *scene) apply(manager, in, text string) {
	s.t.Helper()
	s.object = s.read(in, text)
	s.server.apply(s.t, manager, s.object)
}

// kubectlApply applies an object on the client's side, by the real kubectl.
func (s *scene) kubectlApply(in, text string) {
	s.t.Helper()
	s.object = s.read(in, text)
	written, err := s.object.MarshalJSON()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := s.server.cluster.Kubectl(s.t.Context(), "apply", "--filename=-")
	cmd.Stdin = bytes.NewReader(written)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("kubectl apply: %v: %s", err, out)
	}
}

// kubectl runs the real kubectl in the namespace.
func (s *scene) kubectl(args ...string) {
	s.t.Helper()
	cmd := s.server.cluster.Kubectl(s.t.Context(), append(args, "--namespace="+s.namespace)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// patch changes what is there as a field manager that does not apply: by a strategic
// merge patch.
func (s *scene) patch(manager, text string, subresources ...string) {
	s.t.Helper()
	s.patchAs(manager, types.StrategicMergePatchType, text, subresources...)
}

func (s *scene) patchAs(manager string, kind types.PatchType, text string, subresources ...string) {
	s.t.Helper()
	written, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		s.t.Fatal(err)
	}
	s.server.patch(s.t, manager, kind, s.object, string(written), subresources...)
}

// mutate has a webhook change each Deployment of the namespace by a JSON patch.
func (s *scene) mutate(answer func(*unstructured.Unstructured) string) {
	s.t.Helper()
	stop, err := s.server.cluster.ServeWebhook(s.t.Context(), controlplane.Webhook{
		Name: "mutates." + s.namespace, Namespace: s.namespace, Mutating: true,
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
		}},
		Handle: func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
			var object unstructured.Unstructured
			if err := object.UnmarshalJSON(r.Object.Raw); err != nil {
				return controlplane.Deny(err.Error())
			}
			if patch := answer(&object); patch != "" {
				return controlplane.Patch(patch)
			}
			return controlplane.Allow()
		},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := stop(); err != nil {
			s.t.Error(err)
		}
	})
}

// appContainer is the path of the container of a Deployment.
const appContainer = "spec.template.spec.containers[name=app]"

func diffCases() []diffCase {
	return []diffCase{
		// What the server fills in and allocates.
		{
			id: "F3", name: "allocated", reason: "what a Service was given is not ours",
			live:    func(s *scene) { s.apply(us, "", service(`ports: [{port: 80}]`)) },
			desired: service(`ports: [{port: 80}]`),
		},
		{
			id: "F4", name: "allocated", reason: "nor is a node port",
			live:    func(s *scene) { s.apply(us, "", service(`type: LoadBalancer, ports: [{port: 80}]`)) },
			desired: service(`type: LoadBalancer, ports: [{port: 80}]`),
		},
		{
			id: "F6", reason: "the health check's port is allocated, and never sent",
			live: func(s *scene) {
				s.apply(us, "", service(`type: LoadBalancer, externalTrafficPolicy: Local, ports: [{port: 80}]`))
			},
			desired: service(`type: LoadBalancer, externalTrafficPolicy: Local, ports: [{port: 80}]`),
		},
		{
			id: "F10", name: "policy", reason: "the policy that the first image got by default stays: nobody owns it",
			live:    func(s *scene) { s.apply(us, "container", `image: registry.example/app:1.2`) },
			in:      "container",
			desired: `image: registry.example/app:latest`,
			changed: true,
			want:    []string{"replace " + appContainer + ".image"},
			also: func(t *testing.T, c diff.ObjectChange) {
				t.Helper()
				containers, _, _ := unstructured.NestedSlice(c.After, "spec", "template", "spec", "containers")
				if got := containers[0].(map[string]any)["imagePullPolicy"]; got != "IfNotPresent" {
					t.Errorf("imagePullPolicy is %v afterwards, want what it was", got)
				}
			},
		},
		{
			id: "F14", reason: "replicas that nobody writes are 1, and not ours",
			live:    func(s *scene) { s.apply(us, "container", `{}`) },
			in:      "container",
			desired: `{}`,
		},
		{
			id: "F27", reason: "each namespace has its name for a label",
			live: func(s *scene) {
				s.apply(us, "", `{apiVersion: v1, kind: Namespace, metadata: {name: `+s.namespace+`-x, labels: {a: b}}}`)
			},
			desired: `{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE-x, labels: {a: b}}}`,
		},
		{
			id: "F28", reason: "old clusters add a token to an account's secrets, which are keyed",
			live: func(s *scene) {
				s.apply(us, "", `{apiVersion: v1, kind: ServiceAccount, metadata: {name: web}, secrets: [{name: ours}]}`)
				s.patch("kube-controller-manager", `{secrets: [{name: web-token}]}`)
			},
			desired: `{apiVersion: v1, kind: ServiceAccount, metadata: {name: web}, secrets: [{name: ours}]}`,
			foreign: []string{"secrets[name=web-token] kube-controller-manager"},
		},
		{
			id: "F28", name: "pull secrets", reason: "imagePullSecrets of an account are replaced as a whole: who sends them fights OpenShift",
			live: func(s *scene) {
				s.apply(us, "", `{apiVersion: v1, kind: ServiceAccount, metadata: {name: web}, imagePullSecrets: [{name: ours}]}`)
				s.patch("openshift", `{imagePullSecrets: [{name: theirs}]}`)
			},
			desired: `{apiVersion: v1, kind: ServiceAccount, metadata: {name: web}, imagePullSecrets: [{name: ours}]}`,
			changed: true,
			want:    []string{"replace imagePullSecrets[0].name owned by openshift"},
		},
		{
			id: "F31b", reason: "the alias, which nobody owns, fills the name in again (kubernetes/kubernetes#108208)",
			live:    func(s *scene) { s.apply(us, "pod", `serviceAccountName: x`) },
			in:      "pod",
			desired: `{}`,
			changed: true,
			kept:    []string{"spec.template.spec.serviceAccountName"},
		},
		{
			id: "F33", reason: "what a CRD's schema fills in is nobody's",
			live:    func(s *scene) { s.apply(us, "", gadget(`name: a`)) },
			desired: gadget(`name: a`),
		},
		{
			id: "Q11", name: "live", reason: "the server has rounded it up",
			live:    func(s *scene) { s.apply(us, "container", `resources: {limits: {cpu: 100u}}`) },
			in:      "container",
			desired: `resources: {limits: {cpu: 100u}}`,
		},

		{
			id: "N5", reason: "a count that an encoder wrote as a float",
			live:    func(s *scene) { s.apply(us, "deployment", `replicas: 2`) },
			in:      "deployment",
			desired: `replicas: 2`,
			edit:    func(o map[string]any) { o["spec"].(map[string]any)["replicas"] = float64(2) },
		},
		{
			id: "N19", reason: "a number of an unknown type that an encoder wrote as a float",
			live:    func(s *scene) { s.apply(us, "", gadget(`free: {a: 1}`)) },
			desired: gadget(`free: {a: 1}`),
			edit: func(o map[string]any) {
				o["spec"].(map[string]any)["free"].(map[string]any)["a"] = float64(1)
			},
		},

		// Empty values.
		{
			id: "E1", name: "live", reason: "an empty value that is ours is not written anew each time (kubernetes/kubernetes#128924)",
			live:    func(s *scene) { s.apply(us, "container", `env: [{name: A, value: ""}]`) },
			in:      "container",
			desired: `env: [{name: A, value: ""}]`,
		},
		{
			id: "E14", name: "owned", reason: "null takes away a scalar that is ours",
			live:    func(s *scene) { s.apply(us, "container", `workingDir: /a`) },
			in:      "container",
			desired: `workingDir: null`,
			changed: true,
			want:    []string{"remove " + appContainer + ".workingDir"},
		},
		{
			id: "E14", name: "scalar of another", reason: "null takes away a scalar of others, too",
			live: func(s *scene) {
				s.apply(us, "container", `{}`)
				s.patch("other", `{spec: {template: {spec: {containers: [{name: app, workingDir: /a}]}}}}`)
			},
			in:      "container",
			desired: `workingDir: null`,
			changed: true,
			want:    []string{"remove " + appContainer + ".workingDir owned by other"},
		},
		{
			id: "E14", name: "default", reason: "and resets one that was filled in",
			live:    func(s *scene) { s.apply(us, "container", `{}`) },
			in:      "container",
			desired: `terminationMessagePath: null`,
			changed: true,
		},
		{
			id: "E14", name: "structure", reason: "of a structure it takes away what is ours",
			live: func(s *scene) {
				s.apply(us, "container", `securityContext: {runAsUser: 1}`)
				s.patch("other", `{spec: {template: {spec: {containers: [{name: app, securityContext: {runAsGroup: 2}}]}}}}`)
			},
			in:      "container",
			desired: `securityContext: null`,
			changed: true,
			want:    []string{"remove " + appContainer + ".securityContext.runAsUser"},
			foreign: []string{appContainer + ".securityContext.runAsGroup other"},
		},
		{
			id: "E14", name: "structure of another", reason: "and leaves what is not",
			live: func(s *scene) {
				s.apply(us, "container", `{}`)
				s.patch("other", `{spec: {template: {spec: {containers: [{name: app, securityContext: {runAsGroup: 2}}]}}}}`)
			},
			in:      "container",
			desired: `securityContext: null`,
			changed: true,
			foreign: []string{appContainer + ".securityContext.runAsGroup other"},
		},
		{
			id: "E14", name: "list", reason: "so it is with a list that has keys",
			live: func(s *scene) {
				s.apply(us, "container", `env: [{name: A, value: a}]`)
				s.patch("other", `{spec: {template: {spec: {containers: [{name: app, env: [{name: B, value: b}]}]}}}}`)
			},
			in:      "container",
			desired: `env: null`,
			changed: true,
			want:    []string{"remove " + appContainer + ".env[name=A]"},
			foreign: []string{appContainer + ".env[name=B] other"},
		},
		{
			id: "E14", name: "list of another", reason: "so it is with a list that has keys",
			live: func(s *scene) {
				s.apply(us, "container", `{}`)
				s.patch("other", `{spec: {template: {spec: {containers: [{name: app, env: [{name: B, value: b}]}]}}}}`)
			},
			in:      "container",
			desired: `env: null`,
			changed: true,
			foreign: []string{appContainer + ".env[name=B] other"},
		},
		{
			id: "E14", name: "atomic list", reason: "a list that is replaced as a whole is replaced by none",
			live:    func(s *scene) { s.apply(us, "container", `command: [a]`) },
			in:      "container",
			desired: `command: null`,
			changed: true,
			want:    []string{"remove " + appContainer + ".command"},
		},
		{
			id: "E14", name: "atomic list of another", reason: "a list that is replaced as a whole is replaced by none",
			live: func(s *scene) {
				s.apply(us, "container", `{}`)
				s.patch("other", `{spec: {template: {spec: {containers: [{name: app, command: [a]}]}}}}`)
			},
			in:      "container",
			desired: `command: null`,
			changed: true,
			want:    []string{"remove " + appContainer + ".command owned by other"},
		},
		{
			id: "E14", name: "atomic mapping of another", reason: "and so is such a mapping",
			live: func(s *scene) {
				s.apply(us, "container", `{}`)
				s.patch("other", `{spec: {template: {spec: {nodeSelector: {a: b}}}}}`)
			},
			in:      "pod",
			desired: `nodeSelector: null`,
			changed: true,
			want:    []string{"remove spec.template.spec.nodeSelector owned by other"},
		},
		{
			id: "E14", name: "empty text of another", reason: "empty text is a value, which the server does not store",
			live: func(s *scene) {
				s.apply(us, "container", `{}`)
				s.patch("other", `{spec: {template: {spec: {containers: [{name: app, workingDir: /a}]}}}}`)
			},
			in:      "container",
			desired: `workingDir: ""`,
			changed: true,
			want:    []string{"remove " + appContainer + ".workingDir owned by other"},
		},
		{
			id: "E14", name: "empty structure of another", reason: "an empty structure leaves what is in it",
			live: func(s *scene) {
				s.apply(us, "container", `{}`)
				s.patch("other", `{spec: {template: {spec: {containers: [{name: app, resources: {limits: {cpu: 1}}}]}}}}`)
			},
			in:      "container",
			desired: `resources: {}`,
			changed: true,
			foreign: []string{appContainer + ".resources.limits.cpu other"},
		},

		// Lists.
		{
			id: "L10", reason: "another's port stays, and is not ours (kubectl#906)",
			live: func(s *scene) {
				s.apply(us, "container", `ports: [{containerPort: 53, protocol: UDP}]`)
				s.patchAs("other", types.JSONPatchType, `[{op: add, path: /spec/template/spec/containers/0/ports/-, value: {containerPort: 53, protocol: TCP}}]`)
			},
			in:      "container",
			desired: `ports: [{containerPort: 53, protocol: UDP}]`,
			foreign: []string{appContainer + ".ports[containerPort=53,protocol=TCP] other"},
		},
		{
			id: "L10", name: "order", reason: "where it stands makes no difference",
			live: func(s *scene) {
				s.apply(us, "container", `ports: [{containerPort: 1}, {containerPort: 3}]`)
				s.patchAs("other", types.JSONPatchType, `[{op: add, path: /spec/template/spec/containers/0/ports/1, value: {containerPort: 2, protocol: TCP}}]`)
			},
			in:      "container",
			desired: `ports: [{containerPort: 1}, {containerPort: 3}]`,
			foreign: []string{appContainer + ".ports[containerPort=2,protocol=TCP] other"},
		},
		{
			id: "L13", reason: "what kubectl owns too stays, and two ports have one name: migrate first (kubernetes/kubernetes#131147, argo-cd#25474)",
			live: func(s *scene) {
				s.kubectlApply("container", `ports: [{containerPort: 80, name: http}]`)
				s.apply(us, "container", `ports: [{containerPort: 80, name: http}]`)
			},
			foreign: []string{"spec.replicas kubectl-client-side-apply"},
			in:      "container",
			desired: `ports: [{containerPort: 81, name: http}]`,
			changed: true,
			want:    []string{"add " + appContainer + ".ports[containerPort=81,protocol=TCP]"},
			kept:    []string{appContainer + ".ports[containerPort=80,protocol=TCP] kubectl-client-side-apply"},
			refused: "Duplicate value",
		},
		{
			id: "L22", name: "live", reason: "a container with another name is another one for the server",
			live:    func(s *scene) { s.apply(us, "pod", `containers: [{name: web, image: "app:1"}]`) },
			in:      "pod",
			desired: `containers: [{name: app, image: "app:1"}]`,
			changed: true,
			want:    []string{"rename " + appContainer},
		},
		{
			id: "L29", name: "schema", reason: "a list without a type is replaced as a whole, whoever has added to it",
			live: func(s *scene) {
				s.apply(us, "", gadget(`items: [{name: a}]`))
				s.patchAs("other", types.JSONPatchType, `[{op: add, path: /spec/items/-, value: {name: b}}]`)
			},
			desired: gadget(`items: [{name: a}]`),
			changed: true,
			want:    []string{"replace spec.items owned by other"},
		},
		{
			id: "L29", name: "keyed", reason: "of a list with keys, as managedFields tell, the rest stays another's",
			live: func(s *scene) {
				s.apply(us, "", gadget(`keyed: [{name: a, value: "1"}]`))
				s.patchAs("other", types.JSONPatchType, `[{op: add, path: /spec/keyed/-, value: {name: b}}]`)
			},
			desired: gadget(`keyed: [{name: a, value: "2"}]`),
			changed: true,
			want:    []string{"replace spec.keyed[0].value"},
			foreign: []string{"spec.keyed[name=b] other"},
		},

		// What others own.
		{
			id: "O1", reason: "the count is the autoscaler's; of one that nobody owned, the server does not note who scales (kubernetes/kubernetes#25238, #94585)",
			live: func(s *scene) {
				s.apply(us, "container", `{}`)
				s.patchAs("kube-controller-manager", types.MergePatchType, `{spec: {replicas: 7}}`, "scale")
			},
			in:      "container",
			desired: `{}`,
		},
		{
			id: "O1", name: "taken", reason: "who scales what was ours takes it",
			live: func(s *scene) {
				s.apply(us, "deployment", `replicas: 5`)
				s.patchAs("kube-controller-manager", types.MergePatchType, `{spec: {replicas: 7}}`, "scale")
			},
			in:      "container",
			desired: `{}`,
			foreign: []string{"spec.replicas kube-controller-manager (scale)"},
		},
		{
			id: "O3", reason: "replicas that are ours and no longer desired fall to the default: hand over first",
			live:    func(s *scene) { s.apply(us, "deployment", `replicas: 5`) },
			in:      "deployment",
			desired: `{}`,
			changed: true,
			want:    []string{"replace spec.replicas"},
			note:    "scales from 5 to 1 pod",
		},
		{
			id: "O3", name: "handed over", reason: "a second manager that owns the count keeps it",
			live: func(s *scene) {
				s.apply(us, "deployment", `replicas: 5`)
				handed := s.read("deployment", `{}`)
				handed.Object["spec"] = map[string]any{"replicas": int64(5)}
				s.server.apply(s.t, "appsvc-replicas", handed)
			},
			in:      "deployment",
			desired: `{}`,
			changed: true,
			kept:    []string{"spec.replicas appsvc-replicas"},
			note:    "spec.replicas stays: owned by appsvc-replicas",
		},
		{
			id: "O4", reason: "when autoscaling is switched off, the count is set once",
			live: func(s *scene) {
				s.apply(us, "container", `{}`)
				s.kubectl("scale", "deployment/web", "--replicas=7")
			},
			in:      "deployment",
			desired: `replicas: 3`,
			changed: true,
			want:    []string{"replace spec.replicas"},
			note:    "scales from 7 to 3 pods",
		},
		{
			id: "O5", reason: "the Deployment controller counts revisions",
			live: func(s *scene) {
				s.apply(us, "container", `{}`)
				s.patch("kube-controller-manager", `{metadata: {annotations: {deployment.kubernetes.io/revision: "3"}}}`)
			},
			in:      "container",
			desired: `{}`,
		},
		{
			id: "O6", reason: "what kubectl remembers is its own (helm-diff#390, kubectl#1453)",
			live: func(s *scene) {
				s.kubectlApply("container", `{}`)
				s.apply(us, "container", `{}`)
			},
			foreign: []string{"spec.replicas kubectl-client-side-apply"},
			in:      "container",
			desired: `{}`,
		},
		{
			id: "O7", reason: "a restart by kubectl is neither undone nor made ours (k9s#3285)",
			live: func(s *scene) {
				s.apply(us, "container", `{}`)
				s.kubectl("rollout", "restart", "deployment/web")
			},
			in:      "container",
			desired: `{}`,
			foreign: []string{"spec.template.metadata.annotations[kubectl.kubernetes.io/restartedAt] kubectl-rollout"},
		},
		{
			id: "O8", reason: "another tool's label stays",
			live: func(s *scene) {
				s.apply(us, "container", `{}`)
				s.patch("other", `{metadata: {labels: {team: a}}}`)
			},
			in:      "container",
			desired: `{}`,
			foreign: []string{"metadata.labels.team other"},
		},
		{
			id: "O10", reason: "a label that kubectl owns too stays (kubernetes/kubernetes#99003, #107417)",
			live: func(s *scene) {
				s.kubectlApply("", configMapWith(`{a: "1", b: "2"}`))
				s.apply(us, "", configMapWith(`{a: "1", b: "2"}`))
			},
			desired: configMapWith(`{a: "1"}`),
			changed: true,
			kept:    []string{"metadata.labels.b kubectl-client-side-apply"},
			note:    "metadata.labels.b stays: owned by kubectl-client-side-apply",
		},
		{
			id: "O11", reason: "a variable that is ours goes",
			live:    func(s *scene) { s.apply(us, "container", `env: [{name: A, value: a}, {name: B, value: b}]`) },
			in:      "container",
			desired: `env: [{name: A, value: a}]`,
			changed: true,
			want:    []string{"remove " + appContainer + ".env[name=B]"},
		},
		{
			id: "O12", reason: "one that kubectl owns too stays, and nothing says so (kubernetes/kubernetes#107417)",
			live: func(s *scene) {
				s.kubectlApply("container", `env: [{name: A, value: a}, {name: B, value: b}]`)
				s.apply(us, "container", `env: [{name: A, value: a}, {name: B, value: b}]`)
			},
			foreign: []string{"spec.replicas kubectl-client-side-apply"},
			in:      "container",
			desired: `env: [{name: A, value: a}]`,
			changed: true,
			kept:    []string{appContainer + ".env[name=B] kubectl-client-side-apply"},
		},
		{
			id: "O13", reason: "what a webhook adds is nobody's (argo-cd#1487)",
			live: func(s *scene) {
				s.mutate(func(d *unstructured.Unstructured) string {
					containers, _, _ := unstructured.NestedSlice(d.Object, "spec", "template", "spec", "containers")
					if len(containers[0].(map[string]any)["env"].([]any)) > 1 {
						return ""
					}
					return `[{"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "INJECTED", "value": "x"}}]`
				})
				s.apply(us, "container", `env: [{name: A, value: a}]`)
			},
			in:      "container",
			desired: `env: [{name: A, value: a}]`,
		},
		{
			id: "O14", reason: "so is a container that it adds (istio#19349)",
			live: func(s *scene) {
				s.mutate(func(d *unstructured.Unstructured) string {
					containers, _, _ := unstructured.NestedSlice(d.Object, "spec", "template", "spec", "containers")
					if len(containers) > 1 {
						return ""
					}
					return `[{"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "sidecar", "image": "proxy:1"}}]`
				})
				s.apply(us, "container", `{}`)
			},
			in:      "container",
			desired: `{}`,
		},
		{
			id: "O15", reason: "what a webhook changes of ours stays ours, and differs each time: pkg/apply remembers what came of it (helm-controller#643)",
			live: func(s *scene) {
				s.mutate(func(*unstructured.Unstructured) string {
					return `[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "mirror.example/app:1"}]`
				})
				s.apply(us, "container", `image: registry.example/app:1`)
			},
			in:      "container",
			desired: `image: registry.example/app:1`,
			changed: true,
			want:    []string{"replace " + appContainer + ".image"},
			unlike:  "the webhook changes it back, so that nothing is written",
		},
		{
			id: "O16", reason: "a mapping that is replaced as a whole loses what another has added",
			live: func(s *scene) {
				s.apply(us, "pod", `nodeSelector: {a: b}`)
				s.patch("other", `{spec: {template: {spec: {nodeSelector: {c: d}}}}}`)
			},
			in:      "pod",
			desired: `nodeSelector: {a: b}`,
			changed: true,
			want:    []string{"remove spec.template.spec.nodeSelector.c owned by other"},
		},
		{
			id: "O18", reason: "from a value to a reference (kubernetes/kubernetes#46861)",
			live:    func(s *scene) { s.apply(us, "container", `env: [{name: A, value: a}]`) },
			in:      "container",
			desired: `env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]`,
			changed: true,
			want:    []string{"remove " + appContainer + ".env[name=A].value", "add " + appContainer + ".env[name=A].valueFrom"},
		},
		{
			id: "O19", reason: "the value that kubectl owns too stays, and both are one too many: migrate first",
			live: func(s *scene) {
				s.kubectlApply("container", `env: [{name: A, value: a}]`)
				s.apply(us, "container", `env: [{name: A, value: a}]`)
			},
			foreign: []string{"spec.replicas kubectl-client-side-apply"},
			in:      "container",
			desired: `env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]`,
			changed: true,
			want:    []string{"add " + appContainer + ".env[name=A].valueFrom"},
			kept:    []string{appContainer + ".env[name=A].value kubectl-client-side-apply"},
			refused: "may not be specified when `value` is not empty",
		},
		{
			id: "O19", name: "migrated", reason: "at the first contact kubectl's ownership is made ours, and the value goes",
			live: func(s *scene) { s.kubectlApply("container", `env: [{name: A, value: a}]`) },
			in:   "container", migrate: []string{"kubectl-client-side-apply"},
			desired: `env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]`,
			changed: true,
			want: []string{
				"remove metadata.annotations",
				"remove " + appContainer + ".env[name=A].value",
				"add " + appContainer + ".env[name=A].valueFrom",
			},
			refused: "may not be specified when `value` is not empty",
		},
		{
			id: "O20", reason: "a probe has one handler: migrate first (prometheus-community/helm-charts#4894, jenkins/helm#276)",
			live: func(s *scene) {
				s.kubectlApply("container", `livenessProbe: {httpGet: {port: 80}}`)
				s.apply(us, "container", `livenessProbe: {httpGet: {port: 80}}`)
			},
			foreign: []string{"spec.replicas kubectl-client-side-apply"},
			in:      "container",
			desired: `livenessProbe: {tcpSocket: {port: 80}}`,
			changed: true,
			want:    []string{"add " + appContainer + ".livenessProbe.tcpSocket"},
			kept:    []string{appContainer + ".livenessProbe.httpGet kubectl-client-side-apply"},
			refused: "may not specify more than 1 handler type",
		},
		{
			id: "O21", reason: "bounds that were never written do not go with the strategy (pulumi-kubernetes#2843)",
			live:    func(s *scene) { s.apply(us, "container", `{}`) },
			in:      "deployment",
			desired: `strategy: {type: Recreate}`,
			changed: true,
			want:    []string{"replace spec.strategy.type"},
			refused: "may not be specified when strategy `type` is 'Recreate'",
		},
		{
			id: "O21", name: "written", reason: "bounds that were written from the first apply do",
			live: func(s *scene) {
				s.apply(us, "deployment", `strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}`)
			},
			in:      "deployment",
			desired: `strategy: {type: Recreate}`,
			changed: true,
			want:    []string{"remove spec.strategy.rollingUpdate", "replace spec.strategy.type"},
		},
		{
			id: "O23", reason: "another's finalizer stays",
			live: func(s *scene) {
				s.apply(us, "container", `{}`)
				s.patch("other", `{metadata: {finalizers: [example.com/protect]}}`)
			},
			in:      "container",
			desired: `{}`,
			foreign: []string{`metadata.finalizers[="example.com/protect"] other`},
		},
		{
			id: "O24", reason: "after managedFields were emptied, all is made ours once (kubernetes/kubernetes#136919)",
			live: func(s *scene) {
				s.apply(us, "", configMapWith(`{a: "1"}`))
				s.patchAs("other", types.MergePatchType, `{metadata: {managedFields: [{}]}}`)
			},
			desired: configMapWith(`{a: "1"}`),
			changed: true,
			adopted: []string{"data", "metadata.labels"},
		},
		{
			id: "O25", reason: "an entry of a version that is gone cannot be written any more: the server forgets all owners (kubernetes/kubernetes#111937, #117260)",
			live: func(s *scene) {
				s.apply(us, "", autoscaler(`maxReplicas: 3`))
				s.patchAs("other", types.JSONPatchType, `[{op: replace, path: /metadata/managedFields/0/apiVersion, value: autoscaling/v2beta2}]`)
			},
			adopted: []string{"spec"},
			desired: autoscaler(`maxReplicas: 3`),
			changed: true,
		},
		{
			id: "O27", reason: "what was applied under an old name stays under it (Azure/eno#540)",
			live:    func(s *scene) { s.apply("old-name", "container", `env: [{name: A, value: a}, {name: B, value: b}]`) },
			in:      "container",
			desired: `env: [{name: A, value: a}]`,
			changed: true,
			adopted: []string{"spec.selector old-name", "spec.template.metadata old-name", appContainer + ".env[name=A] old-name", appContainer + ".image old-name", appContainer + ".name old-name"},
			foreign: []string{appContainer + ".env[name=B] old-name"},
		},
		{
			id: "O28", reason: "what another applies too stays",
			live: func(s *scene) {
				s.apply(us, "", configMapWith(`{a: "1", b: "2"}`))
				s.apply("other", "", `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, labels: {b: "2"}}}`)
			},
			desired: configMapWith(`{a: "1"}`),
			changed: true,
			kept:    []string{"metadata.labels.b other"},
		},
		{
			id: "O29", reason: "the report names who owns what would be taken by force",
			live: func(s *scene) {
				s.apply("other", "deployment", `replicas: 3`)
				s.apply(us, "container", `{}`)
			},
			in:      "deployment",
			desired: `replicas: 5`,
			changed: true,
			want:    []string{"replace spec.replicas owned by other"},
		},
		{
			id: "O30", reason: "the server sees a conflict where only the spelling differs",
			live: func(s *scene) {
				s.apply("other", "container", `resources: {limits: {cpu: "1"}}`)
				s.apply(us, "container", `{}`)
			},
			in:      "container",
			desired: `resources: {limits: {cpu: 1000m}}`,
			changed: true,
			adopted: []string{appContainer + ".resources other"},
		},
		{
			id: "O31", reason: "what the controllers say of a Job is theirs",
			live: func(s *scene) {
				s.apply(us, "", job(``))
				s.patch("kube-controller-manager", `{status: {active: 1, startTime: "2024-01-01T00:00:00Z"}}`, "status")
			},
			desired: job(``),
		},

		// Secrets.
		{
			id: "S1", name: "live", reason: "stringData is folded before it is applied",
			live: func(s *scene) {
				s.apply(us, "", `{apiVersion: v1, kind: Secret, metadata: {name: web}, data: {a: eA==}}`)
			},
			desired: `{apiVersion: v1, kind: Secret, metadata: {name: web}, stringData: {a: x}}`,
		},
		{
			id: "S2", name: "live", reason: "so that a key that is gone goes (kubernetes/kubernetes#89938, #108008)",
			live: func(s *scene) {
				s.apply(us, "", `{apiVersion: v1, kind: Secret, metadata: {name: web}, data: {a: eA==, b: eA==}}`)
			},
			desired: `{apiVersion: v1, kind: Secret, metadata: {name: web}, stringData: {a: x}}`,
			changed: true,
			want:    []string{"remove data.b"},
		},

		// Identity.
		{
			id: "I3", reason: "the same object is read in the version that is desired (argo-cd#11136)",
			live: func(s *scene) {
				s.apply("other", "", strings.Replace(autoscaler(`maxReplicas: 3`), "autoscaling/v2", "autoscaling/v1", 1))
				s.apply(us, "", autoscaler(`maxReplicas: 3`))
			},
			desired: autoscaler(`maxReplicas: 3`),
		},
		{
			id: "I11", reason: "the server itself takes away what a load balancer alone has",
			live:    func(s *scene) { s.apply(us, "", service(`type: LoadBalancer, ports: [{port: 80}]`)) },
			desired: service(`type: ClusterIP, ports: [{port: 80}]`),
			changed: true,
			want:    []string{"remove spec.allocateLoadBalancerNodePorts", "remove spec.externalTrafficPolicy", "remove spec.ports[port=80,protocol=TCP].nodePort", "replace spec.type"},
		},
		{
			id: "I11", name: "node port of another", reason: "also a node port that somebody else owns",
			live: func(s *scene) {
				s.apply(us, "", service(`type: LoadBalancer, ports: [{port: 80}]`))
				s.patch("other", `{spec: {ports: [{port: 80, nodePort: 30123}]}}`)
			},
			desired: service(`type: ClusterIP, ports: [{port: 80}]`),
			changed: true,
			want: []string{
				"remove spec.allocateLoadBalancerNodePorts", "remove spec.externalTrafficPolicy",
				"remove spec.ports[port=80,protocol=TCP].nodePort owned by other", "replace spec.type",
			},
		},
		{
			id: "I15", reason: "fields that no schema knows are compared one by one",
			live:    func(s *scene) { s.apply(us, "", gadget(`free: {a: {b: 1}, list: [1, 2]}`)) },
			desired: gadget(`free: {a: {b: 2}, list: [1, 2]}`),
			changed: true,
			want:    []string{"replace spec.free.a.b"},
		},
		{
			id: "I15", name: "list", reason: "and their lists as a whole",
			live:    func(s *scene) { s.apply(us, "", gadget(`free: {a: {b: 1}, list: [1, 2]}`)) },
			desired: gadget(`free: {a: {b: 1}, list: [1, 2, 3]}`),
			changed: true,
			want:    []string{"replace spec.free.list"},
		},
		{
			id: "I17", reason: "an object that is going is no longer worth a change",
			live: func(s *scene) {
				s.apply(us, "", `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, finalizers: [example.com/protect]}, data: {a: x}}`)
				if err := s.server.clientFor(s.t, s.object).Delete(s.t.Context(), "web", metav1.DeleteOptions{}); err != nil {
					s.t.Fatal(err)
				}
			},
			desired: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, finalizers: [example.com/protect]}, data: {a: "y"}}`,
			changed: true,
			want:    []string{"replace data.a"},
			note:    "is being deleted",
		},
		{
			id: "I20", reason: "the server takes an owner in another namespace, and then collects the object: pkg/apply refuses that (kubernetes/kubernetes#92743)",
			live:    func(s *scene) { s.apply(us, "", configMapWith(`{a: "1"}`)) },
			desired: strings.Replace(configMapWith(`{a: "1"}`), "labels", "ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: other, uid: u1}], labels", 1),
			changed: true,
			want:    []string{"add metadata.ownerReferences"},
		},
		{
			id: "I21", reason: "an object of somebody else would be taken over without a conflict: pkg/apply refuses that",
			live: func(s *scene) {
				s.kubectl("create", "configmap", "web", "--from-literal=a=b")
				s.object = s.read("", configMapWith(`{}`))
			},
			desired: configMapWith(`{}`),
			changed: true,
			adopted: []string{"data kubectl-create"},
		},
		{
			id: "I22", reason: "kubectl's leftovers stay before they are migrated (kubernetes/kubernetes#99003, #107980)",
			live: func(s *scene) {
				s.kubectlApply("", configMapWith(`{a: "1", b: "2"}`))
				s.apply(us, "", configMapWith(`{a: "1", b: "2"}`))
			},
			desired: configMapWith(`{a: "1"}`), migrate: []string{"kubectl-client-side-apply"},
			changed: true,
			kept:    []string{"metadata.labels.b kubectl-client-side-apply"},
		},
		{
			id: "I22", name: "migrated", reason: "and go at the first contact, when they are",
			live:    func(s *scene) { s.kubectlApply("", configMapWith(`{a: "1", b: "2"}`)) },
			desired: configMapWith(`{a: "1"}`), migrate: []string{"kubectl-client-side-apply"},
			changed: true,
			want:    []string{"remove metadata.annotations", "remove metadata.labels.b"},
			unlike:  "the server is asked without the migration",
		},
	}
}

func service(spec string) string {
	return `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ` + spec + `}}`
}

func autoscaler(spec string) string {
	return `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, ` + spec + `}}`
}

func configMapWith(labels string) string {
	return `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, labels: ` + labels + `}, data: {a: b}}`
}

func job(spec string) string {
	return `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {` + spec + `template: {spec: {restartPolicy: Never, containers: [{name: app, image: "app:1"}]}}}}`
}

// gadget is an object of a kind that only this test knows.
func gadget(spec string) string {
	return `{apiVersion: test.kudevops.io/v1, kind: Gadget, metadata: {name: web}, spec: {` + spec + `}}`
}

// gadgets is the CRD of that kind.
const gadgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.test.kudevops.io}
spec:
  group: test.kudevops.io
  names: {kind: Gadget, plural: gadgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              name: {type: string}
              size: {type: integer, default: 1}
              items: {type: array, items: {type: object, properties: {name: {type: string}}}}
              keyed:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, value: {type: string}}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// testDiffCases makes live objects with a history and asks both pkg/diff and the API
// server what an apply of ours would do.
func testDiffCases(t *testing.T, s *diffServer) {
	for _, c := range diffCases() {
		t.Run(strings.TrimSpace(c.id+" "+c.name), func(t *testing.T) {
			t.Parallel()
			scene := &scene{t: t, server: s, namespace: s.cluster.Namespace(t)}
			c.live(scene)
			desired := scene.read(c.in, strings.ReplaceAll(c.desired, "NAMESPACE", scene.namespace))
			if c.edit != nil {
				c.edit(desired.Object)
			}
			opts := diff.Options{Manager: us, Migrate: c.migrate}
			var v verdict
			if c.refused != "" || c.unlike != "" {
				v = s.verdict(t, desired, opts)
			} else {
				v = s.agree(t, desired, opts)
			}
			if c.refused != "" && (v.refused == nil || !strings.Contains(v.refused.Error(), c.refused)) {
				t.Errorf("the server says %v, want %q", v.refused, c.refused)
			}
			c.check(t, v)
		})
	}
}

func (c *diffCase) check(t *testing.T, v verdict) {
	t.Helper()
	if v.changed != c.changed {
		t.Errorf("Changed says %t, want %t: %s", v.changed, c.changed, c.reason)
	}
	for _, list := range []struct {
		name      string
		want, got []string
	}{
		{"content", c.want, ownedChangesIn(v.change.Fields)},
		{"adopted", c.adopted, pathsIn(v.change.Adopted)},
		{"kept", c.kept, pathsIn(v.change.Kept)},
		{"foreign", c.foreign, pathsIn(v.change.Foreign)},
	} {
		if d := cmp.Diff(list.want, list.got); d != "" {
			t.Errorf("%s (-want +got):\n%s%s", list.name, d, c.reason)
		}
	}
	if c.note != "" && !strings.Contains(strings.Join(v.change.Notes, "\n"), c.note) {
		t.Errorf("the notes are %q, want %q: %s", v.change.Notes, c.note, c.reason)
	}
	if c.also != nil {
		c.also(t, v.change)
	}
}

// ownedChangesIn gives changes as text, with who else owns the field.
func ownedChangesIn(fields []diff.FieldChange) []string {
	out := changesIn(fields)
	for i, f := range fields {
		if len(f.Owners) > 0 {
			out[i] += " owned by " + strings.Join(f.Owners, ",")
		}
	}
	return out
}
