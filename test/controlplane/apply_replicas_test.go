package controlplane_test

import (
	"context"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/apply"
)

// autoscaled switches autoscaling on.
func autoscaled(app *v1alpha1.AppService) {
	app.Spec.Autoscaling = &v1alpha1.AutoscalingSpec{MaxReplicas: 9, MinReplicas: new(int32(2)), Metrics: []autoscalingv2.MetricSpec{{
		Type: autoscalingv2.PodsMetricSourceType,
		Pods: &autoscalingv2.PodsMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: "load"},
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: new(resource.MustParse("1"))},
		},
	}}}
}

// applyReplicas: who says how many replicas there are, and that nobody's going away
// changes the number.
var applyReplicas = []applyTest{
	{"replicas that are no longer given stay", func(a *applied) { a.dropped(3, 3, nil, 2) }},
	{"replicas zero that are no longer given stay", func(a *applied) { a.dropped(0, 0, nil, 2) }},
	{"replicas stay when a scaler had set another number", func(a *applied) {
		a.dropped(3, 7, func() { a.scale("Deployment", "web", 7) }, 0)
	}},
	{"replicas stay when a scaler had set the same number", func(a *applied) {
		a.dropped(3, 3, func() { a.scale("Deployment", "web", 3) }, 2)
	}},
	{"replicas stay when autoscaling is switched on", func(a *applied) {
		app := a.app("web", replicas(4))
		a.apply(a.set(app))
		a.apply(a.set(edited(app, noReplicas, autoscaled)))
		a.wantField("Deployment", "web", int64(4), "spec", "replicas")
		if got := managers(a.get("Deployment", "web")); !got[apply.ReplicasManager+" Apply"] {
			a.Errorf("managers are %v, want %s among them", got, apply.ReplicasManager)
		}
		// The autoscaler takes over, and nobody takes it back.
		a.scale("Deployment", "web", 6)
		a.writes(0, func() { a.apply(a.set(edited(app, noReplicas, autoscaled))) })
		a.wantField("Deployment", "web", int64(6), "spec", "replicas")
	}},
	{"replicas are ours again when they are given again, and can be dropped again", func(a *applied) {
		app := a.app("web", replicas(4))
		for _, n := range []int32{4, 5} {
			a.apply(a.set(edited(app, replicas(n))))
			a.wantField("Deployment", "web", int64(n), "spec", "replicas")
			a.apply(a.set(edited(app, noReplicas)))
			a.wantField("Deployment", "web", int64(n), "spec", "replicas")
		}
	}},
	{"replicas of a taken over Deployment stay", func(a *applied) {
		app := a.app("web", noReplicas, seedSelector)
		a.seed(app, 5)
		a.apply(a.set(app))
		a.wantField("Deployment", "web", int64(5), "spec", "replicas")
	}},
	{"a Deployment that is made anew has the replicas it had", func(a *applied) {
		app := a.app("web", noReplicas)
		a.seed(app, 5)
		result := a.apply(a.set(app, recreate))
		if got := a.only(result, "Deployment").Action; got != apply.Recreated {
			a.Errorf("the Deployment is %s, want recreated", got)
		}
		a.wantField("Deployment", "web", int64(5), "spec", "replicas")
	}},
	{"a number that changes between reading and handing over is not put back", func(a *applied) {
		app := a.app("web", replicas(3))
		a.apply(a.set(app))
		a.applier = a.interposed(func() { a.scale("Deployment", "web", 8) })
		a.apply(a.set(edited(app, noReplicas)))
		a.wantField("Deployment", "web", int64(8), "spec", "replicas")
	}},
	{"a number that changes at the moment of the hand-over is not put back", func(a *applied) {
		app := a.app("web", replicas(3))
		a.apply(a.set(app))
		ctx, cancel := context.WithCancel(a.Context())
		done := make(chan error, 1)
		go func() {
			var err error
			for n := 10; ctx.Err() == nil && err == nil; n++ {
				_, err = a.resource("Deployment").Patch(a.Context(), "web", types.MergePatchType, fmt.Appendf(nil, `{"spec": {"replicas": %d}}`, n), metav1.PatchOptions{FieldManager: "scaler"}, "scale")
			}
			done <- err
		}()
		set := a.set(edited(app, noReplicas))
		_, _ = a.tryApply(set) // it may lose the race each time, which is said
		cancel()
		if err := <-done; err != nil {
			a.Fatal(err)
		}
		last := field(a.get("Deployment", "web"), "spec", "replicas").(int64)
		a.apply(set)
		a.wantField("Deployment", "web", last, "spec", "replicas")
		if last < 10 {
			a.Errorf("there are %d replicas, the scaler began with 10", last)
		}
	}},
}

// dropped gives a number, lets between happen, takes the number out of the spec, and
// wants so many replicas, and writes for that.
func (a *applied) dropped(given int32, want int64, between func(), writes int) {
	a.Helper()
	app := a.app("web", replicas(given))
	a.apply(a.set(app))
	if between != nil {
		between()
	}
	set := a.set(edited(app, noReplicas))
	a.writes(writes, func() { a.apply(set) })
	a.wantField("Deployment", "web", want, "spec", "replicas")
	a.writes(0, func() { a.apply(set) })
	a.wantField("Deployment", "web", want, "spec", "replicas")
}
