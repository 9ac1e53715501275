package manifest

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// FromValue makes an object of plain values that kustomize built in a folder; file
// names the folder, and origin the file that the object came from, or is empty.
func FromValue(value map[string]any, file, origin string) (*Object, *Fault) {
	o, fault := newObject(NodeOf(value), file, -1)
	if fault != nil {
		fault.Origin = origin
		return nil, fault
	}
	o.Origin = origin
	return o, nil
}

// NodeOf gives plain values as a node tree, keys sorted, with the quotes that
// AppendYAML would write.
func NodeOf(v any) *yaml.Node {
	switch v := v.(type) {
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n.Content = append(n.Content, stringNode(k), NodeOf(v[k]))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range v {
			n.Content = append(n.Content, NodeOf(item))
		}
		return n
	case string:
		return stringNode(v)
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}
	case int64:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v, 10)}
	case float64:
		tag := "!!float"
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			tag = "!!int"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: string(appendFloat(nil, v))}
	default:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
}

func stringNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	switch {
	case literal(s):
		n.Style = yaml.LiteralStyle
	case !plain(s):
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// SetString sets the string at a way of keys of a mapping, making the mappings on
// the way that are not there. Comments and the order of keys stay.
func SetString(n *yaml.Node, value string, keys ...string) {
	for i, key := range keys {
		n = resolve(n)
		child := find(n, key)
		switch last := i == len(keys)-1; {
		case last && child != nil:
			*child = yaml.Node{
				Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Style: yaml.DoubleQuotedStyle, Line: child.Line,
				HeadComment: child.HeadComment, LineComment: child.LineComment, FootComment: child.FootComment,
			}
			return
		case last:
			n.Content = append(n.Content, stringNode(key), &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Style: yaml.DoubleQuotedStyle, Line: n.Line})
			return
		case child == nil || isNull(child):
			made := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line}
			if child != nil {
				*child = *made
				made = child
			} else {
				n.Content = append(n.Content, stringNode(key), made)
			}
			child = made
		}
		n = child
	}
}

// Expand copies a tree, with copies in the place of aliases, so that a change in one
// place changes no other. The tree has to be one whose conversion to JSON found no
// fault, which bounds how large the copy is.
func Expand(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		expanded := Expand(n.Alias)
		expanded.HeadComment, expanded.LineComment, expanded.FootComment = n.HeadComment, n.LineComment, n.FootComment
		return expanded
	}
	c := *n
	c.Anchor = ""
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = Expand(child)
	}
	return &c
}

// Settle gives the scalars of a tree styles that the YAML library writes as it reads
// them. It writes folded blocks with lines that they did not have, literal blocks
// that begin with white space without the number that says so, and a null in flow
// style as an empty string.
func Settle(n *yaml.Node) {
	settle(n, false)
}

func settle(n *yaml.Node, inFlow bool) {
	inFlow = inFlow || n.Style&yaml.FlowStyle != 0
	if n.Kind == yaml.ScalarNode {
		switch {
		case n.Style&(yaml.FoldedStyle|yaml.LiteralStyle) != 0:
			style := stringNode(n.Value).Style
			if style != yaml.LiteralStyle {
				style = yaml.DoubleQuotedStyle
			}
			n.Style = n.Style&^(yaml.FoldedStyle|yaml.LiteralStyle) | style
		case n.Tag == "!!null" && n.Value == "" && inFlow:
			n.Value = "null"
		}
	}
	for _, child := range n.Content {
		settle(child, inFlow)
	}
}
