package controller_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/test/controlplane"
)

// typed gives an AppService as its type.
func typed(u *unstructured.Unstructured) (*v1alpha1.AppService, error) {
	app := &v1alpha1.AppService{}
	return app, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, app)
}

// inShared gives a namespace of the shared cluster, in which a controller works.
func inShared(t *testing.T) kubectl {
	t.Helper()
	cluster := started(t)
	k := kubectl{t: t, cluster: cluster, namespace: cluster.Namespace(t)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(about(sharedManager.Logs(), k.namespace))
		}
	})
	return k
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
	var complaint error
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		if complaint == nil || ctx.Err() == nil {
			complaint = err
		}
		select {
		case <-ctx.Done():
			t.Fatalf("still after two minutes: %v", complaint)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// try is run, with the error instead of a failure.
func (k kubectl) try(args ...string) (string, error) {
	out, err := k.cluster.Kubectl(k.t.Context(), append([]string{"-n", k.namespace}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// app reads an AppService.
func (k kubectl) app(name string) *v1alpha1.AppService {
	k.t.Helper()
	app := &v1alpha1.AppService{}
	if err := json.Unmarshal([]byte(k.run("get", "appservice", name, "-o", "json")), app); err != nil {
		k.t.Fatal(err)
	}
	return app
}

// ready waits until all AppServices are Ready in their present generation.
func (k kubectl) ready() {
	k.t.Helper()
	eventually(k.t, func(ctx context.Context) error {
		list, err := k.cluster.Dynamic().Resource(appServices).Namespace(k.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list.Items {
			app, err := typed(&list.Items[i])
			if err != nil {
				return err
			}
			if err := stands(app, metav1.ConditionTrue, ""); err != nil {
				return err
			}
		}
		return nil
	})
}

// reaches waits until an AppService's present generation is Ready, or not, for a reason,
// and gives it.
func (k kubectl) reaches(name string, status metav1.ConditionStatus, reason string) *v1alpha1.AppService {
	k.t.Helper()
	var app *v1alpha1.AppService
	eventually(k.t, func(context.Context) error {
		app = k.app(name)
		return stands(app, status, reason)
	})
	return app
}

// stands says how an AppService stands otherwise than wanted. Any reason will do where
// none is given.
func stands(app *v1alpha1.AppService, status metav1.ConditionStatus, reason string) error {
	ready := meta.FindStatusCondition(app.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil:
		return fmt.Errorf("AppService %s has no Ready", app.Name)
	case ready.ObservedGeneration != app.Generation || app.Status.ObservedGeneration != app.Generation:
		return fmt.Errorf("AppService %s: generation %d has yet to be handled", app.Name, app.Generation)
	case ready.Status != status || reason != "" && ready.Reason != reason:
		return fmt.Errorf("AppService %s: Ready is %s, %s: %s; want %s %s", app.Name, ready.Status, ready.Reason, ready.Message, status, reason)
	}
	return nil
}

// condition is one of an AppService's, or one without a status.
func condition(app *v1alpha1.AppService, kind string) metav1.Condition {
	if c := meta.FindStatusCondition(app.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// says complains of a message that lacks something.
func says(t *testing.T, message string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(message, want) {
			t.Errorf("%q does not say %q", message, want)
		}
	}
}

// events are the notes of the events about an AppService.
func (k kubectl) events(name string) []string {
	k.t.Helper()
	list := struct {
		Items []struct{ Reason, Message string }
	}{}
	out := k.run("get", "events", "--field-selector", "involvedObject.kind=AppService,involvedObject.name="+name, "-o", "json")
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		k.t.Fatal(err)
	}
	notes := make([]string, len(list.Items))
	for i, e := range list.Items {
		notes[i] = e.Reason + ": " + e.Message
	}
	return notes
}
