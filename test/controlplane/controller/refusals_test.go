package controller_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/apply"
	"kudevops.io/appsvc/test/controlplane"
)

// TestBrokenSpec: what the CRD lets through and cannot be rendered is reported with the
// field, changes no child, and is not tried again.
func TestBrokenSpec(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(appServiceOf("web", "replicas: 0, ports: [{port: 80}]"))
	k.ready()
	k.settled()
	before := k.run("get", "deployments,services", "-o", "jsonpath={.items[*].metadata.resourceVersion}")
	writes := k.writes()
	k.apply(appServiceOf("web", `replicas: 0, ports: [{port: 81, targetPort: nowhere}], env: [{name: "A=B", value: x}]`))
	app := k.reaches("web", metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec)
	says(t, condition(app, v1alpha1.ConditionStalled).Message, "spec.env[0].name", "spec.ports[0].targetPort")
	k.settled()
	if after := k.run("get", "deployments,services", "-o", "jsonpath={.items[*].metadata.resourceVersion}"); after != before {
		t.Error("a child was changed")
	}
	if more := k.writes().Since(writes); more.Total() != 1 {
		t.Errorf("%d writes, want one report:\n%s", more.Total(), more)
	}
	says(t, strings.Join(k.events("web"), "\n"), "InvalidSpec: spec")

	k.apply(appServiceOf("web", "replicas: 0, ports: [{port: 80}]"))
	app = k.reaches("web", metav1.ConditionTrue, v1alpha1.ReasonScaledToZero)
	if c := condition(app, v1alpha1.ConditionStalled); c.Type != "" {
		t.Errorf("Stalled is still there: %v", c)
	}
}

// TestIgnoreRulesThatCannotBeRead: a broken annotation is a broken spec.
func TestIgnoreRulesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(appServiceOf("web", "replicas: 0"))
	k.ready()
	k.run("annotate", "appservice", "web", v1alpha1.IgnoreDifferencesAnnotation+"=- no rule")
	eventually(t, func(context.Context) error {
		return stands(k.app("web"), metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec)
	})
	says(t, condition(k.app("web"), v1alpha1.ConditionReady).Message, v1alpha1.IgnoreDifferencesAnnotation)
}

// TestForeignObject: an object of a child's name that was made by somebody else is left
// alone until it may be taken over.
func TestForeignObject(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(`{apiVersion: v1, kind: Service, metadata: {name: web, labels: {app.kubernetes.io/managed-by: appsvc}}, spec: {selector: {app: other}, ports: [{port: 9}]}}`)
	before := k.run("get", "service", "web", "-o", "jsonpath={.metadata.resourceVersion} {.metadata.uid}")
	k.apply(appServiceOf("web", "replicas: 0, ports: [{port: 80}]"))
	app := k.reaches("web", metav1.ConditionFalse, v1alpha1.ReasonForeignOwner)
	says(t, condition(app, v1alpha1.ConditionStalled).Message, "Service", "web", v1alpha1.AdoptAnnotation)
	k.settled()
	if after := k.run("get", "service", "web", "-o", "jsonpath={.metadata.resourceVersion} {.metadata.uid}"); after != before {
		t.Error("the foreign object was touched")
	}
	// The other children are there.
	k.shows("0", "deployment", "web", "{.spec.replicas}")

	k.run("annotate", "appservice", "web", v1alpha1.AdoptAnnotation+"=true")
	k.reaches("web", metav1.ConditionTrue, v1alpha1.ReasonScaledToZero)
	if uid := k.run("get", "service", "web", "-o", "jsonpath={.metadata.uid}"); !strings.HasSuffix(before, uid) {
		t.Error("it was made anew instead of taken over")
	}
	k.shows("80", "service", "web", "{.spec.ports[*].port}")
	k.run("delete", "appservice", "web")
	eventually(t, func(context.Context) error { return wants(k.run("get", "services", "-o", "name"), "") })
}

