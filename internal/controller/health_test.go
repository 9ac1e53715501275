package controller

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"kudevops.io/appsvc/api/v1alpha1"
)

// TestHealthOf goes through the rules of kstatus for a Deployment, in its order
// (sigs.k8s.io/cli-utils/pkg/kstatus/status/core.go, deploymentConditions).
func TestHealthOf(t *testing.T) {
	t.Parallel()
	status := func(replicas, updated, ready, available int32) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = replicas, updated, ready, available
		}
	}
	wanted := func(n int32) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) { d.Spec.Replicas = &n }
	}
	condition := func(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason string) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{Type: kind, Status: status, Reason: reason})
		}
	}
	for _, test := range []struct {
		name       string
		generation int64
		edit       []func(*appsv1.Deployment)
		want       state
		reason     string
		says       string
	}{
		{"all is as wanted", 2, []func(*appsv1.Deployment){wanted(3), status(3, 3, 3, 3)}, healthy, v1alpha1.ReasonAvailable, "3 of 3 replicas are available"},
		{"no number is one", 2, []func(*appsv1.Deployment){status(1, 1, 1, 1)}, healthy, v1alpha1.ReasonAvailable, "1 of 1"},
		{"scaled to zero", 2, []func(*appsv1.Deployment){wanted(0), status(0, 0, 0, 0)}, healthy, v1alpha1.ReasonScaledToZero, "scaled to zero"},
		{"still scaling to zero", 2, []func(*appsv1.Deployment){wanted(0), status(2, 2, 2, 2)}, progressing, v1alpha1.ReasonProgressing, "2 surplus replicas"},
		{"the cache is behind the apply", 3, []func(*appsv1.Deployment){wanted(3), status(3, 3, 3, 3)}, progressing, v1alpha1.ReasonProgressing, "not begun"},
		{"the Deployment's controller is behind", 2, []func(*appsv1.Deployment){
			wanted(3), status(3, 3, 3, 3), func(d *appsv1.Deployment) { d.Status.ObservedGeneration = 1 },
		}, progressing, v1alpha1.ReasonProgressing, "not begun"},
		{"pods of the rollout before are ready", 2, []func(*appsv1.Deployment){wanted(3), status(4, 1, 3, 3)}, progressing, v1alpha1.ReasonProgressing, "1 of 3 replicas are up to date"},
		{"old pods have yet to end", 2, []func(*appsv1.Deployment){wanted(3), status(4, 3, 4, 4)}, progressing, v1alpha1.ReasonProgressing, "1 old replicas"},
		{"too few are available", 2, []func(*appsv1.Deployment){wanted(3), status(3, 3, 3, 2)}, progressing, v1alpha1.ReasonProgressing, "2 of 3 replicas are available"},
		{"too few are ready", 2, []func(*appsv1.Deployment){wanted(3), status(3, 3, 2, 3)}, progressing, v1alpha1.ReasonProgressing, "2 of 3 replicas are ready"},
		{"the rollout is stuck, with old pods that are fine", 2, []func(*appsv1.Deployment){
			wanted(3), status(4, 1, 3, 3), condition(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded"),
		}, failed, v1alpha1.ReasonProgressDeadlineExceeded, "1 of 3 replicas are up to date"},
		{"a verdict on the rollout before does not count", 3, []func(*appsv1.Deployment){
			wanted(3), status(4, 1, 3, 3), condition(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded"),
		}, progressing, v1alpha1.ReasonProgressing, "not begun"},
		{"pods cannot be created", 2, []func(*appsv1.Deployment){
			wanted(3), status(0, 0, 0, 0), condition(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate"),
		}, progressing, v1alpha1.ReasonProgressing, "FailedCreate"},
		{"pods could not be created once", 2, []func(*appsv1.Deployment){
			wanted(3), status(3, 3, 3, 3), condition(appsv1.DeploymentReplicaFailure, corev1.ConditionFalse, ""),
		}, healthy, v1alpha1.ReasonAvailable, "3 of 3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := &appsv1.Deployment{}
			d.Generation, d.Status.ObservedGeneration = 2, 2
			for _, edit := range test.edit {
				edit(d)
			}
			h := healthOf(d, test.generation)
			if h.state != test.want || h.reason != test.reason || !strings.Contains(h.message, test.says) {
				t.Errorf("%+v; want state %d, reason %s and a message with %q", h, test.want, test.reason, test.says)
			}
		})
	}
}
