package manifest

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// LineOf gives the line of the field at a path as validation spells it, such as
// "spec.ports[1].name" or "spec.podLabels[app.kubernetes.io/name]". For a field
// that is not there it is the line of the nearest one around it; 0 when lines are
// not known.
func (o *Object) LineOf(path string) int {
	if o.base < 0 {
		return 0
	}
	n, line := o.Node, o.Node.Line
	for step := range steps(path) {
		next, at := o.step(n, step)
		if next == nil {
			break
		}
		n, line = next, at
	}
	return o.base + line - 1
}

// step goes from a node to a child; the line is that of the child's key.
func (o *Object) step(n *yaml.Node, step string) (*yaml.Node, int) {
	n = resolve(n)
	switch n.Kind {
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i].Line
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if k := resolve(n.Content[i]); k.Value == step && !isMerge(k) {
				return n.Content[i+1], n.Content[i].Line
			}
		}
		if v := find(n, step, 0); v != nil {
			return v, v.Line
		}
	}
	return nil, 0
}

// steps splits a path at its dots and brackets; what is in brackets is one step.
func steps(path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for path != "" {
			var step string
			if path[0] == '[' {
				end := strings.IndexByte(path, ']')
				if end < 0 {
					return
				}
				step, path = path[1:end], strings.TrimPrefix(path[end+1:], ".")
			} else {
				end := strings.IndexAny(path, ".[")
				if end < 0 {
					end = len(path)
				}
				step, path = path[:end], strings.TrimPrefix(path[end:], ".")
			}
			if !yield(step) {
				return
			}
		}
	}
}
