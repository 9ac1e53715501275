package controller_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudevops.io/appsvc/test/controlplane"
)

// TestWritesOfANewAppService: with no replicas, from nothing to Ready takes two children
// and at most two reports.
func TestWritesOfANewAppService(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(`{apiVersion: apps.kudevops.io/v1alpha1, kind: AppService, metadata: {name: web}, spec: {image: "nginx:1", replicas: 0, ports: [{port: 80}]}}`)
	k.run("wait", "--for=condition=Ready", "appservice/web", "--timeout=90s")
	if message := k.run("get", "appservice", "web", "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].message}`); message != "scaled to zero" {
		t.Errorf("Ready says %q", message)
	}
	if writes := k.writes(); writes.Total() > 4 {
		t.Errorf("%d writes, want at most 4:\n%s", writes.Total(), writes)
	}
}

// TestReconcileOnRequest: a new value of the annotation is one report and nothing else.
func TestReconcileOnRequest(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	for i := range 5 {
		k.apply(appServiceOf(fmt.Sprint("web-", i), "replicas: 0, ports: [{port: 80}]"))
	}
	k.run("wait", "--for=condition=Ready", "appservice", "--all", "--timeout=90s")
	before := k.writes()
	k.run("annotate", "appservice", "--all", "apps.kudevops.io/reconcile=now")
	eventually(t, func(context.Context) error {
		return wants(k.run("get", "appservice", "-o", "jsonpath={.items[*].status.lastHandledReconcileAt}"), "now now now now now")
	})
	writes := k.writes().Since(before)
	if writes.Total() != 5 {
		t.Errorf("%d writes, want one for each of 5:\n%s", writes.Total(), writes)
	}
	for request := range writes {
		if request.Resource != "appservices.apps.kudevops.io/status" {
			t.Errorf("a write of %s", request.Resource)
		}
	}
}

// TestForeignChangesStay: what others add costs nothing, and what they change of ours is
// put right with one write each.
func TestForeignChangesStay(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(appServiceOf("web", "replicas: 0, ports: [{port: 80}]"))
	k.run("wait", "--for=condition=Ready", "appservice/web", "--timeout=90s")
	for _, step := range []struct {
		name   string
		edit   []string
		writes int
		check  []string
		want   string
	}{
		{"a label of another", []string{"label", "deployment", "web", "team=a"}, 0,
			[]string{"get", "deployment", "web", "-o", "jsonpath={.metadata.labels.team}"}, "a"},
		{"a changed field of ours", []string{"set", "image", "deployment/web", "app=other"}, 1,
			[]string{"get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image}"}, "nginx:1"},
		{"a removed label of ours", []string{"label", "service", "web", "app.kubernetes.io/managed-by-"}, 1,
			[]string{"get", "service", "web", "-o", `jsonpath={.metadata.labels.app\.kubernetes\.io/managed-by}`}, "appsvc"},
		{"a deleted child", []string{"delete", "service", "web"}, 1,
			[]string{"get", "service", "web", "-o", "jsonpath={.metadata.name}", "--ignore-not-found"}, "web"},
	} {
		before := k.writes()
		k.run(step.edit...)
		eventually(t, func(context.Context) error { return wants(k.run(step.check...), step.want) })
		k.settled()
		writes := k.writes().Since(before).Where(func(r controlplane.Request) bool { return !strings.HasPrefix(r.Resource, "appservices") })
		if writes.Total() != step.writes {
			t.Errorf("%s: %d writes, want %d:\n%s", step.name, writes.Total(), step.writes, writes)
		}
	}
}

