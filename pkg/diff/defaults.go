package diff

import (
	"maps"
	"math"
	"regexp"
	"strings"
)

// typeDefaults are what the API server fills in where a type leaves a field out. Values
// are constants; fill does what depends on other fields. The table holds what is the
// same in every cluster: not what the server allocates (cluster IPs, node ports), and not
// a Deployment's replicas, since who leaves them out leaves them to somebody else.
//
// Source: the defaults.go files of k8s.io/kubernetes/pkg/apis, v1.37.
type typeDefaults struct {
	name   string
	values []defaultValue
	fill   func(map[string]any)
}

type defaultValue struct {
	field string
	value any
}

var knownDefaults = [...]typeDefaults{
	// Pods.
	{name: "core/v1.PodSpec", values: []defaultValue{
		{"dnsPolicy", "ClusterFirst"}, {"restartPolicy", "Always"}, {"schedulerName", "default-scheduler"},
		{"securityContext", map[string]any{}}, {"terminationGracePeriodSeconds", int64(30)}, {"enableServiceLinks", true},
	}, fill: fillPodSpec},
	{name: "core/v1.Container", values: []defaultValue{
		{"terminationMessagePath", "/dev/termination-log"}, {"terminationMessagePolicy", "File"},
	}, fill: fillPullPolicy},
	{name: "core/v1.EphemeralContainer", values: []defaultValue{
		{"terminationMessagePath", "/dev/termination-log"}, {"terminationMessagePolicy", "File"},
	}, fill: fillPullPolicy},
	{name: "core/v1.ContainerPort", values: []defaultValue{{"protocol", "TCP"}}},
	{name: "core/v1.Probe", values: []defaultValue{
		{"timeoutSeconds", int64(1)}, {"periodSeconds", int64(10)}, {"successThreshold", int64(1)}, {"failureThreshold", int64(3)},
	}},
	{name: "core/v1.HTTPGetAction", values: []defaultValue{{"path", "/"}, {"scheme", "HTTP"}}},
	{name: "core/v1.GRPCAction", values: []defaultValue{{"service", ""}}},
	{name: "core/v1.ObjectFieldSelector", values: []defaultValue{{"apiVersion", "v1"}}},
	{name: "core/v1.ResourceFieldSelector", values: []defaultValue{{"divisor", "0"}}},
	{name: "core/v1.FileKeySelector", values: []defaultValue{{"optional", false}}},

	// Volumes.
	{name: "core/v1.Volume", fill: fillVolume},
	{name: "core/v1.ConfigMapVolumeSource", values: []defaultValue{{"defaultMode", int64(0o644)}}},
	{name: "core/v1.SecretVolumeSource", values: []defaultValue{{"defaultMode", int64(0o644)}}},
	{name: "core/v1.DownwardAPIVolumeSource", values: []defaultValue{{"defaultMode", int64(0o644)}}},
	{name: "core/v1.ProjectedVolumeSource", values: []defaultValue{{"defaultMode", int64(0o644)}}},
	{name: "core/v1.ServiceAccountTokenProjection", values: []defaultValue{{"expirationSeconds", int64(3600)}}},
	{name: "core/v1.HostPathVolumeSource", values: []defaultValue{{"type", ""}}},
	{name: "core/v1.ISCSIVolumeSource", values: []defaultValue{{"iscsiInterface", "default"}}},
	{name: "core/v1.ISCSIPersistentVolumeSource", values: []defaultValue{{"iscsiInterface", "default"}}},
	{name: "core/v1.RBDPersistentVolumeSource", values: []defaultValue{{"pool", "rbd"}, {"user", "admin"}, {"keyring", "/etc/ceph/keyring"}}},
	{name: "core/v1.ScaleIOPersistentVolumeSource", values: []defaultValue{{"storageMode", "ThinProvisioned"}, {"fsType", "xfs"}}},
	{name: "core/v1.RBDVolumeSource", values: []defaultValue{{"pool", "rbd"}, {"user", "admin"}, {"keyring", "/etc/ceph/keyring"}}},
	{name: "core/v1.AzureDiskVolumeSource", values: []defaultValue{
		{"cachingMode", "ReadWrite"}, {"kind", "Shared"}, {"fsType", "ext4"}, {"readOnly", false},
	}},
	{name: "core/v1.ScaleIOVolumeSource", values: []defaultValue{{"storageMode", "ThinProvisioned"}, {"fsType", "xfs"}}},
	{name: "core/v1.ImageVolumeSource", fill: fillImageVolume},
	{name: "core/v1.PersistentVolumeClaimSpec", values: []defaultValue{{"volumeMode", "Filesystem"}}},
	{name: "core/v1.PersistentVolumeClaim", values: []defaultValue{{"apiVersion", "v1"}, {"kind", "PersistentVolumeClaim"}}, fill: withoutStatus},
	{name: "core/v1.PersistentVolumeSpec", values: []defaultValue{{"persistentVolumeReclaimPolicy", "Retain"}, {"volumeMode", "Filesystem"}}},

	// Workloads.
	{name: "apps/v1.DeploymentSpec", values: []defaultValue{
		{"revisionHistoryLimit", int64(10)}, {"progressDeadlineSeconds", int64(600)},
	}},
	{name: "apps/v1.DeploymentStrategy", values: []defaultValue{{"type", "RollingUpdate"}}, fill: fillRollingUpdate("maxUnavailable", "25%", "maxSurge", "25%")},
	{name: "apps/v1.StatefulSetSpec", values: []defaultValue{
		{"podManagementPolicy", "OrderedReady"}, {"revisionHistoryLimit", int64(10)},
		{"persistentVolumeClaimRetentionPolicy", map[string]any{"whenDeleted": "Retain", "whenScaled": "Retain"}},
	}},
	{name: "apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy", values: []defaultValue{{"whenDeleted", "Retain"}, {"whenScaled", "Retain"}}},
	{name: "apps/v1.StatefulSetUpdateStrategy", values: []defaultValue{{"type", "RollingUpdate"}}, fill: fillRollingUpdate("partition", int64(0), "maxUnavailable", int64(1))},
	{name: "apps/v1.DaemonSetSpec", values: []defaultValue{{"revisionHistoryLimit", int64(10)}}},
	{name: "apps/v1.DaemonSetUpdateStrategy", values: []defaultValue{{"type", "RollingUpdate"}}, fill: fillRollingUpdate("maxUnavailable", int64(1), "maxSurge", int64(0))},
	{name: "batch/v1.JobSpec", values: []defaultValue{
		{"completionMode", "NonIndexed"}, {"suspend", false}, {"manualSelector", false},
	}, fill: fillJobSpec},
	{name: "batch/v1.PodFailurePolicyOnPodConditionsPattern", values: []defaultValue{{"status", "True"}}},
	{name: "batch/v1.CronJobSpec", values: []defaultValue{
		{"concurrencyPolicy", "Allow"}, {"suspend", false}, {"successfulJobsHistoryLimit", int64(3)}, {"failedJobsHistoryLimit", int64(1)},
	}},

	// Networking.
	{name: "core/v1.ServiceSpec", values: []defaultValue{{"type", "ClusterIP"}, {"sessionAffinity", "None"}}, fill: fillServiceSpec},
	{name: "core/v1.ServicePort", values: []defaultValue{{"protocol", "TCP"}}, fill: fillTargetPort},
	{name: "core/v1.ClientIPConfig", values: []defaultValue{{"timeoutSeconds", int64(10800)}}},
	{name: "networking/v1.NetworkPolicyPort", values: []defaultValue{{"protocol", "TCP"}}},
	{name: "networking/v1.NetworkPolicySpec", fill: fillPolicyTypes},
	{name: "networking/v1.IngressClassParametersReference", values: []defaultValue{{"scope", "Cluster"}}},
	{name: "core/v1.EndpointPort", values: []defaultValue{{"protocol", "TCP"}}},
	{name: "discovery/v1.EndpointPort", values: []defaultValue{{"name", ""}, {"protocol", "TCP"}}},

	// Scaling.
	{name: "autoscaling/v1.HorizontalPodAutoscalerSpec", values: []defaultValue{{"minReplicas", int64(1)}, {"targetCPUUtilizationPercentage", int64(80)}}},
	{name: "autoscaling/v2.HorizontalPodAutoscalerSpec", values: []defaultValue{
		{"minReplicas", int64(1)},
		{"metrics", []any{map[string]any{"type": "Resource", "resource": map[string]any{
			"name": "cpu", "target": map[string]any{"type": "Utilization", "averageUtilization": int64(80)},
		}}}},
	}},
	{name: "autoscaling/v2.HorizontalPodAutoscalerBehavior", fill: fillScalingBehavior},

	// Configuration, access and storage.
	{name: "core/v1.Secret", values: []defaultValue{{"type", "Opaque"}}},
	{name: "core/v1.LimitRangeItem", fill: fillLimits},
	{name: "rbac/v1.RoleRef", values: []defaultValue{{"apiGroup", "rbac.authorization.k8s.io"}}},
	{name: "rbac/v1.Subject", fill: fillSubject},
	{name: "storage/v1.StorageClass", values: []defaultValue{{"reclaimPolicy", "Delete"}, {"volumeBindingMode", "Immediate"}}},
	{name: "storage/v1.CSIDriverSpec", values: []defaultValue{
		{"attachRequired", true}, {"podInfoOnMount", false}, {"storageCapacity", false}, {"fsGroupPolicy", "ReadWriteOnceWithFSType"},
		{"volumeLifecycleModes", []any{"Persistent"}}, {"requiresRepublish", false}, {"seLinuxMount", false}, {"preventPodSchedulingIfMissing", false},
	}},
	{name: "scheduling/v1.PriorityClass", values: []defaultValue{{"preemptionPolicy", "PreemptLowerPriority"}}},
	{name: "resource/v1.ExactDeviceRequest", fill: fillDeviceRequest},
	{name: "resource/v1.DeviceSubRequest", fill: fillDeviceRequest},

	// Admission, priority and fairness.
	{name: "admissionregistration/v1.MutatingWebhook", values: append([]defaultValue{{"reinvocationPolicy", "Never"}}, webhookDefaults...)},
	{name: "admissionregistration/v1.ValidatingWebhook", values: webhookDefaults},
	{name: "admissionregistration/v1.ServiceReference", values: []defaultValue{{"port", int64(443)}}},
	{name: "admissionregistration/v1.RuleWithOperations", values: []defaultValue{{"scope", "*"}}},
	{name: "admissionregistration/v1.NamedRuleWithOperations", values: []defaultValue{{"scope", "*"}}},
	{name: "admissionregistration/v1.MatchResources", values: []defaultValue{
		{"matchPolicy", "Equivalent"}, {"namespaceSelector", map[string]any{}}, {"objectSelector", map[string]any{}},
	}},
	{name: "admissionregistration/v1.ValidatingAdmissionPolicySpec", values: []defaultValue{{"failurePolicy", "Fail"}}},
	{name: "admissionregistration/v1.MutatingAdmissionPolicySpec", values: []defaultValue{{"failurePolicy", "Fail"}}},
	{name: "flowcontrol/v1.FlowSchemaSpec", values: []defaultValue{{"matchingPrecedence", int64(1000)}}},
	{name: "flowcontrol/v1.LimitedPriorityLevelConfiguration", values: []defaultValue{{"nominalConcurrencyShares", int64(30)}, {"lendablePercent", int64(0)}}},
	{name: "flowcontrol/v1.QueuingConfiguration", values: []defaultValue{{"queues", int64(64)}, {"handSize", int64(8)}, {"queueLengthLimit", int64(50)}}},
}

