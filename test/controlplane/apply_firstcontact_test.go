package controlplane_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/apply"
)

// seedSelector is the selector that a create-only operator gives a Deployment.
func seedSelector(app *v1alpha1.AppService) {
	app.Spec.Selector = map[string]string{"app": app.Name}
}

// seed makes what an operator makes that creates a Deployment and a Service once, with
// Go structs, and never looks again.
func (a *applied) seed(app *v1alpha1.AppService, replicas int32) {
	a.Helper()
	labels := map[string]string{"app": app.Name}
	meta := metav1.ObjectMeta{
		Name: app.Name, Labels: labels,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(app, v1alpha1.GroupVersion.WithKind("AppService"))},
	}
	manager := metav1.CreateOptions{FieldManager: "manager"}
	_, err := a.cluster.Client().AppsV1().Deployments(a.namespace).Create(a.Context(), &appsv1.Deployment{
		ObjectMeta: meta,
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: app.Name, Image: "nginx:1.27", Env: []corev1.EnvVar{{Name: "OLD", Value: "1"}}, Ports: []corev1.ContainerPort{{ContainerPort: 80}},
				}}},
			},
		},
	}, manager)
	if err != nil {
		a.Fatal(err)
	}
	_, err = a.cluster.Client().CoreV1().Services(a.namespace).Create(a.Context(), &corev1.Service{
		ObjectMeta: meta,
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}},
	}, manager)
	if err != nil {
		a.Fatal(err)
	}
}

const foreignAccount = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web, labels: {team: other}}\n"

func withAccount(app *v1alpha1.AppService) {
	app.Spec.ServiceAccount = &v1alpha1.ServiceAccountSpec{Create: true}
}

