package controller_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/test/controlplane"
)

// TestRecreatedUnderTheSameName: children of the deleted AppService are waited for, never
// taken over, and then made anew.
func TestRecreatedUnderTheSameName(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	manifest := appServiceOf("web", "replicas: 0, ports: [{port: 80}]")
	k.apply(manifest)
	k.ready()
	for range 5 {
		old := k.run("get", "appservice", "web", "-o", "jsonpath={.metadata.uid}")
		k.run("delete", "appservice", "web")
		k.apply(manifest)
		app := k.reaches("web", metav1.ConditionTrue, v1alpha1.ReasonScaledToZero)
		if string(app.UID) == old {
			t.Fatal("it is the old one")
		}
		for _, kind := range []string{"deployment", "service"} {
			k.shows(string(app.UID), kind, "web", "{.metadata.ownerReferences[*].uid}")
		}
	}
	// Nothing of the new ones is taken away by the garbage collector's late work.
	k.settled()
	k.shows("web", "deployment", "web", "{.metadata.name}")
	k.shows("web", "service", "web", "{.metadata.name}")
}

// TestForegroundDeletion: the children go first, and are not made again meanwhile.
func TestForegroundDeletion(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(appServiceOf("web", "replicas: 2, ports: [{port: 80}]"))
	k.ready()
	writes := k.writes()
	k.run("delete", "appservice", "web", "--cascade=foreground", "--timeout=90s")
	if got := k.run("get", "deployments,services", "-o", "name"); got != "" {
		t.Errorf("there are still %q", got)
	}
	created := k.writes().Since(writes).Where(func(r controlplane.Request) bool { return !strings.HasPrefix(r.Resource, "appservices") })
	if created.Total() > 0 {
		t.Errorf("children were written to meanwhile:\n%s", created)
	}
}

// TestOrphanDeletion: the children stay as they are. An AppService of the same name may
// take them over, if it says so.
func TestOrphanDeletion(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	manifest := appServiceOf("web", "replicas: 0, ports: [{port: 80}]")
	k.apply(manifest)
	k.ready()
	uid := k.run("get", "deployment", "web", "-o", "jsonpath={.metadata.uid}")
	k.run("delete", "appservice", "web", "--cascade=orphan", "--timeout=90s")
	k.settled()
	k.shows(uid+"=", "deployment", "web", "{.metadata.uid}={.metadata.ownerReferences}")

	k.apply(manifest)
	k.reaches("web", metav1.ConditionFalse, v1alpha1.ReasonForeignOwner)
	k.run("annotate", "appservice", "web", v1alpha1.AdoptAnnotation+"=true")
	app := k.reaches("web", metav1.ConditionTrue, v1alpha1.ReasonScaledToZero)
	k.shows(uid+" "+string(app.UID), "deployment", "web", "{.metadata.uid} {.metadata.ownerReferences[*].uid}")
}

// TestSuspend: nothing is applied, corrected or pruned until it is taken back.
func TestSuspend(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(appServiceOf("web", "replicas: 0, ports: [{port: 80}]"))
	k.ready()
	k.apply(appServiceOf("web", "suspend: true, replicas: 0, env: [{name: A, value: b}]"))
	k.reaches("web", metav1.ConditionUnknown, v1alpha1.ReasonSuspended)
	k.run("set", "image", "deployment/web", "app=other")
	k.run("delete", "service", "web")
	k.settled()
	if got := k.run("get", "services", "-o", "name"); got != "" {
		t.Errorf("there are %q", got)
	}
	k.shows("other", "deployment", "web", "{.spec.template.spec.containers[*].image}{.spec.template.spec.containers[*].env}")

	k.apply(appServiceOf("web", "replicas: 0, ports: [{port: 80}], env: [{name: A, value: b}]"))
	k.reaches("web", metav1.ConditionTrue, v1alpha1.ReasonScaledToZero)
	k.shows("nginx:1 A", "deployment", "web", "{.spec.template.spec.containers[*].image} {.spec.template.spec.containers[*].env[*].name}")
	k.shows("80", "service", "web", "{.spec.ports[*].port}")
}

