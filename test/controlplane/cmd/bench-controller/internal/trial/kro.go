package trial

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kudevops.io/appsvc/test/controlplane/internal/shipped"
)

// definition is the ResourceGraphDefinition of a pair. What it renders is what an
// AppService renders to, which each run checks.
//
//go:embed definition.yaml
var definition []byte

// kroUser is whom kro is taken for.
const kroUser = "kro"

// kro has what it may do, and how fast it may, opened wide, so that it is seen at its
// best: its defaults are one object at a time and ten events a second. It considers an
// instance Ready when its objects are applied, and, unlike us, does not wait until
// Kubernetes has seen them.
func (t trial) kro() way {
	w := way{name: "kro"}
	if t.Kro == "" {
		w.missing = "no program was given"
	}
	w.make = func(ctx context.Context, a *arena, apps int) (Sample, error) {
		access, err := a.cluster.User(kroUser, "system:masters")
		if err != nil {
			return nil, err
		}
		kubeconfig, err := a.kubeconfig(access)
		if err != nil {
			return nil, err
		}
		e, err := newEndpoint()
		if err != nil {
			return nil, err
		}
		if err := a.kubectl(ctx, "apply", "--server-side", "-f", t.KroCRDs); err != nil {
			return nil, err
		}
		if err := a.kubectl(ctx, "wait", "--for=condition=Established", "crd", "--all", "--timeout=1m"); err != nil {
			return nil, err
		}
		c := controller{
			user: kroUser,
			process: &shipped.Controller{Program: t.Kro, Attr: a.guard.Attr, Args: []string{
				"--kubeconfig=" + kubeconfig,
				"--metrics-bind-address=" + e.metrics, "--health-probe-bind-address=" + e.probes,
				"--dynamic-controller-concurrent-reconciles=" + concurrency,
				"--dynamic-controller-rate-limiter-rate-limit=1000", "--dynamic-controller-rate-limiter-burst-limit=2000",
				"--client-qps=1000", "--client-burst=2000",
			}},
			resource: schema.GroupVersionResource{Group: "kro.run", Version: "v1alpha1", Resource: "pairs"},
			object:   func(index int) (*unstructured.Unstructured, error) { return instance(index), nil },
		}
		if err := c.process.Start(); err != nil {
			return nil, err
		}
		if err := a.define(ctx, e); err != nil {
			c.process.Kill() //nolint:errcheck // the first error says more
			return nil, fmt.Errorf("%w\n%s", err, lastLines(c.process.Logs()))
		}
		return a.race(ctx, c, apps)
	}
	return w
}

// define gives kro the definition and waits until it serves it.
func (a *arena) define(ctx context.Context, e endpoint) error {
	if err := poll(ctx, e.ready); err != nil {
		return err
	}
	file := filepath.Join(a.dir, "definition.yaml")
	if err := os.WriteFile(file, definition, 0o644); err != nil {
		return err
	}
	if err := a.kubectl(ctx, "apply", "--server-side", "-f", file); err != nil {
		return err
	}
	return a.kubectl(ctx, "wait", "--for=condition=Ready", "resourcegraphdefinition/pair", "--timeout=1m")
}

// instance is what stands for a pair.
func instance(index int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kro.run/v1alpha1",
		"kind":       "Pair",
		"metadata":   map[string]any{"name": name(index), "namespace": namespace},
		"spec":       map[string]any{"replicas": int64(0), "image": image(index), "port": int64(80)},
	}}
}