var webhookDefaults = []defaultValue{
	{"failurePolicy", "Fail"}, {"matchPolicy", "Equivalent"}, {"timeoutSeconds", int64(10)},
	{"namespaceSelector", map[string]any{}}, {"objectSelector", map[string]any{}},
}

// structured are the fields that the server makes in order to fill in what is below them.
var structured = [...]struct{ typ, field string }{
	{"apps/v1.DeploymentSpec", "strategy"},
	{"apps/v1.StatefulSetSpec", "updateStrategy"},
	{"apps/v1.DaemonSetSpec", "updateStrategy"},
}

// defaulter fills in what the API server would.
type defaulter struct {
	byType map[string]*typeDefaults
}

func newDefaulter() *defaulter {
	d := &defaulter{byType: make(map[string]*typeDefaults, len(knownDefaults))}
	for i := range knownDefaults {
		d.byType[knownDefaults[i].name] = &knownDefaults[i]
	}
	return d
}

// fill gives a copy of a value of a type with its defaults.
func (d *defaulter) fill(v any, t *typeInfo) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v)+4)
		for name, below := range v {
			typ, _ := t.at(name)
			out[name] = d.fill(below, typ)
		}
		if t.name != "" {
			d.complete(out, t)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = d.fill(v[i], t.item())
		}
		return out
	}
	return v
}

