package manifest

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// LineOf gives the line of the field at a path as validation spells it, such as
// "spec.ports[1].name" or "spec.podLabels[app.kubernetes.io/name]"; a key with dots
// may also stand without brackets, as the API server's schema writes it. For a field
// that is not there it is the line of the nearest one around it; 0 when lines are
// not known.
func (o *Object) LineOf(path string) int {
	if o.base < 0 {
		return 0
	}
	n, line := o.Node, o.Node.Line
	for path != "" {
		next, at, rest := descend(resolve(n), strings.TrimPrefix(path, "."), nil)
		if next == nil {
			break
		}
		n, line, path = next, at, rest
	}
	return o.base + line - 1
}

// descend goes from a node to the child that a path leads to first. The line is
// that of the child's key. seen holds the mappings that merge keys led to.
func descend(n *yaml.Node, path string, seen map[*yaml.Node]bool) (child *yaml.Node, line int, rest string) {
	inBrackets := ""
	if strings.HasPrefix(path, "[") {
		end := strings.IndexByte(path, ']')
		if end < 0 {
			return nil, 0, ""
		}
		inBrackets, rest = path[1:end], path[end+1:]
	}
	switch n.Kind {
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(inBrackets); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i].Line, rest
		}
	case yaml.MappingNode:
		longest := -1
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := resolve(n.Content[i]).Value
			switch {
			case inBrackets != "":
				if key == inBrackets {
					return n.Content[i+1], n.Content[i].Line, rest
				}
			case begins(path, key) && len(key) > longest:
				longest = len(key)
				child, line, rest = n.Content[i+1], n.Content[i].Line, path[len(key):]
			}
		}
		if child == nil {
			merges := mergesOf(n)
			if len(merges) > 0 && seen == nil {
				seen = make(map[*yaml.Node]bool)
			}
			for _, m := range merges {
				if seen[m] || m.Kind != yaml.MappingNode {
					continue
				}
				seen[m] = true
				if child, line, rest = descend(m, path, seen); child != nil {
					break
				}
			}
		}
	}
	return child, line, rest
}

// begins says whether a path begins with a key.
func begins(path, key string) bool {
	rest, ok := strings.CutPrefix(path, key)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
