package arbitrary

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/manifest"
)

// AppService draws one that the CRD and the renderer accept, any of its fields set or
// not.
func AppService(t *rapid.T) *v1alpha1.AppService {
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
	words := rapid.SliceOfN(text(), 0, 3)
	s.Command, s.Args = words.Draw(t, "command"), words.Draw(t, "args")
	for _, n := range rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Z_]{1,6}`), 0, 4, rapid.ID).Draw(t, "env") {
		v := corev1.EnvVar{Name: n}
		switch rapid.IntRange(0, 3).Draw(t, "source") {
		case 0:
			v.Value = text().Draw(t, "value")
		case 1:
			v.ValueFrom = &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}
		case 2:
			v.ValueFrom = &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}
		}
		s.Env = append(s.Env, v)
	}
	drawPorts(t, s)
	if rapid.Bool().Draw(t, "amounts") {
		s.Resources = corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(rapid.SampledFrom([]string{"100m", "0.5", "1000m", "100u"}).Draw(t, "request"))},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
		}
	}
	drawPod(t, s)
	drawScale(t, s)
	drawNetwork(t, s)
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
			p.TargetPort = new(intstr.FromInt32(rapid.Int32Range(0, 65535).Draw(t, "target")))
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

// text draws any text that can be sent: the API server reads what is applied as YAML,
// which has no control characters.
func text() *rapid.Generator[string] {
	return rapid.String().Filter(func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return !manifest.Sendable(r) })
	})
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
			s.Files[path] = text().Draw(t, "content")
		}
	}
	s.LivenessProbe = maybe(t, "livenessProbe", func() corev1.Probe {
		return corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(rapid.Int32Range(1, 65535).Draw(t, "probed"))}}}
	})
	for i := range rapid.IntRange(0, 2).Draw(t, "sidecars") {
		s.Sidecars = append(s.Sidecars, corev1.Container{Name: "s" + string('a'+rune(i)), Image: "envoy", Ports: []corev1.ContainerPort{{ContainerPort: 9901 + int32(i)}}, Resources: s.Resources})
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
		return v1alpha1.DisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt32(rapid.Int32Range(0, 3).Draw(t, "maxUnavailable")))}
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