// complete adds the defaults of one structure, whose parts have theirs.
func (d *defaulter) complete(m map[string]any, t *typeInfo) {
	for _, s := range structured {
		if s.typ == t.name && isEmpty(m[s.field]) {
			below, _ := t.at(s.field)
			m[s.field] = d.fill(map[string]any{}, below)
		}
	}
	defaults := d.byType[t.name]
	if defaults == nil {
		return
	}
	for _, v := range defaults.values {
		_, dropped := t.at(v.field)
		if have, ok := m[v.field]; !ok || isNone(have, dropped) {
			m[v.field] = v.value
		}
	}
	if defaults.fill != nil {
		defaults.fill(m)
	}
}

// equalFilled compares a value with one that the API server has stored, which may hold
// defaults inside what is replaced as a whole.
func equalFilled(a, b any, t *typeInfo) bool {
	if equal(a, b, t) {
		return true
	}
	d := newDefaulter()
	return equal(d.fill(a, t), d.fill(b, t), t)
}

// setDefault sets a field that is absent or empty.
func setDefault(m map[string]any, field string, value any) {
	if isEmpty(m[field]) {
		m[field] = value
	}
}

// fillPodSpec leaves out the deprecated alias, which the server keeps in step: the new
// name wins, and where there is none, it is taken from the alias
// (kubernetes/kubernetes#108208).
func fillPodSpec(m map[string]any) {
	setDefault(m, "serviceAccountName", m["serviceAccount"])
	delete(m, "serviceAccount")
	if hostNetwork, _ := m["hostNetwork"].(bool); hostNetwork {
		for _, list := range []string{"containers", "initContainers"} {
			fillHostPorts(m[list])
		}
	}
}

