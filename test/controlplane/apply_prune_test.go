package controlplane_test

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/apply"
)

func noPorts(app *v1alpha1.AppService) { app.Spec.Ports = nil }

// files gives an AppService a file, and so a ConfigMap named by its content.
func files(content string) func(*v1alpha1.AppService) {
	return func(app *v1alpha1.AppService) { app.Spec.Files = map[string]string{"/etc/app.conf": content} }
}

func (a *applied) gone(kind, name string) {
	a.Helper()
	if object, err := a.resource(kind).Get(a.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		a.Fatalf("%s %s is still there: %v, %v", kind, name, object, err)
	}
}

// applyPrune: what is no longer desired goes, and nothing else.
var applyPrune = []applyTest{
	{"what is no longer desired is pruned by one write", func(a *applied) {
		app := a.app("web", withAccount)
		a.apply(a.set(app))
		set := a.set(edited(app, noPorts))
		a.writes(2, func() { // the Deployment has no container port any more
			eventually(a.T, func(context.Context) error {
				if got := a.only(a.apply(set), "Service").Action; got != apply.Pruned {
					return fmt.Errorf("the Service is %s", got)
				}
				return nil
			})
		})
		a.gone("Service", "web")
		a.get("ServiceAccount", "web")
	}},
	{"what has the label alone, or the owner alone, is not pruned", func(a *applied) {
		app, other := a.app("web"), a.app("other")
		a.apply(a.set(app))
		a.apply(a.set(other))
		a.create("somebody", "apiVersion: v1\nkind: Service\nmetadata: {name: labelled, labels: {app.kubernetes.io/managed-by: appsvc, app.kubernetes.io/instance: web}}\nspec: {ports: [{port: 80}]}\n")
		owned := a.object("apiVersion: v1\nkind: Service\nmetadata: {name: owned}\nspec: {ports: [{port: 80}]}\n")
		owned.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(app, v1alpha1.GroupVersion.WithKind("AppService"))})
		if _, err := a.resource("Service").Create(a.Context(), owned, metav1.CreateOptions{}); err != nil {
			a.Fatal(err)
		}
		eventually(a.T, func(context.Context) error {
			if got := a.only(a.apply(a.set(edited(app, noPorts))), "Service").Action; got != apply.Pruned {
				return fmt.Errorf("the Service is %s", got)
			}
			return nil
		})
		for _, name := range []string{"labelled", "owned", "other"} {
			a.get("Service", name)
		}
	}},
	{"nothing is pruned while an object is refused", func(a *applied) {
		app := a.app("web")
		a.apply(a.set(app))
		a.create("somebody", foreignAccount)
		a.refused(a.set(edited(app, noPorts, withAccount)))
		a.get("Service", "web")
	}},
	{"an object whose pruning is disabled is kept", func(a *applied) {
		app := a.app("web")
		a.apply(a.set(app))
		a.patch("somebody", "Service", "web", `{"metadata": {"annotations": {"apps.kudevops.io/prune": "disabled"}}}`)
		outcome := a.only(a.apply(a.set(edited(app, noPorts))), "Service")
		if outcome.Action != apply.Kept || outcome.Note != `its annotation apps.kudevops.io/prune is "disabled"` {
			a.Errorf("the Service is %s: %q", outcome.Action, outcome.Note)
		}
		a.get("Service", "web")
	}},
	{"a content-hashed ConfigMap stays while a ReplicaSet needs it", func(a *applied) {
		app := a.app("web", files("one"))
		set := a.set(app)
		a.apply(set)
		first := a.nameOf(set, "ConfigMap")
		a.replicaSets(1)
		app = edited(app, files("two"))
		set = a.set(app)
		eventually(a.T, func(context.Context) error { // once the cache has it
			for _, o := range a.apply(set).Objects {
				if o.Object.Name == first && o.Action == apply.Kept {
					return nil
				}
			}
			return errors.New("the old ConfigMap is not kept")
		})
		a.get("ConfigMap", first)
		a.replicaSets(2)
		set = a.set(edited(app, func(app *v1alpha1.AppService) { app.Spec.RevisionHistoryLimit = new(int32(0)) }))
		a.apply(set)
		a.replicaSets(1) // the old one has gone, by the limit
		eventually(a.T, func(ctx context.Context) error {
			a.apply(set)
			if _, err := a.resource("ConfigMap").Get(ctx, first, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("ConfigMap %s is still there: %v", first, err)
			}
			return nil
		})
		a.get("ConfigMap", a.nameOf(set, "ConfigMap"))
	}},
	{"an autoscaler that is no longer desired goes, and the number is ours", func(a *applied) {
		app := a.app("web", autoscaled)
		a.apply(a.set(app))
		a.scale("Deployment", "web", 7)
		set := a.set(edited(app, replicas(3), func(app *v1alpha1.AppService) { app.Spec.Autoscaling = nil }))
		eventually(a.T, func(ctx context.Context) error {
			a.apply(set)
			if _, err := a.resource("HorizontalPodAutoscaler").Get(ctx, "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("the autoscaler is still there: %v", err)
			}
			return nil
		})
		a.apply(set)
		a.wantField("Deployment", "web", int64(3), "spec", "replicas")
	}},
	{"drift is left alone, and what was dropped before is pruned", func(a *applied) {
		app := a.app("web")
		a.apply(a.set(app))
		a.patch("somebody", "Service", "web", `{"metadata": {"annotations": {"apps.kudevops.io/prune": "disabled"}}}`)
		set := a.set(edited(app, noPorts))
		a.apply(set)
		a.patch("somebody", "Service", "web", `{"metadata": {"annotations": {"apps.kudevops.io/prune": null}}}`)
		driftOnly(&set)
		a.eventually(set, "Service", apply.Pruned)
	}},
}

// nameOf is the name of the one desired object of a kind.
func (a *applied) nameOf(set apply.Set, kind string) string {
	a.Helper()
	for _, object := range set.Objects {
		if object.GetKind() == kind {
			return object.GetName()
		}
	}
	a.Fatalf("no %s is desired", kind)
	return ""
}

// replicaSets waits until there are so many.
func (a *applied) replicaSets(want int) {
	a.Helper()
	eventually(a.T, func(ctx context.Context) error {
		list, err := a.cluster.Client().AppsV1().ReplicaSets(a.namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(list.Items) != want {
			err = fmt.Errorf("%d ReplicaSets, want %d", len(list.Items), want)
		}
		return err
	})
}
