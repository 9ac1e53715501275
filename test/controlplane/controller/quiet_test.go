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
	cluster := started(t)
	defer logsOnFailure(t)
	k := kubectl{t: t, cluster: cluster, namespace: cluster.Namespace(t)}
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
	cluster := started(t)
	defer logsOnFailure(t)
	k := kubectl{t: t, cluster: cluster, namespace: cluster.Namespace(t)}
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
	cluster := started(t)
	defer logsOnFailure(t)
	k := kubectl{t: t, cluster: cluster, namespace: cluster.Namespace(t)}
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
	out := map[string]string{}
	for _, resource := range kinds {
		list, err := k.cluster.Dynamic().Resource(resource).Namespace(k.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			out[nameOf(&item)] = item.GetResourceVersion()
		}
	}
	return out, nil
}

func nameOf(u *unstructured.Unstructured) string { return u.GetKind() + "/" + u.GetName() }
