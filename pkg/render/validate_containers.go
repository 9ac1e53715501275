package render

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudevops.io/appsvc/api/v1alpha1"
)

// validateContainers checks what the main container has beyond its ports and its
// environment, and the init containers and sidecars whole.
func validateContainers(s *v1alpha1.AppServiceSpec) field.ErrorList {
	var errs field.ErrorList
	spec := paths.spec
	containers := map[string]bool{containerName(s): true}
	for i := range s.InitContainers {
		containers[s.InitContainers[i].Name] = true
	}
	for i := range s.Sidecars {
		containers[s.Sidecars[i].Name] = true
	}
	volumes, volumeErrs := validateVolumes(spec.Child("volumes"), s.Volumes, containers)
	errs = append(errs, volumeErrs...)
	errs = append(errs, validateEnv(paths.env, s.Env, volumes)...)
	errs = append(errs, validateMounts(spec.Child("volumeMounts"), s.VolumeMounts, volumes)...)

	var ports []string
	for _, p := range s.ContainerPorts {
		ports = append(ports, p.Name)
	}
	for _, p := range s.Ports {
		ports = append(ports, p.Name)
	}
	probes := containerProbes{liveness: s.LivenessProbe, readiness: s.ReadinessProbe, startup: s.StartupProbe, lifecycle: s.Lifecycle}
	errs = append(errs, probes.validate(spec, ports)...)
	errs = append(errs, validateRareFields(spec, &corev1.Container{SecurityContext: s.SecurityContext})...)

	names := map[string]bool{containerName(s): true}
	for i := range s.InitContainers {
		c, at := &s.InitContainers[i], spec.Child("initContainers").Index(i)
		errs = append(errs, validateContainer(at, c, names, volumes)...)
		if c.RestartPolicy == nil {
			// One that ends has no state to look at.
			for name, set := range map[string]bool{
				"livenessProbe": c.LivenessProbe != nil, "readinessProbe": c.ReadinessProbe != nil,
				"startupProbe": c.StartupProbe != nil, "lifecycle": c.Lifecycle != nil,
			} {
				if set {
					errs = append(errs, field.Forbidden(at.Child(name), "an init container ends by itself; what runs on is one of spec.sidecars"))
				}
			}
		}
	}
	for i := range s.Sidecars {
		c, at := &s.Sidecars[i], spec.Child("sidecars").Index(i)
		errs = append(errs, validateContainer(at, c, names, volumes)...)
	}
	return errs
}

