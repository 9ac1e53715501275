package controlplane_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/arbitrary"
	"kudevops.io/appsvc/pkg/render"
	"kudevops.io/appsvc/test/controlplane"
)

// rendered are the kinds that an AppService renders to.
var rendered = map[string]schema.GroupVersionResource{
	"ServiceAccount":          {Version: "v1", Resource: "serviceaccounts"},
	"Service":                 {Version: "v1", Resource: "services"},
	"Deployment":              {Group: "apps", Version: "v1", Resource: "deployments"},
	"HorizontalPodAutoscaler": {Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
	"ConfigMap":               {Version: "v1", Resource: "configmaps"},
	"NetworkPolicy":           {Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	"Ingress":                 {Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"},
	"HTTPRoute":               {Group: "gateway.networking.k8s.io", Version: "v1", Resource: "httproutes"},
	"ServiceMonitor":          {Group: "monitoring.coreos.com", Version: "v1", Resource: "servicemonitors"},
	"PodDisruptionBudget":     {Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
}

// TestRenderedIsAccepted: the API server accepts each object of each golden case by
// server-side apply, and answers with the values that were sent. A value that it
// spells in another way would be a difference for ever.
func TestRenderedIsAccepted(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	namespace := cluster.Namespace(t)
	files, err := filepath.Glob("../../testdata/*/expected.yaml")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("kind: ResourceList")) {
			continue // what the function prints holds the same objects
		}
		objects, err := controlplane.ReadObjects(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, o := range objects {
			object, ok := o.(*unstructured.Unstructured)
			if !ok || object.GetLabels()["app.kubernetes.io/managed-by"] != "appsvc" {
				continue // passed through, and not checked
			}
			count++
			for _, complaint := range dryRun(t.Context(), cluster, namespace, object) {
				t.Errorf("%s: %s", filepath.Base(filepath.Dir(file)), complaint)
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d objects were tried: the golden cases are not where this test looks for them", count)
	}
}

// TestArbitraryIsAccepted: the same for what AppServices drawn at random render to.
func TestArbitraryIsAccepted(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	namespace := cluster.Namespace(t)
	rapid.Check(t, func(t *rapid.T) {
		app := arbitrary.AppService(t)
		result, errs := render.Render(app, render.Options{})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		for _, object := range result.Objects {
			for _, complaint := range dryRun(t.Context(), cluster, namespace, object) {
				t.Error(complaint)
			}
		}
	})
}

// TestRestrictedIsAdmitted: under securityProfile Restricted, the renderer takes a patch
// where a namespace that enforces the restricted Pod Security Standard takes the pods
// that it leads to, and refuses it where that refuses them.
func TestRestrictedIsAdmitted(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	namespace := cluster.Namespace(t)
	label := []byte(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`)
	if _, err := cluster.Client().CoreV1().Namespaces().Patch(t.Context(), namespace, types.MergePatchType, label, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	// admitted asks for the pod of an AppService that says itself what the profile would.
	admitted := func(ctx context.Context, patch string) (bool, error) {
		app := patched(patch)
		app.Spec.PodSecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
		app.Spec.SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
		result, errs := render.Render(app, render.Options{})
		if len(errs) > 0 {
			return false, errs.ToAggregate()
		}
		deployment := &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(result.Objects[0].Object, deployment); err != nil {
			return false, err
		}
		template := deployment.Spec.Template
		template.Name = "web"
		_, err := cluster.Client().CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil && !(apierrors.IsForbidden(err) && strings.Contains(err.Error(), "violates PodSecurity")) {
			return false, err
		}
		return err == nil, nil
	}
	// The admission plugin learns of the label a little later.
	eventually(t, func(ctx context.Context) error {
		ok, err := admitted(ctx, pod(`hostNetwork: true`))
		if ok {
			return errors.New("the Standard is not enforced")
		}
		return err
	})

	for name, patch := range map[string]string{
		"nothing":                      `{}`,
		"hostPID":                      pod(`hostPID: true`),
		"hostIPC":                      pod(`hostIPC: true`),
		"hostUsers":                    pod(`hostUsers: false`),
		"emptyDir":                     pod(`volumes: [{name: a, emptyDir: {}}]`),
		"image volume":                 pod(`volumes: [{name: a, image: {reference: "a:1"}}]`),
		"hostPath":                     pod(`volumes: [{name: a, hostPath: {path: /}}]`),
		"nfs":                          pod(`volumes: [{name: a, nfs: {server: a, path: /}}]`),
		"fc":                           pod(`volumes: [{name: a, fc: {wwids: [a]}}]`),
		"no pod security context":      `[{op: remove, path: /spec/template/spec/securityContext}]`,
		"no container context":         `[{op: remove, path: /spec/template/spec/containers/0/securityContext}]`,
		"root by the pod":              pod(`securityContext: {runAsUser: 0}`),
		"somebody by the pod":          pod(`securityContext: {runAsUser: 1}`),
		"may be root by the pod":       pod(`securityContext: {runAsNonRoot: false}`),
		"seccomp of the node":          pod(`securityContext: {seccompProfile: {type: Localhost, localhostProfile: a}}`),
		"no seccomp":                   pod(`securityContext: {seccompProfile: {type: Unconfined}}`),
		"no AppArmor":                  pod(`securityContext: {appArmorProfile: {type: Unconfined}}`),
		"AppArmor":                     pod(`securityContext: {appArmorProfile: {type: RuntimeDefault}}`),
		"safe sysctl":                  pod(`securityContext: {sysctls: [{name: net.ipv4.tcp_notsent_lowat, value: "1"}]}`),
		"other sysctl":                 pod(`securityContext: {sysctls: [{name: kernel.msgmax, value: "1"}]}`),
		"SELinux type of containers":   pod(`securityContext: {seLinuxOptions: {type: container_engine_t, level: s0}}`),
		"other SELinux type":           pod(`securityContext: {seLinuxOptions: {type: spc_t}}`),
		"SELinux user":                 pod(`securityContext: {seLinuxOptions: {user: a}}`),
		"SELinux role":                 pod(`securityContext: {seLinuxOptions: {role: a}}`),
		"privileged":                   container(`securityContext: {allowPrivilegeEscalation: null, privileged: true}`),
		"allowPrivilegeEscalation":     container(`securityContext: {allowPrivilegeEscalation: true}`),
		"escalation not spoken of":     container(`securityContext: {allowPrivilegeEscalation: null}`),
		"NET_BIND_SERVICE":             container(`securityContext: {capabilities: {add: [NET_BIND_SERVICE]}}`),
		"NET_ADMIN":                    container(`securityContext: {capabilities: {add: [NET_ADMIN]}}`),
		"capabilities are kept":        container(`securityContext: {capabilities: {drop: [NET_RAW]}}`),
		"root by the container":        container(`securityContext: {runAsUser: 0}`),
		"may be root by the container": container(`securityContext: {runAsNonRoot: false}`),
		"default proc":                 container(`securityContext: {procMount: Default}`),
		"host port":                    container(`ports: [{containerPort: 80, hostPort: 80}]`),
		"container port":               container(`ports: [{containerPort: 80}]`),
		"probe of another host":        container(`livenessProbe: {httpGet: {port: 80, host: 10.0.0.1}}`),
		"probe":                        container(`livenessProbe: {httpGet: {port: 80}}`),
		"hook to another host":         container(`lifecycle: {preStop: {httpGet: {port: 80, host: 10.0.0.1}}}`),
		"bare init container":          pod(`initContainers: [{name: a, image: "a:1"}]`),
		"AppArmor by annotation":       `spec: {template: {metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/app: unconfined}}}}`,
		"AppArmor of the node":         `spec: {template: {metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/app: localhost/a}}}}`,
	} {
		want, err := admitted(t.Context(), patch)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		app := patched(patch)
		app.Spec.SecurityProfile = v1alpha1.SecurityProfileRestricted
		if _, errs := render.Render(app, render.Options{}); (len(errs) == 0) != want {
			t.Errorf("%s: admitted is %t, and the renderer says %v", name, want, errs)
		}
	}
}

// patched is an AppService with one patch.
func patched(patch string) *v1alpha1.AppService {
	app := &v1alpha1.AppService{}
	app.Name, app.Spec.Image = "web", "nginx:1.29"
	app.Spec.Patches = []v1alpha1.Patch{{Target: v1alpha1.PatchTarget{Kind: "Deployment"}, Patch: patch}}
	return app
}

// pod and container are patches of the pod template and of its container.
func pod(fields string) string { return "spec: {template: {spec: {" + fields + "}}}" }

func container(fields string) string { return pod("containers: [{name: app, " + fields + "}]") }

// dryRun asks the API server to apply an object, as the controller would, and gives
// what it refuses or changes.
func dryRun(ctx context.Context, cluster *controlplane.Cluster, namespace string, object *unstructured.Unstructured) []string {
	name := object.GetKind() + " " + object.GetName()
	resource, known := rendered[object.GetKind()]
	if !known {
		return []string{name + ": this test does not know the kind"}
	}
	object.SetNamespace(namespace)
	got, err := cluster.Dynamic().Resource(resource).Namespace(namespace).Apply(ctx, object.GetName(), object,
		metav1.ApplyOptions{FieldManager: v1alpha1.FieldManager, Force: true, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return []string{fmt.Sprintf("%s is refused: %v", name, err)}
	}
	var complaints []string
	for _, difference := range changed(object.Object, got.Object, "") {
		complaints = append(complaints, name+": "+difference)
	}
	return complaints
}

// whole are the lists that are replaced as a whole: a default in one of them, which
// the server has and we did not send, is a difference too.
var whole = []string{".rules", ".parentRefs", ".endpoints", ".metrics", ".tls", ".spec.ingress", ".egress", ".policies", ".fieldRef", ".resourceFieldRef", ".sources", ".items"}

// changed lists what of sent came back as something else. What came back and was
// not sent are the server's defaults.
func changed(sent, got any, path string) []string {
	var differences []string
	switch sent := sent.(type) {
	case map[string]any:
		m, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s came back as %T", path, got)}
		}
		if i := slices.IndexFunc(whole, func(name string) bool {
			return strings.Contains(path+".", name+".") || strings.Contains(path, name+"[")
		}); i >= 0 && len(m) > len(sent) {
			differences = append(differences, fmt.Sprintf("%s: sent %v, came back as %v", path, sent, m))
		}
		for key, value := range sent {
			differences = append(differences, changed(value, m[key], path+"."+key)...)
		}
	case []any:
		l, ok := got.([]any)
		if !ok || len(l) != len(sent) {
			return []string{fmt.Sprintf("%s came back as %v", path, got)}
		}
		for i, value := range sent {
			differences = append(differences, changed(value, l[i], fmt.Sprintf("%s[%d]", path, i))...)
		}
	default:
		if number(sent) != number(got) {
			return []string{fmt.Sprintf("%s: sent %#v, came back as %#v", strings.TrimPrefix(path, "."), sent, got)}
		}
	}
	return differences
}

// number makes numbers of one type of those that decoders choose.
func number(v any) any {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v
}