// applyFirstContact: whose an object is, and how it becomes ours.
var applyFirstContact = []applyTest{
	{"a foreign object is refused, and untouched", func(a *applied) {
		a.create("somebody", foreignAccount)
		before := a.get("ServiceAccount", "web")
		app := a.app("web", withAccount)
		err := a.refused(a.set(app))
		if err.Reason != apply.ReasonForeign || !err.Terminal || err.Object.Kind != "ServiceAccount" {
			a.Errorf("%v: %s, terminal %t", err, err.Reason, err.Terminal)
		}
		if after := a.get("ServiceAccount", "web"); after.GetResourceVersion() != before.GetResourceVersion() {
			a.Errorf("the foreign object was written: %v", after)
		}
		a.get("Deployment", "web") // the others are applied nevertheless
	}},
	{"a foreign object with our label is refused", func(a *applied) {
		a.create("somebody", "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web, labels: {app.kubernetes.io/managed-by: appsvc}}\n")
		if err := a.refused(a.set(a.app("web", withAccount))); err.Reason != apply.ReasonForeign {
			a.Errorf("%v: %s", err, err.Reason)
		}
	}},
	{"an object that another controller has is refused, adopt or not", func(a *applied) {
		owner := a.create("somebody", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: owner}\n")
		account := a.object(foreignAccount)
		account.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.GetUID(), Controller: new(true)}})
		if _, err := a.resource("ServiceAccount").Create(a.Context(), account, metav1.CreateOptions{}); err != nil {
			a.Fatal(err)
		}
		err := a.refused(a.set(a.app("web", withAccount), adopt))
		if want := "ServiceAccount " + a.namespace + "/web: exists already and is controlled by ConfigMap owner"; err.Error() != want || err.Reason != apply.ReasonForeign {
			a.Errorf("%v: %s, want %s", err, err.Reason, want)
		}
	}},
	{"a foreign object is taken over when that is asked for", func(a *applied) {
		a.create("somebody", foreignAccount)
		app := a.app("web", withAccount)
		if got := a.only(a.apply(a.set(app, adopt)), "ServiceAccount").Action; got != apply.Adopted {
			a.Errorf("the ServiceAccount is %s", got)
		}
		account := a.get("ServiceAccount", "web")
		if account.GetLabels()["team"] != "other" || metav1.GetControllerOf(account).UID != app.UID {
			a.Errorf("taken over, it is %v", account)
		}
		a.writes(0, func() { a.apply(a.set(app)) }) // from then on it is ours
	}},
	{"what kubectl apply has made is taken over, with what it removed", func(a *applied) {
		text := `apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: ` + a.namespace + `}
data: {keep: "1", drop: "2"}
`
		cmd := a.cluster.Kubectl(a.Context(), "apply", "-f", "-")
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			a.Fatalf("%v: %s", err, out)
		}
		set := a.set(a.app("web"), adopt)
		set.Objects = []*unstructured.Unstructured{a.object("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {keep: \"1\"}\n")}
		a.writes(2, func() { a.want(a.apply(set), map[string]apply.Action{"ConfigMap": apply.Adopted}) })
		a.wantField("ConfigMap", "web", map[string]any{"keep": "1"}, "data")
	}},
	{"field managers that are not named are not migrated", func(a *applied) {
		a.create("kubectl-edit", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {theirs: \"1\"}\n")
		set := a.set(a.app("web"), adopt)
		set.Objects = []*unstructured.Unstructured{a.object("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {ours: \"1\"}\n")}
		a.writes(1, func() { a.apply(set) })
		a.wantField("ConfigMap", "web", map[string]any{"ours": "1", "theirs": "1"}, "data")
	}},
	{"what a create-only operator made is taken over with one restart", func(a *applied) {
		app := a.app("web", seedSelector, replicas(2))
		a.seed(app, 2)
		eventually(a.T, func(context.Context) error {
			if got := field(a.get("Deployment", "web"), "status", "observedGeneration"); got != int64(1) {
				return fmt.Errorf("observed generation %v", got)
			}
			return nil
		})
		uid, nodePort := a.get("Deployment", "web").GetUID(), nodePortOf(a.get("Service", "web"))
		a.writes(4, func() {
			a.want(a.apply(a.set(app)), map[string]apply.Action{"Deployment": apply.Adopted, "Service": apply.Adopted})
		})
		deployment := a.get("Deployment", "web")
		containers := field(deployment, "spec", "template", "spec", "containers").([]any)
		if deployment.GetUID() != uid || deployment.GetGeneration() != 2 || len(containers) != 1 || containers[0].(map[string]any)["name"] != "app" {
			a.Errorf("taken over, it is generation %d with containers %v, want 2 and one, app", deployment.GetGeneration(), containers)
		}
		if got := managers(deployment); got["manager Update"] {
			a.Errorf("managers are %v", got)
		}
		if got := nodePortOf(a.get("Service", "web")); got == nodePort && got != nil {
			a.Errorf("the Service has still node port %v: its type is no longer desired", got)
		}
		a.writes(0, func() { a.apply(a.set(app)) })
	}},
	{"leftovers of our own name from another way of writing are migrated", func(a *applied) {
		app := a.app("web")
		set := a.set(app)
		set.Objects = []*unstructured.Unstructured{a.object("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: \"1\"}\n")}
		a.apply(set)
		a.patch(v1alpha1.FieldManager, "ConfigMap", "web", `{"data": {"left": "1"}}`)
		a.writes(2, func() {
			if outcome := a.eventually(set, "ConfigMap", apply.Adopted); len(outcome.Fields) != 1 {
				a.Errorf("fields are %v, want the one that goes", outcome.Fields)
			}
		})
		a.wantField("ConfigMap", "web", map[string]any{"a": "1"}, "data")
	}},
	{"an object that lost its managed fields is taken care of again", func(a *applied) {
		text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: \"1\", b: \"2\"}\n"
		set := a.set(a.app("web"))
		set.Objects = one(a.object(text))
		a.apply(set)
		a.patch("test", "ConfigMap", "web", `{"metadata": {"managedFields": [{}]}}`)
		set.Objects = one(a.object(strings.Replace(text, `, b: "2"`, "", 1)))
		a.writes(3, func() { // two applies, and the migration of what the API server makes up at the first
			eventually(a.T, func(context.Context) error {
				a.apply(set)
				if got := managers(a.get("ConfigMap", "web")); len(got) != 1 {
					return fmt.Errorf("managers are %v", got)
				}
				return nil
			})
		})
		a.wantField("ConfigMap", "web", map[string]any{"a": "1"}, "data")
	}},
	{"an object of a deleted AppService of the same name is waited for", func(a *applied) {
		// The garbage collector is told to wait, by a finalizer.
		app := a.app("web")
		a.apply(a.set(app))
		a.patch("test", "Service", "web", `{"metadata": {"finalizers": ["example.com/wait"]}}`)
		if err := a.admin.Delete(a.Context(), app); err != nil {
			a.Fatal(err)
		}
		again := a.app("web")
		eventually(a.T, func(context.Context) error {
			_, err := a.tryApply(a.set(again))
			if service := a.get("Service", "web"); service.GetDeletionTimestamp() == nil {
				return fmt.Errorf("the Service is not being deleted yet: %v", err)
			}
			return nil
		})
		err := a.refused(a.set(again))
		if err.Reason != apply.ReasonPredecessor || err.Terminal {
			a.Errorf("%v: %s, terminal %t", err, err.Reason, err.Terminal)
		}
		a.patch("test", "Service", "web", `{"metadata": {"finalizers": null}}`)
		eventually(a.T, func(context.Context) error {
			_, err := a.tryApply(a.set(again))
			return err
		})
		if got := metav1.GetControllerOf(a.get("Service", "web")).UID; got != again.UID {
			a.Errorf("the Service belongs to %s, want the new AppService", got)
		}
	}},
	{"an object that is being deleted is not applied", func(a *applied) {
		app := a.app("web")
		a.apply(a.set(app))
		a.patch("test", "Service", "web", `{"metadata": {"finalizers": ["example.com/wait"]}}`)
		if err := a.resource("Service").Delete(a.Context(), "web", metav1.DeleteOptions{}); err != nil {
			a.Fatal(err)
		}
		set := a.set(edited(app, func(app *v1alpha1.AppService) { app.Spec.Ports[0].Port = 81 }))
		err := a.refused(set)
		if err.Reason != apply.ReasonDeleting || err.Terminal {
			a.Errorf("%v: %s, terminal %t", err, err.Reason, err.Terminal)
		}
		a.patch("test", "Service", "web", `{"metadata": {"finalizers": null}}`)
		a.eventually(set, "Service", apply.Created)
	}},
	{"an object that somebody else makes in the place of ours is not hit", func(a *applied) {
		// The cache of this applier ends before that happens.
		app := a.app("web", withAccount)
		a.apply(a.set(app))
		if err := a.resource("ServiceAccount").Delete(a.Context(), "web", metav1.DeleteOptions{}); err != nil {
			a.Fatal(err)
		}
		a.create("somebody", foreignAccount)
		set := a.set(edited(app, func(app *v1alpha1.AppService) { app.Labels = map[string]string{"new": "1"} }))
		_, err := a.tryApply(set)
		if got := a.get("ServiceAccount", "web"); err == nil || metav1.GetControllerOf(got) != nil || got.GetLabels()["new"] != "" {
			a.Errorf("error %v, and the foreign object is %v", err, got)
		}
	}},
	{"an object that is replaced between reading and writing is not hit", func(a *applied) {
		app := a.app("web", withAccount)
		a.apply(a.set(app))
		a.applier = a.interposed(func() {
			if err := a.resource("ServiceAccount").Delete(a.Context(), "web", metav1.DeleteOptions{}); err != nil {
				a.Error(err)
			}
			a.create("somebody", foreignAccount)
		})
		set := a.set(edited(app, func(app *v1alpha1.AppService) { app.Labels = map[string]string{"new": "1"} }))
		if err := a.refused(set); err.Reason != apply.ReasonForeign {
			a.Errorf("%v: %s", err, err.Reason)
		}
		if got := a.get("ServiceAccount", "web"); metav1.GetControllerOf(got) != nil || got.GetLabels()["new"] != "" {
			a.Errorf("the foreign object is %v", got)
		}
	}},
	{"an object that appears between reading and creating is not hit", func(a *applied) {
		app := a.app("web", withAccount, func(app *v1alpha1.AppService) { app.Labels = map[string]string{"team": "ours"} })
		a.start(a.access())
		a.applier = a.interposed(func() { a.create("somebody", foreignAccount) })
		if err := a.refused(a.set(app)); err.Reason != apply.ReasonForeign {
			a.Errorf("%v: %s", err, err.Reason)
		}
		if got := a.get("ServiceAccount", "web"); metav1.GetControllerOf(got) != nil || got.GetLabels()["team"] != "other" {
			a.Errorf("the foreign object is %v", got)
		}
	}},
	{"a reference to another owner stays", func(a *applied) {
		owner := a.create("somebody", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: owner}\n")
		app := a.app("web", withAccount)
		a.apply(a.set(app))
		a.patch("somebody", "ServiceAccount", "web", fmt.Sprintf(`{"metadata": {"ownerReferences": [
			{"apiVersion": "apps.kudevops.io/v1alpha1", "kind": "AppService", "name": "web", "uid": %q, "controller": true, "blockOwnerDeletion": true},
			{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": %q}]}}`, app.UID, owner.GetUID()))
		a.writes(0, func() { a.apply(a.set(app)) })
		a.apply(a.set(edited(app, func(app *v1alpha1.AppService) { app.Labels = map[string]string{"new": "1"} })))
		if got := a.get("ServiceAccount", "web").GetOwnerReferences(); len(got) != 2 {
			a.Errorf("owners are %v, want both", got)
		}
	}},
	{"the read-only view says what would be done, and pairs it", func(a *applied) {
		app := a.app("web", replicas(3))
		a.apply(a.set(app))
		set := a.set(edited(app, noReplicas, func(app *v1alpha1.AppService) { app.Spec.Ports = nil }))
		var live apply.Live
		if got := a.requests(func() {
			reader := a.readerAs(a.user)
			var err error
			if live, err = apply.Read(a.Context(), reader, set, apply.ReadOptions{}); err != nil {
				a.Fatal(err)
			}
		}); got.Writes().Total() != 0 || got.Total() == 0 {
			a.Errorf("asked:\n%s", got)
		}
		if len(live.Objects) != 1 || live.Objects[0].Live.GetName() != "web" || len(live.Prune) != 1 || live.Prune[0].GetKind() != "Service" {
			a.Errorf("read %+v", live)
		}
		if got := managers(live.Objects[0].Live); !got[apply.ReplicasManager+" Apply"] {
			a.Errorf("managers are %v, want the number handed over", got)
		}
		// One that is not in the cluster yet has nothing, and would meet a foreign object.
		app.UID, app.Name = "", "web"
		live, err := apply.Read(a.Context(), a.readerAs(a.user), a.set(app), apply.ReadOptions{})
		if err == nil || len(live.Prune) != 0 || live.Objects[0].Err == nil {
			a.Errorf("read %+v, %v", live, err)
		}
		app.Name = "new"
		live, err = apply.Read(a.Context(), a.readerAs(a.user), a.set(app), apply.ReadOptions{})
		if err != nil || live.Objects[0].Live != nil {
			a.Errorf("read %+v, %v", live, err)
		}
	}},
	{"an apply without force takes over a foreign ServiceAccount without any conflict, and deleting the AppService deletes it", func(a *applied) {
		// Why the first contact is decided by a GET.
		app := a.app("owner")
		a.create("somebody", foreignAccount)
		if _, err := a.ssa(v1alpha1.FieldManager, false, fmt.Sprintf(`apiVersion: v1
kind: ServiceAccount
metadata:
  name: web
  ownerReferences: [{apiVersion: apps.kudevops.io/v1alpha1, kind: AppService, name: owner, uid: %s, controller: true}]
`, app.UID)); err != nil {
			a.Fatal(err)
		}
		if err := a.admin.Delete(a.Context(), app); err != nil {
			a.Fatal(err)
		}
		eventually(a.T, func(ctx context.Context) error {
			if _, err := a.resource("ServiceAccount").Get(ctx, "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("it is still there: %v", err)
			}
			return nil
		})
	}},
	{"a UID in what is applied is a precondition", func(a *applied) {
		text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, uid: %s}\n"
		if _, err := a.ssa("test", true, fmt.Sprintf(text, types.UID("another"))); !apierrors.IsConflict(err) {
			a.Errorf("of an object that is not there: %v, want a conflict", err)
		}
		created := a.mustSSA("test", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n")
		if same := a.mustSSA("test", fmt.Sprintf(text, created.GetUID())); same.GetResourceVersion() != created.GetResourceVersion() {
			a.Error("of the object itself: it was written")
		}
		_, err := a.ssa("test", true, fmt.Sprintf(text, types.UID("another")))
		if d := cmp.Diff([]string{"metadata.uid"}, causes(err)); !apierrors.IsInvalid(err) || d != "" {
			a.Errorf("of another object: %v, want it to be invalid (-want +got):\n%s", err, d)
		}
	}},
}

