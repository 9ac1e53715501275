package v1alpha1

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// MaxNameLength is the longest name of an AppService, in bytes: its children
// have the same name, and that of a Service is a DNS label.
const MaxNameLength = 63

// DefaultContainerName is the name of the main container unless
// spec.containerName says otherwise.
const DefaultContainerName = "app"

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=appsvc,categories=all
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.status.replicas`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`

// AppService is a stateless service: one image, run some number of times,
// reachable on its ports.
//
// Its name is that of its children and has to be a DNS-1035 label of at most 63
// characters: lower-case letters, digits and '-', beginning with a letter.
type AppService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is wanted.
	// +required
	Spec AppServiceSpec `json:"spec"`
	// status is what the controller saw last.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status AppServiceStatus `json:"status,omitempty"`
}

// AppServiceSpec is what is wanted of a service.
//
// +kubebuilder:validation:XValidation:rule="has(self.selector) == has(oldSelf.selector) && (!has(self.selector) || self.selector == oldSelf.selector)",message="selector is immutable: neither added, changed nor removed",fieldPath=".selector"
// +kubebuilder:validation:XValidation:rule="!has(self.service) || !has(self.service.type) || self.service.type != 'ClusterIP' || !has(self.ports) || self.ports.all(p, !has(p.nodePort) || p.nodePort == 0)",message="a port has a nodePort, which a Service of type ClusterIP has none of",fieldPath=".ports"
type AppServiceSpec struct {
	// profile names the set of render defaults that applies. Absent means v1, for
	// ever: what an AppService renders to changes only when its text does.
	// +optional
	// +kubebuilder:validation:Enum="";v1
	Profile Profile `json:"profile,omitempty"`

	// image is the container image of the main container.
	// +required
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`
	// imagePullPolicy is when the image is pulled. Absent means Always for an image
	// that names neither tag nor digest or whose tag is latest, else IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum="";Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`
	// imagePullSecrets are the Secrets that images are pulled with.
	// +optional
	// +listType=map
	// +listMapKey=name
	ImagePullSecrets []ImagePullSecret `json:"imagePullSecrets,omitempty"`

	// replicas is how many pods run. Absent means that the count belongs to
	// somebody else, such as an autoscaler: it is neither rendered nor changed.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`

	// selector replaces the labels that pods are selected by, so that an existing
	// Deployment can be taken over as it is. Immutable.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	Selector map[string]string `json:"selector,omitempty"`
	// podLabels are further labels of the pods.
	// +optional
	PodLabels map[string]string `json:"podLabels,omitempty"`
	// podAnnotations are the annotations of the pods.
	// +optional
	PodAnnotations map[string]string `json:"podAnnotations,omitempty"`

	// containerName is the name of the main container. Absent means "app".
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	ContainerName string `json:"containerName,omitempty"`
	// command replaces the image's entry point.
	// +optional
	// +listType=atomic
	Command []string `json:"command,omitempty"`
	// args are the arguments of the entry point.
	// +optional
	// +listType=atomic
	Args []string `json:"args,omitempty"`
	// workingDir is the directory that the entry point starts in.
	// +optional
	WorkingDir string `json:"workingDir,omitempty"`
	// env are the environment variables, in this order.
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`
	// envFrom are ConfigMaps and Secrets whose keys become environment variables.
	// +optional
	// +listType=atomic
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`
	// resources are what the main container asks for and may use.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`
	// containerPorts are the ports that the main container listens on: those that
	// no Service shows, and those that a targetPort refers to by name.
	// +optional
	// +listType=map
	// +listMapKey=containerPort
	// +listMapKey=protocol
	ContainerPorts []corev1.ContainerPort `json:"containerPorts,omitempty"`

	// livenessProbe restarts the container when it fails.
	// +optional
	LivenessProbe *corev1.Probe `json:"livenessProbe,omitempty"`
	// readinessProbe takes the pod out of the Service while it fails.
	// +optional
	ReadinessProbe *corev1.Probe `json:"readinessProbe,omitempty"`
	// startupProbe holds the other probes back until it succeeds.
	// +optional
	StartupProbe *corev1.Probe `json:"startupProbe,omitempty"`
	// lifecycle runs something after the start and before the end.
	// +optional
	Lifecycle *corev1.Lifecycle `json:"lifecycle,omitempty"`
	// securityContext of the main container.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`
	// volumeMounts are where the main container sees volumes.
	// +optional
	// +listType=map
	// +listMapKey=mountPath
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`

	// volumes of the pod.
	// +optional
	// +listType=map
	// +listMapKey=name
	Volumes []corev1.Volume `json:"volumes,omitempty"`
	// initContainers run one after the other before the main container starts.
	// +optional
	// +listType=map
	// +listMapKey=name
	InitContainers []corev1.Container `json:"initContainers,omitempty"`
	// sidecars run beside the main container: they start before it and end after
	// it. They are rendered as init containers that are always restarted.
	// +optional
	// +listType=map
	// +listMapKey=name
	Sidecars []corev1.Container `json:"sidecars,omitempty"`

	// podSecurityContext is the security context of the pod.
	// +optional
	PodSecurityContext *corev1.PodSecurityContext `json:"podSecurityContext,omitempty"`
	// securityProfile Restricted writes what the restricted Pod Security Standard
	// demands, where nothing else is said. Absent writes nothing.
	// +optional
	// +kubebuilder:validation:Enum="";Restricted
	SecurityProfile SecurityProfile `json:"securityProfile,omitempty"`
	// serviceAccountName of the pods. Absent means that of serviceAccount, else
	// "default".
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// serviceAccount makes a ServiceAccount of the AppService's name.
	// +optional
	ServiceAccount *ServiceAccountSpec `json:"serviceAccount,omitempty"`
	// automountServiceAccountToken says whether pods get a token.
	// +optional
	AutomountServiceAccountToken *bool `json:"automountServiceAccountToken,omitempty"`
	// terminationGracePeriodSeconds is how long a pod may take to end.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
	// hostAliases are further entries of the pods' hosts file.
	// +optional
	// +listType=map
	// +listMapKey=ip
	HostAliases []corev1.HostAlias `json:"hostAliases,omitempty"`
	// dnsPolicy says which resolver the pods use.
	// +optional
	// +kubebuilder:validation:Enum="";ClusterFirst;ClusterFirstWithHostNet;Default;None
	DNSPolicy corev1.DNSPolicy `json:"dnsPolicy,omitempty"`
	// dnsConfig adds to, or with dnsPolicy None replaces, what dnsPolicy gives.
	// +optional
	DNSConfig *corev1.PodDNSConfig `json:"dnsConfig,omitempty"`
	// nodeSelector are labels that a node must have.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// tolerations let pods onto nodes with taints. Their order means nothing.
	// +optional
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// affinity draws pods to, or keeps them from, nodes and each other.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// topologySpreadConstraints spread pods over zones, nodes and the like. One
	// without labelSelector selects the pods of this AppService.
	// +optional
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	// priorityClassName of the pods.
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// runtimeClassName of the pods.
	// +optional
	RuntimeClassName *string `json:"runtimeClassName,omitempty"`

	// strategy is how pods are replaced by new ones. Absent means a rolling update
	// with a quarter more and a quarter less.
	// +optional
	Strategy *appsv1.DeploymentStrategy `json:"strategy,omitempty"`
	// minReadySeconds is how long a pod must be ready to count as available.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinReadySeconds int32 `json:"minReadySeconds,omitempty"`
	// revisionHistoryLimit is how many old ReplicaSets are kept.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`
	// progressDeadlineSeconds is how long a rollout may make no progress.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`

	// autoscaling makes a HorizontalPodAutoscaler. The replicas above are then
	// ignored: their number is the autoscaler's.
	// +optional
	Autoscaling *AutoscalingSpec `json:"autoscaling,omitempty"`
	// disruptionBudget makes a PodDisruptionBudget.
	// +optional
	DisruptionBudget *DisruptionBudgetSpec `json:"disruptionBudget,omitempty"`

	// files are put into the main container: their absolute paths, and what is in
	// them. They come in an immutable ConfigMap whose name has a hash of them, so
	// that a changed file replaces the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=200
	Files map[string]string `json:"files,omitempty"`

	// ingress makes an Ingress.
	// +optional
	Ingress *IngressSpec `json:"ingress,omitempty"`
	// route makes an HTTPRoute of the Gateway API.
	// +optional
	Route *RouteSpec `json:"route,omitempty"`
	// networkPolicy makes a NetworkPolicy for the pods.
	// +optional
	NetworkPolicy *NetworkPolicySpec `json:"networkPolicy,omitempty"`
	// monitoring makes a ServiceMonitor of the Prometheus operator.
	// +optional
	Monitoring *MonitoringSpec `json:"monitoring,omitempty"`

	// ports are the ports of the Service. No ports, no Service.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.size() <= 1 || self.all(p, has(p.name) && p.name != '')",message="each of several ports needs a name"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.name) || p.name == '' || self.exists_one(q, has(q.name) && q.name == p.name))",message="two ports have one name"
	// +listType=map
	// +listMapKey=port
	// +listMapKey=protocol
	Ports []ServicePort `json:"ports,omitempty"`
	// service is what the Service has beyond its ports.
	// +optional
	Service *ServiceSpec `json:"service,omitempty"`

	// patches change what is rendered, last of all. They are for what the fields above
	// do not say.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Patches []Patch `json:"patches,omitempty"`

	// suspend stops the controller from touching the children. Rendering offline
	// goes on as before.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
	// driftPolicy says what happens to a child that somebody else changed: Correct
	// (the default) puts it right, Warn reports it until the spec changes.
	// +optional
	// +kubebuilder:validation:Enum="";Correct;Warn
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`
}

// Profile names a set of render defaults.
type Profile string

// ProfileV1 is the first set of render defaults, and what an absent profile means.
const ProfileV1 Profile = "v1"

// SecurityProfile names a set of security settings.
type SecurityProfile string

// SecurityProfileRestricted is what the restricted Pod Security Standard demands
// (kubernetes.io/docs/concepts/security/pod-security-standards).
const SecurityProfileRestricted SecurityProfile = "Restricted"

// ServiceAccountSpec is the ServiceAccount that is made.
type ServiceAccountSpec struct {
	// create says whether it is made.
	// +optional
	Create bool `json:"create,omitempty"`
	// annotations of the ServiceAccount, such as the cloud role it stands for.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// AutoscalingSpec is a HorizontalPodAutoscaler of autoscaling/v2.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",message="minReplicas is above maxReplicas",fieldPath=".minReplicas"
type AutoscalingSpec struct {
	// minReplicas is the least number of pods. Absent means 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinReplicas *int32 `json:"minReplicas,omitempty"`
	// maxReplicas is the largest number of pods.
	// +required
	// +kubebuilder:validation:Minimum=1
	MaxReplicas int32 `json:"maxReplicas"`
	// cpu is the average use of CPU to aim at, in percent of what is requested.
	// +optional
	// +kubebuilder:validation:Minimum=1
	CPU *int32 `json:"cpu,omitempty"`
	// memory is the average use of memory to aim at, in percent of what is requested.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Memory *int32 `json:"memory,omitempty"`
	// metrics are further ones to scale by.
	// +optional
	// +listType=atomic
	Metrics []autoscalingv2.MetricSpec `json:"metrics,omitempty"`
	// behavior is how fast the number goes up and down.
	// +optional
	Behavior *autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior,omitempty"`
}

