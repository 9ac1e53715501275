package controlplane_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/apply"
	"kudevops.io/appsvc/test/controlplane"
)

// applyFaults: what the API server, its webhooks and other people do to an apply.
var applyFaults = []applyTest{
	{"an immutable selector is a typed error, and nothing is touched", func(a *applied) {
		app := a.app("web", replicas(2))
		a.seed(app, 2)
		before := a.get("Deployment", "web")
		err := a.refused(a.set(app))
		if err.Reason != apply.ReasonImmutable || !err.Terminal || !cmp.Equal(err.Fields, []string{"spec.selector"}) {
			a.Errorf("%v: %s of %v, terminal %t", err, err.Reason, err.Fields, err.Terminal)
		}
		if after := a.get("Deployment", "web"); after.GetUID() != before.GetUID() || after.GetGeneration() != before.GetGeneration() || !managers(after)["manager Update"] {
			a.Errorf("it was written all the same: %v", managers(after))
		}
	}},
	{"an immutable selector of our own is a typed error", func(a *applied) {
		app := a.app("web")
		a.apply(a.set(app))
		set := a.set(edited(app, func(app *v1alpha1.AppService) { app.Spec.Selector = map[string]string{"app": "web"} }))
		if err := a.refused(set); err.Reason != apply.ReasonImmutable || !cmp.Equal(err.Fields, []string{"spec.selector"}) {
			a.Errorf("%v: %s of %v", err, err.Reason, err.Fields)
		}
		recreate(&set)
		before := a.get("Deployment", "web").GetUID()
		result := a.apply(set)
		if outcome := a.only(result, "Deployment"); outcome.Action != apply.Recreated || !slices.ContainsFunc(outcome.Fields, func(f string) bool { return strings.HasPrefix(f, "spec.selector") }) {
			a.Errorf("done: %+v, want recreated for its selector", outcome)
		}
		if a.get("Deployment", "web").GetUID() == before {
			a.Error("it is the same object")
		}
		a.writes(0, func() { a.apply(set) })
	}},
	{"an immutable ConfigMap is a typed error", func(a *applied) {
		set := a.set(a.app("web"))
		text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\nimmutable: true\ndata: {a: %q}\n"
		set.Objects = one(a.object(fmt.Sprintf(text, "1")))
		a.apply(set)
		set.Objects = one(a.object(fmt.Sprintf(text, "2")))
		if err := a.refused(set); err.Reason != apply.ReasonImmutable || !cmp.Equal(err.Fields, []string{"data"}) {
			a.Errorf("%v: %s of %v", err, err.Reason, err.Fields)
		}
	}},
	{"an invalid field is no immutable one, also when it changes", func(a *applied) {
		app := a.app("web")
		set := a.set(app)
		a.apply(set)
		patched := set.Objects[1].DeepCopy()
		if err := unstructured.SetNestedField(patched.Object, "Sometimes", "spec", "strategy", "type"); err != nil {
			a.Fatal(err)
		}
		set.Objects[1] = patched
		recreate(&set)
		before := a.get("Deployment", "web").GetUID()
		err := a.refused(set)
		if err.Reason != apply.ReasonInvalid || !err.Terminal || !slices.Contains(err.Fields, "spec.strategy") {
			a.Errorf("%v: %s of %v", err, err.Reason, err.Fields)
		}
		if a.get("Deployment", "web").GetUID() != before {
			a.Error("it was deleted for that")
		}
	}},
	{"a terminating namespace is a typed error", func(a *applied) {
		app := a.app("web")
		a.create("test", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: last, finalizers: [example.com/wait]}\n")
		if err := a.cluster.Client().CoreV1().Namespaces().Delete(a.Context(), a.namespace, metav1.DeleteOptions{}); err != nil {
			a.Fatal(err)
		}
		a.Cleanup(func() { a.release("ConfigMap", "last") })
		_, err := a.tryApply(a.set(app))
		var errs apply.Errors
		if !errors.As(err, &errs) || !errs.Terminal() || errs[0].Reason != apply.ReasonNamespaceTerminating {
			a.Errorf("%v, want a terminal error of the namespace", err)
		}
	}},
	{"a namespace that is gone is a typed error", func(a *applied) {
		app := a.app("web")
		app.Namespace = "there-is-no-such-namespace"
		applier, err := apply.New(apply.Options{Client: a.admin, Live: a.admin})
		if err != nil {
			a.Fatal(err)
		}
		_, err = applier.Apply(a.Context(), a.set(app))
		var errs apply.Errors
		if !errors.As(err, &errs) || errs[0].Reason != apply.ReasonNamespaceTerminating {
			a.Errorf("%v, want an error of the namespace", err)
		}
	}},
	{"a quota is a typed error, worth repeating, with the same text each time", func(a *applied) {
		quotas := a.cluster.Client().CoreV1().ResourceQuotas(a.namespace)
		if _, err := quotas.Create(a.Context(), &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Name: "few"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/deployments.apps": resource.MustParse("1")}},
		}, metav1.CreateOptions{}); err != nil {
			a.Fatal(err)
		}
		eventually(a.T, func(ctx context.Context) error {
			quota, err := quotas.Get(ctx, "few", metav1.GetOptions{})
			if err == nil && len(quota.Status.Hard) == 0 {
				err = errors.New("the quota is not in force")
			}
			return err
		})
		a.apply(a.set(a.app("first")))
		set := a.set(a.app("second"))
		err := a.refused(set)
		if err.Reason != apply.ReasonQuota || err.Terminal || err.Object.Kind != "Deployment" {
			a.Errorf("%v: %s, terminal %t", err, err.Reason, err.Terminal)
		}
		if want := "Deployment " + a.namespace + "/second: does not fit into ResourceQuota few"; err.Error() != want {
			a.Errorf("it says %q, want %q", err, want)
		}
		if err := quotas.Delete(a.Context(), "few", metav1.DeleteOptions{}); err != nil {
			a.Fatal(err)
		}
		eventually(a.T, func(context.Context) error {
			_, err := a.tryApply(set)
			return err
		})
	}},
	{"what access rules do not allow is a typed error", func(a *applied) {
		config, err := a.cluster.ServiceAccount(a.Context(), a.namespace, "reader",
			&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "reader", Namespace: a.namespace}, Rules: []rbacv1.PolicyRule{{
				APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"},
			}}},
			&rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: "reader", Namespace: a.namespace},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
				Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: "reader", Namespace: a.namespace}},
			})
		if err != nil {
			a.Fatal(err)
		}
		app := a.app("web")
		applier := a.start(config)
		_, err = applier.Apply(a.Context(), a.set(app))
		var errs apply.Errors
		if !errors.As(err, &errs) || len(errs) != 2 || errs[0].Reason != apply.ReasonForbidden || errs.Terminal() {
			a.Errorf("%v, want two errors that the access is not allowed", err)
		}
		// To see what would be done it is enough.
		reader := a.cached
		if live, err := apply.Read(a.Context(), reader, a.set(app), apply.ReadOptions{}); err != nil || len(live.Objects) != 2 {
			a.Errorf("read %+v, %v", live, err)
		}
	}},
	{"a webhook that is down is a typed error, worth repeating", func(a *applied) {
		stop, err := a.cluster.ServeWebhook(a.Context(), controlplane.Webhook{
			Name: "down." + a.namespace, Namespace: a.namespace, Rules: deploymentsWritten(),
			Handle: func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse { return nil },
		})
		if err != nil {
			a.Fatal(err)
		}
		set := a.set(a.app("web"))
		failure := a.refused(set)
		if failure.Reason != apply.ReasonWebhook || failure.Terminal || strings.Contains(failure.Error(), "127.0.0.1") {
			a.Errorf("%v: %s, terminal %t", failure, failure.Reason, failure.Terminal)
		}
		if err := stop(); err != nil {
			a.Fatal(err)
		}
		a.apply(set)
	}},
	{"a webhook that denies is a typed error with its words", func(a *applied) {
		stop, err := a.cluster.ServeWebhook(a.Context(), controlplane.Webhook{
			Name: "denies." + a.namespace, Namespace: a.namespace, Rules: deploymentsWritten(),
			Handle: func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
				return controlplane.Deny("images come from our registry")
			},
		})
		if err != nil {
			a.Fatal(err)
		}
		failure := a.refused(a.set(a.app("web")))
		if failure.Reason != apply.ReasonForbidden || !strings.Contains(failure.Error(), "images come from our registry") {
			a.Errorf("%v: %s", failure, failure.Reason)
		}
		if err := stop(); err != nil {
			a.Error(err)
		}
	}},
	{"a webhook that rewrites our image is contested, without a loop", func(a *applied) {
		stop, err := a.cluster.ServeWebhook(a.Context(), controlplane.Webhook{
			Name: "rewrites." + a.namespace, Namespace: a.namespace, Mutating: true, Rules: deploymentsWritten(),
			Handle: func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
				return controlplane.Patch(`[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "mirror/nginx:1.29"}]`)
			},
		})
		if err != nil {
			a.Fatal(err)
		}
		app := a.app("web")
		set := a.set(app)
		const path = "spec.template.spec.containers[name=app].image"
		outcome := a.only(a.apply(set), "Deployment")
		if outcome.Action != apply.Created || !cmp.Equal(outcome.Rewritten, []string{path}) {
			a.Errorf("done: %+v, want it created and the image rewritten", outcome)
		}
		a.eventually(set, "Deployment", apply.Contested)
		rounds := 0
		touch := func() {
			rounds++
			a.patch("test", "Deployment", "web", fmt.Sprintf(`{"metadata": {"annotations": {"round": "%d"}}}`, rounds))
		}
		requests := a.requests(func() {
			for range 10 { // something else happens to the Deployment each time
				touch()
				outcome = a.only(a.apply(set), "Deployment")
			}
		})
		if outcome.Action != apply.Contested || !cmp.Equal(outcome.Fields, []string{path}) || requests.Writes().Total() > 5 {
			a.Fatalf("after %d rounds: %+v, with\n%s", rounds, outcome, requests.Writes())
		}
		a.writes(0, func() {
			for range 5 {
				touch()
				a.eventually(set, "Deployment", apply.Contested)
			}
		})
		// The user gives in.
		app.Spec.Image = "mirror/nginx:1.29"
		a.eventually(a.set(app), "Deployment", apply.Unchanged)
		if err := stop(); err != nil {
			a.Error(err)
		}
	}},
	{"another controller that fights for a field wins, until the spec changes", func(a *applied) {
		set := a.set(a.app("web"))
		a.apply(set)
		const path = "spec.ports[port=80,protocol=TCP].targetPort"
		fight := func(port int) {
			if _, err := a.ssa("other-controller", true, fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80, protocol: TCP, targetPort: %d}]}\n", port)); err != nil {
				a.Fatal(err)
			}
		}
		a.writes(5, func() {
			for i := range 5 {
				fight(9000)
				outcome := a.eventually(set, "Service", apply.Configured)
				if !cmp.Equal(outcome.Fields, []string{path}) {
					a.Errorf("round %d: %+v", i, outcome)
				}
			}
			for range 5 {
				fight(9000)
				outcome := a.eventually(set, "Service", apply.Contested)
				if !cmp.Equal(outcome.Fields, []string{path}) || !cmp.Equal(outcome.Managers, []string{"other-controller"}) {
					a.Errorf("contested: %+v", outcome)
				}
			}
		})
		// Ten minutes later it is contested all the same.
		a.minutes.Add(20)
		a.writes(0, func() { a.eventually(set, "Service", apply.Contested) })
		// Any other field is put right.
		a.patch("kubectl-edit", "Service", "web", `{"spec": {"sessionAffinity": "ClientIP"}, "metadata": {"labels": {"app.kubernetes.io/name": null}}}`)
		a.writes(1, func() { a.eventually(set, "Service", apply.Configured) })
		// A new key, such as an annotation, asks for another attempt.
		fight(9000)
		set.Key = "2"
		a.writes(1, func() { a.eventually(set, "Service", apply.Configured) })
	}},
	{"slow changes by others are no contest", func(a *applied) {
		set := a.set(a.app("web"))
		a.apply(set)
		for range 8 {
			a.minutes.Add(3)
			a.patch("kubectl-edit", "Service", "web", `{"spec": {"ports": [{"port": 80, "protocol": "TCP", "targetPort": 9000}]}}`)
			a.eventually(set, "Service", apply.Configured)
		}
	}},
	{"faults of the network end converged or as a typed error", func(a *applied) {
		proxy, err := a.cluster.FaultProxy(7)
		if err != nil {
			a.Fatal(err)
		}
		applier := a.start(proxy.Config(a.access()))
		var sets []apply.Set
		for i := range 20 {
			sets = append(sets, a.set(a.app(fmt.Sprintf("web-%d", i), replicas(0), withAccount)))
		}
		verbs := []string{"get", "patch", "delete"}
		if err := proxy.Set(
			controlplane.Fault{Percent: 8, Verbs: verbs, Status: 409},
			controlplane.Fault{Percent: 8, Verbs: verbs, Status: 429},
			controlplane.Fault{Percent: 8, Verbs: verbs, Status: 500},
			controlplane.Fault{Percent: 4, Verbs: verbs, Cut: controlplane.CutRequest},
			controlplane.Fault{Percent: 4, Verbs: verbs, Cut: controlplane.CutReply},
		); err != nil {
			a.Fatal(err)
		}
		seen := make(map[apply.Reason]int)
		for round := 0; len(sets) > 0; round++ {
			if round == 50 {
				a.Fatalf("%d sets do not converge; errors %v", len(sets), seen)
			}
			sets = slices.DeleteFunc(sets, func(set apply.Set) bool {
				_, err := applier.Apply(a.Context(), set)
				var errs apply.Errors
				if err != nil && !errors.As(err, &errs) {
					a.Errorf("an error without a type: %v", err)
				}
				for _, e := range errs {
					seen[e.Reason]++
					if e.Terminal {
						a.Errorf("a terminal error: %v", e)
					}
				}
				return err == nil
			})
		}
		if !slices.ContainsFunc(proxy.Hits(), func(n int) bool { return n > 0 }) || seen[apply.ReasonUnavailable] == 0 {
			a.Errorf("hits %v, errors %v: nothing went wrong", proxy.Hits(), seen)
		}
		if err := proxy.Set(); err != nil {
			a.Fatal(err)
		}
		for _, kind := range []string{"Deployment", "Service", "ServiceAccount"} {
			list, err := a.resource(kind).List(a.Context(), metav1.ListOptions{LabelSelector: v1alpha1.ManagedByLabel + "=" + v1alpha1.ManagedBy})
			if err != nil || len(list.Items) != 20 {
				a.Errorf("%d of %s, %v; want 20", len(list.Items), kind, err)
			}
		}
	}},
	{"a cancelled apply ends, and says so", func(a *applied) {
		set := a.set(a.app("web"))
		applier := a.start(a.access())
		ctx, cancel := context.WithCancel(a.Context())
		cancel()
		_, err := applier.Apply(ctx, set)
		if !errors.Is(err, context.Canceled) {
			a.Errorf("%v, want that it was cancelled", err)
		}
	}},
	{"a field that does not exist, by a patch of the user, is said by the API server", func(a *applied) {
		set := a.set(a.app("web"))
		a.apply(set)
		patched := set.Objects[1].DeepCopy()
		if err := unstructured.SetNestedField(patched.Object, "a", "spec", "colour"); err != nil {
			a.Fatal(err)
		}
		set.Objects[1] = patched
		err := a.refused(set)
		if err.Reason != apply.ReasonFailed || !strings.Contains(err.Error(), ".spec.colour: field not declared in schema") {
			a.Errorf("%v: %s", err, err.Reason)
		}
	}},
	{"a value of the wrong type, by a patch of the user, is refused before it is sent", func(a *applied) {
		set := a.set(a.app("web"))
		a.apply(set)
		patched := set.Objects[1].DeepCopy()
		if err := unstructured.SetNestedField(patched.Object, "many", "spec", "replicas"); err != nil {
			a.Fatal(err)
		}
		set.Objects[1] = patched
		a.writes(0, func() {
			err := a.refused(set)
			if want := "Deployment " + a.namespace + "/web: spec.replicas must be a number"; err.Error() != want || err.Reason != apply.ReasonInvalid {
				a.Errorf("%v: %s, want %s", err, err.Reason, want)
			}
		})
	}},
	{"a node port that is taken is a typed error", func(a *applied) {
		nodePort := func(app *v1alpha1.AppService) { app.Spec.Ports[0].NodePort = 31999 }
		a.apply(a.set(a.app("first", nodePort)))
		err := a.refused(a.set(a.app("second", nodePort)))
		if err.Reason != apply.ReasonInvalid || err.RetryAfter == 0 || !cmp.Equal(err.Fields, []string{"spec.ports[0].nodePort"}) {
			a.Errorf("%v: %+v", err, err)
		}
	}},
}

// release lets an object go that a finalizer holds.
func (a *applied) release(kind, name string) {
	_, err := a.cluster.Dynamic().Resource(rendered[kind]).Namespace(a.namespace).Patch(context.Background(), name,
		"application/merge-patch+json", []byte(`{"metadata": {"finalizers": null}}`), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		a.Error(err)
	}
}

// deploymentsWritten are the requests that make or change Deployments.
func deploymentsWritten() []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
	}}
}

func one(object *unstructured.Unstructured) []*unstructured.Unstructured {
	return []*unstructured.Unstructured{object}
}