// readerAs reads past any cache, as a user.
func (a *applied) readerAs(user string) client.Reader {
	a.Helper()
	reader, err := client.New(a.cluster.Impersonate(user, "system:masters"), client.Options{})
	if err != nil {
		a.Fatal(err)
	}
	return reader
}

// interposed is an applier of which somebody is faster, once: before its first write.
func (a *applied) interposed(faster func()) *apply.Applier {
	a.Helper()
	applier, err := apply.New(apply.Options{Client: &interposed{Client: a.cached, faster: faster}, Live: a.admin, Now: a.now})
	if err != nil {
		a.Fatal(err)
	}
	return applier
}

type interposed struct {
	client.Client
	once   sync.Once
	faster func()
}

func (i *interposed) Apply(ctx context.Context, object runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	i.once.Do(i.faster)
	return i.Client.Apply(ctx, object, opts...)
}

// causes are the fields that an answer complains of.
func causes(err error) []string {
	status, ok := err.(apierrors.APIStatus)
	if !ok || status.Status().Details == nil {
		return nil
	}
	var fields []string
	for _, c := range status.Status().Details.Causes {
		fields = append(fields, c.Field)
	}
	return fields
}

func nodePortOf(service *unstructured.Unstructured) any {
	return field(service, "spec", "ports").([]any)[0].(map[string]any)["nodePort"]
}
