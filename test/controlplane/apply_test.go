package controlplane_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcluster "sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/apply"
	"kudevops.io/appsvc/pkg/render"
	"kudevops.io/appsvc/test/controlplane"
)

// TestApply is about pkg/apply and about what it takes for granted of the API server.
// Each test has a namespace of one cluster, and a client with a cache as the controller
// has it.
func TestApply(t *testing.T) {
	t.Parallel()
	log.SetLogger(logr.Discard())
	cluster := controlplane.StartForTest(t, controlplane.Options{CRDs: []controlplane.CRDs{controlplane.AppServiceCRDs}})
	for _, tests := range [][]applyTest{applyFacts, applySteady, applyFirstContact, applyReplicas, applyPrune, applyFaults} {
		for _, test := range tests {
			t.Run(strings.ReplaceAll(test.name, " ", "_"), func(t *testing.T) {
				t.Parallel()
				test.run(newApplied(t, cluster))
			})
		}
	}
}

// applyTest is a test with the fact, or the promise, that it is about as its name.
type applyTest struct {
	name string
	run  func(*applied)
}

// applied is a namespace in which a test applies.
type applied struct {
	*testing.T
	cluster   *controlplane.Cluster
	namespace string
	// user is who the applier asks as, so that its requests can be counted.
	user string
	// admin is past any cache.
	admin client.Client
	// minutes is what the applier's clock shows.
	minutes atomic.Int64

	applier *apply.Applier
	cached  client.Client
}

func newApplied(t *testing.T, cluster *controlplane.Cluster) *applied {
	a := &applied{T: t, cluster: cluster, namespace: cluster.Namespace(t)}
	a.user = "applier-of-" + a.namespace
	var err error
	if a.admin, err = client.New(cluster.Config(), client.Options{Scheme: applyScheme(t)}); err != nil {
		t.Fatal(err)
	}
	return a
}

func applyScheme(t *testing.T) *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// start makes the applier; config is the access that it asks by.
func (a *applied) start(config *rest.Config) *apply.Applier {
	a.Helper()
	applier, cached := a.newApplier(config)
	a.applier, a.cached = applier, cached
	return applier
}

func (a *applied) newApplier(config *rest.Config) (*apply.Applier, client.Client) {
	a.Helper()
	c, err := ctrlcluster.New(config, func(o *ctrlcluster.Options) {
		o.Scheme = applyScheme(a.T)
		o.Cache = cache.Options{DefaultNamespaces: map[string]cache.Config{a.namespace: {}}}
		o.Client.Cache = &client.CacheOptions{Unstructured: true}
	})
	if err != nil {
		a.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	a.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			a.Error(err)
		}
	})
	if !c.GetCache().WaitForCacheSync(a.Context()) {
		a.Fatal("the cache does not fill")
	}
	applier, err := apply.New(apply.Options{Client: c.GetClient(), Live: c.GetAPIReader(), Now: a.now})
	if err != nil {
		a.Fatal(err)
	}
	return applier, c.GetClient()
}

func (a *applied) now() time.Time {
	return time.Date(2030, 1, 1, 0, int(a.minutes.Load()), 0, 0, time.UTC)
}

// access is the applier's own: it may do everything, and is counted by its name.
func (a *applied) access() *rest.Config { return a.cluster.Impersonate(a.user, "system:masters") }

