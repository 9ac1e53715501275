package krm

import (
	"strconv"

	"go.yaml.in/yaml/v3"

	"kudevops.io/appsvc/internal/manifest"
)

// result is one entry of a ResourceList's results.
type result struct {
	severity string // error, warning or info
	object   *manifest.Object
	path     string
	message  string
}

type results []result

func (r results) failed() bool {
	for _, one := range r {
		if one.severity == "error" {
			return true
		}
	}
	return false
}

// line is the result as a line for a person; empty for mere information.
func (r result) line() string {
	if r.severity == "info" {
		return ""
	}
	f := r.object.Fault(r.path, r.message)
	f.Warning = r.severity == "warning"
	// The line in standard input says nothing to somebody who has files.
	if p := pathOf(r.object); p != "" {
		f.File, f.Line = p, 0
	} else if origin := originOf(r.object); origin != "" {
		f.File, f.Line = origin, 0
	}
	return f.Error()
}

// originOf is the file that kustomize read an item from, when the kustomization
// asks for it (buildMetadata: [originAnnotations]).
func originOf(o *manifest.Object) string {
	var origin struct{ Path string }
	if yaml.Unmarshal([]byte(annotation(o, originAnnotation)), &origin) != nil {
		return ""
	}
	return origin.Path
}

// node gives the results as the specification has them. A field needs a
// resourceRef, which has to have a name.
func (r results) node() *yaml.Node {
	list := make([]any, len(r))
	for i, one := range r {
		m := map[string]any{"message": one.message, "severity": one.severity}
		if o := one.object; o.Name != "" {
			ref := map[string]any{"apiVersion": o.APIVersion(), "kind": o.Kind, "name": o.Name}
			if o.Namespace != "" {
				ref["namespace"] = o.Namespace
			}
			m["resourceRef"] = ref
			if one.path != "" {
				m["field"] = map[string]any{"path": one.path}
			}
		}
		if p := pathOf(one.object); p != "" {
			file := map[string]any{"path": p}
			if index, err := strconv.ParseInt(annotation(one.object, internalIndex), 10, 64); err == nil && index > 0 {
				file["index"] = index
			}
			m["file"] = file
		}
		list[i] = m
	}
	return manifest.NodeOf(list)
}

// setResults writes the results into the list, in place of those of an earlier
// function; none means that the field goes.
func (l *resourceList) setResults(r results) {
	l.set("results", nil)
	if len(r) > 0 {
		l.set("results", r.node())
	}
}
