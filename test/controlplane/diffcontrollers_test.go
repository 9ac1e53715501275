package controlplane_test

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
)

// TestDiffBesideControllers: what the controllers of Kubernetes write beside us (status,
// revisions, generated names) is neither a difference nor anything that a report tells of.
func TestDiffBesideControllers(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	s := &diffServer{cluster: cluster, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(cluster.Client().Discovery()))}
	for _, test := range []struct {
		id, name, reason string
		in, desired      string
		settled          func(live map[string]any) error
	}{
		{
			id: "O5", name: "rollout", reason: "the Deployment controller writes revision and status",
			in: "deployment", desired: `replicas: 2`,
			settled: func(live map[string]any) error {
				available, _, _ := unstructured.NestedInt64(live, "status", "availableReplicas")
				revision, _, _ := unstructured.NestedString(live, "metadata", "annotations", "deployment.kubernetes.io/revision")
				if available != 2 || revision != "1" {
					return fmt.Errorf("%d replicas are available, at revision %q", available, revision)
				}
				return nil
			},
		},
		{
			id: "O31", name: "job", reason: "the Job controller writes status, and what the pods are found by was given at creation",
			desired: job(``),
			settled: func(live map[string]any) error {
				if _, ok, _ := unstructured.NestedString(live, "status", "startTime"); !ok {
					return fmt.Errorf("the Job has not started")
				}
				return nil
			},
		},
		{
			id: "O8", name: "budget", reason: "the disruption controller writes status",
			desired: `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}}`,
			settled: func(live map[string]any) error {
				if _, ok, _ := unstructured.NestedFieldNoCopy(live, "status", "observedGeneration"); !ok {
					return fmt.Errorf("the budget has no status")
				}
				return nil
			},
		},
	} {
		t.Run(test.id+" "+test.name, func(t *testing.T) {
			t.Parallel()
			scene := &scene{t: t, server: s, namespace: cluster.Namespace(t)}
			desired := scene.read(test.in, test.desired)
			s.apply(t, us, desired)
			eventually(t, func(context.Context) error { return test.settled(s.get(t, desired).Object) })
			v := s.verdict(t, desired, ours)
			if v.changed || len(v.change.Fields)+len(v.change.Foreign)+len(v.change.Adopted)+len(v.change.Kept) > 0 {
				t.Errorf("Changed %t, %q, foreign %q: %s", v.changed, changesIn(v.change.Fields), pathsIn(v.change.Foreign), test.reason)
			}
		})
	}
}
