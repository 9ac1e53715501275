package apply

import (
	"context"
	"errors"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kudevops.io/appsvc/api/v1alpha1"
)

// cacheOf is a client whose cache holds one Deployment, and that does nothing else.
type cacheOf struct {
	client.Client
	deployment *appsv1.Deployment
}

func (c *cacheOf) Scheme() *runtime.Scheme { return scheme.Scheme }

func (c *cacheOf) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	deployment, ok := into.(*appsv1.Deployment)
	if !ok {
		return fmt.Errorf("asked for %T", into)
	}
	*deployment = *c.deployment
	return nil
}

// BenchmarkUnchanged is what an object costs that is as desired, which is what a
// controller does nearly all of the time.
func BenchmarkUnchanged(b *testing.B) {
	desired := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "web", "namespace": "shop", "labels": map[string]any{v1alpha1.ManagedByLabel: v1alpha1.ManagedBy}},
		"spec": map[string]any{
			"replicas": int64(3),
			"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"strategy": map[string]any{"type": "RollingUpdate"},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "web"}},
				"spec": map[string]any{"containers": []any{map[string]any{
					"name": "app", "image": "nginx:1.29", "imagePullPolicy": "IfNotPresent",
					"env":       []any{map[string]any{"name": "A", "value": "1"}, map[string]any{"name": "B", "value": "2"}},
					"ports":     []any{map[string]any{"containerPort": int64(80), "protocol": "TCP"}},
					"resources": map[string]any{"requests": map[string]any{"cpu": "100m", "memory": "64Mi"}},
				}}},
			},
		},
	}}
	set := Set{Owner: webOwner(), Objects: []*unstructured.Unstructured{desired}}
	cache := &cacheOf{deployment: liveDeployment(b, set.owned()[0])}
	for _, test := range []struct {
		name   string
		forget bool
	}{{"remembered", false}, {"compared", true}} {
		b.Run(test.name, func(b *testing.B) {
			applier, err := New(Options{Client: cache, Live: cache})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				result, err := applier.Apply(b.Context(), set)
				if err == nil && (result.Writes != 0 || result.Objects[0].Action != Unchanged) {
					err = errors.New("it is changed")
				}
				if err != nil {
					b.Fatal(err)
				}
				if test.forget {
					applier.Forget(set.Owner.key())
				}
			}
		})
	}
}

// liveDeployment gives a Deployment as it is after it was applied, typed.
func liveDeployment(b *testing.B, desired *unstructured.Unstructured) *appsv1.Deployment {
	b.Helper()
	fields := managedfieldstest.NewTestFieldManager(applyconfigurations.NewTypeConverter(scheme.Scheme), desired.GroupVersionKind())
	if err := fields.Apply(desired.DeepCopy(), v1alpha1.FieldManager, true); err != nil {
		b.Fatal(err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(fields.Live())
	if err != nil {
		b.Fatal(err)
	}
	deployment := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, deployment); err != nil {
		b.Fatal(err)
	}
	deployment.UID, deployment.ResourceVersion = "2", "1"
	return deployment
}
