package kustomize

import (
	"kudevops.io/appsvc/api/v1alpha1"
)

const (
	// localConfig marks an object that is for tools and not for the cluster.
	// kustomize drops it at the end of a build unless the value is "false".
	localConfig = "config.kubernetes.io/local-config"
	// keptLocal is put on an AppService whose localConfig was taken away for the
	// time of the build. It never leaves this package.
	keptLocal = "internal.apps.kudevops.io/kept-local"
)

// keepLocalTransformer is the configuration of a builtin transformer that keeps
// kustomize from dropping AppServices that are marked local-config. People mark
// them so in order that nobody applies the AppService itself, as with any object
// that only generates others (kpt issue 1933 is about a tool that lost its input by
// that). It runs last of all, so marks that come from patches or from
// commonAnnotations count too. A replacement rather than a JSON patch, because
// kustomize takes all numbers of what it patches through float64.
const keepLocalTransformer = `apiVersion: builtin
kind: ReplacementTransformer
metadata:
  name: appsvc-keep-local
replacements:
- sourceValue: "true"
  targets:
  - select: &local
      group: ` + v1alpha1.Group + `
      kind: ` + v1alpha1.Kind + `
      annotationSelector: ` + localConfig + `,` + localConfig + `!=false
    fieldPaths: ["metadata.annotations.[` + keptLocal + `]"]
    options: {create: true}
- sourceValue: "false"
  targets:
  - select: *local
    fieldPaths: ["metadata.annotations.[` + localConfig + `]"]
`

// restoreLocal puts the mark back. Its value is "true" whatever it was: all values
// but "false" mean the same.
func restoreLocal(value map[string]any) {
	metadata, _ := value["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if _, kept := annotations[keptLocal]; kept {
		delete(annotations, keptLocal)
		annotations[localConfig] = "true"
	}
}
