package render

import (
	"maps"
	"strings"

	"kudevops.io/appsvc/api/v1alpha1"
)

// Selector is what the Deployment and the Service of an AppService select pods by. It is
// frozen: the selector of a Deployment cannot be changed. The caller owns the map.
func Selector(app *v1alpha1.AppService) map[string]string { return maps.Clone(selector(app)) }

func selector(app *v1alpha1.AppService) map[string]string {
	if len(app.Spec.Selector) > 0 {
		return app.Spec.Selector
	}
	return map[string]string{v1alpha1.SelectorLabel: app.Name}
}

// engineLabels are the labels that every child has and that nothing overrides.
func engineLabels(app *v1alpha1.AppService) map[string]string {
	return map[string]string{
		v1alpha1.NameLabel:      app.Name,
		v1alpha1.InstanceLabel:  app.Name,
		v1alpha1.ManagedByLabel: v1alpha1.ManagedBy,
	}
}

// metadata of a child: its name and namespace, the AppService's labels and
// annotations less those of tools, then those of the child, then the engine's.
func (r *renderer) metadata(labels, annotations map[string]string) map[string]any {
	app := r.app
	merged := make(map[string]any, len(app.Labels)+len(labels)+3)
	for k, v := range app.Labels {
		if !ToolKey(k) {
			merged[k] = v
		}
	}
	overlay(merged, labels)
	overlay(merged, engineLabels(app))
	meta := map[string]any{"name": r.name(), "labels": merged}

	notes := make(map[string]any, len(app.Annotations)+len(annotations))
	for k, v := range app.Annotations {
		if !ToolKey(k) {
			notes[k] = v
		}
	}
	overlay(notes, annotations)
	if len(notes) > 0 {
		meta["annotations"] = notes
	}
	if app.Namespace != "" {
		meta["namespace"] = app.Namespace
	}
	return meta
}

// podMetadata has none of the AppService's own labels and annotations: an edit of
// one of those must not replace pods.
func (r *renderer) podMetadata() map[string]any {
	labels := make(map[string]any, len(r.app.Spec.PodLabels)+4)
	overlay(labels, r.app.Spec.PodLabels)
	overlay(labels, engineLabels(r.app))
	// A selector taken over from an existing Deployment may use the engine's own
	// keys with other values; the pods have to match it.
	overlay(labels, selector(r.app))
	meta := map[string]any{"labels": labels}
	if len(r.app.Spec.PodAnnotations) > 0 {
		notes := make(map[string]any, len(r.app.Spec.PodAnnotations))
		overlay(notes, r.app.Spec.PodAnnotations)
		meta["annotations"] = notes
	}
	return meta
}

func overlay(dst map[string]any, src map[string]string) {
	for k, v := range src {
		dst[k] = v
	}
}

// ToolKey says whether a label or annotation key on an AppService is about the
// AppService itself: the bookkeeping of a tool that put it there, or an order to
// appsvc. Such a key is not passed on to children. A tool that found its own mark
// on an object that it did not make would take the object for its own, and remove
// it (Flux, Argo CD), or stop following references (kustomize).
func ToolKey(key string) bool {
	prefix, name, found := strings.Cut(key, "/")
	if !found {
		return false
	}
	switch prefix {
	case "argocd.argoproj.io":
		// Sync waves, hooks and options are meant for what is deployed.
		return name == "tracking-id" || name == "instance" || name == "installation-id" || name == "refresh"
	case v1alpha1.Group,
		"kubectl.kubernetes.io",
		"config.kubernetes.io", "internal.config.kubernetes.io", "alpha.config.kubernetes.io",
		"config.k8s.io", "kustomize.config.k8s.io",
		"cli-utils.sigs.k8s.io", "applyset.kubernetes.io",
		"kpt.dev", "internal.kpt.dev",
		"helm.sh", "meta.helm.sh",
		"kapp.k14s.io", "objectset.rio.cattle.io", "fleet.cattle.io",
		"fluxcd.io":
		return true
	}
	return strings.HasSuffix(prefix, ".fluxcd.io") || strings.HasSuffix(prefix, ".kpt.dev")
}
