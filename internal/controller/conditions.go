package controller

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/apply"
)

// verdict is what the conditions say, before it is compared with what they said.
type verdict struct {
	ready           metav1.ConditionStatus
	reason, message string
	stalled         bool
	reconciling     bool
}

// judge tells how an AppService does. What a person has to do comes first.
func (o *outcome) judge() verdict {
	var errs apply.Errors
	switch {
	case o.suspended:
		return verdict{ready: metav1.ConditionUnknown, reason: v1alpha1.ReasonSuspended, message: "spec.suspend is set: nothing is applied, corrected or pruned"}
	case len(o.invalid) > 0:
		return verdict{ready: metav1.ConditionFalse, reason: v1alpha1.ReasonInvalidSpec, message: listed(o.invalid), stalled: true}
	case errors.As(o.err, &errs):
		first := errs[0]
		for _, e := range errs {
			if e.Terminal && !first.Terminal {
				first = e
			}
		}
		return verdict{ready: metav1.ConditionFalse, reason: string(first.Reason), message: bounded(errs.Error()), stalled: first.Terminal, reconciling: !errs.Terminal()}
	case o.err != nil:
		return verdict{ready: metav1.ConditionFalse, reason: v1alpha1.ReasonApplyFailed, message: "the API server could not be read", reconciling: true}
	}
	v := verdict{ready: metav1.ConditionFalse, reason: o.health.reason, message: o.health.message}
	switch o.health.state {
	case healthy:
		v.ready = metav1.ConditionTrue
	case failed:
		v.stalled = true
	case progressing:
		v.reconciling = true
	}
	return v
}

// conditions are all of them, in the order in which they are shown: Ready always, the
// others while they are true.
func (o *outcome) conditions(generation int64) []metav1.Condition {
	v := o.judge()
	condition := func(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: generation}
	}
	out := []metav1.Condition{condition(v1alpha1.ConditionReady, v.ready, v.reason, v.message)}
	if v.reconciling {
		out = append(out, condition(v1alpha1.ConditionReconciling, metav1.ConditionTrue, v.reason, v.message))
	}
	if v.stalled {
		out = append(out, condition(v1alpha1.ConditionStalled, metav1.ConditionTrue, v.reason, v.message))
	}
	if drifted := o.with(apply.Drifted); len(drifted) > 0 {
		out = append(out, condition(v1alpha1.ConditionDrifted, metav1.ConditionTrue, v1alpha1.ReasonDriftDetected, summary(drifted)))
	}
	if contested := o.with(apply.Contested); len(contested) > 0 {
		out = append(out, condition(v1alpha1.ConditionContested, metav1.ConditionTrue, v1alpha1.ReasonFieldContested, summary(contested)))
	}
	return out
}

// with gives the objects of which something was done.
func (o *outcome) with(action apply.Action) []apply.ObjectResult {
	return slices.DeleteFunc(slices.Clone(o.result.Objects), func(r apply.ObjectResult) bool { return r.Action != action })
}

// summary says of each object what differs, and who wants it otherwise.
func summary(objects []apply.ObjectResult) string {
	parts := make([]string, len(objects))
	for i := range objects {
		parts[i] = describe(&objects[i])
	}
	return bounded(strings.Join(parts, "; "))
}

func describe(o *apply.ObjectResult) string {
	text := o.Object.Kind + " " + o.Object.Name
	switch {
	case len(o.Fields) > 0:
		text += ": " + strings.Join(o.Fields, ", ")
	case o.Action == apply.Drifted:
		text += " is missing"
	}
	if o.More > 0 {
		text += fmt.Sprintf(" and %d more", o.More)
	}
	if len(o.Managers) > 0 {
		text += " (" + strings.Join(o.Managers, ", ") + ")"
	}
	return text
}

// listed gives every fault of a spec.
func listed[E error](faults []E) string {
	parts := make([]string, len(faults))
	for i := range faults {
		parts[i] = faults[i].Error()
	}
	return bounded(strings.Join(parts, "; "))
}

// bounded keeps a message readable, and a status small: an AppService may have hundreds of
// faults.
func bounded(text string) string {
	const most = 1024
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
