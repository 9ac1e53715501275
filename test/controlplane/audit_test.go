package controlplane_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"kudevops.io/appsvc/test/controlplane"
	"kudevops.io/appsvc/test/controlplane/binaries"
)

func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	namespace := cluster.Namespace(t)
	config, err := cluster.ServiceAccount(t.Context(), namespace, "counted", editor(namespace, "counted")...)
	if err != nil {
		t.Fatal(err)
	}
	maps, user := clientOf(t, config).CoreV1().ConfigMaps(namespace), "system:serviceaccount:"+namespace+":counted"
	before, err := cluster.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	for _, name := range []string{"a", "b", "a"} { // the third is refused
		_, _ = maps.Create(t.Context(), configMap(name), metav1.CreateOptions{})
	}
	for _, do := range []func() error{
		func() error { _, err := maps.Get(t.Context(), "a", metav1.GetOptions{}); return err },
		func() error { _, err := maps.List(t.Context(), metav1.ListOptions{}); return err },
		func() error { _, err := maps.Update(t.Context(), configMap("a"), metav1.UpdateOptions{}); return err },
		func() error {
			_, err := maps.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"data":{"c":"d"}}`), metav1.PatchOptions{})
			return err
		},
		func() error {
			_, err := maps.Apply(t.Context(), corev1ac.ConfigMap("b", namespace), metav1.ApplyOptions{FieldManager: "test", Force: true})
			return err
		},
		func() error {
			_, err := maps.Apply(t.Context(), corev1ac.ConfigMap("c", namespace), metav1.ApplyOptions{FieldManager: "test", DryRun: []string{metav1.DryRunAll}})
			return err
		},
		func() error { return maps.Delete(t.Context(), "a", metav1.DeleteOptions{}) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	watch, err := maps.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()

	after, err := cluster.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	key := func(verb string, code int32) controlplane.Request {
		return controlplane.Request{User: user, Verb: verb, Resource: "configmaps", Namespace: namespace, Code: code}
	}
	dryRun := key("patch", 201)
	dryRun.DryRun = true
	want := controlplane.Requests{
		key("create", 201): 2, key("create", 409): 1, key("get", 200): 1, key("list", 200): 1, key("watch", 200): 1,
		key("update", 200): 1, key("patch", 200): 2, key("delete", 200): 1, dryRun: 1,
	}
	got := after.Since(before).By(user)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, after.Since(before).In(namespace).By(user)); diff != "" {
		t.Errorf("requests in the namespace (-want +got):\n%s", diff)
	}
	if writes := got.Writes(); writes.Total() != 7 {
		t.Errorf("there are %d writes, want 7:\n%s", writes.Total(), writes)
	}
	if again := after.Since(after); len(again) > 0 {
		t.Errorf("nothing has come since:\n%s", again)
	}
}

func TestRequestsUnderWayAreAwaited(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	namespace := cluster.Namespace(t)
	asked, answer := make(chan struct{}), make(chan struct{})
	stop, err := cluster.ServeWebhook(t.Context(), controlplane.Webhook{
		Name: "waits." + namespace, Namespace: namespace, Rules: configMapsCreated(),
		Handle: func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
			if r.Name == "slow" {
				close(asked)
				<-answer
			}
			return controlplane.Allow()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := cluster.Client().CoreV1().ConfigMaps(namespace).Create(t.Context(), configMap("slow"), metav1.CreateOptions{})
		done <- err
	}()
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := cluster.Requests(ctx); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "not answered yet") {
		t.Errorf("while a request is under way: %v, want one that names it", err)
	}
	close(answer)
	requests, err := cluster.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := controlplane.Requests{{User: "admin", Verb: "create", Resource: "configmaps", Namespace: namespace, Code: 201}: 1}
	if diff := cmp.Diff(want, requests.In(namespace).Writes().By("admin")); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if err := errors.Join(<-done, stop()); err != nil {
		t.Error(err)
	}
}

func TestImpersonatedRequestsAreCounted(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	namespace := cluster.Namespace(t)
	client := clientOf(t, cluster.Impersonate("jane-"+namespace))
	if _, err := client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("jane may do nothing, and did it")
	}
	requests, err := cluster.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := controlplane.Requests{{User: "jane-" + namespace, Verb: "list", Resource: "configmaps", Namespace: namespace, Code: 403}: 1}
	if diff := cmp.Diff(want, requests.By("jane-"+namespace)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestWritesLeaveOutWhatIsNoWrite(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, reason string
		request      controlplane.Request
		want         int
	}{
		{"object", "what everybody means", controlplane.Request{Verb: "create", Resource: "deployments.apps"}, 1},
		{"status", "a write like any other", controlplane.Request{Verb: "patch", Resource: "deployments.apps/status"}, 1},
		{"refused", "it was sent", controlplane.Request{Verb: "update", Resource: "pods", Code: 409}, 1},
		{"collection", "deletes", controlplane.Request{Verb: "deletecollection", Resource: "pods"}, 1},
		{"read", "reads", controlplane.Request{Verb: "list", Resource: "pods"}, 0},
		{"dry run", "stores nothing", controlplane.Request{Verb: "patch", Resource: "pods", DryRun: true}, 0},
		{"lease", "leader election", controlplane.Request{Verb: "update", Resource: "leases.coordination.k8s.io"}, 0},
		{"event", "news", controlplane.Request{Verb: "create", Resource: "events"}, 0},
		{"new event", "news, in the newer group", controlplane.Request{Verb: "create", Resource: "events.events.k8s.io"}, 0},
		{"access review", "a question", controlplane.Request{Verb: "create", Resource: "subjectaccessreviews.authorization.k8s.io"}, 0},
		{"token", "an answer that is stored nowhere", controlplane.Request{Verb: "create", Resource: "serviceaccounts/token"}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := (controlplane.Requests{test.request: 1}).Writes().Total(); got != test.want {
				t.Errorf("%s: %d writes, want %d", test.reason, got, test.want)
			}
		})
	}
}

func TestCountSurvivesRestart(t *testing.T) {
	t.Parallel()
	cluster := controlplane.StartForTest(t, controlplane.Options{APIServerOnly: true})
	config, err := cluster.User("counted", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	maps, server := clientOf(t, config).CoreV1().ConfigMaps(metav1.NamespaceDefault), cluster.Process(binaries.APIServer)
	for i, name := range []string{"a", "b"} {
		if _, err := maps.Create(t.Context(), configMap(name), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		requests, err := cluster.Requests(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := requests.By("counted").Writes().Total(); got != i+1 {
			t.Errorf("after %d writes, %d are counted", i+1, got)
		}
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		if _, err := cluster.Requests(t.Context()); err != nil {
			t.Errorf("while the API server is down: %v", err)
		}
		if err := server.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// editor lets a ServiceAccount do everything with the ConfigMaps of its namespace.
func editor(namespace, name string) []runtime.Object {
	meta := metav1.ObjectMeta{Name: "editor-of-configmaps", Namespace: namespace}
	return []runtime.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"*"}}}},
		&rbacv1.RoleBinding{
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: name}},
		},
	}
}