// TestDriftPolicyWarn: what differs is said and left, a child that is gone too, until what
// is rendered is something new.
func TestDriftPolicyWarn(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(appServiceOf("web", "driftPolicy: Warn, replicas: 0, ports: [{port: 80}]"))
	k.ready()
	if c := condition(k.app("web"), v1alpha1.ConditionDrifted); c.Type != "" {
		t.Errorf("Drifted from the start: %v", c)
	}
	k.run("set", "image", "deployment/web", "app=other")
	k.run("delete", "service", "web")
	eventually(t, func(context.Context) error {
		c := condition(k.app("web"), v1alpha1.ConditionDrifted)
		for _, want := range []string{"Deployment web: spec.template.spec.containers[name=app].image", "kubectl-set", "Service web is missing"} {
			if !strings.Contains(c.Message, want) {
				return fmt.Errorf("%q does not say %q", c.Message, want)
			}
		}
		return nil
	})
	k.settled()
	if got := k.run("get", "services", "-o", "name"); got != "" {
		t.Errorf("there are %q", got)
	}
	k.shows("other", "deployment", "web", "{.spec.template.spec.containers[*].image}")
	// Nor does a request to look again correct it.
	k.run("annotate", "appservice", "web", v1alpha1.ReconcileAnnotation+"=now")
	k.shows("now", "appservice", "web", "{.status.lastHandledReconcileAt}")
	k.shows("other", "deployment", "web", "{.spec.template.spec.containers[*].image}")

	k.run("patch", "appservice", "web", "--type=merge", "-p", `{"spec": {"podLabels": {"a": "b"}}}`)
	k.shows("nginx:1 b", "deployment", "web", "{.spec.template.spec.containers[*].image} {.spec.template.metadata.labels.a}")
	k.shows("80", "service", "web", "{.spec.ports[*].port}")
	eventually(t, func(context.Context) error {
		if c := condition(k.app("web"), v1alpha1.ConditionDrifted); c.Type != "" {
			return fmt.Errorf("Drifted is still there: %s", c.Message)
		}
		return nil
	})

	// Under Correct it is put right at once.
	k.run("set", "image", "deployment/web", "app=other")
	eventually(t, func(context.Context) error {
		return wants(string(condition(k.app("web"), v1alpha1.ConditionDrifted).Status), "True")
	})
	k.run("patch", "appservice", "web", "--type=merge", "-p", `{"spec": {"driftPolicy": "Correct"}}`)
	k.shows("nginx:1", "deployment", "web", "{.spec.template.spec.containers[*].image}")
	app := k.reaches("web", metav1.ConditionTrue, "")
	if c := condition(app, v1alpha1.ConditionDrifted); c.Type != "" {
		t.Errorf("Drifted is still there: %s", c.Message)
	}
}

// TestStuckRollout: pods of the rollout before are healthy, and the AppService is not
// Ready all the same. A rollout that works ends that.
func TestStuckRollout(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(appServiceOf("web", "replicas: 2, progressDeadlineSeconds: 2, ports: [{port: 80}]"))
	k.ready()
	k.run("patch", "appservice", "web", "--type=merge", "-p", `{"spec": {"nodeSelector": {"no": "such-node"}}}`)
	app := k.reaches("web", metav1.ConditionFalse, v1alpha1.ReasonProgressDeadlineExceeded)
	says(t, condition(app, v1alpha1.ConditionStalled).Message, "of 2 replicas are up to date")
	if app.Status.ReadyReplicas != 2 {
		t.Errorf("%d pods are ready, want the 2 of before", app.Status.ReadyReplicas)
	}
	k.run("patch", "appservice", "web", "--type=merge", "-p", `{"spec": {"nodeSelector": null}}`)
	app = k.reaches("web", metav1.ConditionTrue, v1alpha1.ReasonAvailable)
	if c := condition(app, v1alpha1.ConditionStalled); c.Type != "" {
		t.Errorf("Stalled is still there: %v", c)
	}
}

// TestRestartByKubectl: a restart that a person asks for is none of ours to take back.
func TestRestartByKubectl(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(appServiceOf("web", "replicas: 1, ports: [{port: 80}]"))
	k.ready()
	k.run("rollout", "restart", "deployment/web")
	k.run("rollout", "status", "deployment/web", "--timeout=90s")
	k.run("patch", "appservice", "web", "--type=merge", "-p", `{"spec": {"image": "nginx:2"}}`)
	k.ready()
	if at := k.run("get", "deployment", "web", "-o", `jsonpath={.spec.template.metadata.annotations.kubectl\.kubernetes\.io/restartedAt}`); at == "" {
		t.Error("the restart was taken back")
	}
}

// TestReplicasOfNobody: an AppService without replicas leaves the number to whoever sets
// it, also when it had one before.
func TestReplicasOfNobody(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(appServiceOf("web", "replicas: 3"))
	k.ready()
	k.run("patch", "appservice", "web", "--type=json", "-p", `[{"op": "remove", "path": "/spec/replicas"}]`)
	k.ready()
	k.settled()
	k.shows("3", "deployment", "web", "{.spec.replicas}")
	k.run("scale", "deployment", "web", "--replicas=5")
	k.shows("5", "deployment", "web", "{.status.readyReplicas}")
	k.ready()
	k.settled()
	k.shows("5", "deployment", "web", "{.spec.replicas}")
	k.shows("5", "appservice", "web", "{.status.replicas}")
}

// TestConditionOfAnotherTool: conditions are keyed by their type, so that several tools can
// have some. One of another tool's stays, and costs nothing.
func TestConditionOfAnotherTool(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(appServiceOf("web", "replicas: 0, ports: [{port: 80}]"))
	k.ready()
	k.input(`{apiVersion: apps.kudevops.io/v1alpha1, kind: AppService, metadata: {name: web}, status: {conditions: [
		{type: Promoted, status: "True", reason: Done, message: "", lastTransitionTime: "2030-01-01T00:00:00Z"}]}}`,
		"apply", "--server-side", "--subresource=status", "--field-manager=other", "-f", "-")
	k.run("patch", "appservice", "web", "--type=merge", "-p", `{"spec": {"image": "nginx:2"}}`)
	k.ready()
	k.settled()
	before := k.writes()
	// Looked at once more for a change of a child that makes no difference.
	k.run("annotate", "service", "web", "a=b")
	k.run("label", "deployment", "web", "a=b")
	k.settled()
	if more := k.writes().Since(before); more.Total() > 0 {
		t.Errorf("it costs\n%s", more)
	}
	if c := condition(k.app("web"), "Promoted"); c.Status != metav1.ConditionTrue {
		t.Errorf("the condition is gone: %v", k.app("web").Status.Conditions)
	}
}