func validateContainer(at *field.Path, c *corev1.Container, names map[string]bool, volumes map[string]bool) field.ErrorList {
	errs := uniqueName(at.Child("name"), c.Name, names)
	errs = append(errs, oneOfPointer(at.Child("restartPolicy"), c.RestartPolicy, corev1.ContainerRestartPolicyAlways)...)
	errs = append(errs, validateImage(at.Child("image"), c.Image)...)
	errs = append(errs, oneOf(at.Child("imagePullPolicy"), c.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	errs = append(errs, validateEnv(at.Child("env"), c.Env, volumes)...)
	errs = append(errs, validateEnvFrom(at.Child("envFrom"), c.EnvFrom)...)
	errs = append(errs, validateResources(at.Child("resources"), &c.Resources)...)
	errs = append(errs, validateContainerPorts(at.Child("ports"), c.Ports)...)
	errs = append(errs, duplicatePorts(at.Child("ports"), c.Ports)...)
	errs = append(errs, validateMounts(at.Child("volumeMounts"), c.VolumeMounts, volumes)...)
	var ports []string
	for _, p := range c.Ports {
		ports = append(ports, p.Name)
	}
	probes := containerProbes{liveness: c.LivenessProbe, readiness: c.ReadinessProbe, startup: c.StartupProbe, lifecycle: c.Lifecycle}
	errs = append(errs, validateRareFields(at, c)...)
	return append(errs, probes.validate(at, ports)...)
}

// uniqueName demands a DNS label that is not among the names yet, and adds it.
func uniqueName(at *field.Path, name string, names map[string]bool) field.ErrorList {
	var errs field.ErrorList
	switch {
	case name == "":
		errs = append(errs, field.Required(at, ""))
	case names[name]:
		errs = append(errs, field.Duplicate(at, name))
	default:
		for _, msg := range validation.IsDNS1123Label(name) {
			errs = append(errs, field.Invalid(at, name, msg))
		}
	}
	names[name] = true
	return errs
}

// containerProbes are the ways to look at and to tell a container.
type containerProbes struct {
	liveness, readiness, startup *corev1.Probe
	lifecycle                    *corev1.Lifecycle
}

func (p containerProbes) validate(at *field.Path, ports []string) field.ErrorList {
	errs := validateProbe(at.Child("livenessProbe"), p.liveness, ports, true)
	errs = append(errs, validateProbe(at.Child("readinessProbe"), p.readiness, ports, false)...)
	errs = append(errs, validateProbe(at.Child("startupProbe"), p.startup, ports, true)...)
	if p.readiness != nil && p.readiness.TerminationGracePeriodSeconds != nil {
		errs = append(errs, field.Forbidden(at.Child("readinessProbe", "terminationGracePeriodSeconds"), "a readiness probe ends nothing"))
	}
	if p.lifecycle != nil {
		errs = append(errs, validateHook(at.Child("lifecycle", "postStart"), p.lifecycle.PostStart, ports)...)
		errs = append(errs, validateHook(at.Child("lifecycle", "preStop"), p.lifecycle.PreStop, ports)...)
	}
	return errs
}

// validateProbe demands one handler: a second one, left over from an overlay, makes
// the API server refuse the Deployment.
func validateProbe(at *field.Path, p *corev1.Probe, ports []string, once bool) field.ErrorList {
	if p == nil {
		return nil
	}
	h := handlers{exec: p.Exec, http: p.HTTPGet, tcp: p.TCPSocket, grpc: p.GRPC}
	errs := h.validate(at, ports)
	for name, n := range map[string]int32{
		"initialDelaySeconds": p.InitialDelaySeconds, "timeoutSeconds": p.TimeoutSeconds, "periodSeconds": p.PeriodSeconds,
		"successThreshold": p.SuccessThreshold, "failureThreshold": p.FailureThreshold,
	} {
		if n < 0 {
			errs = append(errs, field.Invalid(at.Child(name), n, "must be 0 or more"))
		}
	}
	if once && p.SuccessThreshold > 1 {
		errs = append(errs, field.Invalid(at.Child("successThreshold"), p.SuccessThreshold, "must be 1"))
	}
	if t := p.TerminationGracePeriodSeconds; t != nil && *t <= 0 {
		errs = append(errs, field.Invalid(at.Child("terminationGracePeriodSeconds"), *t, "must be 1 or more"))
	}
	return errs
}

func validateHook(at *field.Path, h *corev1.LifecycleHandler, ports []string) field.ErrorList {
	if h == nil {
		return nil
	}
	return handlers{exec: h.Exec, http: h.HTTPGet, tcp: h.TCPSocket, sleep: h.Sleep}.validate(at, ports)
}

// handlers are what a probe or a hook can do, of which it does one.
type handlers struct {
	exec  *corev1.ExecAction
	http  *corev1.HTTPGetAction
	tcp   *corev1.TCPSocketAction
	grpc  *corev1.GRPCAction
	sleep *corev1.SleepAction
}

func (h handlers) validate(at *field.Path, ports []string) field.ErrorList {
	var errs field.ErrorList
	var given []string
	if h.exec != nil {
		given = append(given, "exec")
		if len(h.exec.Command) == 0 {
			errs = append(errs, field.Required(at.Child("exec", "command"), ""))
		}
	}
	if h.http != nil {
		given = append(given, "httpGet")
		errs = append(errs, validateTarget(at.Child("httpGet", "port"), h.http.Port, ports)...)
		errs = append(errs, oneOf(at.Child("httpGet", "scheme"), h.http.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)...)
		for i, header := range h.http.HTTPHeaders {
			for _, msg := range validation.IsHTTPHeaderName(header.Name) {
				errs = append(errs, field.Invalid(at.Child("httpGet", "httpHeaders").Index(i).Child("name"), header.Name, msg))
			}
			if header.Value == "" {
				errs = append(errs, field.Required(at.Child("httpGet", "httpHeaders").Index(i).Child("value"), ""))
			}
		}
	}
	if h.tcp != nil {
		given = append(given, "tcpSocket")
		errs = append(errs, validateTarget(at.Child("tcpSocket", "port"), h.tcp.Port, ports)...)
	}
	if h.grpc != nil {
		given = append(given, "grpc")
		errs = append(errs, portFaults(at.Child("grpc"), "port", h.grpc.Port)...)
	}
	if h.sleep != nil {
		given = append(given, "sleep")
		if h.sleep.Seconds < 1 {
			errs = append(errs, field.Invalid(at.Child("sleep", "seconds"), h.sleep.Seconds, "must be 1 or more"))
		}
	}
	switch len(given) {
	case 1:
	case 0:
		errs = append(errs, field.Required(at, "name what to do, such as httpGet or exec"))
	default:
		errs = append(errs, field.Forbidden(at, "more than one thing to do: "+strings.Join(given, ", ")))
	}
	return errs
}

// validateTarget demands a port that the container has, where it goes by name: the
// kubelet finds out only when it probes.
func validateTarget(at *field.Path, port intstr.IntOrString, names []string) field.ErrorList {
	if port.Type == intstr.Int {
		if msgs := validation.IsValidPortNum(int(port.IntVal)); len(msgs) > 0 {
			return field.ErrorList{field.Invalid(at, port.IntVal, strings.Join(msgs, "; "))}
		}
		return nil
	}
	if msgs := validation.IsValidPortName(port.StrVal); len(msgs) > 0 {
		return field.ErrorList{field.Invalid(at, port.StrVal, strings.Join(msgs, "; "))}
	}
	if !slices.Contains(names, port.StrVal) {
		return field.ErrorList{field.Invalid(at, port.StrVal, "the container has no port of this name")}
	}
	return nil
}

func duplicatePorts(at *field.Path, ports []corev1.ContainerPort) field.ErrorList {
	var errs field.ErrorList
	keys, names := make(map[portKey]bool, len(ports)), make(map[string]bool, len(ports))
	for i, p := range ports {
		key := portKey{p.ContainerPort, protocolOf(p.Protocol)}
		if keys[key] {
			errs = append(errs, field.Duplicate(at.Index(i), key.String()))
		}
		if p.Name != "" && names[p.Name] {
			errs = append(errs, field.Duplicate(at.Index(i).Child("name"), p.Name))
		}
		keys[key], names[p.Name] = true, true
	}
	return errs
}

// validateVolumes gives the names of the volumes too.
func validateVolumes(at *field.Path, volumes []corev1.Volume, containers map[string]bool) (map[string]bool, field.ErrorList) {
	var errs field.ErrorList
	names := make(map[string]bool, len(volumes))
	for i := range volumes {
		v, here := &volumes[i], at.Index(i)
		errs = append(errs, uniqueName(here.Child("name"), v.Name, names)...)
		// Which sources there are is the type's business: one is written, with its
		// name, for each that was given.
		sources := plain(&v.VolumeSource)
		switch len(sources) {
		case 1:
		case 0:
			errs = append(errs, field.Required(here, "name a source, such as emptyDir or configMap"))
		default:
			errs = append(errs, field.Forbidden(here, "more than one source"))
		}
		errs = append(errs, missing(here, "", sources)...)
		errs = append(errs, validateVolumeSource(here, &v.VolumeSource, containers)...)
	}
	return names, errs
}

func validateVolumeSource(at *field.Path, s *corev1.VolumeSource, containers map[string]bool) field.ErrorList {
	var errs field.ErrorList
	if s.ConfigMap != nil {
		errs = append(errs, objectName(at.Child("configMap", "name"), s.ConfigMap.Name)...)
		errs = append(errs, validateItems(at.Child("configMap", "items"), s.ConfigMap.Items)...)
	}
	if s.Secret != nil {
		errs = append(errs, objectName(at.Child("secret", "secretName"), s.Secret.SecretName)...)
		errs = append(errs, validateItems(at.Child("secret", "items"), s.Secret.Items)...)
	}
	if s.PersistentVolumeClaim != nil {
		errs = append(errs, objectName(at.Child("persistentVolumeClaim", "claimName"), s.PersistentVolumeClaim.ClaimName)...)
	}
	if s.EmptyDir != nil && s.EmptyDir.SizeLimit != nil && s.EmptyDir.SizeLimit.Sign() < 0 {
		errs = append(errs, field.Invalid(at.Child("emptyDir", "sizeLimit"), s.EmptyDir.SizeLimit.String(), "must be 0 or more"))
	}
	if s.HostPath != nil && s.HostPath.Path == "" {
		errs = append(errs, field.Required(at.Child("hostPath", "path"), ""))
	}
	if s.DownwardAPI != nil {
		errs = append(errs, validateDownward(at.Child("downwardAPI", "items"), s.DownwardAPI.Items, containers)...)
	}
	if s.Projected != nil {
		for i := range s.Projected.Sources {
			errs = append(errs, validateProjection(at.Child("projected", "sources").Index(i), &s.Projected.Sources[i], containers)...)
		}
	}
	return errs
}

func validateProjection(at *field.Path, p *corev1.VolumeProjection, containers map[string]bool) field.ErrorList {
	var errs field.ErrorList
	if n := len(plain(p)); n != 1 {
		errs = append(errs, field.Invalid(at, n, "must have one source"))
	}
	if p.ConfigMap != nil {
		errs = append(errs, objectName(at.Child("configMap", "name"), p.ConfigMap.Name)...)
		errs = append(errs, validateItems(at.Child("configMap", "items"), p.ConfigMap.Items)...)
	}
	if p.Secret != nil {
		errs = append(errs, objectName(at.Child("secret", "name"), p.Secret.Name)...)
		errs = append(errs, validateItems(at.Child("secret", "items"), p.Secret.Items)...)
	}
	if p.DownwardAPI != nil {
		errs = append(errs, validateDownward(at.Child("downwardAPI", "items"), p.DownwardAPI.Items, containers)...)
	}
	if t := p.ServiceAccountToken; t != nil {
		errs = append(errs, relativePath(at.Child("serviceAccountToken", "path"), t.Path, true)...)
		if e := t.ExpirationSeconds; e != nil && *e < 600 {
			errs = append(errs, field.Invalid(at.Child("serviceAccountToken", "expirationSeconds"), *e, "must be 600 or more"))
		}
	}
	return errs
}

func validateItems(at *field.Path, items []corev1.KeyToPath) field.ErrorList {
	var errs field.ErrorList
	for i, item := range items {
		if item.Key == "" {
			errs = append(errs, field.Required(at.Index(i).Child("key"), ""))
		}
		errs = append(errs, relativePath(at.Index(i).Child("path"), item.Path, true)...)
	}
	return errs
}

func validateMounts(at *field.Path, mounts []corev1.VolumeMount, volumes map[string]bool) field.ErrorList {
	var errs field.ErrorList
	seen := make(map[string]bool, len(mounts))
	for i, m := range mounts {
		here := at.Index(i)
		switch {
		case m.Name == "":
			errs = append(errs, field.Required(here.Child("name"), ""))
		case !volumes[m.Name]:
			errs = append(errs, field.NotFound(here.Child("name"), m.Name))
		}
		switch {
		case m.MountPath == "":
			errs = append(errs, field.Required(here.Child("mountPath"), ""))
		case seen[m.MountPath]:
			errs = append(errs, field.Duplicate(here.Child("mountPath"), m.MountPath))
		}
		seen[m.MountPath] = true
		if m.SubPath != "" && m.SubPathExpr != "" {
			errs = append(errs, field.Forbidden(here.Child("subPathExpr"), "there is a subPath already"))
		}
		errs = append(errs, relativePath(here.Child("subPath"), m.SubPath, false)...)
		errs = append(errs, relativePath(here.Child("subPathExpr"), m.SubPathExpr, false)...)
		if len(m.BindMountOptions) > 1 {
			errs = append(errs, unique(here.Child("bindMountOptions"), m.BindMountOptions)...)
		}
	}
	return errs
}

// relativePath demands a path that stays below where it begins.
func relativePath(at *field.Path, p string, required bool) field.ErrorList {
	switch {
	case p == "" && required:
		return field.ErrorList{field.Required(at, "")}
	case path.IsAbs(p):
		return field.ErrorList{field.Invalid(at, p, "must be a relative path")}
	case slices.Contains(strings.Split(p, "/"), ".."):
		return field.ErrorList{field.Invalid(at, p, "must not contain '..'")}
	}
	return nil
}
