package manifest

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

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
	object *Object
	// source says that the tree is an AppService, of which more is demanded.
	source bool

	out []byte
	// fractions are the numbers of a source that are no whole ones.
	fractions []fraction
	path      []step // the way from the root to the value at hand
	faults    []*Fault
	inAlias   int
	expanded  int
	// stopped says that the JSON ends in the middle, unreadable that something in it
	// is not what was meant, so that what a look at it finds would mislead.
	stopped, unreadable bool
}

func (c *converter) sorted() []*Fault { return sortFaults(c.faults) }

// fraction is a number with decimals and where it stands.
type fraction struct {
	node *yaml.Node
	at   string
}

// step leads from a value to one inside it.
type step struct {
	key   string
	index int // of a list element; -1 for a key
}

// at gives the way to the value at hand, as validation spells it.
func (c *converter) at() string {
	var b strings.Builder
	for _, s := range c.path {
		switch {
		case s.index >= 0:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case strings.ContainsAny(s.key, ".[]/"):
			b.WriteString("[" + s.key + "]")
		case b.Len() > 0:
			b.WriteString("." + s.key)
		default:
			b.WriteString(s.key)
		}
	}
	return b.String()
}

func (c *converter) push(s step) { c.path = append(c.path, s) }
func (c *converter) pop()        { c.path = c.path[:len(c.path)-1] }

// fault reports the value at hand, or a key in it.
func (c *converter) fault(n *yaml.Node, message string) {
	line := 0
	if c.object.base >= 0 {
		line = c.object.base + n.Line - 1
	}
	c.faults = append(c.faults, &Fault{File: c.object.File, Line: line, Origin: c.object.Origin, Object: c.object.ID.String(), Path: c.at(), Message: message})
}

// stop reports what makes it pointless to go on.
func (c *converter) stop(n *yaml.Node, message string) {
	c.stopped = true
	c.path = c.path[:0]
	c.fault(n, message)
}

// value appends the JSON of a node.
func (c *converter) value(n *yaml.Node, depth int) {
	if c.stopped {
		return
	}
	if depth > maxDepth {
		c.stop(n, "is nested deeper than "+strconv.Itoa(maxDepth)+" levels")
		return
	}
	if c.inAlias > 0 {
		if c.expanded++; c.expanded > maxExpanded {
			c.stop(n, "its aliases stand for more than "+strconv.Itoa(maxExpanded)+" values")
			return
		}
	}
	switch n.Kind {
	case yaml.AliasNode:
		c.inAlias++
		c.value(n.Alias, depth+1)
		c.inAlias--
	case yaml.MappingNode:
		c.tag(n, "!!map")
		c.mapping(n, depth)
	case yaml.SequenceNode:
		c.tag(n, "!!seq")
		c.out = append(c.out, '[')
		for i, item := range n.Content {
			if c.stopped {
				return
			}
			if i > 0 {
				c.out = append(c.out, ',')
			}
			c.push(step{index: i})
			if c.source && isNull(item) {
				c.fault(item, "is null; a list has no empty elements")
				c.unreadable = true
			}
			c.value(item, depth+1)
			if !c.stopped {
				c.pop()
			}
		}
		c.out = append(c.out, ']')
	default:
		c.scalar(n)
	}
}

// tag refuses any tag of a collection but its own.
func (c *converter) tag(n *yaml.Node, want string) {
	if n.Style&yaml.TaggedStyle != 0 && n.ShortTag() != want {
		c.unreadable = true
		c.fault(n, "has the tag "+n.Tag+", which has no meaning here")
	}
}

// manyKeys is from how many keys on a mapping is searched by way of an index.
const manyKeys = 24

func (c *converter) mapping(n *yaml.Node, depth int) {
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
		key, ok := c.key(k)
		if !ok {
			continue
		}
		line, twice := lines[key]
		if lines == nil {
			line, twice = lineOfKey(n.Content[:i], key)
		} else if !twice {
			lines[key] = k.Line
		}
		c.push(step{key: key, index: -1})
		if twice {
			c.fault(k, "is given twice, first in line "+strconv.Itoa(max(c.object.base, 1)+line-1))
		} else {
			c.pair(k, key, v, depth, start)
		}
		if c.stopped {
			return
		}
		c.pop()
	}
	if len(merges) > 0 {
		if mergedSize(n, make(map[*yaml.Node]int)) > maxExpanded {
			c.stop(n, "its merge keys stand for more than "+strconv.Itoa(maxExpanded)+" mappings")
			return
		}
		c.merge(merges, lines, map[*yaml.Node]bool{n: true}, depth, start)
	}
	c.out = append(c.out, '}')
}

// mergedSize counts the mappings that merge keys bring into n, each as often as a
// reader meets it that does not remember: other programs read what is passed
// through. Mappings that merge each other count as too many.
func mergedSize(n *yaml.Node, known map[*yaml.Node]int) int {
	if size, ok := known[n]; ok {
		return size
	}
	known[n] = maxExpanded + 1 // until it is known otherwise
	size := 1
	for _, m := range mergesOf(n) {
		if size += mergedSize(m, known); size > maxExpanded {
			return maxExpanded + 1
		}
	}
	known[n] = size
	return size
}