// kindsOfAppServices are those that the cluster serves, and one that it does not.
var kindsOfAppServices = []schema.GroupVersionKind{
	{Version: "v1", Kind: "ServiceAccount"},
	{Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "Service"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
	{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"},
}

// app stores an AppService.
func (a *applied) app(name string, edits ...func(*v1alpha1.AppService)) *v1alpha1.AppService {
	a.Helper()
	app := &v1alpha1.AppService{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: a.namespace}}
	app.Spec.Image = "nginx:1.29"
	app.Spec.Ports = []v1alpha1.ServicePort{{Port: 80, TargetPort: new(intstr.FromInt32(8080))}}
	for _, edit := range edits {
		edit(app)
	}
	if err := a.admin.Create(a.Context(), app); err != nil {
		a.Fatal(err)
	}
	return app
}

func replicas(n int32) func(*v1alpha1.AppService) {
	return func(app *v1alpha1.AppService) { app.Spec.Replicas = &n }
}

func noReplicas(app *v1alpha1.AppService) { app.Spec.Replicas = nil }

// edited gives another spec of an AppService, which is not stored: pkg/apply gets what is
// rendered.
func edited(app *v1alpha1.AppService, edits ...func(*v1alpha1.AppService)) *v1alpha1.AppService {
	app = app.DeepCopy()
	for _, edit := range edits {
		edit(app)
	}
	return app
}

// set is what the controller would apply of an AppService.
func (a *applied) set(app *v1alpha1.AppService, edits ...func(*apply.Set)) apply.Set {
	a.Helper()
	result, errs := render.Render(app, render.Options{})
	if len(errs) > 0 {
		a.Fatal(errs)
	}
	set := apply.Set{
		Owner: apply.OwnerOf(app), Objects: result.Objects, Kinds: kindsOfAppServices,
		ContentHashed: []schema.GroupVersionKind{{Version: "v1", Kind: "ConfigMap"}},
		Selector:      map[string]string{v1alpha1.SelectorLabel: app.Name},
		Key:           fmt.Sprint(app.Generation),
	}
	for _, edit := range edits {
		edit(&set)
	}
	return set
}

func adopt(set *apply.Set)     { set.Adopt = true }
func recreate(set *apply.Set)  { set.Recreate = true }
func driftOnly(set *apply.Set) { set.DriftOnly = true }

// apply applies, and wants no error.
func (a *applied) apply(set apply.Set) apply.Result {
	a.Helper()
	result, err := a.tryApply(set)
	if err != nil {
		a.Fatal(err)
	}
	return result
}

func (a *applied) tryApply(set apply.Set) (apply.Result, error) {
	a.Helper()
	if a.applier == nil {
		a.start(a.access())
	}
	return a.applier.Apply(a.Context(), set)
}

// refused applies, and wants one error, which it gives.
func (a *applied) refused(set apply.Set) *apply.Error {
	a.Helper()
	result, err := a.tryApply(set)
	var errs apply.Errors
	if !errors.As(err, &errs) || len(errs) != 1 {
		a.Fatalf("applied, with error %v: %+v; want one error", err, result)
	}
	return errs[0]
}

// want compares what was done, by kind.
func (a *applied) want(result apply.Result, want map[string]apply.Action) {
	a.Helper()
	got := make(map[string]apply.Action)
	for _, o := range result.Objects {
		got[o.Object.Kind] = o.Action
	}
	if d := cmp.Diff(want, got); d != "" {
		a.Fatalf("what was done (-want +got):\n%s", d)
	}
}

// only gives the result of the one object of a kind.
func (a *applied) only(result apply.Result, kind string) apply.ObjectResult {
	a.Helper()
	for _, o := range result.Objects {
		if o.Object.Kind == kind {
			return o
		}
	}
	a.Fatalf("no %s in %+v", kind, result)
	return apply.ObjectResult{}
}

// requests counts the applier's requests while f runs.
func (a *applied) requests(f func()) controlplane.Requests {
	a.Helper()
	before, err := a.cluster.Requests(a.Context())
	if err != nil {
		a.Fatal(err)
	}
	f()
	after, err := a.cluster.Requests(a.Context())
	if err != nil {
		a.Fatal(err)
	}
	return after.Since(before).By(a.user).In(a.namespace)
}

// writes wants that many writes while f runs.
func (a *applied) writes(want int, f func()) {
	a.Helper()
	// A conflict stores nothing: the Deployment's controller reports at any moment, and then
	// the object is read and written anew.
	stored := func(r controlplane.Request) bool { return r.Code != http.StatusConflict }
	if got := a.requests(f).Writes().Where(stored); got.Total() != want {
		a.Fatalf("%d writes, want %d:\n%s", got.Total(), want, got)
	}
}

// resource is a client of a kind in the namespace, past any cache.
func (a *applied) resource(kind string) dynamic.ResourceInterface {
	a.Helper()
	resource, ok := rendered[kind]
	if kind == "AppService" {
		resource, ok = v1alpha1.GroupVersion.WithResource("appservices"), true
	}
	if !ok {
		a.Fatalf("no resource of kind %s is known", kind)
	}
	return a.cluster.Dynamic().Resource(resource).Namespace(a.namespace)
}

func (a *applied) get(kind, name string) *unstructured.Unstructured {
	a.Helper()
	object, err := a.resource(kind).Get(a.Context(), name, metav1.GetOptions{})
	if err != nil {
		a.Fatal(err)
	}
	return object
}

// create stores an object as a field manager, by POST.
func (a *applied) create(manager, text string) *unstructured.Unstructured {
	a.Helper()
	object := a.object(text)
	created, err := a.resource(object.GetKind()).Create(a.Context(), object, metav1.CreateOptions{FieldManager: manager})
	if err != nil {
		a.Fatal(err)
	}
	return created
}

// object reads an object.
func (a *applied) object(text string) *unstructured.Unstructured {
	a.Helper()
	objects, err := controlplane.ReadObjects(strings.NewReader(text))
	if err != nil || len(objects) != 1 {
		a.Fatalf("%d objects, %v in:\n%s", len(objects), err, text)
	}
	object := objects[0].(*unstructured.Unstructured)
	// Whole numbers as the API machinery has them.
	written, err := json.Marshal(object)
	if err == nil {
		err = object.UnmarshalJSON(written)
	}
	if err != nil {
		a.Fatal(err)
	}
	object.SetNamespace(a.namespace)
	return object
}

// ssa applies an object by server-side apply, without pkg/apply.
func (a *applied) ssa(manager string, force bool, text string) (*unstructured.Unstructured, error) {
	a.Helper()
	object := a.object(text)
	return a.resource(object.GetKind()).Apply(a.Context(), object.GetName(), object, metav1.ApplyOptions{FieldManager: manager, Force: force})
}

func (a *applied) mustSSA(manager, text string) *unstructured.Unstructured {
	a.Helper()
	object, err := a.ssa(manager, true, text)
	if err != nil {
		a.Fatal(err)
	}
	return object
}

// patch changes an object as a field manager, by JSON merge patch.
func (a *applied) patch(manager, kind, name, patch string, subresources ...string) *unstructured.Unstructured {
	a.Helper()
	object, err := a.resource(kind).Patch(a.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager}, subresources...)
	if err != nil {
		a.Fatal(err)
	}
	return object
}

