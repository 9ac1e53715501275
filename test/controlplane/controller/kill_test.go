package controller_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"kudevops.io/appsvc/pkg/render"
)

// TestKilledFiftyTimes: whenever the controller is killed, while AppServices are created,
// edited and deleted, the next one ends with what they say: nothing missing, nothing left
// over, nothing of others touched.
func TestKilledFiftyTimes(t *testing.T) {
	t.Parallel()
	e, flags := listens(t)
	k, m := own(t, flags...)
	foreign := k.foreign()
	kills := 50
	if testing.Short() {
		kills = 5
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	dice := rand.New(rand.NewPCG(seed, 0))

	ctx, stop := context.WithCancel(t.Context())
	var editing sync.WaitGroup
	editing.Go(func() { k.churn(ctx, rand.New(rand.NewPCG(seed, 1)), 100) })
	defer editing.Wait()
	defer stop()
	for range kills {
		if err := m.Start(); err != nil {
			t.Fatal(err)
		}
		// At any moment: mostly when it works, sometimes before.
		if dice.IntN(5) > 0 {
			eventually(t, e.isReady)
		}
		time.Sleep(time.Duration(dice.IntN(700)) * time.Millisecond)
		if err := m.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	editing.Wait()
	before := k.writes()
	if before.Total() < kills {
		t.Errorf("%d writes: it was killed before it did anything", before.Total())
	}
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	k.converges()
	if d := foreign.changed(); d != "" {
		t.Errorf("objects of others were touched: %s", d)
	}
}

// churn creates, edits and deletes AppServices until ctx is done.
func (k kubectl) churn(ctx context.Context, dice *rand.Rand, apps int) {
	client := k.cluster.Dynamic().Resource(appServices).Namespace(k.namespace)
	for i := 0; ctx.Err() == nil; i++ {
		name := fmt.Sprintf("web-%d", i%apps)
		var err error
		switch what := dice.IntN(10); {
		case i < apps:
			err = k.put(ctx, name, various[dice.IntN(len(various))])
		case what == 0:
			err = client.Delete(ctx, name, metav1.DeleteOptions{})
		case what < 4:
			err = k.put(ctx, name, various[dice.IntN(len(various))])
		default:
			_, err = client.Patch(ctx, name, types.MergePatchType, fmt.Appendf(nil, `{"spec": {"image": "nginx:1.%d"}}`, dice.IntN(100)), metav1.PatchOptions{})
		}
		if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
			k.t.Error(err)
			return
		}
		if i >= apps {
			time.Sleep(time.Duration(dice.IntN(20)) * time.Millisecond)
		}
	}
}

// put creates an AppService, or replaces its spec.
func (k kubectl) put(ctx context.Context, name, spec string) error {
	app := &unstructured.Unstructured{}
	text, err := yaml.YAMLToJSON([]byte(appServiceOf(name, spec)))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &app.Object); err != nil {
		return err
	}
	client := k.cluster.Dynamic().Resource(appServices).Namespace(k.namespace)
	_, err = client.Create(ctx, app, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	is, err := client.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	app.SetResourceVersion(is.GetResourceVersion())
	_, err = client.Update(ctx, app, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		return nil // its status was written: never mind
	}
	return err
}

// converges waits until every AppService in the namespace is Ready, and the children are
// what they render to.
func (k kubectl) converges() {
	k.t.Helper()
	k.ready()
	eventually(k.t, func(ctx context.Context) error {
		list, err := k.cluster.Dynamic().Resource(appServices).Namespace(k.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var rendered []*unstructured.Unstructured
		for i := range list.Items {
			app, err := typed(&list.Items[i])
			if err != nil {
				return err
			}
			result, faults := render.Render(app, render.Options{})
			if len(faults) > 0 {
				return faults.ToAggregate()
			}
			if err := wants(app.Status.RenderDigest, render.Digest(result.Objects)); err != nil {
				return fmt.Errorf("digest of %s: %w", app.Name, err)
			}
			rendered = append(rendered, result.Objects...)
		}
		return k.sameAs(ctx, rendered)
	})
}

// foreign are objects of others that are easily taken for children.
type foreign struct {
	k        kubectl
	versions map[string]string
}

// foreign makes them.
func (k kubectl) foreign() foreign {
	k.t.Helper()
	k.apply(`
apiVersion: v1
kind: ConfigMap
metadata: {name: web-0-files, labels: {app.kubernetes.io/managed-by: appsvc, app.kubernetes.io/instance: web-0}}
---
apiVersion: v1
kind: Service
metadata: {name: other, labels: {app.kubernetes.io/managed-by: appsvc}}
spec: {ports: [{port: 80}], selector: {apps.kudevops.io/appservice: web-1}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web}
`)
	return foreign{k, k.versionsOf("configmap/web-0-files", "service/other", "serviceaccount/web")}
}

func (k kubectl) versionsOf(names ...string) map[string]string {
	k.t.Helper()
	out := map[string]string{}
	for _, name := range names {
		out[name] = k.run("get", name, "-o", "jsonpath={.metadata.uid} {.metadata.resourceVersion}")
	}
	return out
}

// changed names those that are not what they were.
func (f foreign) changed() string {
	var names []string
	for name, version := range f.versions {
		if is, err := f.k.try("get", name, "-o", "jsonpath={.metadata.uid} {.metadata.resourceVersion}"); err != nil || is != version {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