// merge appends the pairs that merge keys ("<<") bring in: those whose keys were
// not given before, the nearest first. A mapping that was merged already adds
// nothing, and is not looked at again, so that merges of merges end soon.
func (c *converter) merge(merges []*yaml.Node, given map[string]int, merged map[*yaml.Node]bool, depth, start int) {
	for _, m := range merges {
		if m.Kind != yaml.MappingNode {
			c.fault(m, "a merge key needs a mapping")
			continue
		}
		if merged[m] {
			continue
		}
		merged[m] = true
		c.inAlias++
		for i := 0; i+1 < len(m.Content); i += 2 {
			k := m.Content[i]
			if isMerge(k) {
				continue
			}
			key, ok := c.key(k)
			if _, taken := given[key]; !ok || taken {
				continue
			}
			given[key] = k.Line
			c.push(step{key: key, index: -1})
			c.pair(k, key, m.Content[i+1], depth, start)
			if c.stopped {
				return
			}
			c.pop()
		}
		c.merge(mergesOf(m), given, merged, depth, start)
		if c.stopped {
			return
		}
		c.inAlias--
	}
}

// pair appends a key and its value, which are at hand, to the mapping whose first
// pair begins at start.
func (c *converter) pair(k *yaml.Node, key string, v *yaml.Node, depth, start int) {
	if c.source {
		if isPatchDirective(key) {
			c.fault(k, "is left over from a patch: a strategic merge patch replaces a list of a custom resource as a whole, so give the whole list or use a JSON 6902 patch")
			c.unreadable = true
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
	c.value(v, depth+1)
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

func (c *converter) key(k *yaml.Node) (string, bool) {
	k = resolve(k)
	if k.Kind != yaml.ScalarNode {
		c.fault(k, "has a key that is no scalar")
		return "", false
	}
	if isString(k) {
		return k.Value, true
	}
	v, err := scalarOf(k)
	if err != nil {
		c.fault(k, "has a key that "+err.Error())
		return "", false
	}
	switch v := v.(type) {
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	case uint64:
		return strconv.FormatUint(v, 10), true
	case float64:
		return string(appendFloat(nil, v)), true
	case bool:
		if !c.source {
			return strconv.FormatBool(v), true
		}
		c.fault(k, "has the key "+strconv.Quote(k.Value)+", which YAML reads as a boolean: quote it")
	default:
		c.fault(k, "has a key that is no string")
	}
	return "", false
}

// Sendable says whether a character can be part of what is applied. The API server
// reads the body of a server-side apply as YAML, also where it is JSON: it refuses it
// whole for a character that YAML has not, and makes a space of U+0085, a line end to
// YAML (both seen with 1.37). JSON encoders escape only some of them.
func Sendable(r rune) bool {
	return (r < 0x7f || r > 0x9f) && r != 0xfffe && r != 0xffff
}

func (c *converter) scalar(n *yaml.Node) {
	if isString(n) {
		if i := strings.IndexFunc(n.Value, func(r rune) bool { return !Sendable(r) }); c.source && i >= 0 {
			r, _ := utf8.DecodeRuneInString(n.Value[i:])
			c.fault(n, fmt.Sprintf("holds the control character %U, which an API server refuses or changes in what is applied", r))
		}
		c.out = appendJSONString(c.out, n.Value)
		return
	}
	v, err := scalarOf(n)
	if err != nil {
		c.fault(n, err.Error())
		c.unreadable = true
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
		if c.source && v != math.Trunc(v) {
			c.fractions = append(c.fractions, fraction{n, c.at()})
		}
		c.out = appendFloat(c.out, v)
	default:
		c.out = append(c.out, "null"...)
	}
}

// isString knows what nearly all scalars are, without the detour of scalarOf.
func isString(n *yaml.Node) bool {
	if n.Tag != "!!str" || n.Style&yaml.TaggedStyle != 0 {
		return false
	}
	if n.Style != 0 {
		return true
	}
	_, isBool := yaml11Bool(n.Value)
	return !isBool
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
		if b, ok := yaml11Bool(n.Value); ok && n.Style == 0 {
			return b, nil
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
func find(n *yaml.Node, key string) *yaml.Node {
	_, value := findPair(n, key, nil)
	return value
}

// findPair gives the key of a mapping, and its value. Where there are merge keys it
// looks at each mapping once: seen holds those that it looked at.
func findPair(n *yaml.Node, key string, seen map[*yaml.Node]bool) (k, v *yaml.Node) {
	n = resolve(n)
	if n.Kind != yaml.MappingNode || seen[n] {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := resolve(n.Content[i]); k.Kind == yaml.ScalarNode && k.Value == key && !isMerge(k) {
			return n.Content[i], n.Content[i+1]
		}
	}
	merges := mergesOf(n)
	if len(merges) > 0 && seen == nil {
		seen = make(map[*yaml.Node]bool)
	}
	for _, m := range merges {
		seen[n] = true
		if k, v := findPair(m, key, seen); v != nil {
			return k, v
		}
	}
	return nil, nil
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
