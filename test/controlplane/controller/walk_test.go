package controller_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	k := inShared(t)
	sample := filepath.Join(repository, "config", "samples", "apps_v1alpha1_appservice.yaml")
	text, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	k.apply(string(text))
	name := strings.TrimPrefix(k.run("get", "appservices", "-o", "name"), "appservice.apps.kudevops.io/")
	k.run("wait", "--for=condition=Ready", "appservice/"+name, "--timeout=90s")
	k.shows("3/3", "deployment", name, "{.status.readyReplicas}/{.spec.replicas}")
	k.shows("NodePort 80:30080", "service", name, "{.spec.type} {.spec.ports[0].port}:{.spec.ports[0].nodePort}")
	k.parity(sample)

	// An edit of the image rolls out; one of the ports reaches the Service.
	k.run("patch", "appservice", name, "--type=merge", "-p", `{"spec": {"image": "nginx:1.29",
		"ports": [{"name": "http", "port": 8080, "targetPort": 80}, {"name": "admin", "port": 9000}], "service": {"type": "ClusterIP"}}}`)
	k.ready()
	k.shows("nginx:1.29 IfNotPresent", "deployment", name, "{.spec.template.spec.containers[0].image} {.spec.template.spec.containers[0].imagePullPolicy}")
	k.shows("3", "deployment", name, "{.status.updatedReplicas}")
	k.shows("ClusterIP 8080:80 9000:9000", "service", name, "{.spec.type} {.spec.ports[0].port}:{.spec.ports[0].targetPort} {.spec.ports[1].port}:{.spec.ports[1].targetPort}")

	uid := k.run("get", "deployment", name, "-o", "jsonpath={.metadata.uid}")
	k.run("delete", "deployment", name)
	eventually(t, func(ctx context.Context) error {
		d, err := k.cluster.Dynamic().Resource(deployments).Namespace(k.namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && string(d.GetUID()) == uid {
			return fmt.Errorf("the Deployment is still the old one")
		}
		return err
	})
	k.run("scale", "appservice", name, "--replicas=2")
	k.shows("2", "deployment", name, "{.spec.replicas}")

	// No ports, no Service.
	k.run("patch", "appservice", name, "--type=merge", "-p", `{"spec": {"ports": null}}`)
	eventually(t, func(context.Context) error { return wants(k.run("get", "services", "-o", "name"), "") })

	k.run("delete", "appservice", name)
	eventually(t, func(context.Context) error { return wants(k.run("get", "deployments,services", "-o", "name"), "") })
}

// TestEvents: there is one for what was done, which says what, and none where nothing was.
func TestEvents(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(appServiceOf("web", "replicas: 0, ports: [{port: 80}]"))
	k.ready()
	k.run("patch", "appservice", "web", "--type=merge", "-p", `{"spec": {"image": "nginx:2", "ports": null}}`)
	k.ready()
	eventually(t, func(context.Context) error {
		all := strings.Join(k.events("web"), "\n")
		for _, want := range []string{"Applied: created Service web, Deployment web", "Applied: configured Deployment web: spec.template", "Pruned: pruned Service web"} {
			if !strings.Contains(all, want) {
				return fmt.Errorf("no event says %q:\n%s", want, all)
			}
		}
		return nil
	})
	before := len(k.events("web"))
	k.run("annotate", "appservice", "web", "apps.kudevops.io/reconcile=now")
	k.shows("now", "appservice", "web", "{.status.lastHandledReconcileAt}")
	k.settled()
	if after := k.events("web"); len(after) != before {
		t.Errorf("a reconcile that changed nothing has an event: %q", after)
	}
}

// TestColumns: what `kubectl get` and `kubectl explain` show.
func TestColumns(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(appServiceOf("web", "replicas: 2, ports: [{port: 80}]"))
	k.ready()
	for _, test := range []struct {
		name   string
		args   []string
		header []string
		row    []string
	}{
		{"by the short name", []string{"get", "appsvc", "web"}, []string{"NAME", "READY", "REPLICAS", "AGE"}, []string{"web", "True", "2"}},
		{"wide", []string{"get", "appservices", "web", "-o", "wide"}, []string{"NAME", "READY", "REASON", "REPLICAS", "IMAGE", "AGE"}, []string{"web", "True", "Available", "2", "nginx:1"}},
	} {
		lines := strings.Split(k.run(test.args...), "\n")
		if got := strings.Join(strings.Fields(lines[0]), " "); got != strings.Join(test.header, " ") {
			t.Errorf("%s: the columns are %q, want %q", test.name, got, test.header)
		}
		if row := strings.Fields(lines[1]); strings.Join(row[:len(row)-1], " ") != strings.Join(test.row, " ") {
			t.Errorf("%s: the row is %q, want %q and an age", test.name, row, test.row)
		}
	}
	says(t, k.run("get", "all"), "appservice.apps.kudevops.io/web", "deployment.apps/web", "service/web")
	says(t, k.run("explain", "appservice.spec.ports"), "nodePort", "targetPort", "protocol")
}

// TestAutoscalerOfAnAppService: an HPA scales the AppService itself, by /scale.
func TestAutoscalerOfAnAppService(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(appServiceOf("web", "replicas: 1"))
	k.ready()
	k.apply(`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps.kudevops.io/v1alpha1, kind: AppService, name: web}
  minReplicas: 3
  maxReplicas: 5
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
`)
	k.shows("3", "appservice", "web", "{.spec.replicas}")
	k.shows("3 3", "deployment", "web", "{.spec.replicas} {.status.readyReplicas}")
	k.ready()
	k.shows("apps.kudevops.io/appservice=web", "appservice", "web", "{.status.selector}")
}

// shows waits until a field of an object has a value.
func (k kubectl) shows(want, kind, name, path string) {
	k.t.Helper()
	eventually(k.t, func(context.Context) error {
		got, err := k.try("get", kind, name, "-o", "jsonpath="+path)
		if err != nil {
			return err
		}
		return wants(got, want)
	})
}
