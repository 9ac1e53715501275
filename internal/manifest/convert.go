package manifest

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const (
	// maxDepth is how deep values may nest. Kubernetes' own objects need about 30.
	maxDepth = 500
	// maxExpanded is how many values the aliases of one document may stand for, so
	// that a few hundred bytes cannot fill the memory.
	maxExpanded = 100_000
)

// converter turns a node tree into JSON and finds what a node tree can hold and
// JSON, or an AppService, cannot. It goes on after a fault, to find them all.
type converter struct {
	file   string
	base   int // added to a node's line; below zero: lines are not known
	object string
	// source says that the tree is an AppService, of which more is demanded.
	source bool

	out      []byte
	faults   []*Fault
	inAlias  int
	expanded int
	stopped  bool
}

// location is the way from the root of a document to a value.
type location struct {
	parent *location
	key    string
	index  int // of a list element; -1 for a key
}

func (l *location) String() string {
	if l == nil {
		return ""
	}
	if l.index >= 0 {
		return l.parent.String() + "[" + strconv.Itoa(l.index) + "]"
	}
	key := l.key
	if strings.ContainsAny(key, ".[]/") {
		return l.parent.String() + "[" + key + "]"
	}
	if l.parent == nil {
		return key
	}
	return l.parent.String() + "." + key
}

func (l *location) depth() int {
	n := 0
	for ; l != nil; l = l.parent {
		n++
	}
	return n
}

func (c *converter) fault(n *yaml.Node, at *location, message string) {
	line := 0
	if c.base >= 0 {
		line = c.base + n.Line - 1
	}
	c.faults = append(c.faults, &Fault{File: c.file, Line: line, Object: c.object, Path: at.String(), Message: message})
}

// value appends the JSON of a node.
func (c *converter) value(n *yaml.Node, at *location, depth int) {
	if c.stopped {
		return
	}
	if depth > maxDepth {
		c.stopped = true
		c.fault(n, nil, "is nested deeper than "+strconv.Itoa(maxDepth)+" levels")
		return
	}
	if c.inAlias > 0 {
		if c.expanded++; c.expanded > maxExpanded {
			c.stopped = true
			c.fault(n, nil, "its aliases stand for more than "+strconv.Itoa(maxExpanded)+" values")
			return
		}
	}
	switch n.Kind {
	case yaml.AliasNode:
		c.inAlias++
		c.value(n.Alias, at, depth+1)
		c.inAlias--
	case yaml.MappingNode:
		c.mapping(n, at, depth)
	case yaml.SequenceNode:
		c.out = append(c.out, '[')
		for i, item := range n.Content {
			if i > 0 {
				c.out = append(c.out, ',')
			}
			here := location{parent: at, index: i}
			if c.source && isNull(item) {
				c.fault(item, &here, "is null; a list has no empty elements")
			}
			c.value(item, &here, depth+1)
		}
		c.out = append(c.out, ']')
	default:
		c.scalar(n, at)
	}
}

// manyKeys is from how many keys on a mapping is searched by way of an index.
const manyKeys = 24

func (c *converter) mapping(n *yaml.Node, at *location, depth int) {
	c.out = append(c.out, '{')
	start := len(c.out)
	merges := mergesOf(n)
	var lines map[string]int // the line of each key
	if len(merges) > 0 || len(n.Content) > 2*manyKeys {
		lines = make(map[string]int, len(n.Content)/2)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if isMerge(k) {
			continue
		}
		key, ok := c.key(k, at)
		if !ok {
			continue
		}
		here := location{parent: at, key: key, index: -1}
		line, twice := lines[key]
		if lines == nil {
			line, twice = lineOfKey(n.Content[:i], key)
		} else if !twice {
			lines[key] = k.Line
		}
		if twice {
			c.fault(k, &here, "is given twice, first in line "+strconv.Itoa(max(c.base, 1)+line-1))
			continue
		}
		c.pair(k, key, v, &here, depth, start)
	}
	c.merge(merges, lines, at, depth, start)
	c.out = append(c.out, '}')
}

// merge appends the pairs that merge keys ("<<") bring in: those whose keys were
// not given before, the nearest first.
func (c *converter) merge(merges []*yaml.Node, given map[string]int, at *location, depth, start int) {
	for _, m := range merges {
		if m.Kind != yaml.MappingNode {
			c.fault(m, at, "a merge key needs a mapping")
			continue
		}
		if depth++; depth > maxDepth || c.stopped {
			return
		}
		c.inAlias++
		for i := 0; i+1 < len(m.Content); i += 2 {
			k := m.Content[i]
			if isMerge(k) {
				continue
			}
			key, ok := c.key(k, at)
			if _, taken := given[key]; !ok || taken {
				continue
			}
			given[key] = k.Line
			here := location{parent: at, key: key, index: -1}
			c.pair(k, key, m.Content[i+1], &here, depth, start)
		}
		c.merge(mergesOf(m), given, at, depth, start)
		c.inAlias--
	}
}

// pair appends a key and its value to the mapping whose first pair begins at start.
func (c *converter) pair(k *yaml.Node, key string, v *yaml.Node, here *location, depth, start int) {
	if c.source {
		if isPatchDirective(key) {
			c.fault(k, here, "is left over from a patch: a strategic merge patch replaces a list of a custom resource as a whole, so give the whole list or use a JSON 6902 patch")
			return
		}
		if isNull(v) {
			// The API server drops it before it looks at anything else.
			return
		}
	}
	if len(c.out) > start {
		c.out = append(c.out, ',')
	}
	c.out = appendJSONString(c.out, key)
	c.out = append(c.out, ':')
	c.value(v, here, depth+1)
}