// scale sets a number of replicas as kubectl scale and autoscalers do.
func (a *applied) scale(kind, name string, n int) {
	a.Helper()
	a.patch("scaler", kind, name, fmt.Sprintf(`{"spec": {"replicas": %d}}`, n), "scale")
}

// field reads a value, nil where there is none.
func field(object *unstructured.Unstructured, path ...string) any {
	v, _, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	if err != nil {
		return err
	}
	return v
}

func (a *applied) wantField(kind, name string, want any, path ...string) {
	a.Helper()
	if got := field(a.get(kind, name), path...); !cmp.Equal(got, want) {
		a.Fatalf("%s of %s %s is %v, want %v", strings.Join(path, "."), kind, name, got, want)
	}
}

// managers names the field managers of an object, with the way they wrote.
func managers(object *unstructured.Unstructured) map[string]bool {
	out := make(map[string]bool)
	for _, e := range object.GetManagedFields() {
		out[strings.TrimSuffix(e.Manager+" "+string(e.Operation)+" "+e.Subresource, " ")] = true
	}
	return out
}

// applySteady: what is as desired costs nothing, and what is not, one write.
var applySteady = []applyTest{
	{"a hundred AppServices applied twice: the second time only reads", func(a *applied) {
		var sets []apply.Set
		for i := range 100 {
			sets = append(sets, a.set(a.app(fmt.Sprintf("web-%d", i), replicas(0))))
		}
		a.start(a.access())
		a.writes(200, func() {
			for _, set := range sets {
				a.want(a.apply(set), map[string]apply.Action{"Deployment": apply.Created, "Service": apply.Created})
			}
		})
		again := func() {
			for _, set := range sets {
				result := a.apply(set)
				a.want(result, map[string]apply.Action{"Deployment": apply.Unchanged, "Service": apply.Unchanged})
				if result.Writes != 0 {
					a.Fatalf("%d writes in the second round", result.Writes)
				}
			}
		}
		if got := a.requests(again); got.Writes().Total() != 0 {
			a.Errorf("the second round wrote:\n%s", got.Writes())
		}
		// Once the cache has seen all that the controllers write, not even that.
		eventually(a.T, func(context.Context) error {
			if got := a.requests(again); got.Total() != 0 {
				return fmt.Errorf("a further round asked:\n%s", got)
			}
			return nil
		})
		// A new process, which remembers nothing.
		a.start(a.access())
		again()
		if got := a.requests(again); got.Writes().Total() != 0 {
			a.Errorf("a new process wrote:\n%s", got.Writes())
		}
	}},
	{"a deleted child comes back by one write", func(a *applied) {
		set := a.set(a.app("web"))
		a.apply(set)
		if err := a.resource("Service").Delete(a.Context(), "web", metav1.DeleteOptions{}); err != nil {
			a.Fatal(err)
		}
		a.writes(1, func() {
			eventually(a.T, func(context.Context) error { // the cache may still have it
				if a.only(a.apply(set), "Service").Action != apply.Created {
					return errors.New("the Service is not made again")
				}
				return nil
			})
		})
	}},
	{"an edited field of ours is put right by one write", func(a *applied) {
		set := a.set(a.app("web"))
		a.apply(set)
		a.patch("kubectl-edit", "Service", "web", `{"spec": {"ports": [{"port": 80, "protocol": "TCP", "targetPort": 9000}]}}`)
		a.writes(1, func() { a.eventually(set, "Service", apply.Configured) })
		a.wantField("Service", "web", []any{map[string]any{"port": int64(80), "targetPort": int64(8080), "protocol": "TCP"}}, "spec", "ports")
	}},
	{"a port whose number was edited is put right, although the two cannot be there together", func(a *applied) {
		set := a.set(a.app("web"))
		a.apply(set)
		a.patch("kubectl-edit", "Service", "web", `{"spec": {"ports": [{"port": 81, "protocol": "TCP", "targetPort": 8080}]}}`)
		outcome := a.eventually(set, "Service", apply.Configured)
		if len(outcome.Fields) == 0 {
			a.Errorf("done: %+v, want the fields", outcome)
		}
		a.wantField("Service", "web", []any{map[string]any{"port": int64(80), "targetPort": int64(8080), "protocol": "TCP"}}, "spec", "ports")
		a.writes(0, func() { a.apply(set) })
	}},
	{"a port that somebody added stays", func(a *applied) {
		named := func(app *v1alpha1.AppService) { app.Spec.Ports[0].Name = "http" }
		set := a.set(a.app("web", named))
		a.apply(set)
		a.patch("kubectl-edit", "Service", "web", `{"spec": {"ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}, {"name": "more", "port": 81, "protocol": "TCP"}]}}`)
		a.writes(0, func() { a.apply(set) })
		if got := field(a.get("Service", "web"), "spec", "ports").([]any); len(got) != 2 {
			a.Errorf("ports are %v, want both", got)
		}
	}},
	{"a removed label of ours is put right by one write", func(a *applied) {
		set := a.set(a.app("web"))
		a.apply(set)
		a.patch("kubectl-label", "Service", "web", `{"metadata": {"labels": {"app.kubernetes.io/name": null}}}`)
		a.writes(1, func() {
			outcome := a.eventually(set, "Service", apply.Configured)
			if d := cmp.Diff([]string{"metadata.labels[app.kubernetes.io/name]"}, outcome.Fields); d != "" {
				a.Errorf("fields (-want +got):\n%s", d)
			}
		})
		a.wantField("Service", "web", "web", "metadata", "labels", "app.kubernetes.io/name")
	}},
	{"a foreign label is left alone without any write", func(a *applied) {
		set := a.set(a.app("web"))
		a.apply(set)
		a.patch("kubectl-label", "Deployment", "web", `{"metadata": {"labels": {"team": "shop"}}}`)
		a.writes(0, func() {
			for range 3 {
				a.want(a.apply(set), map[string]apply.Action{"Deployment": apply.Unchanged, "Service": apply.Unchanged})
			}
		})
		a.wantField("Deployment", "web", "shop", "metadata", "labels", "team")
	}},
	{"a dropped field goes", func(a *applied) {
		app := a.app("web", func(app *v1alpha1.AppService) {
			app.Spec.Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}}
		})
		a.apply(a.set(app))
		app.Spec.Env = app.Spec.Env[:1]
		outcome := a.only(a.apply(a.set(app)), "Deployment")
		if outcome.Action != apply.Configured || outcome.Effect != "restart" {
			a.Errorf("done: %+v, want configured, which restarts", outcome)
		}
		containers := field(a.get("Deployment", "web"), "spec", "template", "spec", "containers").([]any)
		if env := containers[0].(map[string]any)["env"].([]any); len(env) != 1 {
			a.Errorf("env is %v, want one", env)
		}
	}},
	{"drift is reported and left alone", func(a *applied) {
		set := a.set(a.app("web"))
		a.apply(set)
		a.patch("kubectl-edit", "Service", "web", `{"spec": {"sessionAffinity": "ClientIP", "selector": {"x": "y"}}}`)
		set = a.set(a.app("other"), driftOnly)
		a.writes(0, func() {
			a.want(a.apply(set), map[string]apply.Action{"Deployment": apply.Drifted, "Service": apply.Drifted})
		})
	}},
	{"drift names the fields and their managers", func(a *applied) {
		set := a.set(a.app("web"))
		a.apply(set)
		a.patch("kubectl-edit", "Service", "web", `{"spec": {"ports": [{"port": 80, "protocol": "TCP", "targetPort": 9000}]}}`)
		driftOnly(&set)
		a.writes(0, func() {
			outcome := a.eventually(set, "Service", apply.Drifted)
			if d := cmp.Diff([]string{"spec.ports[port=80,protocol=TCP].targetPort"}, outcome.Fields); d != "" {
				a.Errorf("fields (-want +got):\n%s", d)
			}
			if d := cmp.Diff([]string{"kubectl-edit"}, outcome.Managers); d != "" {
				a.Errorf("managers (-want +got):\n%s", d)
			}
		})
	}},
	{"an object in another namespace, without one, or a Secret is refused", func(a *applied) {
		app := a.app("web")
		for _, text := range []string{
			"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n",
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: appsvc-test}\n",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n",
		} {
			objects, err := controlplane.ReadObjects(strings.NewReader(text))
			if err != nil {
				a.Fatal(err)
			}
			set := a.set(app)
			set.Objects = []*unstructured.Unstructured{objects[0].(*unstructured.Unstructured)}
			a.writes(0, func() {
				if err := a.refused(set); !err.Terminal || err.Reason != apply.ReasonNotAllowed {
					a.Errorf("%v: %s, terminal %t", err, err.Reason, err.Terminal)
				}
			})
		}
	}},
	{"a kind that is not served is waited for, and the rest applied", func(a *applied) {
		set := a.set(a.app("web"))
		set.Objects = append(set.Objects, a.object("apiVersion: example.com/v1\nkind: Nothing\nmetadata: {name: web}\n"))
		err := a.refused(set)
		if err.Reason != apply.ReasonNotServed || err.Terminal || err.RetryAfter == 0 {
			a.Errorf("%v: %+v, want a slow retry", err, err)
		}
		a.get("Deployment", "web")
	}},
}

// eventually applies until an action was taken: the cache may be a moment behind, and
// what is not seen yet is no reason for anything.
func (a *applied) eventually(set apply.Set, kind string, want apply.Action) (outcome apply.ObjectResult) {
	a.Helper()
	eventually(a.T, func(context.Context) error {
		outcome = a.only(a.apply(set), kind)
		if outcome.Action != want {
			return fmt.Errorf("%s is %s, want %s", kind, outcome.Action, want)
		}
		return nil
	})
	return outcome
}
