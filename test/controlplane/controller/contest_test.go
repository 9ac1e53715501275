package controller_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/test/controlplane"
)

// TestWebhookThatRewrites: a webhook that gives every Deployment another image than ours
// costs one apply, and no loop.
func TestWebhookThatRewrites(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	stop, err := k.cluster.ServeWebhook(t.Context(), controlplane.Webhook{
		Name: "rewrites", Mutating: true, Namespace: k.namespace, Rules: writesOf("apps", "deployments"),
		Handle: func(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
			if !bytes.Contains(request.Object.Raw, []byte(`"nginx:`)) {
				return controlplane.Allow()
			}
			return controlplane.Patch(`[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "mirror/nginx:1"}]`)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop() //nolint:errcheck // the cluster ends it too
	k.apply(appServiceOf("web", "replicas: 1, ports: [{port: 80}]"))
	k.ready()
	k.settled()
	k.shows("mirror/nginx:1", "deployment", "web", "{.spec.template.spec.containers[0].image}")
	if n := k.applied("deployments.apps"); n > 5 {
		t.Errorf("%d applies of the Deployment", n)
	}
	// Each change of the Deployment by somebody else leads to another apply, until it is
	// clear that this changes nothing.
	for i := range 7 {
		k.run("annotate", "--overwrite", "deployment", "web", fmt.Sprintf("round=%d", i))
		k.settled()
	}
	before := k.applied("deployments.apps")
	app := k.reaches("web", metav1.ConditionTrue, "")
	says(t, condition(app, v1alpha1.ConditionContested).Message, "Deployment web", "spec.template.spec.containers[name=app].image")
	for i := range 3 {
		k.run("annotate", "--overwrite", "deployment", "web", fmt.Sprintf("again=%d", i))
		k.settled()
	}
	if more := k.applied("deployments.apps") - before; more > 0 {
		t.Errorf("%d more applies of what is contested", more)
	}
	// A new image is applied again.
	k.run("patch", "appservice", "web", "--type=merge", "-p", `{"spec": {"image": "httpd:2"}}`)
	k.shows("httpd:2", "deployment", "web", "{.spec.template.spec.containers[0].image}")
	app = k.reaches("web", metav1.ConditionTrue, "")
	if c := condition(app, v1alpha1.ConditionContested); c.Type != "" {
		t.Errorf("Contested is still there: %v", c)
	}
}

// applied is how often the controller has written objects of a resource in the namespace.
func (k kubectl) applied(resource string) int {
	k.t.Helper()
	return k.writes().Where(func(r controlplane.Request) bool { return r.Resource == resource }).Total()
}

// TestControllerThatFights: another controller that forces a field back each time gets it,
// and is named.
func TestControllerThatFights(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(appServiceOf("web", "replicas: 0, ports: [{port: 80}], service: {sessionAffinity: None}"))
	k.ready()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int)
	go func() { done <- k.fight(ctx) }()
	defer cancel()
	eventually(t, func(context.Context) error {
		if c := condition(k.app("web"), v1alpha1.ConditionContested); c.Status != metav1.ConditionTrue {
			return fmt.Errorf("Contested is %q", c.Status)
		}
		return nil
	})
	says(t, condition(k.app("web"), v1alpha1.ConditionContested).Message, "Service web", "spec.sessionAffinity", "other-controller")
	before := k.applied("services")
	k.settled()
	cancel()
	if rounds := <-done; rounds == 0 {
		t.Error("the other controller has not fought")
	}
	k.settled()
	if more := k.applied("services") - before; more > 0 {
		t.Errorf("%d more applies of what is contested", more)
	}
	if before > 10 {
		t.Errorf("it took %d applies to give in", before)
	}
	k.shows("ClientIP", "service", "web", "{.spec.sessionAffinity}")
	// When the spec changes, there is another attempt.
	k.run("patch", "appservice", "web", "--type=merge", "-p", `{"spec": {"podLabels": {"a": "b"}}}`)
	k.shows("None", "service", "web", "{.spec.sessionAffinity}")
	app := k.reaches("web", metav1.ConditionTrue, "")
	if c := condition(app, v1alpha1.ConditionContested); c.Type != "" {
		t.Errorf("Contested is still there: %v", c)
	}
}

// fight sets a field as often as it is another one, and counts.
func (k kubectl) fight(ctx context.Context) int {
	rounds := 0
	client := k.cluster.Client().CoreV1().Services(k.namespace)
	for ctx.Err() == nil {
		service, err := client.Get(ctx, "web", metav1.GetOptions{})
		if err == nil && service.Spec.SessionAffinity != "ClientIP" {
			rounds++
			_, err = client.Patch(ctx, "web", types.ApplyPatchType, []byte(`{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"sessionAffinity": "ClientIP"}}`),
				metav1.PatchOptions{FieldManager: "other-controller", Force: new(true)})
		}
		if err != nil && ctx.Err() == nil {
			k.t.Error(err)
			return rounds
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	return rounds
}