// lineOfKey finds a key among the pairs of a small mapping.
func lineOfKey(pairs []*yaml.Node, key string) (int, bool) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if k := pairs[i]; k.Value == key && k.Kind == yaml.ScalarNode && !isMerge(k) {
			return k.Line, true
		}
	}
	return 0, false
}

func (c *converter) key(k *yaml.Node, at *location) (string, bool) {
	if k.Kind == yaml.AliasNode {
		k = k.Alias
	}
	if k.Kind != yaml.ScalarNode {
		c.fault(k, at, "has a key that is no scalar")
		return "", false
	}
	switch v, err := scalarOf(k); v := v.(type) {
	case string:
		if err != nil {
			break
		}
		return v, true
	case int64, uint64, float64:
		if err != nil {
			break
		}
		return k.Value, true
	case bool:
		if !c.source {
			return strconv.FormatBool(v), true
		}
		c.fault(k, at, "has the key "+strconv.Quote(k.Value)+", which YAML reads as a boolean: quote it")
		return "", false
	}
	c.fault(k, at, "has a key that is no string")
	return "", false
}

func (c *converter) scalar(n *yaml.Node, at *location) {
	v, err := scalarOf(n)
	if err != nil {
		c.fault(n, at, err.Error())
		c.out = append(c.out, "null"...)
		return
	}
	switch v := v.(type) {
	case string:
		c.out = appendJSONString(c.out, v)
	case bool:
		c.out = strconv.AppendBool(c.out, v)
	case int64:
		c.out = strconv.AppendInt(c.out, v, 10)
	case uint64:
		c.out = strconv.AppendUint(c.out, v, 10)
	case float64:
		c.out = appendFloat(c.out, v)
	default:
		c.out = append(c.out, "null"...)
	}
}

type scalarError string

func (e scalarError) Error() string { return string(e) }

// scalarOf gives nil, a string, bool, int64, uint64 or float64.
func scalarOf(n *yaml.Node) (any, error) {
	if n.Style&yaml.TaggedStyle != 0 {
		return taggedScalar(n)
	}
	switch n.Tag {
	case "!!str", "!!timestamp", "!!merge", "":
		if n.Style == 0 {
			if b, ok := yaml11Bool(n.Value); ok {
				return b, nil
			}
		}
		return n.Value, nil
	case "!!null":
		return nil, nil
	case "!!bool":
		return n.Value[0] == 't' || n.Value[0] == 'T', nil
	case "!!int":
		if i, err := strconv.ParseInt(n.Value, 10, 64); err == nil && (n.Value[0] != '0' || len(n.Value) == 1) {
			return i, nil
		}
	}
	return taggedScalar(n)
}

// taggedScalar leaves the rarer forms to the YAML library.
func taggedScalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!str", "!!null", "!!bool", "!!int", "!!float", "!!timestamp", "!!binary":
	default:
		return nil, scalarError("has the tag " + n.Tag + ", which has no meaning here")
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, scalarError("is no " + strings.TrimPrefix(n.ShortTag(), "!!"))
	}
	switch v := v.(type) {
	case int:
		return int64(v), nil
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, scalarError("is not a number that JSON can hold")
		}
		return v, nil
	case time.Time:
		return n.Value, nil
	case nil, string, bool, int64, uint64:
		return v, nil
	default:
		return nil, scalarError("has the tag " + n.Tag + ", which has no meaning here")
	}
}

// yaml11Bool reads the words that are booleans in YAML 1.1, and so to kubectl,
// and strings in YAML 1.2.
func yaml11Bool(s string) (value, ok bool) {
	switch s {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return true, true
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}

func isNull(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

func isMerge(k *yaml.Node) bool {
	return k.Kind == yaml.ScalarNode && k.Tag == "!!merge"
}

// mergesOf gives the mappings that the merge keys of n bring in, nearest first.
func mergesOf(n *yaml.Node) []*yaml.Node {
	var list []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !isMerge(n.Content[i]) {
			continue
		}
		v := resolve(n.Content[i+1])
		if v.Kind != yaml.SequenceNode {
			list = append(list, v)
			continue
		}
		for _, item := range v.Content {
			list = append(list, resolve(item))
		}
	}
	return list
}

func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// find gives the value of a key of a mapping, merge keys included, or nil.
func find(n *yaml.Node, key string, depth int) *yaml.Node {
	if n = resolve(n); n.Kind != yaml.MappingNode || depth > maxDepth {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := resolve(n.Content[i]); k.Kind == yaml.ScalarNode && k.Value == key && !isMerge(k) {
			return n.Content[i+1]
		}
	}
	for _, m := range mergesOf(n) {
		if v := find(m, key, depth+1); v != nil {
			return v
		}
	}
	return nil
}

// isPatchDirective knows the keys by which a strategic merge patch gives orders.
func isPatchDirective(key string) bool {
	return strings.HasPrefix(key, "$") && (key == "$patch" || key == "$retainKeys" ||
		strings.HasPrefix(key, "$setElementOrder/") || strings.HasPrefix(key, "$deleteFromPrimitiveList/"))
}

func appendFloat(dst []byte, f float64) []byte {
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}

// appendJSONString quotes s for JSON.
func appendJSONString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			quoted, err := json.Marshal(s)
			if err != nil {
				return append(dst, `""`...) // json.Marshal does not fail on a string
			}
			return append(dst, quoted...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}