// TestRestartWritesNothing: with a hundred AppServices that are as they should be, a
// controller that starts anew reads, and writes nothing, whether the one before ended in
// order or not. Until then no resource version moves.
func TestRestartWritesNothing(t *testing.T) {
	t.Parallel()
	e, flags := listens(t)
	k, m := own(t, flags...)
	const apps = 100
	var manifests strings.Builder
	for i := range apps {
		fmt.Fprintf(&manifests, "%s\n---\n", appServiceOf(fmt.Sprintf("web-%d", i), various[i%len(various)]))
	}
	k.apply(manifests.String())
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	k.ready()
	k.settled()
	before, err := k.objects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	writes := k.writes()
	for _, end := range []struct {
		name string
		how  func() error
	}{{"killed", m.Kill}, {"stopped", m.Stop}} {
		if err := end.how(); err != nil {
			t.Fatal(err)
		}
		if err := m.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, func(ctx context.Context) error { return e.handled(ctx, apps) })
		if more := k.writes().Since(writes); more.Total() > 0 {
			t.Errorf("after it was %s, the controller wrote:\n%s", end.name, more)
		}
	}
	after, err := k.objects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("objects have changed (-before +after):\n%s", d)
	}
}

// various are specs of AppServices of several shapes, nearly all without pods: it is about
// objects.
var various = []string{
	"replicas: 0, ports: [{port: 80}]",
	"replicas: 0",
	"replicas: 0, ports: [{name: a, port: 80}, {name: b, port: 53, protocol: UDP}], env: [{name: A, value: b}]",
	"replicas: 0, files: {/etc/a: b}, serviceAccount: {create: true}",
	"autoscaling: {maxReplicas: 3, cpu: 80}, resources: {requests: {cpu: 100m}}, ports: [{port: 80}]",
	"replicas: 0, driftPolicy: Warn, ports: [{port: 80}], networkPolicy: {}, disruptionBudget: {minAvailable: 1}",
}

// handled complains until a controller has handled so many AppServices since its start,
// and has nothing left to do.
func (e endpoint) handled(ctx context.Context, apps int) error {
	if err := e.isReady(ctx); err != nil {
		return err
	}
	reconciled, err := e.value(ctx, "controller_runtime_reconcile_total", "")
	if err != nil {
		return err
	}
	known, err := e.value(ctx, "appsvc_appservices", "")
	if err != nil {
		return err
	}
	waiting, err := e.value(ctx, "workqueue_depth", "")
	if err != nil {
		return err
	}
	working, err := e.value(ctx, "controller_runtime_active_workers", "")
	if err != nil {
		return err
	}
	if int(reconciled) < apps || int(known) < apps || waiting+working > 0 {
		return fmt.Errorf("%v reconciles of %v AppServices; %v wait, %v under way", reconciled, known, waiting, working)
	}
	return nil
}

// appServiceOf gives an AppService as a manifest.
func appServiceOf(name, spec string) string {
	return fmt.Sprintf("{apiVersion: apps.kudevops.io/v1alpha1, kind: AppService, metadata: {name: %s}, spec: {image: 'nginx:1', %s}}", name, spec)
}

// writes are those of the controller in the namespace.
func (k kubectl) writes() controlplane.Requests {
	k.t.Helper()
	requests, err := k.cluster.Requests(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	return requests.By(user).In(k.namespace).Writes()
}

// settled waits until nothing of ours in the namespace has changed for a second.
func (k kubectl) settled() {
	k.t.Helper()
	last, since := map[string]string{}, time.Now()
	eventually(k.t, func(ctx context.Context) error {
		now, err := k.versions(ctx)
		if err != nil {
			return err
		}
		if d := cmp.Diff(last, now); d != "" {
			last, since = now, time.Now()
			return fmt.Errorf("resource versions move:\n%s", d)
		}
		if time.Since(since) < time.Second {
			return fmt.Errorf("not yet for a second")
		}
		return nil
	})
}

// versions are the resource versions of the AppServices and their children.
func (k kubectl) versions(ctx context.Context) (map[string]string, error) {
	objects, err := k.objects(ctx)
	out := make(map[string]string, len(objects))
	for name, object := range objects {
		out[name] = object.GetResourceVersion()
	}
	return out, err
}

// objects are the AppServices and their children, by kind and name.
func (k kubectl) objects(ctx context.Context) (map[string]*unstructured.Unstructured, error) {
	out := map[string]*unstructured.Unstructured{}
	for _, resource := range kinds {
		list, err := k.cluster.Dynamic().Resource(resource).Namespace(k.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			object := &list.Items[i]
			out[object.GetKind()+"/"+object.GetName()] = object
		}
	}
	return out, nil
}
