package render

import (
	corev1 "k8s.io/api/core/v1"

	"kudevops.io/appsvc/api/v1alpha1"
)

func (r *renderer) deployment() map[string]any {
	spec := map[string]any{
		"selector": map[string]any{"matchLabels": stringMap(selector(r.app))},
		"strategy": map[string]any{
			"type": "RollingUpdate",
			"rollingUpdate": map[string]any{
				"maxSurge":       r.defaults.maxSurge,
				"maxUnavailable": r.defaults.maxUnavailable,
			},
		},
		"template": map[string]any{
			"metadata": r.podMetadata(),
			"spec":     r.podSpec(),
		},
	}
	if r.app.Spec.Replicas != nil {
		spec["replicas"] = int64(*r.app.Spec.Replicas)
	}
	return map[string]any{
		"apiVersion": "apps/v1",
		"kind":       "Deployment",
		"metadata":   r.metadata(nil, nil),
		"spec":       spec,
	}
}

func (r *renderer) podSpec() map[string]any {
	spec := map[string]any{
		"containers":         []any{r.container()},
		"serviceAccountName": r.defaults.serviceAccountName,
	}
	if secrets := r.app.Spec.ImagePullSecrets; len(secrets) > 0 {
		list := make([]any, len(secrets))
		for i, s := range secrets {
			list[i] = map[string]any{"name": s.Name}
		}
		spec["imagePullSecrets"] = list
	}
	return spec
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
	return c
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
