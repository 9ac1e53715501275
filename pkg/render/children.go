package render

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kudevops.io/appsvc/api/v1alpha1"
)

// child is a kind of object that an AppService can render to.
type child struct {
	gvk schema.GroupVersionKind
	// since is the Kubernetes version that first served it.
	since  string
	wanted func(*v1alpha1.AppServiceSpec) bool
	render func(*renderer) map[string]any
	// typed makes a value of its Go type; nil for a custom resource.
	typed func() any
}

// children are all of them, in the order in which they are applied: what pods need
// before the pods, and a policy before the traffic that it is about; what acts on
// pods, or leads to them, after them.
var children = [...]child{
	{
		gvk: schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}, since: "1.0",
		wanted: func(s *v1alpha1.AppServiceSpec) bool { return s.ServiceAccount != nil && s.ServiceAccount.Create },
		render: (*renderer).serviceAccount,
		typed:  func() any { return new(corev1.ServiceAccount) },
	},
	{
		gvk: schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}, since: "1.7",
		wanted: func(s *v1alpha1.AppServiceSpec) bool { return s.NetworkPolicy != nil },
		render: (*renderer).networkPolicy,
		typed:  func() any { return new(networkingv1.NetworkPolicy) },
	},
	{
		gvk: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, since: "1.2",
		wanted: func(s *v1alpha1.AppServiceSpec) bool { return len(s.Files) > 0 },
		render: (*renderer).files,
		typed:  func() any { return new(corev1.ConfigMap) },
	},
	{
		gvk: schema.GroupVersionKind{Version: "v1", Kind: "Service"}, since: "1.0",
		wanted: func(s *v1alpha1.AppServiceSpec) bool { return len(s.Ports) > 0 },
		render: (*renderer).service,
		typed:  func() any { return new(corev1.Service) },
	},
	{
		gvk: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, since: "1.9",
		wanted: func(*v1alpha1.AppServiceSpec) bool { return true },
		render: (*renderer).deployment,
		typed:  func() any { return new(appsv1.Deployment) },
	},
	{
		gvk: schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}, since: "1.23",
		wanted: func(s *v1alpha1.AppServiceSpec) bool { return s.Autoscaling != nil },
		render: (*renderer).autoscaler,
		typed:  func() any { return new(autoscalingv2.HorizontalPodAutoscaler) },
	},
	{
		gvk: schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"}, since: "1.21",
		wanted: func(s *v1alpha1.AppServiceSpec) bool { return s.DisruptionBudget != nil },
		render: (*renderer).disruptionBudget,
		typed:  func() any { return new(policyv1.PodDisruptionBudget) },
	},
	{
		gvk: schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"}, since: "1.19",
		wanted: func(s *v1alpha1.AppServiceSpec) bool { return s.Ingress != nil },
		render: (*renderer).ingress,
		typed:  func() any { return new(networkingv1.Ingress) },
	},
	{
		// Served where the Gateway API is installed.
		gvk: schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"}, since: "1.24",
		wanted: func(s *v1alpha1.AppServiceSpec) bool { return s.Route != nil },
		render: (*renderer).route,
	},
	{
		// Served where the Prometheus operator is installed.
		gvk: schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}, since: "1.16",
		wanted: func(s *v1alpha1.AppServiceSpec) bool { return s.Monitoring != nil },
		render: (*renderer).serviceMonitor,
	},
}
