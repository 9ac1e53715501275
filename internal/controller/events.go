package controller

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/apply"
	"kudevops.io/appsvc/pkg/diff"
)

// Reasons of events.
const (
	eventApplied = "Applied"
	eventPruned  = "Pruned"
)

// announce tells of what was done, in one event for all that was applied and one for all
// that was pruned; and of what went wrong, when it was not so before.
func (r *Reconciler) announce(ctx context.Context, app *v1alpha1.AppService, o *outcome) {
	reported(ctx, o.err)
	for _, w := range o.warnings {
		log.FromContext(ctx).V(1).Info("spec is probably not what was meant", "field", w.Field, "warning", w.Message)
	}
	if text := done(o.result.Objects, false); text != "" {
		r.events.Eventf(app, nil, corev1.EventTypeNormal, eventApplied, "Apply", "%s", text)
	}
	if text := done(o.result.Objects, true); text != "" {
		r.events.Eventf(app, nil, corev1.EventTypeNormal, eventPruned, "Prune", "%s", text)
	}
	v := o.judge()
	if v.reason == string(apply.ReasonNamespaceTerminating) {
		return // there is no place for an event either
	}
	if ready := meta.FindStatusCondition(app.Status.Conditions, v1alpha1.ConditionReady); v.stalled && (ready == nil || ready.Reason != v.reason || ready.Message != v.message) {
		r.events.Eventf(app, nil, corev1.EventTypeWarning, v.reason, "Reconcile", "%s", v.message)
	}
}

// done says what was written: "created Deployment web, Service web; configured Deployment
// api: spec.template... (restart)".
func done(objects []apply.ObjectResult, pruned bool) string {
	var order []apply.Action
	byAction := make(map[apply.Action][]string)
	for i := range objects {
		o := &objects[i]
		if !o.Wrote() || (o.Action == apply.Pruned) != pruned {
			continue
		}
		if byAction[o.Action] == nil {
			order = append(order, o.Action)
		}
		text := describe(o)
		if o.Effect == diff.EffectRestart || o.Effect == diff.EffectRecreate || o.Effect == diff.EffectScale {
			text += " (" + string(o.Effect) + ")"
		}
		byAction[o.Action] = append(byAction[o.Action], text)
	}
	parts := make([]string, len(order))
	for i, action := range order {
		parts[i] = string(action) + " " + strings.Join(byAction[action], ", ")
	}
	return bounded(strings.Join(parts, "; "))
}