func fillHostPorts(containers any) {
	list, _ := containers.([]any)
	for _, c := range list {
		c, _ := c.(map[string]any)
		ports, _ := c["ports"].([]any)
		for _, p := range ports {
			if p, ok := p.(map[string]any); ok {
				setDefault(p, "hostPort", p["containerPort"])
			}
		}
	}
}

// fillPullPolicy follows the rule of the server: Always for the tag latest, which is the
// one of an image with neither tag nor digest.
func fillPullPolicy(m map[string]any) {
	setDefault(m, "imagePullPolicy", pullPolicy(textAt(m, "image")))
}

func fillImageVolume(m map[string]any) {
	setDefault(m, "pullPolicy", pullPolicy(textAt(m, "reference")))
}

// imageReference is what can be read as one: a host, a path, a tag and a digest. Of what
// cannot, the API server takes the tag for another than latest.
var imageReference = regexp.MustCompile(`^([A-Za-z0-9.-]+(:[0-9]+)?/|\[[0-9a-fA-F:]+\](:[0-9]+)?/)?` +
	`[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*` +
	`(:\w[\w.-]{0,127})?(@[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`)

func pullPolicy(image string) string {
	if !imageReference.MatchString(image) {
		return "IfNotPresent"
	}
	name, _, digested := strings.Cut(image, "@")
	tag := ""
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		tag = name[i+1:]
	}
	if tag == "latest" || tag == "" && !digested {
		return "Always"
	}
	return "IfNotPresent"
}

// fillVolume makes a volume without a source an emptyDir.
func fillVolume(m map[string]any) {
	for name := range m {
		if name != "name" {
			return
		}
	}
	m["emptyDir"] = map[string]any{}
}

func withoutStatus(m map[string]any) { delete(m, "status") }

// fillRollingUpdate gives a strategy of type RollingUpdate its bounds: names and values
// in turn.
func fillRollingUpdate(bounds ...any) func(map[string]any) {
	return func(m map[string]any) {
		if m["type"] != "RollingUpdate" {
			return
		}
		rolling, _ := m["rollingUpdate"].(map[string]any)
		filled := make(map[string]any, len(rolling)+len(bounds)/2)
		for name, v := range rolling {
			filled[name] = v
		}
		for i := 0; i < len(bounds); i += 2 {
			name, _ := bounds[i].(string)
			if filled[name] == nil {
				filled[name] = bounds[i+1]
			}
		}
		m["rollingUpdate"] = filled
	}
}

