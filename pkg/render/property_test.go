package render_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"
	utiljson "sigs.k8s.io/json"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/crd"
	"kudevops.io/appsvc/pkg/render"
)

// draw makes a valid AppService.
func draw(t *rapid.T) *v1alpha1.AppService {
	a := &v1alpha1.AppService{}
	a.APIVersion, a.Kind = v1alpha1.APIVersion, v1alpha1.Kind
	name := rapid.StringMatching(`[a-z]([-a-z0-9]{0,20}[a-z0-9])?`)
	a.Name = name.Draw(t, "name")
	a.Namespace = rapid.OneOf(rapid.Just(""), name).Draw(t, "namespace")
	labels := rapid.MapOfN(rapid.StringMatching(`[a-z]{1,5}(\.io/[a-z]{1,5})?`), rapid.StringMatching(`([a-zA-Z0-9]{1,8})?`), 0, 3)
	a.Labels, a.Annotations = labels.Draw(t, "labels"), labels.Draw(t, "annotations")

	s := &a.Spec
	s.Image = rapid.StringMatching(`[a-z]{1,8}(\.io:5000/[a-z]{1,5})?(:[a-z0-9.]{1,6})?(@sha256:[0-9a-f]{8})?`).Draw(t, "image")
	s.Profile = rapid.SampledFrom([]v1alpha1.Profile{"", v1alpha1.ProfileV1}).Draw(t, "profile")
	s.ImagePullPolicy = rapid.SampledFrom([]corev1.PullPolicy{"", corev1.PullAlways, corev1.PullNever}).Draw(t, "imagePullPolicy")
	s.Replicas = rapid.Ptr(rapid.Int32Range(0, 50), true).Draw(t, "replicas")
	s.Suspend = rapid.Bool().Draw(t, "suspend")
	s.PodLabels, s.PodAnnotations = labels.Draw(t, "podLabels"), labels.Draw(t, "podAnnotations")
	text := rapid.SliceOfN(rapid.String(), 0, 3)
	s.Command, s.Args = text.Draw(t, "command"), text.Draw(t, "args")
	for _, n := range rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Z_]{1,6}`), 0, 4, rapid.ID).Draw(t, "env") {
		v := corev1.EnvVar{Name: n}
		switch rapid.IntRange(0, 3).Draw(t, "source") {
		case 0:
			v.Value = rapid.String().Draw(t, "value")
		case 1:
			v.ValueFrom = &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}
		case 2:
			v.ValueFrom = &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}
		}
		s.Env = append(s.Env, v)
	}
	drawPorts(t, s)
	if rapid.Bool().Draw(t, "amounts") {
		s.Resources = amounts(rapid.SampledFrom([]string{"100m", "0.5", "1000m", "100u"}).Draw(t, "request"), "1")
	}
	return a
}

func drawPorts(t *rapid.T, s *v1alpha1.AppServiceSpec) {
	protocols := rapid.SampledFrom([]corev1.Protocol{"", corev1.ProtocolTCP, corev1.ProtocolUDP})
	for i, p := range rapid.SliceOfNDistinct(rapid.Int32Range(1, 65535), 0, 3, rapid.ID).Draw(t, "containerPorts") {
		s.ContainerPorts = append(s.ContainerPorts, corev1.ContainerPort{
			ContainerPort: p, Name: rapid.SampledFrom([]string{"", "c" + string('a'+rune(i))}).Draw(t, "containerPortName"),
			Protocol: protocols.Draw(t, "containerProtocol"),
		})
	}
	for i, number := range rapid.SliceOfNDistinct(rapid.Int32Range(1, 65535), 0, 4, rapid.ID).Draw(t, "ports") {
		p := v1alpha1.ServicePort{Port: number, Name: "p" + string('a'+rune(i)), Protocol: protocols.Draw(t, "protocol")}
		if rapid.Bool().Draw(t, "targeted") {
			p.TargetPort = target(intstr.FromInt32(rapid.Int32Range(0, 65535).Draw(t, "target")))
		}
		if rapid.Bool().Draw(t, "nodePorted") {
			p.NodePort = 30000 + int32(i)
		}
		s.Ports = append(s.Ports, p)
	}
	if len(s.Ports) > 0 && rapid.Bool().Draw(t, "service") {
		s.Service = &v1alpha1.ServiceSpec{Type: rapid.SampledFrom([]corev1.ServiceType{"", corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer}).Draw(t, "type")}
	}
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
		a := draw(t)
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
			var into runtime.Object = &corev1.Service{}
			if o.GetKind() == "Deployment" {
				into = &appsv1.Deployment{}
			}
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
