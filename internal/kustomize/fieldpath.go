package kustomize

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fieldPath leads to a value in a kustomization file: names of fields and, as int,
// places in lists.
type fieldPath []any

// String gives the path as in "patches[2].path".
func (p fieldPath) String() string {
	var b strings.Builder
	for _, step := range p {
		switch step := step.(type) {
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		case int:
			b.WriteString("[" + strconv.Itoa(step) + "]")
		}
	}
	return b.String()
}

// parseNode reads a text for its lines; it gives nil for one that is not YAML.
func parseNode(text []byte) *yaml.Node {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

// lineOf gives the line, from 1, that the value at path begins on, or that of the
// deepest part of the path that there is; 0 when there is none of it. Names of
// fields are matched as kustomize does, without regard to case.
func lineOf(node *yaml.Node, path fieldPath) int {
	line := 0
	for _, step := range path {
		if node = child(node, step); node == nil {
			break
		}
		line = node.Line
	}
	return line
}

// unreadable gives the field that a kustomization could not be read for, as far as
// the error tells.
func unreadable(err error) fieldPath {
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		// What follows the first dot leaves out the places in lists.
		field, _, _ := strings.Cut(mistyped.Field, ".")
		return fieldPath{field}
	}
	// A decoder that disallows unknown fields has no type for this error.
	if _, quoted, ok := strings.Cut(err.Error(), "json: unknown field "); ok {
		if field, err := strconv.Unquote(quoted); err == nil {
			return fieldPath{field}
		}
	}
	return nil
}

func child(node *yaml.Node, step any) *yaml.Node {
	if node == nil {
		return nil
	}
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch step := step.(type) {
	case int:
		if node.Kind == yaml.SequenceNode && step < len(node.Content) {
			return node.Content[step]
		}
	case string:
		if node.Kind != yaml.MappingNode {
			return nil
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if strings.EqualFold(node.Content[i].Value, step) {
				return node.Content[i+1]
			}
		}
	}
	return nil
}
