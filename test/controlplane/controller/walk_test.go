package controller_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kudevops.io/appsvc/test/controlplane"
)

var (
	appServices = schema.GroupVersionResource{Group: "apps.kudevops.io", Version: "v1alpha1", Resource: "appservices"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	services    = schema.GroupVersionResource{Version: "v1", Resource: "services"}

	// kinds are AppServices and what most of them have.
	kinds = []schema.GroupVersionResource{appServices, deployments, services}
)

// TestWalk is the walk of the tutorial, with kubectl, as people take it.
func TestWalk(t *testing.T) {
	t.Parallel()
	cluster := started(t)
	ns := cluster.Namespace(t)
	k := kubectl{t: t, cluster: cluster, namespace: ns}
	defer logsOnFailure(t)

	sample, err := os.ReadFile(filepath.Join(repository, "config", "samples", "apps_v1alpha1_appservice.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	k.apply(string(sample))
	name := strings.TrimPrefix(k.run("get", "appservices", "-o", "name"), "appservice.apps.kudevops.io/")
	k.run("wait", "--for=condition=Ready", "appservice/"+name, "--timeout=90s")
	if got := k.run("get", "deployment", name, "-o", "jsonpath={.status.readyReplicas}/{.spec.replicas}"); got != "3/3" {
		t.Errorf("the Deployment has %s ready, want 3/3", got)
	}
	if got := k.run("get", "service", name, "-o", "jsonpath={.spec.type} {.spec.ports[0].port}:{.spec.ports[0].nodePort}"); got != "NodePort 80:30080" {
		t.Errorf("the Service is %s, want NodePort 80:30080", got)
	}
	if table := k.run("get", "appsvc", name); !strings.Contains(table, "True") {
		t.Errorf("kubectl get shows no Ready:\n%s", table)
	}

	uid := k.run("get", "deployment", name, "-o", "jsonpath={.metadata.uid}")
	k.run("delete", "deployment", name)
	eventually(t, func(ctx context.Context) error {
		d, err := cluster.Dynamic().Resource(deployments).Namespace(ns).Get(ctx, name, metav1.GetOptions{})
		if err == nil && string(d.GetUID()) == uid {
			return fmt.Errorf("the Deployment is still the old one")
		}
		return err
	})
	k.run("scale", "appservice", name, "--replicas=2")
	eventually(t, func(ctx context.Context) error {
		return wants(k.run("get", "deployment", name, "-o", "jsonpath={.spec.replicas}"), "2")
	})

	k.run("delete", "appservice", name)
	eventually(t, func(context.Context) error { return wants(k.run("get", "deployments,services", "-o", "name"), "") })
}

func wants(got, want string) error {
	if got != want {
		return fmt.Errorf("got %q, want %q", got, want)
	}
	return nil
}

// kubectl runs the cluster's kubectl in a namespace, as admin.
type kubectl struct {
	t         *testing.T
	cluster   *controlplane.Cluster
	namespace string
}

func (k kubectl) run(args ...string) string {
	k.t.Helper()
	return k.input("", args...)
}

func (k kubectl) apply(manifests string) {
	k.t.Helper()
	k.input(manifests, "apply", "-f", "-")
}

func (k kubectl) input(stdin string, args ...string) string {
	k.t.Helper()
	cmd := k.cluster.Kubectl(k.t.Context(), append([]string{"-n", k.namespace}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		k.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// eventually waits until check has no complaint; it gives up when something that
// takes a second on an idle machine has not happened after two minutes.
func eventually(t *testing.T, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("still after two minutes: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
