package krm

import (
	"strings"

	"kudevops.io/appsvc/internal/manifest"
)

const (
	localConfig      = "config.kubernetes.io/local-config"
	internalPath     = "internal.config.kubernetes.io/path"
	internalIndex    = "internal.config.kubernetes.io/index"
	legacyPath       = "config.kubernetes.io/path"
	legacyIndex      = "config.kubernetes.io/index"
	originAnnotation = "config.kubernetes.io/origin"
)

// bookkeeping says whether an annotation belongs to the orchestrator, which finds
// an item again by it. A child that is replaced keeps those it has.
func bookkeeping(key string) bool {
	prefix, name, _ := strings.Cut(key, "/")
	switch prefix {
	case "internal.config.kubernetes.io", "kustomize.config.k8s.io", "alpha.config.kubernetes.io":
		return true
	case "config.kubernetes.io":
		return name == "path" || name == "index" || name == "origin"
	case "config.k8s.io":
		return name == "id"
	}
	return false
}

func annotation(o *manifest.Object, key string) string {
	return o.StringAt("metadata", "annotations", key)
}

// pathOf is the file of an item, where the orchestrator says so (kpt).
func pathOf(o *manifest.Object) string {
	if p := annotation(o, internalPath); p != "" {
		return p
	}
	return annotation(o, legacyPath)
}