// DisruptionBudgetSpec is a PodDisruptionBudget of policy/v1. It needs one of
// minAvailable and maxUnavailable.
//
// +kubebuilder:validation:XValidation:rule="has(self.minAvailable) != has(self.maxUnavailable)",message="give one of minAvailable and maxUnavailable"
type DisruptionBudgetSpec struct {
	// minAvailable is how many pods, or what share of them, must stay.
	// +optional
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`
	// maxUnavailable is how many pods, or what share of them, may be missing.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// unhealthyPodEvictionPolicy says when pods that are not ready may be evicted.
	// +optional
	// +kubebuilder:validation:Enum="";IfHealthyBudget;AlwaysAllow
	UnhealthyPodEvictionPolicy policyv1.UnhealthyPodEvictionPolicyType `json:"unhealthyPodEvictionPolicy,omitempty"`
}

// IngressSpec is an Ingress of networking.k8s.io/v1 that leads to the Service.
type IngressSpec struct {
	// className chooses the controller. Absent means the cluster's default.
	// +optional
	ClassName *string `json:"className,omitempty"`
	// annotations of the Ingress.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// hosts are the names that are served. Absent means any.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=50
	Hosts []string `json:"hosts,omitempty"`
	// paths are the same for each host. Absent means all, on the first port.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Paths []IngressPath `json:"paths,omitempty"`
	// tls says which Secrets hold the certificates of which hosts.
	// +optional
	// +listType=atomic
	TLS []networkingv1.IngressTLS `json:"tls,omitempty"`
}

// IngressPath is a path that leads to a port.
type IngressPath struct {
	// path that is served. Absent means "/".
	// +optional
	Path string `json:"path,omitempty"`
	// pathType says how the path is compared. Absent means Prefix.
	// +optional
	// +kubebuilder:validation:Enum=Exact;Prefix;ImplementationSpecific
	PathType *networkingv1.PathType `json:"pathType,omitempty"`
	// port is the name, or the number, of one of the ports. Absent means the first.
	// +optional
	Port *intstr.IntOrString `json:"port,omitempty"`
}

// Patch changes one rendered object.
type Patch struct {
	// target is the object that is changed.
	// +required
	Target PatchTarget `json:"target"`
	// patch is YAML: a mapping is a strategic merge patch (a merge patch for custom
	// resources), a list a JSON 6902 patch.
	// +required
	// +kubebuilder:validation:MinLength=1
	Patch string `json:"patch"`
}

// PatchTarget names a rendered object.
type PatchTarget struct {
	// kind of the object, such as Deployment.
	// +required
	// +kubebuilder:validation:MinLength=1
	Kind string `json:"kind"`
	// name of the object. Absent means the one of this kind.
	// +optional
	Name string `json:"name,omitempty"`
}

// RouteSpec is an HTTPRoute of gateway.networking.k8s.io/v1 that leads to the
// Service.
type RouteSpec struct {
	// parentRefs are the Gateways that the route is attached to.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	ParentRefs []RouteParent `json:"parentRefs"`
	// annotations of the HTTPRoute.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// hostnames that are served. Absent means those of the Gateway.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	Hostnames []string `json:"hostnames,omitempty"`
	// rules say what leads to which port. Absent means all, to the first port.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Rules []RouteRule `json:"rules,omitempty"`
}

// RouteParent is a Gateway.
type RouteParent struct {
	// name of the Gateway.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// namespace of the Gateway. Absent means that of the AppService.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
	// sectionName is the name of one of its listeners. Absent means all.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	SectionName string `json:"sectionName,omitempty"`
	// port of its listeners. Absent means all.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
}

// RouteRule leads requests to a port.
type RouteRule struct {
	// matches: a request that fits one of them is led to the port. Absent means any.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Matches []RouteMatch `json:"matches,omitempty"`
	// port is the name, or the number, of one of the ports. Absent means the first.
	// +optional
	Port *intstr.IntOrString `json:"port,omitempty"`
}

// RouteMatch is what a request must be like.
type RouteMatch struct {
	// path that is asked for. Absent means any.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Path string `json:"path,omitempty"`
	// pathType says how the path is compared. Absent means PathPrefix.
	// +optional
	// +kubebuilder:validation:Enum="";Exact;PathPrefix;RegularExpression
	PathType string `json:"pathType,omitempty"`
	// method of the request. Absent means any.
	// +optional
	// +kubebuilder:validation:Enum="";GET;HEAD;POST;PUT;DELETE;CONNECT;OPTIONS;TRACE;PATCH
	Method string `json:"method,omitempty"`
	// headers that the request must have, with their values.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	Headers map[string]string `json:"headers,omitempty"`
}

// NetworkPolicySpec is a NetworkPolicy of networking.k8s.io/v1 for the pods.
type NetworkPolicySpec struct {
	// ingress is the traffic to the pods that is allowed.
	// +optional
	// +listType=atomic
	Ingress []networkingv1.NetworkPolicyIngressRule `json:"ingress,omitempty"`
	// egress is the traffic from the pods that is allowed.
	// +optional
	// +listType=atomic
	Egress []networkingv1.NetworkPolicyEgressRule `json:"egress,omitempty"`
	// policyTypes are the directions in which only what is listed is allowed.
	// Absent means those that something is listed for, and Ingress where there is
	// nothing.
	// +optional
	// +listType=atomic
	PolicyTypes []networkingv1.PolicyType `json:"policyTypes,omitempty"`
}

// MonitoringSpec is a ServiceMonitor of monitoring.coreos.com/v1.
type MonitoringSpec struct {
	// port is the name of one of the ports. Absent means the first, which then needs
	// a name.
	// +optional
	Port string `json:"port,omitempty"`
	// path of the metrics. Absent means /metrics.
	// +optional
	Path string `json:"path,omitempty"`
	// interval between two looks, such as 30s. Absent means Prometheus' own.
	// +optional
	Interval string `json:"interval,omitempty"`
	// labels of the ServiceMonitor, by which a Prometheus finds it.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
}

// DriftPolicy says what happens to a child that somebody else changed.
type DriftPolicy string

const (
	// DriftPolicyCorrect puts the child right. It is what an absent policy means.
	DriftPolicyCorrect DriftPolicy = "Correct"
	// DriftPolicyWarn reports the difference and leaves it until the spec changes.
	DriftPolicyWarn DriftPolicy = "Warn"
)

// ImagePullSecret refers to a Secret in the AppService's namespace. It is
// core/v1 LocalObjectReference with the name required, which the key of a list
// has to be.
type ImagePullSecret struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// ServicePort is one port of the Service, with the fields of core/v1 ServicePort.
type ServicePort struct {
	// name of the port, a DNS label. Needed when there is more than one port.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	Name string `json:"name,omitempty"`
	// protocol is TCP, UDP or SCTP.
	// +optional
	// +kubebuilder:validation:Enum="";TCP;UDP;SCTP
	// +kubebuilder:default=TCP
	// +default="TCP"
	Protocol corev1.Protocol `json:"protocol,omitempty"`
	// appProtocol says what is spoken on the port, as in kubernetes.io/h2c.
	// +optional
	AppProtocol *string `json:"appProtocol,omitempty"`
	// port is the number that the Service listens on.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
	// targetPort is the number, or the name, of the container port. Absent means
	// the same number as port. A name is that of one of containerPorts or of this
	// entry itself, whose container port is then the number in port.
	// +optional
	TargetPort *intstr.IntOrString `json:"targetPort,omitempty"`
	// nodePort is the port on every node. Absent means that the cluster chooses one
	// where the type of the Service has node ports.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	NodePort int32 `json:"nodePort,omitempty"`
}

// ServiceSpec is what the Service has beyond its ports.
type ServiceSpec struct {
	// type of the Service. Absent means NodePort when any port has a nodePort, else
	// ClusterIP.
	// +optional
	// +kubebuilder:validation:Enum="";ClusterIP;NodePort;LoadBalancer
	Type corev1.ServiceType `json:"type,omitempty"`
	// headless gives the Service no address of its own: its name resolves to those
	// of the pods. Immutable in Kubernetes; only with type ClusterIP.
	// +optional
	Headless bool `json:"headless,omitempty"`
	// externalTrafficPolicy says where traffic from outside goes.
	// +optional
	// +kubebuilder:validation:Enum="";Cluster;Local
	ExternalTrafficPolicy corev1.ServiceExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty"`
	// internalTrafficPolicy says where traffic from inside goes.
	// +optional
	// +kubebuilder:validation:Enum=Cluster;Local
	InternalTrafficPolicy *corev1.ServiceInternalTrafficPolicy `json:"internalTrafficPolicy,omitempty"`
	// loadBalancerClass chooses the load balancer. Immutable in Kubernetes.
	// +optional
	LoadBalancerClass *string `json:"loadBalancerClass,omitempty"`
	// loadBalancerSourceRanges are the addresses that may use the load balancer.
	// Their order means nothing.
	// +optional
	// +listType=atomic
	LoadBalancerSourceRanges []string `json:"loadBalancerSourceRanges,omitempty"`
	// sessionAffinity ClientIP sends a client to the same pod again.
	// +optional
	// +kubebuilder:validation:Enum="";None;ClientIP
	SessionAffinity corev1.ServiceAffinity `json:"sessionAffinity,omitempty"`
	// ipFamilyPolicy says how many families of addresses the Service has.
	// +optional
	// +kubebuilder:validation:Enum=SingleStack;PreferDualStack;RequireDualStack
	IPFamilyPolicy *corev1.IPFamilyPolicy `json:"ipFamilyPolicy,omitempty"`
	// publishNotReadyAddresses shows pods that are not ready, too.
	// +optional
	PublishNotReadyAddresses bool `json:"publishNotReadyAddresses,omitempty"`
	// trafficDistribution says which pods are preferred, such as PreferSameZone.
	// +optional
	// +kubebuilder:validation:Enum=PreferClose;PreferSameZone;PreferSameNode
	TrafficDistribution *string `json:"trafficDistribution,omitempty"`
	// labels are further labels of the Service.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// annotations are further annotations of the Service.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// AppServiceStatus is what the controller saw last.
type AppServiceStatus struct {
	// observedGeneration is the generation that was handled last; -1 means none.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions: Ready always; Reconciling, Stalled, Drifted and Contested while
	// they are True.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// replicas is how many pods there are.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// readyReplicas is how many of them are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`
	// updatedReplicas is how many of them have the present pod template.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas,omitempty"`
	// availableReplicas is how many of them have been ready for long enough.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas,omitempty"`
	// selector of the pods, as a string, which the scale subresource reads.
	// +optional
	Selector string `json:"selector,omitempty"`

	// inventory lists the children.
	// +optional
	// +listType=atomic
	Inventory []InventoryEntry `json:"inventory,omitempty"`
	// renderDigest is a hash of what was rendered and applied last.
	// +optional
	RenderDigest string `json:"renderDigest,omitempty"`
	// lastHandledReconcileAt is the value of the reconcile annotation that was
	// handled last.
	// +optional
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`
}

// InventoryEntry names one child, in the AppService's own namespace.
type InventoryEntry struct {
	// group of the child's API; empty for the core group.
	// +optional
	Group string `json:"group,omitempty"`
	// version of the child's API.
	// +required
	Version string `json:"version"`
	// kind of the child.
	// +required
	Kind string `json:"kind"`
	// name of the child.
	// +required
	Name string `json:"name"`
}

// +kubebuilder:object:root=true

// AppServiceList is a list of AppServices.
type AppServiceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the AppServices.
	Items []AppService `json:"items"`
}