func fillJobSpec(m map[string]any) {
	if m["backoffLimit"] == nil {
		m["backoffLimit"] = int64(6)
		if m["backoffLimitPerIndex"] != nil {
			m["backoffLimit"] = int64(math.MaxInt32) // the limit of each index counts
		}
	}
	if m["podReplacementPolicy"] == nil {
		m["podReplacementPolicy"] = "TerminatingOrFailed"
		if m["podFailurePolicy"] != nil {
			m["podReplacementPolicy"] = "Failed"
		}
	}
	if m["completions"] == nil && m["parallelism"] == nil {
		m["completions"] = int64(1)
	}
	if m["parallelism"] == nil {
		m["parallelism"] = int64(1)
	}
}

func fillServiceSpec(m map[string]any) {
	kind := textAt(m, "type")
	if kind != "ExternalName" {
		setDefault(m, "internalTrafficPolicy", "Cluster")
	}
	if kind == "NodePort" || kind == "LoadBalancer" || kind == "ClusterIP" && !isEmpty(m["externalIPs"]) {
		setDefault(m, "externalTrafficPolicy", "Cluster")
	}
	if kind == "LoadBalancer" && m["allocateLoadBalancerNodePorts"] == nil {
		m["allocateLoadBalancerNodePorts"] = true
	}
	if m["sessionAffinity"] == "None" {
		delete(m, "sessionAffinityConfig")
	}
	if m["sessionAffinity"] == "ClientIP" && m["sessionAffinityConfig"] == nil {
		m["sessionAffinityConfig"] = map[string]any{"clientIP": map[string]any{"timeoutSeconds": int64(10800)}}
	}
}

func fillTargetPort(m map[string]any) {
	if target := m["targetPort"]; target == nil || target == "" || isEmpty(target) {
		m["targetPort"] = m["port"]
	}
}

func fillPolicyTypes(m map[string]any) {
	if !isEmpty(m["policyTypes"]) {
		return
	}
	types := []any{"Ingress"}
	if !isEmpty(m["egress"]) {
		types = append(types, "Egress")
	}
	m["policyTypes"] = types
}

// fillScalingBehavior completes the rules of a behavior that is written at all.
func fillScalingBehavior(m map[string]any) {
	up := ruleWith(m["scaleUp"], []any{
		map[string]any{"type": "Pods", "value": int64(4), "periodSeconds": int64(15)},
		map[string]any{"type": "Percent", "value": int64(100), "periodSeconds": int64(15)},
	})
	if up["stabilizationWindowSeconds"] == nil {
		up["stabilizationWindowSeconds"] = int64(0)
	}
	m["scaleUp"] = up
	m["scaleDown"] = ruleWith(m["scaleDown"], []any{
		map[string]any{"type": "Percent", "value": int64(100), "periodSeconds": int64(15)},
	})
}

func ruleWith(rule any, policies []any) map[string]any {
	given, _ := rule.(map[string]any)
	out := make(map[string]any, len(given)+3)
	for name, v := range given {
		out[name] = v
	}
	setDefault(out, "selectPolicy", "Max")
	setDefault(out, "policies", policies)
	return out
}

// fillLimits: what a container may have at most is what it gets, and asks for, where
// nothing else is said.
func fillLimits(m map[string]any) {
	if m["type"] != "Container" {
		return
	}
	limit := withAbsent(m["default"], m["max"])
	request := withAbsent(withAbsent(m["defaultRequest"], limit), m["min"])
	m["default"], m["defaultRequest"] = limit, request
}

// withAbsent gives a mapping with the entries of another one that it lacks.
func withAbsent(m, other any) map[string]any {
	given, _ := m.(map[string]any)
	more, _ := other.(map[string]any)
	out := make(map[string]any, len(given)+len(more))
	maps.Copy(out, more)
	maps.Copy(out, given)
	return out
}

func fillDeviceRequest(m map[string]any) {
	setDefault(m, "allocationMode", "ExactCount")
	if m["allocationMode"] == "ExactCount" {
		setDefault(m, "count", int64(1))
	}
}

// fillSubject names the group that a subject without one has.
func fillSubject(m map[string]any) {
	if kind := textAt(m, "kind"); kind == "User" || kind == "Group" {
		setDefault(m, "apiGroup", "rbac.authorization.k8s.io")
	}
}
