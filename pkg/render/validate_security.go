package render

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudevops.io/appsvc/api/v1alpha1"
)

// validateSecurityProfile refuses what contradicts the profile: it would be written,
// and the namespace would refuse the pods.
func validateSecurityProfile(s *v1alpha1.AppServiceSpec) field.ErrorList {
	errs := oneOf(paths.spec.Child("securityProfile"), s.SecurityProfile, v1alpha1.SecurityProfileRestricted)
	if s.SecurityProfile != v1alpha1.SecurityProfileRestricted {
		return errs
	}
	r := restricted{errs: errs}
	r.annotations(paths.podAnnotations, s.PodAnnotations)
	r.pod(paths.spec.Child("podSecurityContext"), s.PodSecurityContext)
	r.container(paths.spec, &corev1.Container{
		SecurityContext: s.SecurityContext,
		LivenessProbe:   s.LivenessProbe, ReadinessProbe: s.ReadinessProbe, StartupProbe: s.StartupProbe, Lifecycle: s.Lifecycle,
	})
	r.ports(paths.containerPorts, s.ContainerPorts)
	for i := range s.InitContainers {
		r.container(paths.spec.Child("initContainers").Index(i), &s.InitContainers[i])
	}
	for i := range s.Sidecars {
		r.container(paths.spec.Child("sidecars").Index(i), &s.Sidecars[i])
	}
	r.volumes(paths.spec.Child("volumes"), s.Volumes)
	return r.errs
}

// restricted collects what the restricted Pod Security Standard does not allow, by the
// rules of Kubernetes 1.37 (k8s.io/pod-security-admission/policy).
type restricted struct{ errs field.ErrorList }

// template finds all that a Deployment has against the standard, which is both what is
// forbidden and what is demanded and not there.
func (r *restricted) template(d *appsv1.Deployment) {
	at, pod := field.NewPath("spec", "template", "spec"), &d.Spec.Template.Spec
	r.annotations(field.NewPath("spec", "template", "metadata", "annotations"), d.Spec.Template.Annotations)
	for name, set := range map[string]bool{"hostNetwork": pod.HostNetwork, "hostPID": pod.HostPID, "hostIPC": pod.HostIPC} {
		if set {
			r.forbid(at.Child(name), "true")
		}
	}
	context := pod.SecurityContext
	if context == nil {
		context = &corev1.PodSecurityContext{}
	}
	r.pod(at.Child("securityContext"), context)
	for name, list := range map[string][]corev1.Container{"containers": pod.Containers, "initContainers": pod.InitContainers} {
		for i := range list {
			r.container(at.Child(name).Index(i), &list[i])
			r.demands(at.Child(name).Index(i).Child("securityContext"), list[i].SecurityContext, context)
		}
	}
	r.volumes(at.Child("volumes"), pod.Volumes)
}

func (r *restricted) forbid(at *field.Path, what string) {
	r.errs = append(r.errs, field.Forbidden(at, what+" is not allowed under securityProfile Restricted"))
}

// demands names what a container must say where the pod does not.
func (r *restricted) demands(at *field.Path, c *corev1.SecurityContext, pod *corev1.PodSecurityContext) {
	if c == nil {
		c = &corev1.SecurityContext{}
	}
	demand := func(name, what string, met bool) {
		if !met {
			r.errs = append(r.errs, field.Required(at.Child(name), what+" is what securityProfile Restricted demands"))
		}
	}
	demand("allowPrivilegeEscalation", "false", c.AllowPrivilegeEscalation != nil)
	demand("capabilities", "drop: [ALL]", c.Capabilities != nil && slices.Contains(c.Capabilities.Drop, allCapabilities))
	demand("runAsNonRoot", "true", c.RunAsNonRoot != nil || pod.RunAsNonRoot != nil)
	demand("seccompProfile", "type: RuntimeDefault", c.SeccompProfile != nil || pod.SeccompProfile != nil)
}

func (r *restricted) pod(at *field.Path, c *corev1.PodSecurityContext) {
	if c == nil {
		return
	}
	r.both(at, c.RunAsNonRoot, c.RunAsUser, c.SeccompProfile, c.AppArmorProfile, c.SELinuxOptions, c.WindowsOptions)
	for i, s := range c.Sysctls {
		if !slices.Contains(safeSysctls[:], s.Name) {
			r.forbid(at.Child("sysctls").Index(i).Child("name"), s.Name)
		}
	}
}

// safeSysctls are those that the baseline standard allows.
var safeSysctls = [...]string{
	"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports",
	"net.ipv4.ip_unprivileged_port_start", "net.ipv4.ping_group_range", "net.ipv4.tcp_fin_timeout",
	"net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_keepalive_time",
	"net.ipv4.tcp_notsent_lowat", "net.ipv4.tcp_rmem", "net.ipv4.tcp_slow_start_after_idle",
	"net.ipv4.tcp_syncookies", "net.ipv4.tcp_wmem",
}

