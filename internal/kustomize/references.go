//lint:file-ignore SA1019 kustomize reads deprecated fields, so they have to be checked

package kustomize

import (
	"strings"

	"sigs.k8s.io/kustomize/api/types"
)

// use is what kustomize does with what a kustomization refers to.
type use int

const (
	// useObjects: a file of objects, or a folder that is built.
	useObjects use = iota
	// useComponent: a folder with a Component.
	useComponent
	// usePlugin: configurations of plugins, as text, in a file or in a folder that
	// is built.
	usePlugin
	// useFile: a file that is read.
	useFile
	// useKeyedFile: a file that is read, with the key of its content before it.
	useKeyedFile
	// useTextOrFile: text of a patch or, if it is none, a file that is read.
	useTextOrFile
	// useText: text that is parsed as YAML.
	useText
	// useChart: a helm chart.
	useChart
)

// reference is one entry of a kustomization.
type reference struct {
	use    use
	target string
	at     fieldPath
}

// references lists all entries that kustomize opens, fetches or runs something for,
// or parses text of. The calls of Loader.Load and Loader.New in the kustomize API
// are what it was made from.
func references(k *types.Kustomization) []reference {
	var refs []reference
	add := func(u use, target string, at ...any) {
		if target != "" || u == useChart {
			refs = append(refs, reference{use: u, target: target, at: at})
		}
	}
	list := func(u use, field string, targets []string) {
		for i, target := range targets {
			add(u, target, field, i)
		}
	}
	sources := func(field string, i int, from types.KvPairSources) {
		for j, target := range from.FileSources {
			add(useKeyedFile, target, field, i, "files", j)
		}
		for j, target := range from.EnvSources {
			add(useFile, target, field, i, "envs", j)
		}
		add(useFile, from.EnvSource, field, i, "env")
	}

	add(useFile, k.OpenAPI["path"], "openapi", "path")
	list(useObjects, "resources", k.Resources)
	list(useObjects, "bases", k.Bases)
	list(useComponent, "components", k.Components)
	list(useFile, "crds", k.Crds)
	list(useFile, "configurations", k.Configurations)
	list(usePlugin, "generators", k.Generators)
	list(usePlugin, "transformers", k.Transformers)
	list(usePlugin, "validators", k.Validators)
	for i, patch := range k.Patches {
		add(useFile, patch.Path, "patches", i, "path")
		add(useText, patch.Patch, "patches", i, "patch")
	}
	for i, patch := range k.PatchesJson6902 {
		add(useFile, patch.Path, "patchesJson6902", i, "path")
	}
	for i, patch := range k.PatchesStrategicMerge {
		add(useTextOrFile, string(patch), "patchesStrategicMerge", i)
	}
	for i, replacement := range k.Replacements {
		add(useFile, replacement.Path, "replacements", i, "path")
	}
	for i := range k.ConfigMapGenerator {
		sources("configMapGenerator", i, k.ConfigMapGenerator[i].KvPairSources)
	}
	for i := range k.SecretGenerator {
		sources("secretGenerator", i, k.SecretGenerator[i].KvPairSources)
	}
	for i, chart := range k.HelmCharts {
		add(useChart, chart.Name, "helmCharts", i)
	}
	for i, chart := range k.HelmChartInflationGenerator {
		add(useChart, chart.ChartName, "helmChartInflationGenerator", i)
	}
	return refs
}

// file gives the path in a reference to a file: kustomize takes "key=path" for the
// files of a generator (api internal/generators/utils.go).
func (r reference) file() string {
	if r.use == useKeyedFile {
		if _, path, ok := strings.Cut(r.target, "="); ok {
			return path
		}
	}
	return r.target
}
