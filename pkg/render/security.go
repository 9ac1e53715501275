package render

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kudevops.io/appsvc/api/v1alpha1"
)

// allCapabilities stands for every capability in the list of those that are dropped.
const allCapabilities corev1.Capability = "ALL"

func (r *renderer) restricted() bool {
	return r.app.Spec.SecurityProfile == v1alpha1.SecurityProfileRestricted
}

// podSecurity is the pod's security context: what was given, and under the profile
// Restricted what that demands of a pod where nothing was said.
func (r *renderer) podSecurity() *corev1.PodSecurityContext {
	context := r.app.Spec.PodSecurityContext.DeepCopy()
	if !r.restricted() {
		return context
	}
	if context == nil {
		context = &corev1.PodSecurityContext{}
	}
	if context.RunAsNonRoot == nil {
		context.RunAsNonRoot = new(true)
	}
	if context.SeccompProfile == nil {
		context.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	}
	return context
}

// containerSecurity is the same for a container.
func (r *renderer) containerSecurity(given *corev1.SecurityContext) *corev1.SecurityContext {
	context := given.DeepCopy()
	if r.restricted() {
		if context == nil {
			context = &corev1.SecurityContext{}
		}
		if context.AllowPrivilegeEscalation == nil {
			context.AllowPrivilegeEscalation = new(false)
		}
		if context.Capabilities == nil {
			context.Capabilities = &corev1.Capabilities{}
		}
		if !slices.Contains(context.Capabilities.Drop, allCapabilities) {
			context.Capabilities.Drop = append(context.Capabilities.Drop, allCapabilities)
		}
	}
	normalizeSecurityContext(context)
	return context
}
