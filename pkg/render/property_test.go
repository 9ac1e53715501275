package render_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
	utiljson "sigs.k8s.io/json"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/arbitrary"
	"kudevops.io/appsvc/internal/crd"
	"kudevops.io/appsvc/pkg/render"
)

// typed are the Go types of what is rendered; custom resources have none.
func typed(kind string) runtime.Object {
	switch kind {
	case "ServiceAccount":
		return &corev1.ServiceAccount{}
	case "ConfigMap":
		return &corev1.ConfigMap{}
	case "Service":
		return &corev1.Service{}
	case "Deployment":
		return &appsv1.Deployment{}
	case "HorizontalPodAutoscaler":
		return &autoscalingv2.HorizontalPodAutoscaler{}
	case "PodDisruptionBudget":
		return &policyv1.PodDisruptionBudget{}
	case "NetworkPolicy":
		return &networkingv1.NetworkPolicy{}
	case "Ingress":
		return &networkingv1.Ingress{}
	}
	return &unstructured.Unstructured{}
}

// TestLaws: what is valid renders; always to the same; to the same as what the API
// server's defaults make of it; and to what the types of k8s.io/api take.
func TestLaws(t *testing.T) {
	t.Parallel()
	schema, err := crd.NewValidator()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		a := arbitrary.AppService(t)
		value := toValue(t, a)
		if verdict := schema.Validate(t.Context(), value); !verdict.Valid() {
			t.Fatalf("the schema refuses what was meant to be valid: %v %v", verdict.Errors, verdict.UnknownFields)
		}
		first := mustRender(t, a)
		if diff := cmp.Diff(first, mustRender(t, a.DeepCopy())); diff != "" {
			t.Fatalf("rendered twice, -first +second:\n%s", diff)
		}
		schema.Default(value)
		var defaulted v1alpha1.AppService
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(value, &defaulted); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, mustRender(t, &defaulted)); diff != "" {
			t.Fatalf("-rendered +rendered from the defaulted one:\n%s", diff)
		}
		for _, o := range first {
			into := typed(o.GetKind())
			text, err := json.Marshal(o.Object)
			if err != nil {
				t.Fatal(err)
			}
			if strict, err := utiljson.UnmarshalStrict(text, into); err != nil || len(strict) > 0 {
				t.Fatalf("%s: %v %v", o.GetKind(), err, strict)
			}
		}
	})
}

func toValue(t *rapid.T, a *v1alpha1.AppService) map[string]any {
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var value map[string]any
	if err := utiljson.UnmarshalCaseSensitivePreserveInts(text, &value); err != nil {
		t.Fatal(err)
	}
	delete(value, "status")
	return value
}

func mustRender(t *rapid.T, a *v1alpha1.AppService) []*unstructured.Unstructured {
	result, errs := render.Render(a, render.Options{})
	if len(errs) > 0 {
		t.Fatalf("render refuses what the schema takes: %v", errs)
	}
	return result.Objects
}
