package render

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"kudevops.io/appsvc/api/v1alpha1"
)

func (r *renderer) deployment() map[string]any {
	s := &r.app.Spec
	spec := map[string]any{
		"selector": map[string]any{"matchLabels": stringMap(selector(r.app))},
		"strategy": r.strategy(),
		"template": map[string]any{
			"metadata": r.podMetadata(),
			"spec":     r.podSpec(),
		},
	}
	if s.Replicas != nil && s.Autoscaling == nil {
		spec["replicas"] = int64(*s.Replicas)
	}
	if s.MinReadySeconds != 0 {
		spec["minReadySeconds"] = int64(s.MinReadySeconds)
	}
	if s.RevisionHistoryLimit != nil {
		spec["revisionHistoryLimit"] = int64(*s.RevisionHistoryLimit)
	}
	if s.ProgressDeadlineSeconds != nil {
		spec["progressDeadlineSeconds"] = int64(*s.ProgressDeadlineSeconds)
	}
	return map[string]any{
		"apiVersion": "apps/v1",
		"kind":       "Deployment",
		"metadata":   r.metadata(nil, nil),
		"spec":       spec,
	}
}

// strategy is written whole, the numbers of a rolling update too: those that the
// API server fills in belong to nobody, and stand in the way of another type.
func (r *renderer) strategy() map[string]any {
	surge, unavailable := any(r.defaults.maxSurge), any(r.defaults.maxUnavailable)
	if s := r.app.Spec.Strategy; s != nil {
		if s.Type == appsv1.RecreateDeploymentStrategyType {
			return map[string]any{"type": string(s.Type)}
		}
		if u := s.RollingUpdate; u != nil && u.MaxSurge != nil {
			surge = intOrString(*u.MaxSurge)
		}
		if u := s.RollingUpdate; u != nil && u.MaxUnavailable != nil {
			unavailable = intOrString(*u.MaxUnavailable)
		}
	}
	return map[string]any{
		"type":          string(appsv1.RollingUpdateDeploymentStrategyType),
		"rollingUpdate": map[string]any{"maxSurge": surge, "maxUnavailable": unavailable},
	}
}

func (r *renderer) container() map[string]any {
	s := &r.app.Spec
	policy := s.ImagePullPolicy
	if policy == "" {
		policy = pullPolicy(s.Image)
	}
	c := map[string]any{
		"name":            containerName(s),
		"image":           s.Image,
		"imagePullPolicy": string(policy),
	}
	put(c, "command", stringList(s.Command))
	put(c, "args", stringList(s.Args))
	if s.WorkingDir != "" {
		c["workingDir"] = s.WorkingDir
	}
	put(c, "ports", containerPorts(r.ports.container))
	put(c, "env", env(s.Env))
	put(c, "envFrom", envFrom(s.EnvFrom))
	if res := resources(&s.Resources); len(res) > 0 {
		c["resources"] = res
	}
	put(c, "volumeMounts", append(nativeList(s.VolumeMounts, nil), r.fileMounts()...))
	putProbe(c, "livenessProbe", s.LivenessProbe)
	putProbe(c, "readinessProbe", s.ReadinessProbe)
	putProbe(c, "startupProbe", s.StartupProbe)
	if s.Lifecycle != nil && *s.Lifecycle != (corev1.Lifecycle{}) {
		c["lifecycle"] = plain(s.Lifecycle)
	}
	if context := r.containerSecurity(s.SecurityContext); context != nil {
		putMap(c, "securityContext", plain(context))
	}
	return c
}

func putProbe(container map[string]any, name string, p *corev1.Probe) {
	if p != nil {
		container[name] = plain(p)
	}
}

func containerName(s *v1alpha1.AppServiceSpec) string {
	if s.ContainerName != "" {
		return s.ContainerName
	}
	return v1alpha1.DefaultContainerName
}

func containerPorts(ports []corev1.ContainerPort) []any {
	list := make([]any, len(ports))
	for i, p := range ports {
		m := map[string]any{"containerPort": int64(p.ContainerPort), "protocol": string(p.Protocol)}
		if p.Name != "" {
			m["name"] = p.Name
		}
		if p.HostPort != 0 {
			m["hostPort"] = int64(p.HostPort)
		}
		if p.HostIP != "" {
			m["hostIP"] = p.HostIP
		}
		list[i] = m
	}
	return list
}