// both checks what the security contexts of a pod and of a container have in common.
func (r *restricted) both(at *field.Path, nonRoot *bool, user *int64, seccomp *corev1.SeccompProfile, appArmor *corev1.AppArmorProfile, linux *corev1.SELinuxOptions, windows *corev1.WindowsSecurityContextOptions) {
	if nonRoot != nil && !*nonRoot {
		r.forbid(at.Child("runAsNonRoot"), "false")
	}
	if user != nil && *user == 0 {
		r.forbid(at.Child("runAsUser"), "0")
	}
	// No type at all is refused with a better message.
	if seccomp != nil && !slices.Contains([]corev1.SeccompProfileType{"", corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeLocalhost}, seccomp.Type) {
		r.forbid(at.Child("seccompProfile", "type"), string(seccomp.Type))
	}
	if appArmor != nil && !slices.Contains([]corev1.AppArmorProfileType{"", corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeLocalhost}, appArmor.Type) {
		r.forbid(at.Child("appArmorProfile", "type"), string(appArmor.Type))
	}
	if linux != nil {
		if !slices.Contains([]string{"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}, linux.Type) {
			r.forbid(at.Child("seLinuxOptions", "type"), linux.Type)
		}
		if linux.User != "" {
			r.forbid(at.Child("seLinuxOptions", "user"), linux.User)
		}
		if linux.Role != "" {
			r.forbid(at.Child("seLinuxOptions", "role"), linux.Role)
		}
	}
	if windows != nil && windows.HostProcess != nil && *windows.HostProcess {
		r.forbid(at.Child("windowsOptions", "hostProcess"), "true")
	}
}

func (r *restricted) container(at *field.Path, c *corev1.Container) {
	r.ports(at.Child("ports"), c.Ports)
	r.hosts(at, c)
	s, at := c.SecurityContext, at.Child("securityContext")
	if s == nil {
		return
	}
	r.both(at, s.RunAsNonRoot, s.RunAsUser, s.SeccompProfile, s.AppArmorProfile, s.SELinuxOptions, s.WindowsOptions)
	if s.Privileged != nil && *s.Privileged {
		r.forbid(at.Child("privileged"), "true")
	}
	if s.AllowPrivilegeEscalation != nil && *s.AllowPrivilegeEscalation {
		r.forbid(at.Child("allowPrivilegeEscalation"), "true")
	}
	if s.ProcMount != nil && *s.ProcMount != corev1.DefaultProcMount {
		r.forbid(at.Child("procMount"), string(*s.ProcMount))
	}
	if s.Capabilities != nil {
		for i, add := range s.Capabilities.Add {
			if add != "NET_BIND_SERVICE" {
				r.forbid(at.Child("capabilities", "add").Index(i), string(add))
			}
		}
	}
}

func (r *restricted) ports(at *field.Path, ports []corev1.ContainerPort) {
	for i, p := range ports {
		if p.HostPort != 0 {
			r.forbid(at.Index(i).Child("hostPort"), "a port of the node")
		}
	}
}

// hosts forbids probes and hooks that go elsewhere than to the pod.
func (r *restricted) hosts(at *field.Path, c *corev1.Container) {
	check := func(at *field.Path, http *corev1.HTTPGetAction, tcp *corev1.TCPSocketAction) {
		if http != nil && http.Host != "" {
			r.forbid(at.Child("httpGet", "host"), http.Host)
		}
		if tcp != nil && tcp.Host != "" {
			r.forbid(at.Child("tcpSocket", "host"), tcp.Host)
		}
	}
	for i, p := range [...]*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if p != nil {
			check(at.Child([...]string{"livenessProbe", "readinessProbe", "startupProbe"}[i]), p.HTTPGet, p.TCPSocket)
		}
	}
	if c.Lifecycle == nil {
		return
	}
	for i, h := range [...]*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
		if h != nil {
			check(at.Child("lifecycle", [...]string{"postStart", "preStop"}[i]), h.HTTPGet, h.TCPSocket)
		}
	}
}

func (r *restricted) volumes(at *field.Path, volumes []corev1.Volume) {
	for i := range volumes {
		other := volumes[i].VolumeSource
		other.ConfigMap, other.CSI, other.DownwardAPI, other.EmptyDir, other.Ephemeral = nil, nil, nil, nil, nil
		other.Image, other.PersistentVolumeClaim, other.Projected, other.Secret = nil, nil, nil, nil
		if other == (corev1.VolumeSource{}) {
			continue
		}
		for source := range plain(&other) {
			r.forbid(at.Index(i).Child(source), "a volume of this kind")
		}
	}
}

// annotations forbids the old way to choose a profile of AppArmor, where it chooses one
// that the field may not.
func (r *restricted) annotations(at *field.Path, annotations map[string]string) {
	for key, value := range annotations {
		if !strings.HasPrefix(key, corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix) || value == "" ||
			value == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault || strings.HasPrefix(value, corev1.DeprecatedAppArmorBetaProfileNamePrefix) {
			continue
		}
		r.forbid(at.Key(key), value)
	}
}
