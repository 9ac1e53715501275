package packaging

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/controller"
)

// kinds of objects that have no Go type here: those of the Prometheus operator.
var untyped = []string{"ServiceMonitor", "PrometheusRule"}

// TestKustomizations builds each kustomization of config/ with the pinned kustomize, and
// reads what comes out as strictly as an API server that is asked to.
func TestKustomizations(t *testing.T) {
	t.Parallel()
	count := 0
	err := fs.WalkDir(os.DirFS(root), "config", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Base(name) != "kustomization.yaml" {
			return err
		}
		var k struct{ Kind string }
		if err := yaml.Unmarshal(readFile(t, filepath.Join(root, name)), &k); err != nil {
			return err
		}
		// What is to be listed by a kustomization of somebody else's has its own tests.
		if dir := path.Dir(name); k.Kind == "Kustomization" && !strings.HasPrefix(dir, "config/kustomize") {
			count++
			t.Run(strings.TrimPrefix(dir, "config/"), func(t *testing.T) {
				t.Parallel()
				for _, o := range build(t, dir) {
					decode(t, o)
				}
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < 9 {
		t.Errorf("%d kustomizations were found: the test looks for them in the wrong way", count)
	}
}

// TestInstallations: what an installation refers to is there, and no pod but its own is
// selected.
func TestInstallations(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, reason string
		dirs         []string
		clusterWide  []string // kinds of no namespace
	}{
		{
			name: "default", reason: "everything, in the whole cluster",
			dirs:        []string{"config/default", "config/network-policy", "config/prometheus"},
			clusterWide: []string{"ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "Namespace"},
		},
		{
			name: "without CRD", reason: "what is removed by undeploy, which leaves the AppServices",
			dirs:        []string{"config/without-crd"},
			clusterWide: []string{"ClusterRole", "ClusterRoleBinding", "Namespace"},
		},
		{
			name: "namespaced", reason: "no right and no object outside of one namespace",
			dirs: []string{"config/namespaced"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var objects []*unstructured.Unstructured
			for _, dir := range test.dirs {
				objects = append(objects, build(t, dir)...)
			}
			clusterWide := sets.New[string]()
			for _, o := range objects {
				switch o.GetNamespace() {
				case "":
					clusterWide.Insert(o.GetKind())
				case "appsvc-system":
				default:
					t.Errorf("%s %s is in namespace %s", o.GetKind(), o.GetName(), o.GetNamespace())
				}
				if o.GetKind() != "CustomResourceDefinition" && o.GetName() != "appsvc-system" && !strings.HasPrefix(o.GetName(), "appsvc-") {
					t.Errorf("%s %s has no prefix", o.GetKind(), o.GetName())
				}
			}
			if diff := cmp.Diff(test.clusterWide, sets.List(clusterWide)); len(test.clusterWide)+clusterWide.Len() > 0 && diff != "" {
				t.Errorf("kinds without a namespace, -want +got: %s\n%s", test.reason, diff)
			}
			checkReferences(t, objects)
		})
	}
}

// checkReferences follows names and selectors.
func checkReferences(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	names := sets.New[string]()
	var deployment *appsv1.Deployment
	for _, o := range objects {
		names.Insert(o.GetKind() + "/" + o.GetName())
		if d, ok := decode(t, o).(*appsv1.Deployment); ok {
			deployment = d
		}
	}
	if deployment == nil {
		t.Fatal("no Deployment")
	}
	pod := deployment.Spec.Template
	if name := pod.Spec.ServiceAccountName; !names.Has("ServiceAccount/" + name) {
		t.Errorf("no ServiceAccount %q", name)
	}
	selects := func(what string, selector *metav1.LabelSelector) {
		if diff := cmp.Diff(frozenSelector(), selector.MatchLabels); diff != "" || len(selector.MatchExpressions) > 0 {
			t.Errorf("selector of %s, -frozen +got:\n%s", what, diff)
		}
		if !labels.SelectorFromSet(selector.MatchLabels).Matches(labels.Set(pod.Labels)) {
			t.Errorf("%s does not select the pods", what)
		}
	}
	ports := map[string]int32{}
	for _, p := range pod.Spec.Containers[0].Ports {
		ports[p.Name] = p.ContainerPort
	}
	for _, o := range objects {
		what := o.GetKind() + " " + o.GetName()
		switch typed := decode(t, o).(type) {
		case *appsv1.Deployment:
			selects(what, typed.Spec.Selector)
			selects(what+", topology spread", typed.Spec.Template.Spec.TopologySpreadConstraints[0].LabelSelector)
		case *corev1.Service:
			selects(what, &metav1.LabelSelector{MatchLabels: typed.Spec.Selector})
			for _, p := range typed.Spec.Ports {
				if ports[p.TargetPort.String()] == 0 {
					t.Errorf("%s: no container port %s", what, p.TargetPort.String())
				}
			}
		case *policyv1.PodDisruptionBudget:
			selects(what, typed.Spec.Selector)
		case *networkingv1.NetworkPolicy:
			selects(what, &typed.Spec.PodSelector)
			if port := typed.Spec.Ingress[0].Ports[0].Port.IntVal; port != ports["https"] || len(typed.Spec.Ingress) != 1 || len(typed.Spec.Ingress[0].Ports) != 1 {
				t.Errorf("%s admits %v, and the port of metrics is %d", what, typed.Spec.Ingress, ports["https"])
			}
		case *unstructured.Unstructured:
			if o.GetKind() == "ServiceMonitor" {
				checkServiceMonitor(t, typed, objects)
			}
		}
		subjects, _, _ := unstructured.NestedSlice(o.Object, "subjects")
		for _, s := range subjects {
			subject := s.(map[string]any)
			if !names.Has(subject["kind"].(string)+"/"+subject["name"].(string)) || subject["namespace"] != "appsvc-system" {
				t.Errorf("%s: no subject %v", what, subject)
			}
		}
		if role, ok, _ := unstructured.NestedStringMap(o.Object, "roleRef"); ok && !names.Has(role["kind"]+"/"+role["name"]) {
			t.Errorf("%s: no role %v", what, role)
		}
	}
}

// frozenSelector can never change, since a Deployment's cannot: an upgrade would fail.
// It names the program, so that it selects nobody else's pods.
func frozenSelector() map[string]string {
	return map[string]string{"app.kubernetes.io/name": "appsvc-controller", "app.kubernetes.io/instance": "appsvc"}
}

func checkServiceMonitor(t *testing.T, monitor *unstructured.Unstructured, objects []*unstructured.Unstructured) {
	t.Helper()
	selector, _, _ := unstructured.NestedStringMap(monitor.Object, "spec", "selector", "matchLabels")
	endpoints, _, _ := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
	job, _, _ := unstructured.NestedString(monitor.Object, "spec", "jobLabel")
	for _, o := range objects {
		service, ok := decode(t, o).(*corev1.Service)
		if !ok || !labels.SelectorFromSet(selector).Matches(labels.Set(service.Labels)) {
			continue
		}
		if service.Labels[job] != "appsvc-controller" {
			t.Errorf("the job of the metrics is %q, and the alerts look for another", service.Labels[job])
		}
		for _, e := range endpoints {
			port := e.(map[string]any)["port"]
			if !slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == port }) {
				t.Errorf("Service %s has no port %v", service.Name, port)
			}
		}
		return
	}
	t.Errorf("the ServiceMonitor selects no Service: %v", selector)
}

// TestPod: the controller's pod keeps Kubernetes' standard "restricted", its arguments are
// flags that the controller has, and its probes find their port.
func TestPod(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"config/default", "config/namespaced"} {
		t.Run(path.Base(dir), func(t *testing.T) {
			t.Parallel()
			d := deploymentOf(t, build(t, dir))
			pod := d.Spec.Template.Spec
			container := pod.Containers[0]

			type security struct {
				NonRoot, ReadOnly, Escalation bool
				Seccomp                       corev1.SeccompProfileType
				Drop, Add                     []corev1.Capability
			}
			want := security{NonRoot: true, ReadOnly: true, Seccomp: corev1.SeccompProfileTypeRuntimeDefault, Drop: []corev1.Capability{"ALL"}}
			got := security{
				NonRoot: *pod.SecurityContext.RunAsNonRoot, Seccomp: pod.SecurityContext.SeccompProfile.Type,
				ReadOnly: *container.SecurityContext.ReadOnlyRootFilesystem, Escalation: *container.SecurityContext.AllowPrivilegeEscalation,
				Drop: container.SecurityContext.Capabilities.Drop, Add: container.SecurityContext.Capabilities.Add,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("security, -want +got:\n%s", diff)
			}
			if len(pod.Volumes) > 0 || pod.HostNetwork || len(pod.Containers) != 1 {
				t.Error("the pod has more than it needs")
			}
			if len(container.Resources.Requests) != 2 || container.Resources.Limits.Memory().IsZero() {
				t.Errorf("resources: %+v", container.Resources)
			}
			if pod.TerminationGracePeriodSeconds == nil || *pod.TerminationGracePeriodSeconds <= 30 {
				t.Error("the pod is killed before the manager's 30 seconds are over")
			}
			if *d.Spec.Replicas != 2 {
				t.Errorf("%d replicas: one works and one stands by", *d.Spec.Replicas)
			}

			var options controller.Options
			flags := pflag.NewFlagSet("appsvc-controller", pflag.ContinueOnError)
			options.AddFlags(flags)
			if err := flags.Parse(container.Args); err != nil {
				t.Fatal(err)
			}
			if !options.LeaderElect {
				t.Error("two replicas without leader election would fight")
			}
			for name, probe := range map[string]*corev1.Probe{"/healthz": container.LivenessProbe, "/readyz": container.ReadinessProbe} {
				if probe == nil || probe.HTTPGet.Path != name || !hasPort(container, probe.HTTPGet.Port.StrVal, options.ProbeAddress) {
					t.Errorf("probe of %s: %+v", name, probe)
				}
			}
			if options.MetricsAddress != "0" && (!options.MetricsSecure || !hasPort(container, "https", options.MetricsAddress)) {
				t.Errorf("metrics at %s, and the ports are %v", options.MetricsAddress, container.Ports)
			}
		})
	}
}

// hasPort says whether the container has a port of that name and of that address.
func hasPort(c corev1.Container, name, address string) bool {
	return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool {
		return p.Name == name && strings.HasSuffix(address, fmt.Sprintf(":%d", p.ContainerPort))
	})
}

func deploymentOf(t *testing.T, objects []*unstructured.Unstructured) *appsv1.Deployment {
	t.Helper()
	for _, o := range objects {
		if d, ok := decode(t, o).(*appsv1.Deployment); ok {
			return d
		}
	}
	t.Fatal("no Deployment")
	return nil
}

// build gives the objects of a kustomization.
func build(t *testing.T, dir string) []*unstructured.Unstructured {
	t.Helper()
	programs(t)
	return parse(t, []byte(run(t, "", filepath.Join(bin(), "kustomize"), "build", filepath.Join(root, dir))))
}

// parse reads a stream of documents.
func parse(t *testing.T, text []byte) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		data, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			t.Fatal(err)
		}
		o := &unstructured.Unstructured{}
		if err := o.UnmarshalJSON(data); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	return objects
}

// decode gives an object as its Go type, and fails for a field that the type lacks.
func decode(t *testing.T, o *unstructured.Unstructured) runtime.Object {
	t.Helper()
	if slices.Contains(untyped, o.GetKind()) {
		return o
	}
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	data, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	typed, _, err := serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
	}
	return typed
}