// TestObjectOfAnotherController: it is left alone, whatever the annotation says.
func TestObjectOfAnotherController(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: owner}}`)
	uid := k.run("get", "configmap", "owner", "-o", "jsonpath={.metadata.uid}")
	k.apply(fmt.Sprintf(`{apiVersion: v1, kind: Service, metadata: {name: web, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: %s, controller: true}]}, spec: {ports: [{port: 9}]}}`, uid))
	k.apply(appServiceOf("web", "replicas: 0, ports: [{port: 80}]"))
	k.run("annotate", "appservice", "web", v1alpha1.AdoptAnnotation+"=true")
	app := k.reaches("web", metav1.ConditionFalse, v1alpha1.ReasonForeignOwner)
	says(t, condition(app, v1alpha1.ConditionStalled).Message, "ConfigMap owner")
	k.shows("9", "service", "web", "{.spec.ports[*].port}")
}

// TestQuota: what does not fit is said, and done when there is room.
func TestQuota(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(`{apiVersion: v1, kind: ResourceQuota, metadata: {name: small}, spec: {hard: {count/services: "1", count/deployments.apps: "2"}}}`)
	k.shows("1", "resourcequota", "small", `{.status.hard.count/services}`)
	k.apply(appServiceOf("first", "replicas: 0, ports: [{port: 80}]"))
	k.reaches("first", metav1.ConditionTrue, "")
	k.apply(appServiceOf("second", "replicas: 0, ports: [{port: 80}]"))
	app := k.reaches("second", metav1.ConditionFalse, string(apply.ReasonQuota))
	says(t, condition(app, v1alpha1.ConditionReady).Message, "Service", "second", "ResourceQuota small")
	if c := condition(app, v1alpha1.ConditionReconciling); c.Type == "" {
		t.Error("it is worth repeating, and Reconciling is not there")
	}
	k.bounded("services")
	k.run("delete", "resourcequota", "small")
	k.run("annotate", "appservice", "second", v1alpha1.ReconcileAnnotation+"=now")
	k.reaches("second", metav1.ConditionTrue, v1alpha1.ReasonScaledToZero)
}

// bounded holds attempts at what keeps failing to what the backoff allows: the first
// minute has at most ten, beginning at a tenth of a second and doubling.
func (k kubectl) bounded(resource string) {
	k.t.Helper()
	const most = 10
	refused := k.writes().Where(func(r controlplane.Request) bool { return r.Resource == resource && r.Code >= 400 })
	if n := refused.Total(); n == 0 || n > most {
		k.t.Errorf("%d attempts within a minute, want 1 to %d:\n%s", n, most, refused)
	}
	// The condition has one text, so that it is written once.
	if reports := k.writes().Where(func(r controlplane.Request) bool { return strings.HasPrefix(r.Resource, "appservices") }); reports.Total() > 6 {
		k.t.Errorf("%d reports:\n%s", reports.Total(), reports)
	}
}

// TestWebhookThatIsDown: it is named, and everything is put right when it is back.
func TestWebhookThatIsDown(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	stop, err := k.cluster.ServeWebhook(t.Context(), controlplane.Webhook{
		Name: "down", Namespace: k.namespace, Rules: writesOf("apps", "deployments"),
		Handle: func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	k.apply(appServiceOf("web", "replicas: 0, ports: [{port: 80}]"))
	app := k.reaches("web", metav1.ConditionFalse, string(apply.ReasonWebhook))
	says(t, condition(app, v1alpha1.ConditionReady).Message, "Deployment", "web", "admit.down")
	k.shows("80", "service", "web", "{.spec.ports[0].port}")
	k.bounded("deployments.apps")
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	k.reaches("web", metav1.ConditionTrue, v1alpha1.ReasonScaledToZero)
}

// TestWebhookThatDenies: its words are in the condition.
func TestWebhookThatDenies(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	stop, err := k.cluster.ServeWebhook(t.Context(), controlplane.Webhook{
		Name: "denies", Namespace: k.namespace, Rules: writesOf("apps", "deployments"),
		Handle: func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
			return controlplane.Deny("images come from the mirror")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	k.apply(appServiceOf("web", "replicas: 0"))
	app := k.reaches("web", metav1.ConditionFalse, string(apply.ReasonForbidden))
	says(t, condition(app, v1alpha1.ConditionReady).Message, "images come from the mirror")
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	k.reaches("web", metav1.ConditionTrue, v1alpha1.ReasonScaledToZero)
}

// writesOf are the requests that make or change a resource.
func writesOf(group, resource string) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{resource}},
	}}
}

// TestNodePortThatIsTaken: the field is named, and the rest is there.
func TestNodePortThatIsTaken(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	k.apply(appServiceOf("first", "replicas: 0, ports: [{port: 80, nodePort: 31888}]"))
	k.reaches("first", metav1.ConditionTrue, "")
	k.apply(appServiceOf("second", "replicas: 0, ports: [{port: 80, nodePort: 31888}]"))
	app := k.reaches("second", metav1.ConditionFalse, string(apply.ReasonInvalid))
	says(t, condition(app, v1alpha1.ConditionStalled).Message, "Service", "spec.ports[0].nodePort", "31888")
	k.run("patch", "appservice", "second", "--type=json", "-p", `[{"op": "replace", "path": "/spec/ports/0/nodePort", "value": 31889}]`)
	k.reaches("second", metav1.ConditionTrue, v1alpha1.ReasonScaledToZero)
}

// TestNamespaceThatIsBeingDeleted: nothing is made in it, nothing holds it up, and there is
// no loop.
func TestNamespaceThatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	k := inShared(t)
	// A finalizer of somebody else keeps the namespace, and one AppService in it.
	k.apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: holds, finalizers: [example.com/wait]}}`)
	k.apply(appServiceOf("gone", "replicas: 1, ports: [{port: 80}]"))
	k.apply(`{apiVersion: apps.kudevops.io/v1alpha1, kind: AppService, metadata: {name: held, finalizers: [example.com/wait]}, spec: {image: 'nginx:1', replicas: 0, ports: [{port: 80}]}}`)
	k.ready()
	k.run("delete", "namespace", k.namespace, "--wait=false")
	eventually(t, func(context.Context) error { return wants(k.run("get", "deployments,services", "-o", "name"), "") })
	eventually(t, func(context.Context) error {
		return wants(k.run("get", "appservices", "-o", "name"), "appservice.apps.kudevops.io/held")
	})
	k.settled()
	writes := k.writes()
	k.run("annotate", "appservice", "held", v1alpha1.ReconcileAnnotation+"=now")
	k.settled()
	if more := k.writes().Since(writes); more.Total() > 0 {
		t.Errorf("what is being deleted was written to:\n%s", more)
	}
	for _, name := range []string{"appservice/held", "configmap/holds"} {
		k.run("patch", name, "--type=merge", "-p", `{"metadata": {"finalizers": null}}`)
	}
	eventually(t, func(ctx context.Context) error {
		_, err := k.cluster.Client().CoreV1().Namespaces().Get(ctx, k.namespace, metav1.GetOptions{})
		if err == nil {
			return fmt.Errorf("the namespace is still there")
		}
		return nil
	})
}
