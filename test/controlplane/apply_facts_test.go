package controlplane_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"kudevops.io/appsvc/api/v1alpha1"
)

// factDeployment is a Deployment in the form in which it is applied; the spec has room
// for more.
func factDeployment(more string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "nginx:1.29"}]}
` + more
}

func factService(spec string) string {
	return "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: " + spec + "\n"
}

// ourManager is the field manager of the facts.
const ourManager = "appsvc-controller"

// applyFacts is what pkg/apply and the renderer take for granted of the API server. A
// version of Kubernetes that sees any of it otherwise fails here first.
var applyFacts = []applyTest{
	{"fact: an identical apply writes nothing", func(a *applied) {
		a.app("web")
		for _, text := range []string{factDeployment("  replicas: 0\n"), factService("{ports: [{port: 80}]}")} {
			first := a.mustSSA(ourManager, text)
			eventually(a.T, func(context.Context) error { // the controllers have written their part
				again := a.mustSSA(ourManager, text)
				if again.GetResourceVersion() != first.GetResourceVersion() {
					first = again
					return fmt.Errorf("%s was written", again.GetKind())
				}
				return nil
			})
		}
		status := a.object("apiVersion: apps.kudevops.io/v1alpha1\nkind: AppService\nmetadata: {name: web}\nstatus: {conditions: [{type: Ready, status: \"True\", reason: Available, message: \"\", lastTransitionTime: \"2030-01-01T00:00:00Z\"}]}\n")
		var versions []string
		for range 2 {
			o, err := a.resource("AppService").ApplyStatus(a.Context(), "web", status, metav1.ApplyOptions{FieldManager: ourManager, Force: true})
			if err != nil {
				a.Fatal(err)
			}
			versions = append(versions, o.GetResourceVersion())
		}
		if versions[0] != versions[1] {
			a.Errorf("the status was written: %v", versions)
		}
	}},
	{"fact: replicas that their only owner drops fall to 1", func(a *applied) {
		a.mustSSA(ourManager, factDeployment("  replicas: 3\n"))
		a.mustSSA(ourManager, factDeployment(""))
		a.wantField("Deployment", "web", int64(1), "spec", "replicas")
	}},
	{"fact: replicas that a scaler has changed are the scaler's", func(a *applied) {
		a.mustSSA(ourManager, factDeployment("  replicas: 3\n"))
		a.scale("Deployment", "web", 7)
		a.mustSSA(ourManager, factDeployment(""))
		a.wantField("Deployment", "web", int64(7), "spec", "replicas")
	}},
	{"fact: a scaler that sets the same number does not own it", func(a *applied) {
		a.mustSSA(ourManager, factDeployment("  replicas: 3\n"))
		a.scale("Deployment", "web", 3)
		a.mustSSA(ourManager, factDeployment(""))
		a.wantField("Deployment", "web", int64(1), "spec", "replicas")
	}},
	{"fact: replicas that were applied under a second name stay when the first drops them", func(a *applied) {
		a.mustSSA(ourManager, factDeployment("  replicas: 4\n"))
		a.mustSSA("second", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 4}\n")
		a.mustSSA(ourManager, factDeployment(""))
		a.wantField("Deployment", "web", int64(4), "spec", "replicas")
	}},
	{"fact: an apply without force conflicts with another value of another manager", func(a *applied) {
		a.create("kubectl-create", factDeployment("  replicas: 9\n"))
		_, err := a.ssa(ourManager, false, factDeployment("  replicas: 1\n"))
		if d := cmp.Diff([]string{".spec.replicas"}, causes(err)); !apierrors.IsConflict(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) || d != "" {
			a.Errorf("%v (-want +got):\n%s", err, d)
		}
	}},
	{"fact: an apply with force takes over a foreign object silently", func(a *applied) {
		a.create("kubectl-create", factDeployment("  replicas: 9\n"))
		a.mustSSA(ourManager, factDeployment("  replicas: 1\n"))
		a.wantField("Deployment", "web", int64(1), "spec", "replicas")
	}},
	{"fact: a second controller is refused", func(a *applied) {
		app, other := a.app("web"), a.app("other")
		text := "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web, ownerReferences: [{apiVersion: apps.kudevops.io/v1alpha1, kind: AppService, name: %s, uid: %s, controller: true}]}\n"
		a.mustSSA("somebody", fmt.Sprintf(text, other.Name, other.UID))
		_, err := a.ssa(ourManager, true, fmt.Sprintf(text, app.Name, app.UID))
		if d := cmp.Diff([]string{"metadata.ownerReferences"}, causes(err)); !apierrors.IsInvalid(err) || d != "" {
			a.Errorf("%v (-want +got):\n%s", err, d)
		}
	}},
	{"fact: what was written in another way than by apply is not dropped by one", func(a *applied) {
		a.create(ourManager, strings.Replace(factDeployment(""), `image: "nginx:1.29"`, `image: "nginx:1.29", ports: [{containerPort: 80}, {containerPort: 81}]`, 1))
		o := a.mustSSA(ourManager, strings.Replace(factDeployment(""), `image: "nginx:1.29"`, `image: "nginx:1.29", ports: [{containerPort: 80}]`, 1))
		if got := managers(o); !got[ourManager+" Apply"] || !got[ourManager+" Update"] || len(containerPorts(o)) != 2 {
			a.Errorf("managers %v, ports %v; want two entries and two ports", got, containerPorts(o))
		}
	}},
	{"fact: a restart by kubectl survives an apply", func(a *applied) {
		a.mustSSA(ourManager, factDeployment(""))
		kubectl(a.T, a.cluster, "rollout", "restart", "-n", a.namespace, "deployment/web")
		o := a.mustSSA(ourManager, factDeployment(""))
		if field(o, "spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt") == nil {
			a.Errorf("it is lost: %v", field(o, "spec", "template", "metadata"))
		}
	}},
	{"fact: a selector is immutable, and the cause names it", func(a *applied) {
		a.mustSSA(ourManager, factDeployment(""))
		_, err := a.ssa(ourManager, true, strings.ReplaceAll(factDeployment(""), "{app: web}", "{app: other}"))
		if d := cmp.Diff([]string{"spec.selector"}, causes(err)); !apierrors.IsInvalid(err) || d != "" {
			a.Errorf("%v (-want +got):\n%s", err, d)
		}
	}},
	{"fact: a container port twice can be created, and not be applied", func(a *applied) {
		text := strings.Replace(factDeployment(""), `image: "nginx:1.29"`, `image: "nginx:1.29", ports: [{containerPort: 80, protocol: TCP}, {containerPort: 80, protocol: TCP}]`, 1)
		if _, err := a.ssa(ourManager, true, text); err == nil || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
			a.Errorf("applied: %v, want an error without a reason", err)
		}
		a.create("kubectl-create", text)
	}},
	{"fact: a Service port twice is refused, in a Service and in an AppService", func(a *applied) {
		if _, err := a.ssa(ourManager, true, factService("{ports: [{name: a, port: 80, protocol: TCP, targetPort: 1}, {name: b, port: 80, protocol: TCP, targetPort: 2}]}")); err == nil {
			a.Error("the Service is accepted")
		}
		_, err := a.resource("AppService").Create(a.Context(), a.object("apiVersion: apps.kudevops.io/v1alpha1\nkind: AppService\nmetadata: {name: web}\nspec: {image: a, ports: [{name: a, port: 80}, {name: b, port: 80}]}\n"), metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) || !slices.Contains(causes(err), "spec.ports[1]") {
			a.Errorf("the AppService: %v", err)
		}
	}},
	{"fact: TCP and UDP of one number share a node port", func(a *applied) {
		o := a.mustSSA(ourManager, factService("{type: NodePort, ports: [{name: a, port: 53, protocol: TCP}, {name: b, port: 53, protocol: UDP}]}"))
		ports := field(o, "spec", "ports").([]any)
		if len(ports) != 2 || ports[0].(map[string]any)["nodePort"] != ports[1].(map[string]any)["nodePort"] {
			a.Errorf("ports are %v", ports)
		}
	}},
	{"fact: a Service may begin with a digit", func(a *applied) {
		a.mustSSA(ourManager, strings.Replace(factService("{ports: [{port: 80}]}"), "name: web", "name: 1abc", 1))
	}},
	{"fact: a Deployment may have dots in its name, with a warning", func(a *applied) {
		var warnings warningList
		config := a.cluster.Config()
		config.WarningHandler = &warnings
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			a.Fatal(err)
		}
		object := a.object(strings.Replace(factDeployment(""), "{name: web}", "{name: a.b.c}", 1))
		if _, err := client.Resource(rendered["Deployment"]).Namespace(a.namespace).Create(a.Context(), object, metav1.CreateOptions{}); err != nil {
			a.Error(err)
		}
		if len(warnings.texts) != 1 || !strings.Contains(warnings.texts[0], "metadata.name") {
			a.Errorf("warnings are %q", warnings.texts)
		}
	}},
	{"fact: a Service needs ports, and names where there are several", func(a *applied) {
		for spec, want := range map[string]string{
			"{selector: {app: web}}":                    "spec.ports",
			"{ports: [{port: 80}, {port: 81}]}":         "spec.ports[0].name",
			"{ports: [{port: 80}, {name: b, port: 1}]}": "spec.ports[0].name",
		} {
			if _, err := a.ssa(ourManager, true, factService(spec)); !apierrors.IsInvalid(err) || !slices.Contains(causes(err), want) {
				a.Errorf("%s: %v, want %s", spec, err, want)
			}
		}
	}},
	{"fact: a node port goes with the type that has one", func(a *applied) {
		a.mustSSA(ourManager, factService("{type: NodePort, ports: [{port: 80, nodePort: 31777}]}"))
		if o := a.mustSSA(ourManager, factService("{type: ClusterIP, ports: [{port: 80}]}")); nodePortOf(o) != nil {
			a.Errorf("ports are %v", field(o, "spec", "ports"))
		}
		_, err := a.ssa(ourManager, true, factService("{type: ClusterIP, ports: [{port: 80, nodePort: 31777}]}"))
		if d := cmp.Diff([]string{"spec.ports[0].nodePort"}, causes(err)); !apierrors.IsInvalid(err) || d != "" {
			a.Errorf("%v (-want +got):\n%s", err, d)
		}
	}},
	{"fact: a target port of 0 is the port", func(a *applied) {
		o := a.mustSSA(ourManager, factService("{ports: [{port: 80, targetPort: 0}]}"))
		if got := field(o, "spec", "ports").([]any)[0].(map[string]any)["targetPort"]; got != int64(80) {
			a.Errorf("target port is %v", got)
		}
	}},
	{"fact: empty structs are owned when they are applied", func(a *applied) {
		o := a.mustSSA(ourManager, strings.Replace(factDeployment("  strategy: {}\n"), `image: "nginx:1.29"`, `image: "nginx:1.29", resources: {}`, 1))
		fields := fmt.Sprint(field(o, "metadata", "managedFields"))
		for _, want := range []string{"f:strategy", "f:resources"} {
			if !strings.Contains(fields, want) {
				a.Errorf("%s is not owned: %s", want, fields)
			}
		}
	}},
	{"fact: blockOwnerDeletion needs the right to update the owner's finalizers", func(a *applied) {
		app := a.app("web")
		for _, test := range []struct {
			name, reference string
			rules           []rbacv1.PolicyRule
			allowed         bool
		}{
			{name: "without", reference: "", allowed: true},
			{name: "blocking", reference: ", blockOwnerDeletion: true", allowed: false},
			{name: "permitted", reference: ", blockOwnerDeletion: true", allowed: true, rules: []rbacv1.PolicyRule{
				{APIGroups: []string{v1alpha1.Group}, Resources: []string{"appservices/finalizers"}, Verbs: []string{"update"}},
			}},
		} {
			client := a.as(test.name, append(test.rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, Verbs: []string{"get", "create", "patch"}})...)
			object := a.object(fmt.Sprintf("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a-%s, ownerReferences: [{apiVersion: apps.kudevops.io/v1alpha1, kind: AppService, name: web, uid: %s, controller: true%s}]}\n", test.name, app.UID, test.reference))
			_, err := client.Resource(rendered["ServiceAccount"]).Namespace(a.namespace).Apply(a.Context(), object.GetName(), object, metav1.ApplyOptions{FieldManager: ourManager})
			if allowed := err == nil; allowed != test.allowed || err != nil && !apierrors.IsForbidden(err) {
				a.Errorf("%s: %v, want it allowed: %t", test.name, err, test.allowed)
			}
		}
	}},
	{"fact: a dry run needs the right to patch", func(a *applied) {
		client := a.as("reads", rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}})
		object := a.object(factService("{ports: [{port: 80}]}"))
		_, err := client.Resource(rendered["Service"]).Namespace(a.namespace).Apply(a.Context(), "web", object, metav1.ApplyOptions{FieldManager: ourManager, DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsForbidden(err) {
			a.Errorf("%v, want it forbidden", err)
		}
	}},
	{"fact: an AppService that nobody has reconciled says so", func(a *applied) {
		a.app("web")
		a.wantField("AppService", "web", int64(-1), "status", "observedGeneration")
	}},
	{"fact: the scale of an AppService without replicas cannot be read, and can be set", func(a *applied) {
		a.app("web")
		_, err := a.resource("AppService").Get(a.Context(), "web", metav1.GetOptions{}, "scale")
		if status := apierrors.APIStatus(nil); !errors.As(err, &status) || status.Status().Code != http.StatusInternalServerError {
			a.Errorf("read: %v, want status 500", err)
		}
		kubectl(a.T, a.cluster, "scale", "-n", a.namespace, "appservice/web", "--replicas=2")
		a.wantField("AppService", "web", int64(2), "spec", "replicas")
	}},
	{"fact: the scale of an AppService has a selector when the status has one", func(a *applied) {
		a.app("web", replicas(1))
		selector := func() any {
			scale, err := a.resource("AppService").Get(a.Context(), "web", metav1.GetOptions{}, "scale")
			if err != nil {
				a.Fatal(err)
			}
			return field(scale, "status", "selector")
		}
		if got := selector(); got != nil {
			a.Errorf("the selector is %v", got)
		}
		a.patch("test", "AppService", "web", `{"status": {"selector": "app=web"}}`, "status")
		if got := selector(); got != "app=web" {
			a.Errorf("the selector is %v", got)
		}
	}},
	{"fact: a name that is too long is refused with its path", func(a *applied) {
		_, err := a.resource("AppService").Create(a.Context(), a.object("apiVersion: apps.kudevops.io/v1alpha1\nkind: AppService\nmetadata: {name: "+strings.Repeat("a", 64)+"}\nspec: {image: a}\n"), metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) || !slices.Contains(causes(err), "metadata.name") {
			a.Errorf("%v, want metadata.name", err)
		}
	}},
	{"fact: an unknown field is refused by an apply, and pruned by a create that does not validate", func(a *applied) {
		text := "apiVersion: apps.kudevops.io/v1alpha1\nkind: AppService\nmetadata: {name: web}\nspec: {image: a, imge: b}\n"
		if _, err := a.ssa(ourManager, true, text); err == nil || !strings.Contains(err.Error(), "field not declared in schema") {
			a.Errorf("applied: %v", err)
		}
		if _, err := a.resource("AppService").Create(a.Context(), a.object(text), metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err == nil || !strings.Contains(err.Error(), `unknown field "spec.imge"`) {
			a.Errorf("created, strictly: %v", err)
		}
		o, err := a.resource("AppService").Create(a.Context(), a.object(text), metav1.CreateOptions{FieldValidation: metav1.FieldValidationIgnore})
		if err != nil || field(o, "spec", "imge") != nil {
			a.Errorf("created, not validated: %v, %v", o, err)
		}
	}},
}

func containerPorts(deployment *unstructured.Unstructured) []any {
	container := field(deployment, "spec", "template", "spec", "containers").([]any)[0].(map[string]any)
	ports, _ := container["ports"].([]any)
	return ports
}

// as is a client of a ServiceAccount with rights in the namespace.
func (a *applied) as(name string, rules ...rbacv1.PolicyRule) dynamic.Interface {
	a.Helper()
	config, err := a.cluster.ServiceAccount(a.Context(), a.namespace, name, a.role(name, rules)...)
	if err != nil {
		a.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		a.Fatal(err)
	}
	return client
}

func (a *applied) role(name string, rules []rbacv1.PolicyRule) []runtime.Object {
	meta := metav1.ObjectMeta{Name: name, Namespace: a.namespace}
	return []runtime.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: rules},
		&rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: name, Namespace: a.namespace}},
		},
	}
}

// warningList keeps the warnings of answers.
type warningList struct {
	mu    sync.Mutex
	texts []string
}

func (w *warningList) HandleWarningHeader(_ int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}
