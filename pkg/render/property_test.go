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
	drawPod(t, s)
	drawScale(t, s)
	drawNetwork(t, s)
	return a
}

// maybe makes something half of the times.
func maybe[T any](t *rapid.T, name string, make func() T) *T {
	if !rapid.Bool().Draw(t, name) {
		return nil
	}
	v := make()
	return &v
}

func drawPod(t *rapid.T, s *v1alpha1.AppServiceSpec) {
	s.SecurityProfile = rapid.SampledFrom([]v1alpha1.SecurityProfile{"", v1alpha1.SecurityProfileRestricted}).Draw(t, "securityProfile")
	for i, path := range rapid.SliceOfNDistinct(rapid.StringMatching(`(/[a-z]{1,4}){1,3}`), 0, 4, rapid.ID).Draw(t, "paths") {
		name := "v" + string('a'+rune(i))
		switch rapid.IntRange(0, 3).Draw(t, "what") {
		case 0:
			s.Volumes = append(s.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
			s.VolumeMounts = append(s.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path})
		case 1:
			s.Volumes = append(s.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
				Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}}},
			}}})
		default:
			if s.Files == nil {
				s.Files = map[string]string{}
			}
			s.Files[path] = rapid.String().Draw(t, "content")
		}
	}
	s.LivenessProbe = maybe(t, "livenessProbe", func() corev1.Probe {
		return corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(rapid.Int32Range(1, 65535).Draw(t, "probed"))}}}
	})
	for i := range rapid.IntRange(0, 2).Draw(t, "sidecars") {
		s.Sidecars = append(s.Sidecars, corev1.Container{Name: "s" + string('a'+rune(i)), Image: "envoy", Ports: []corev1.ContainerPort{{ContainerPort: 9901}}, Resources: s.Resources})
	}
	for range rapid.IntRange(0, 3).Draw(t, "tolerations") {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: rapid.StringMatching(`[a-z]{1,3}`).Draw(t, "taint"), Operator: corev1.TolerationOpExists})
	}
	s.Strategy = maybe(t, "strategy", func() appsv1.DeploymentStrategy {
		return appsv1.DeploymentStrategy{Type: rapid.SampledFrom([]appsv1.DeploymentStrategyType{"", appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType}).Draw(t, "strategyType")}
	})
	s.ServiceAccount = maybe(t, "serviceAccount", func() v1alpha1.ServiceAccountSpec {
		return v1alpha1.ServiceAccountSpec{Create: rapid.Bool().Draw(t, "create")}
	})
}

func drawScale(t *rapid.T, s *v1alpha1.AppServiceSpec) {
	if len(s.Resources.Requests) > 0 {
		s.Autoscaling = maybe(t, "autoscaling", func() v1alpha1.AutoscalingSpec {
			return v1alpha1.AutoscalingSpec{MaxReplicas: rapid.Int32Range(1, 9).Draw(t, "maxReplicas"), CPU: new(int32(80))}
		})
	}
	s.DisruptionBudget = maybe(t, "disruptionBudget", func() v1alpha1.DisruptionBudgetSpec {
		return v1alpha1.DisruptionBudgetSpec{MaxUnavailable: target(intstr.FromInt32(rapid.Int32Range(0, 3).Draw(t, "maxUnavailable")))}
	})
}

func drawNetwork(t *rapid.T, s *v1alpha1.AppServiceSpec) {
	s.NetworkPolicy = maybe(t, "networkPolicy", func() v1alpha1.NetworkPolicySpec {
		return v1alpha1.NetworkPolicySpec{Egress: make([]networkingv1.NetworkPolicyEgressRule, rapid.IntRange(0, 2).Draw(t, "egress"))}
	})
	if len(s.Ports) == 0 {
		return
	}
	s.Ingress = maybe(t, "ingress", func() v1alpha1.IngressSpec {
		return v1alpha1.IngressSpec{Hosts: rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,5}\.example`), 0, 2, rapid.ID).Draw(t, "hosts")}
	})
	s.Route = maybe(t, "route", func() v1alpha1.RouteSpec {
		return v1alpha1.RouteSpec{ParentRefs: []v1alpha1.RouteParent{{Name: "public"}}}
	})
	s.Monitoring = maybe(t, "monitoring", func() v1alpha1.MonitoringSpec { return v1alpha1.MonitoringSpec{} })
}

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
