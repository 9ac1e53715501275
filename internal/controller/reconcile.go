package controller

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/apply"
	"kudevops.io/appsvc/pkg/diff"
	"kudevops.io/appsvc/pkg/render"
)

// Reconciler makes the children of one AppService be as it says.
type Reconciler struct {
	client  client.Client
	applier *apply.Applier
	events  events.EventRecorder
	kinds   *kinds
	status  *statusWriter
	metrics *metrics
}

// Reconcile handles one AppService: get, render, apply and prune, status.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	app := &v1alpha1.AppService{}
	if err := r.client.Get(ctx, request.NamespacedName, app); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(request.NamespacedName)
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, err
	}
	// What is being deleted takes its children along: to make them again would hold up a
	// foreground deletion for ever.
	if !app.DeletionTimestamp.IsZero() {
		r.forget(request.NamespacedName)
		return reconcile.Result{}, nil
	}
	o := r.handle(ctx, app)
	r.announce(ctx, app, &o)
	r.metrics.observe(request.NamespacedName, &o)
	wait, err := r.status.write(ctx, app, o.status(app))
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, nil // deleted meanwhile
	}
	return o.next(wait, err)
}

func (r *Reconciler) forget(name types.NamespacedName) {
	r.applier.Forget(name)
	r.status.forget(name)
	r.metrics.forget(name)
}

// outcome is what one reconcile found and did.
type outcome struct {
	suspended bool
	invalid   field.ErrorList
	warnings  []render.Warning
	digest    string
	inventory []v1alpha1.InventoryEntry
	result    apply.Result
	err       error
	health    health
	selector  string
}

// handle does all but reporting.
func (r *Reconciler) handle(ctx context.Context, app *v1alpha1.AppService) outcome {
	var o outcome
	if app.Spec.Suspend {
		o.suspended = true
		o.health, o.err = r.health(ctx, app, 0)
		return o
	}
	rendered, invalid := render.Render(app, render.Options{})
	if len(invalid) > 0 {
		o.invalid = invalid
		return o
	}
	ignore, err := diff.ParseIgnoreList(v1alpha1.IgnoreDifferencesAnnotation, 0, app.Annotations[v1alpha1.IgnoreDifferencesAnnotation])
	if err != nil {
		o.invalid = field.ErrorList{field.Invalid(field.NewPath("metadata", "annotations").Key(v1alpha1.IgnoreDifferencesAnnotation), field.OmitValueType{}, err.Error())}
		return o
	}
	o.warnings = rendered.Warnings
	o.digest = render.Digest(rendered.Objects)
	o.selector = selectorOf(app)
	for _, object := range rendered.Objects {
		o.inventory = append(o.inventory, inventoryEntry(object.GroupVersionKind(), object.GetName()))
	}
	if o.err = r.kinds.watch(ctx, rendered.Objects); o.err != nil {
		return o
	}
	o.result, o.err = r.applier.Apply(ctx, apply.Set{
		Owner:         apply.OwnerOf(app),
		Objects:       rendered.Objects,
		Kinds:         r.kinds.served(),
		ContentHashed: []schema.GroupVersionKind{{Version: "v1", Kind: "ConfigMap"}},
		Selector:      render.Selector(app),
		Adopt:         app.Annotations[v1alpha1.AdoptAnnotation] == "true",
		Recreate:      app.Annotations[v1alpha1.RecreateAnnotation] == strconv.FormatInt(app.Generation, 10),
		DriftOnly:     app.Spec.DriftPolicy == v1alpha1.DriftPolicyWarn && app.Status.RenderDigest == o.digest,
		Ignore:        ignore,
		Key:           attemptKey(app),
	})
	health, err := r.health(ctx, app, deploymentGeneration(o.result))
	if o.health = health; o.err == nil {
		o.err = err
	}
	return o
}

// next says when to look again, unless something that is watched changes before.
func (o *outcome) next(wait time.Duration, statusErr error) (reconcile.Result, error) {
	if statusErr != nil {
		return reconcile.Result{}, fmt.Errorf("write status: %w", statusErr)
	}
	var errs apply.Errors
	if errors.As(o.err, &errs) {
		if after := errs.RetryAfter(); after > 0 {
			return reconcile.Result{RequeueAfter: sooner(after, wait)}, nil
		}
		if errs.Terminal() {
			return reconcile.Result{RequeueAfter: wait}, nil
		}
	}
	if o.err != nil {
		return reconcile.Result{}, o.err
	}
	return reconcile.Result{RequeueAfter: wait}, nil
}

// sooner gives the shorter of two times of which zero means never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

func inventoryEntry(gvk schema.GroupVersionKind, name string) v1alpha1.InventoryEntry {
	return v1alpha1.InventoryEntry{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Name: name}
}

// attemptKey changes when somebody asks for another attempt at what was given up.
func attemptKey(app *v1alpha1.AppService) string {
	return fmt.Sprintf("%d/%s/%s/%s", app.Generation, app.Annotations[v1alpha1.ReconcileAnnotation],
		app.Annotations[v1alpha1.AdoptAnnotation], app.Annotations[v1alpha1.RecreateAnnotation])
}

func selectorOf(app *v1alpha1.AppService) string {
	return metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: render.Selector(app)})
}

// deploymentGeneration is the generation of the Deployment as it was last seen past the
// cache, which may be behind.
func deploymentGeneration(result apply.Result) int64 {
	for i := range result.Objects {
		if o := &result.Objects[i]; o.Object.Kind == "Deployment" && o.Object.Group() == "apps" {
			return o.Generation
		}
	}
	return 0
}

// reported logs an error that a condition tells of, for those who read logs only.
func reported(ctx context.Context, err error) {
	if err != nil {
		log.FromContext(ctx).Info("not as desired", "reason", err.Error())
	}
}
