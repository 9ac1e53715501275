package trial

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/test/controlplane/internal/shipped"
)

// oursName is that of the program.
const oursName = "appsvc-controller"

// ours is appsvc-controller as it is shipped, with its flags as they are but for the
// concurrency, which is kro's.
func (t trial) ours() way {
	return way{name: oursName, make: func(ctx context.Context, a *arena, apps int) (Sample, error) {
		access, err := shipped.Install(ctx, a.cluster)
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
		c := controller{
			user: shipped.User,
			process: &shipped.Controller{Program: t.file(oursName), Attr: a.guard.Attr, Args: []string{
				"--kubeconfig=" + kubeconfig, "--concurrency=" + concurrency,
				"--metrics-bind-address=" + e.metrics, "--metrics-secure=false", "--health-probe-bind-address=" + e.probes,
			}},
			resource: v1alpha1.GroupVersion.WithResource("appservices"),
			object:   func(index int) (*unstructured.Unstructured, error) { return toUnstructured(appService(index)) },
			rested:   e.rested,
		}
		if err := c.process.Start(); err != nil {
			return nil, err
		}
		if err := poll(ctx, e.ready); err != nil {
			return nil, fmt.Errorf("start %s: %w\n%s", oursName, err, lastLines(c.process.Logs()))
		}
		return a.race(ctx, c, apps)
	}}
}

// concurrency is how many objects either controller handles at once.
const concurrency = "10"

// rested is controller.rested, by appsvc-controller's metrics.
func (e endpoint) rested(ctx context.Context, apps int) error {
	if err := e.ready(ctx); err != nil {
		return err
	}
	values, err := e.values(ctx)
	if err != nil {
		return err
	}
	reconciled, known := values["controller_runtime_reconcile_total"], values["appsvc_appservices"]
	busy := values["workqueue_depth"] + values["controller_runtime_active_workers"]
	if int(reconciled) < apps || int(known) < apps || busy > 0 {
		return fmt.Errorf("%v reconciles of %v AppServices; %v wait or are under way", reconciled, known, busy)
	}
	return nil
}
