package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudevops.io/appsvc/test/controlplane"
	"kudevops.io/appsvc/test/controlplane/internal/shipped"
)

// TestFailover: of two replicas one works and the other stands by. It takes over at once
// when the first one ends in order, since that gives the lease back, and when the lease
// runs out if the first one is killed.
func TestFailover(t *testing.T) {
	t.Parallel()
	k, first := own(t, "--leader-elect", "--leader-election-namespace="+shipped.Namespace)
	e, flags := listens(t)
	second := k.manager(append(flags, "--namespaces="+k.namespace, "--leader-elect", "--leader-election-namespace="+shipped.Namespace)...)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	k.apply(appServiceOf("before", "replicas: 0, ports: [{port: 80}]"))
	k.ready()
	holder := k.holder()
	if err := second.Start(); err != nil {
		t.Fatal(err)
	}
	// It stands by with warm caches.
	eventually(t, e.isReady)
	if now := k.holder(); now != holder {
		t.Errorf("%q has taken the lease from %q", now, holder)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(first.Logs(), "panic") {
		t.Error("the end was not in order")
	}
	k.apply(appServiceOf("after", "replicas: 0, ports: [{port: 80}]"))
	k.ready()
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	if err := second.Kill(); err != nil {
		t.Fatal(err)
	}
	k.apply(appServiceOf("last", "replicas: 0, ports: [{port: 80}]"))
	k.ready()
	// Nothing was done twice.
	if writes := k.writes().Where(func(r controlplane.Request) bool { return !strings.HasPrefix(r.Resource, "appservices") }); writes.Total() != 6 {
		t.Errorf("%d writes of 6 children:\n%s", writes.Total(), writes)
	}
}

// holder is who has the lease.
func (k kubectl) holder() string {
	k.t.Helper()
	lease, err := k.cluster.Client().CoordinationV1().Leases(shipped.Namespace).Get(k.t.Context(), "appsvc-controller.apps.kudevops.io", metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		k.t.Fatalf("nobody has the lease: %v", err)
	}
	return *lease.Spec.HolderIdentity
}

// TestShards: two controllers with a selector each, and a lease each, share the work.
func TestShards(t *testing.T) {
	t.Parallel()
	cluster := bareCluster(t)
	k := kubectl{t: t, cluster: cluster, namespace: cluster.Namespace(t)}
	for _, shard := range []string{"a", "b"} {
		m := k.manager("--namespaces="+k.namespace, "--selector=shard="+shard, "--leader-elect", "--leader-election-namespace="+shipped.Namespace)
		if err := m.Start(); err != nil {
			t.Fatal(err)
		}
		k.apply(labelled("of-"+shard, "shard: "+shard))
	}
	k.apply(labelled("of-nobody", "shard: c"))
	for _, name := range []string{"of-a", "of-b"} {
		k.reaches(name, metav1.ConditionTrue, "")
	}
	leases, err := cluster.Client().CoordinationV1().Leases(shipped.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	of := 0
	for _, lease := range leases.Items {
		if strings.HasPrefix(lease.Name, "appsvc-controller-") {
			of++
		}
	}
	if of != 2 {
		t.Errorf("%d leases of shards, want 2", of)
	}
	// One that changes hands keeps its children.
	uid := k.run("get", "deployment", "of-a", "-o", "jsonpath={.metadata.uid}")
	k.run("label", "--overwrite", "appservice", "of-a", "shard=b")
	k.run("patch", "appservice", "of-a", "--type=merge", "-p", `{"spec": {"image": "nginx:2"}}`)
	k.shows("nginx:2", "deployment", "of-a", "{.spec.template.spec.containers[0].image}")
	k.shows(uid, "deployment", "of-a", "{.metadata.uid}")
	k.settled()
	if got := k.run("get", "deployments", "-o", "name"); strings.Contains(got, "of-nobody") || strings.Count(got, "of-") != 2 {
		t.Errorf("there are %q", got)
	}
}

func labelled(name, labels string) string {
	return fmt.Sprintf("{apiVersion: apps.kudevops.io/v1alpha1, kind: AppService, metadata: {name: %s, labels: {%s}}, spec: {image: 'nginx:1', replicas: 0, ports: [{port: 80}]}}", name, labels)
}

// TestOtherNamespaces: a controller for one namespace neither reads nor writes in another.
func TestOtherNamespaces(t *testing.T) {
	t.Parallel()
	k, m := own(t)
	other := kubectl{t: t, cluster: k.cluster, namespace: k.cluster.Namespace(t)}
	other.apply(appServiceOf("web", "replicas: 0, ports: [{port: 80}]"))
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	k.apply(appServiceOf("web", "replicas: 0, ports: [{port: 80}]"))
	k.ready()
	if got := other.run("get", "deployments,services", "-o", "name"); got != "" {
		t.Errorf("in the other namespace there are %q", got)
	}
	requests, err := k.cluster.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if foreign := requests.By(user).In(other.namespace); foreign.Total() > 0 {
		t.Errorf("requests for the other namespace:\n%s", foreign)
	}
}

// TestNoSecret: the controller may not read a Secret, and does not ask for one.
func TestNoSecret(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(appServiceOf("web", `env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}], replicas: 1, ports: [{port: 80}]`))
	k.ready()
	for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete"} {
		if answer, err := k.try("auth", "can-i", verb, "secrets", "--as="+user); err == nil {
			t.Errorf("may the controller %s Secrets? %s", verb, answer)
		}
	}
	requests, err := k.cluster.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if secrets := requests.By(user).Where(func(r controlplane.Request) bool { return strings.HasPrefix(r.Resource, "secrets") }); secrets.Total() > 0 {
		t.Errorf("requests for Secrets:\n%s", secrets)
	}
	if all := requests.By(user); all.Total() == 0 {
		t.Error("the controller is not in the audit log")
	}
}

// TestAccessIsEnough: in the whole of the controller's life nothing was forbidden to it.
func TestAccessIsEnough(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.create(repository + "/examples/complete/shop.yaml")
	k.ready()
	eventually(t, func(context.Context) error {
		if len(k.events("shop")) == 0 {
			return errors.New("no event yet")
		}
		return nil
	})
	requests, err := k.cluster.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	forbidden := requests.By(user).In(k.namespace).Where(func(r controlplane.Request) bool { return r.Code == 403 })
	if forbidden.Total() > 0 {
		t.Errorf("forbidden:\n%s", forbidden)
	}
}
