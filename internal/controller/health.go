package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kudevops.io/appsvc/api/v1alpha1"
)

// health is how the pods do.
type health struct {
	state   state
	reason  string
	message string

	replicas, ready, updated, available int32
}

type state int

const (
	progressing state = iota
	healthy
	failed
)

// health reads how the Deployment does, which has the AppService's name. generation is
// that of the Deployment as it was last seen: a cache that is behind would tell of the
// rollout before this one.
func (r *Reconciler) health(ctx context.Context, app *v1alpha1.AppService, generation int64) (health, error) {
	deployment := &appsv1.Deployment{}
	err := r.client.Get(ctx, client.ObjectKeyFromObject(app), deployment, client.UnsafeDisableDeepCopy)
	switch {
	case apierrors.IsNotFound(err):
		return health{reason: v1alpha1.ReasonProgressing, message: "the Deployment is not there yet"}, nil
	case err != nil:
		return health{reason: v1alpha1.ReasonProgressing, message: "the Deployment could not be read"}, err
	}
	h := healthOf(deployment, generation)
	s := &deployment.Status
	h.replicas, h.ready, h.updated, h.available = s.Replicas, s.ReadyReplicas, s.UpdatedReplicas, s.AvailableReplicas
	return h, nil
}

// healthOf follows the rules by which kstatus judges a Deployment
// (sigs.k8s.io/cli-utils/pkg/kstatus), so that tools which wait for either agree. It is
// never taken in by ready pods of the rollout before.
func healthOf(d *appsv1.Deployment, generation int64) health {
	underWay := func(format string, args ...any) health {
		return health{reason: v1alpha1.ReasonProgressing, message: fmt.Sprintf(format, args...)}
	}
	s := &d.Status
	if d.Generation < generation || s.ObservedGeneration < d.Generation {
		return underWay("the rollout has not begun")
	}
	wanted := int32(1)
	if d.Spec.Replicas != nil {
		wanted = *d.Spec.Replicas
	}
	for _, c := range s.Conditions {
		switch {
		case c.Type == appsv1.DeploymentProgressing && c.Reason == "ProgressDeadlineExceeded":
			return health{state: failed, reason: v1alpha1.ReasonProgressDeadlineExceeded, message: stuck(d, wanted)}
		case c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue:
			return underWay("pods cannot be created: %s", c.Reason)
		}
	}
	switch {
	case s.UpdatedReplicas < wanted:
		return underWay("%d of %d replicas are up to date", s.UpdatedReplicas, wanted)
	case s.Replicas > s.UpdatedReplicas:
		return underWay("%d old replicas have yet to end", s.Replicas-s.UpdatedReplicas)
	case s.Replicas > wanted:
		return underWay("%d surplus replicas have yet to end", s.Replicas-wanted)
	case s.AvailableReplicas < wanted:
		return underWay("%d of %d replicas are available", s.AvailableReplicas, wanted)
	case s.ReadyReplicas < wanted:
		return underWay("%d of %d replicas are ready", s.ReadyReplicas, wanted)
	case wanted == 0:
		return health{state: healthy, reason: v1alpha1.ReasonScaledToZero, message: "scaled to zero"}
	}
	return health{state: healthy, reason: v1alpha1.ReasonAvailable, message: fmt.Sprintf("%d of %d replicas are available", s.AvailableReplicas, wanted)}
}

func stuck(d *appsv1.Deployment, wanted int32) string {
	return fmt.Sprintf("the rollout made no progress in time: %d of %d replicas are up to date, %d available",
		d.Status.UpdatedReplicas, wanted, d.Status.AvailableReplicas)
}
