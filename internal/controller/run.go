package controller

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/apply"
	"kudevops.io/appsvc/pkg/render"
)

// Run runs the controller until ctx is done, and then gives what is under way half a
// minute to end. Logs go to out.
func Run(ctx context.Context, config *rest.Config, opts Options, out io.Writer) error {
	if err := opts.complete(); err != nil {
		return err
	}
	logger := opts.logger(out)
	log.SetLogger(logger)
	klog.SetLogger(logger)

	mgr, err := newManager(config, &opts)
	if err != nil {
		return err
	}
	if err := addReconciler(ctx, mgr, &opts); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func newManager(config *rest.Config, opts *Options) (manager.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	cacheOpts, err := cacheOptions(opts, scheme)
	if err != nil {
		return nil, err
	}
	metricsOpts := metricsserver.Options{BindAddress: opts.MetricsAddress, SecureServing: opts.MetricsSecure}
	if opts.MetricsSecure {
		metricsOpts.FilterProvider = filters.WithAuthenticationAndAuthorization
		metricsOpts.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme,
		Cache:  cacheOpts,
		// Unstructured objects are children of kinds that not every cluster serves.
		Client:                        client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		Metrics:                       metricsOpts,
		HealthProbeBindAddress:        opts.ProbeAddress,
		PprofBindAddress:              opts.PprofAddress,
		LeaderElection:                opts.LeaderElect,
		LeaderElectionID:              opts.leaseName(),
		LeaderElectionNamespace:       opts.LeaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("set up the manager: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	return mgr, mgr.AddReadyzCheck("caches", synced(mgr))
}

// synced says that a replica is of use: it works, or stands by with warm caches.
func synced(mgr manager.Manager) healthz.Checker {
	return func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("caches are not filled yet")
		}
		return nil
	}
}

func addReconciler(ctx context.Context, mgr manager.Manager, opts *Options) error {
	applier, err := apply.New(apply.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), MigrateManagers: opts.MigrateManagers, OwnerIndex: ownerIndex,
	})
	if err != nil {
		return err
	}
	r := &Reconciler{
		client:  mgr.GetClient(),
		applier: applier,
		events:  mgr.GetEventRecorder(v1alpha1.FieldManager),
		status:  newStatusWriter(mgr.GetClient(), time.Now),
		metrics: newMetrics(),
	}
	if err := ctrlmetrics.Registry.Register(r.metrics); err != nil {
		return err
	}
	ctl, err := controller.New("appservice", mgr, controllerOptions(opts, r))
	if err != nil {
		return err
	}
	if err := ctl.Watch(source.Kind(mgr.GetCache(), client.Object(&v1alpha1.AppService{}), &handler.EnqueueRequestForObject{}, worthALook())); err != nil {
		return err
	}
	r.kinds = newKinds(mgr.GetCache(), mgr.GetClient(), ctl)
	for _, gvk := range render.Kinds() {
		if err := r.kinds.add(ctx, gvk); err != nil {
			return err
		}
	}
	return nil
}

// controllerOptions: a reconcile that fails is repeated after a tenth of a second, and then
// ever more rarely. One that hangs is given up after two minutes, one that panics is an
// error like others, and a replica that stands by keeps its caches filled.
func controllerOptions(opts *Options, r reconcile.Reconciler) controller.Options {
	const firstBackoff, longest = 100 * time.Millisecond, 2 * time.Minute
	return controller.Options{
		Reconciler:              r,
		MaxConcurrentReconciles: opts.Concurrency,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstBackoff, opts.MaxBackoff),
		ReconciliationTimeout:   longest,
		RecoverPanic:            new(true),
		EnableWarmup:            new(true),
	}
}

// worthALook leaves out changes of an AppService's status, most of which are our own. A
// label or annotation is passed on to the children, or asks for something. Children are
// not filtered: their status is what they are watched for.
func worthALook() predicate.Predicate {
	return predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{})
}
