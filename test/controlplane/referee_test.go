package controlplane_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/crd"
	"kudevops.io/appsvc/internal/manifest"
	"kudevops.io/appsvc/pkg/render"
	"kudevops.io/appsvc/test/controlplane"
	"kudevops.io/appsvc/test/controlplane/internal/referee"
)

var (
	refereeCases = flag.Int("referee.n", 500, "how many cases TestReferee judges")
	refereeSeed  = flag.Uint64("referee.seed", 1, "the seed of the first of them; the others follow")
)

// TestReferee: over random objects, random edits by others and random changes of what is
// wanted, pkg/diff says what the API server does. See docs/exactness.md.
func TestReferee(t *testing.T) {
	t.Parallel()
	cluster := controlplane.StartForTest(t, controlplane.Options{
		APIServerOnly: true,
		CRDs:          []controlplane.CRDs{controlplane.GatewayAPICRDs, controlplane.ServiceMonitorCRDs},
	})
	widgets := readAll(t, "testdata/referee/crd.yaml")
	for _, object := range widgets {
		if err := cluster.Apply(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, func(context.Context) error {
		_, err := cluster.Client().Discovery().ServerResourcesForGroupVersion("referee.example.com/v1")
		return err
	})
	config := cluster.Config()
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	var tally referee.Tally
	r := &referee.Referee{
		Client:    client,
		Mapper:    restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(cluster.Client().Discovery())),
		Kubectl:   cluster.Kubectl,
		Dir:       t.TempDir(),
		Namespace: cluster.Namespace(t),
		Pool:      accepted(t),
		Samples:   readAll(t, "testdata/referee/samples.yaml"),
		Tally:     &tally,
	}

	seeds := make(chan uint64)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for seed := range seeds {
				if err := r.Case(t.Context(), seed); err != nil {
					tally.Count("cases that failed", 1)
					if tally.Of("cases that failed") <= 10 {
						t.Errorf("go test -run TestReferee . -referee.seed=%d -referee.n=1\n%v", seed, err)
					}
				}
			}
		})
	}
	for i := range *refereeCases {
		seeds <- *refereeSeed + uint64(i)
	}
	close(seeds)
	wait.Wait()
	t.Logf("\n%s", &tally)
	if *refereeCases >= 500 {
		for _, name := range referee.Edits() {
			if tally.Of("edit: "+name) == 0 {
				t.Errorf("no object was ever edited by %q", name)
			}
		}
		if judged, confirmed := tally.Of("judged"), tally.Of("content: confirmed by an update"); judged < 10**refereeCases || confirmed < 5**refereeCases {
			t.Errorf("only %d judgements, and %d confirmed by an update", judged, confirmed)
		}
	}
	if n := tally.Of("cases that failed"); n > 0 {
		t.Errorf("%d of %d cases failed", n, *refereeCases)
	}
}

// accepted are the AppServices of the golden cases and of the rules of the CRD that render.
func accepted(t *testing.T) []*v1alpha1.AppService {
	t.Helper()
	var pool []*v1alpha1.AppService
	add := func(o *manifest.Object) {
		app, faults := o.AppService()
		if app == nil || len(faults) > 0 {
			return
		}
		if errs, _ := render.Validate(app, render.Options{}); len(errs) == 0 {
			pool = append(pool, app)
		}
	}
	golden := goldenAppServices(t)
	for _, name := range slices.Sorted(maps.Keys(golden)) {
		for _, o := range golden[name] {
			add(o)
		}
	}
	cases, err := crd.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		o, fault := manifest.FromValue(c.Object, "case.yaml", "")
		if fault == nil {
			add(o)
		}
	}
	if len(pool) < 300 {
		t.Fatalf("only %d AppServices to take fields from", len(pool))
	}
	return pool
}

// readAll reads the objects of a file.
func readAll(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := controlplane.ReadObjects(bytes.NewReader(text))
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", file, err))
	}
	out := make([]*unstructured.Unstructured, len(objects))
	for i, object := range objects {
		u, ok := object.(*unstructured.Unstructured)
		if !ok {
			t.Fatal(errors.New(file + ": not an object"))
		}
		out[i] = u
	}
	return out
}
