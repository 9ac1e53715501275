package kustomize

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/fn/runtime/runtimeutil"
	"sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

const helmGenerator = "HelmChartInflationGenerator"

// inlinePlugins reads an entry of generators, transformers or validators as the
// configurations themselves. It gives none for the name of a file or folder. The
// text has been through checkAliases.
func inlinePlugins(entry string) []*kyaml.RNode {
	nodes, err := kio.FromBytes([]byte(entry))
	if err != nil || slices.ContainsFunc(nodes, func(n *kyaml.RNode) bool { return n.YNode().Kind != kyaml.MappingNode }) {
		return nil
	}
	return nodes
}

// bothFlags is what lets functions be run that are programs of this machine.
const bothFlags = "--enable-alpha-plugins and --enable-exec"

// checkPlugins says what is wrong with configurations of plugins: those that are
// not to be run, and those that would fetch something.
func (o Options) checkPlugins(nodes []*kyaml.RNode) []string {
	builtin := krusty.GetBuiltinPluginNames()
	var wrong []string
	for _, node := range nodes {
		kind := node.GetKind()
		name := strings.TrimSpace(kind + " " + node.GetName())
		switch {
		case node.GetApiVersion() != konfig.BuiltinPluginApiVersion || !slices.Contains(builtin, kind):
			if message := o.notBuiltin(node); message != "" {
				wrong = append(wrong, name+" "+message)
			}
		case kind == helmGenerator:
			wrong = append(wrong, name+": "+noHelm)
		default:
			wrong = append(wrong, prefixed(name, checkBuiltin(node))...)
		}
	}
	return wrong
}

// notBuiltin says why the plugin of a configuration is not run; nothing when it is.
func (o Options) notBuiltin(node *kyaml.RNode) string {
	spec, err := runtimeutil.GetFunctionSpec(node)
	function := err != nil || spec != nil // kustomize says what is wrong with it
	switch {
	case o.runsAnything():
		return ""
	case function && !o.EnableAlphaPlugins:
		return "is a function, and functions are not run without the flags " + bothFlags
	case !o.EnableAlphaPlugins:
		return "is not one of kustomize's own plugins, and others are not run without the flags " + bothFlags
	case spec != nil && spec.Exec.Path != "":
		// kustomize would skip it without a word (kustomize issue 4399).
		return "is a function that is a program, and programs are not run without the flag --enable-exec"
	}
	return ""
}

// checkBuiltin says what is wrong with the configuration of a builtin plugin.
func checkBuiltin(node *kyaml.RNode) []string {
	// As kustomize does: to JSON, and then names of fields without regard to case.
	data, err := node.MarshalJSON()
	if err != nil {
		return []string{err.Error()}
	}
	var config map[string]any
	if err := json.Unmarshal(data, &config); err != nil {
		return []string{err.Error()}
	}
	// The fields of the builtin plugins (api internal/builtins) that files are
	// loaded by, and those whose text is parsed.
	loaded := valuesOf(config, "path", "paths", "files", "envs", "env", "targetFilePath")
	parsed := valuesOf(config, "patch", "patches", "jsonOp")
	for key, value := range config {
		if items, ok := value.([]any); ok && strings.EqualFold(key, "replacements") {
			for _, item := range items {
				if replacement, ok := item.(map[string]any); ok {
					loaded = append(loaded, valuesOf(replacement, "path")...)
				}
			}
		}
	}
	var wrong []string
	for _, target := range loaded {
		if isURL(target) || isURL((reference{use: useKeyedFile, target: target}).file()) {
			wrong = append(wrong, remoteMessage(target))
		}
	}
	for _, text := range append(loaded, parsed...) {
		if err := checkAliases([]byte(text)); err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	slices.Sort(wrong) // config is a map
	return wrong
}

// valuesOf gives the strings that the named fields hold, alone or in a list.
func valuesOf(config map[string]any, names ...string) []string {
	var values []string
	for key, value := range config {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, key) }) {
			continue
		}
		items, ok := value.([]any)
		if !ok {
			items = []any{value}
		}
		for _, item := range items {
			if s, ok := item.(string); ok {
				values = append(values, s)
			}
		}
	}
	return values
}

// onlyLists says whether a kustomization does nothing but list resources.
func onlyLists(k types.Kustomization) bool {
	k.MetaData, k.BuildMetadata, k.SortOptions = nil, nil, nil // without effect below the top
	//lint:ignore SA1019 kustomize reads it
	k.Resources, k.Bases = nil, nil
	return k.CheckEmpty() != nil
}

func prefixed(prefix string, messages []string) []string {
	for i, message := range messages {
		messages[i] = prefix + ": " + message
	}
	return messages
}

const noHelm = "helm is not run by this build: write the output of `helm template` to a file and list that under resources"

func remoteMessage(target string) string {
	return fmt.Sprintf("%q is remote, and this build fetches nothing: keep a copy in the repository and refer to that", redact(target))
}
