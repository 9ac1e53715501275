package render

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (r *renderer) podSpec() map[string]any {
	s := &r.app.Spec
	spec := map[string]any{
		"containers":         []any{r.container()},
		"serviceAccountName": r.serviceAccountName(),
	}
	if len(s.ImagePullSecrets) > 0 {
		list := make([]any, len(s.ImagePullSecrets))
		for i, secret := range s.ImagePullSecrets {
			list[i] = map[string]any{"name": secret.Name}
		}
		spec["imagePullSecrets"] = list
	}
	// A sidecar is an init container that is always restarted. It starts before the
	// other init containers, so that they can use it.
	always := corev1.ContainerRestartPolicyAlways
	sidecars := nativeList(s.Sidecars, func(c *corev1.Container) {
		c.RestartPolicy = &always
		r.normalizeContainer(c)
	})
	put(spec, "initContainers", append(sidecars, nativeList(s.InitContainers, r.normalizeContainer)...))
	put(spec, "volumes", append(nativeList(s.Volumes, normalizeVolume), r.filesVolume()...))
	if context := r.podSecurity(); context != nil {
		putMap(spec, "securityContext", plain(context))
	}
	if s.AutomountServiceAccountToken != nil {
		spec["automountServiceAccountToken"] = *s.AutomountServiceAccountToken
	}
	if s.TerminationGracePeriodSeconds != nil {
		spec["terminationGracePeriodSeconds"] = *s.TerminationGracePeriodSeconds
	}
	put(spec, "hostAliases", nativeList(s.HostAliases, nil))
	putString(spec, "dnsPolicy", s.DNSPolicy)
	if s.DNSConfig != nil {
		putMap(spec, "dnsConfig", plain(s.DNSConfig))
	}
	if len(s.NodeSelector) > 0 {
		spec["nodeSelector"] = stringMap(s.NodeSelector)
	}
	put(spec, "tolerations", tolerations(s.Tolerations))
	if s.Affinity != nil {
		putMap(spec, "affinity", plain(s.Affinity))
	}
	put(spec, "topologySpreadConstraints", nativeList(s.TopologySpreadConstraints, r.normalizeSpread))
	putString(spec, "priorityClassName", s.PriorityClassName)
	putPointer(spec, "runtimeClassName", s.RuntimeClassName)
	return spec
}

// normalizeContainer does for a native container what the main one gets.
func (r *renderer) normalizeContainer(c *corev1.Container) {
	c.SecurityContext = r.containerSecurity(c.SecurityContext)
	normalizeContainer(c)
}

// normalizeSpread lets a constraint that selects nothing, and so has no effect,
// select the pods of this AppService.
func (r *renderer) normalizeSpread(c *corev1.TopologySpreadConstraint) {
	if c.LabelSelector == nil {
		c.LabelSelector = &metav1.LabelSelector{MatchLabels: selector(r.app)}
	}
}

// tolerations are a set in a list that is replaced as a whole.
func tolerations(list []corev1.Toleration) []any {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b corev1.Toleration) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Operator, b.Operator),
			cmp.Compare(a.Value, b.Value), cmp.Compare(a.Effect, b.Effect),
			cmp.Compare(seconds(a), seconds(b)))
	})
	return nativeList(sorted, nil)
}

func seconds(t corev1.Toleration) int64 {
	if t.TolerationSeconds == nil {
		return -1
	}
	return *t.TolerationSeconds
}
