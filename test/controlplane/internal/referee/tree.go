package referee

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
)

// slot is a place in an object that can be changed.
type slot struct {
	name  string // of a field; empty for an item of a list
	value any
	set   func(any)
	drop  func()
}

// slots finds the places in and below a mapping. What skip names is left alone.
func slots(m map[string]any, skip func(name string) bool) []slot {
	var out []slot
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if skip != nil && skip(name) {
			continue
		}
		s := slot{name: name, value: m[name], set: func(v any) { m[name] = v }, drop: func() { delete(m, name) }}
		out = append(append(out, s), below(s)...)
	}
	return out
}

func below(s slot) []slot {
	switch v := s.value.(type) {
	case map[string]any:
		return slots(v, nil)
	case []any:
		var out []slot
		for i := range v {
			item := slot{value: v[i], set: func(item any) { v[i] = item }, drop: func() { s.set(slices.Delete(slices.Clone(v), i, i+1)) }}
			out = append(append(out, item), below(item)...)
		}
		return out
	}
	return nil
}

// identity is what a change of an object leaves alone.
func identity(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "status" || name == "metadata"
}

// alter changes one thing of an object's content, anywhere.
func alter(r *rand.Rand, object map[string]any) {
	found := slots(object, identity)
	if r.IntN(4) == 0 || len(found) == 0 {
		metadata, _ := object["metadata"].(map[string]any)
		field := pick(r, "labels", "annotations")
		m, _ := metadata[field].(map[string]any)
		m = maps.Clone(m)
		if m == nil {
			m = map[string]any{}
		}
		alterWords(r, m)
		metadata[field] = m
		return
	}
	s := found[r.IntN(len(found))]
	if r.IntN(5) == 0 && s.name != "spec" {
		s.drop()
		return
	}
	switch v := s.value.(type) {
	case map[string]any:
		alterMapping(r, s, v)
	case []any:
		alterList(r, s, v)
	default:
		s.set(alterScalar(r, v))
	}
}

// alterWords changes a mapping of text, such as labels.
func alterWords(r *rand.Rand, m map[string]any) {
	names := slices.Sorted(maps.Keys(m))
	if len(names) > 0 && r.IntN(2) == 0 {
		name := names[r.IntN(len(names))]
		if r.IntN(2) == 0 {
			delete(m, name)
		} else {
			m[name] = pick(r, "x", "y", "")
		}
		return
	}
	m[pick(r, "a", "b", "team", "example.com/c", `example.com/d_e`)] = pick(r, "1", "2", "x", "", "true")
}

func alterMapping(r *rand.Rand, s slot, m map[string]any) {
	names := slices.Sorted(maps.Keys(m))
	words := len(names) == 0 || !slices.ContainsFunc(names, func(name string) bool { _, ok := m[name].(string); return !ok })
	switch {
	case words && r.IntN(3) > 0:
		m = maps.Clone(m)
		alterWords(r, m)
		s.set(m)
	case len(names) > 0 && (s.name == "spec" || r.IntN(3) > 0):
		delete(m, names[r.IntN(len(names))])
	default:
		s.set(map[string]any{})
	}
}

func alterList(r *rand.Rand, s slot, list []any) {
	list = slices.Clone(list)
	switch n := len(list); {
	case n > 1 && r.IntN(2) == 0:
		r.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	case n > 0 && r.IntN(2) == 0:
		i := r.IntN(n)
		list = slices.Delete(list, i, i+1)
	case n > 0:
		list = slices.Insert(list, r.IntN(n+1), another(r, list[r.IntN(n)]))
	default:
		list = append(list, "x")
	}
	s.set(list)
}

// keyNames are the fields by which items of lists are told apart.
var keyNames = []string{"name", "containerPort", "port", "mountPath", "devicePath", "ip", "uid", "topologyKey", "key", "host", "path", "kind", "id"}

// another gives a copy of an item with another key.
func another(r *rand.Rand, item any) any {
	m, ok := item.(map[string]any)
	if !ok {
		return alterScalar(r, item)
	}
	m = deepCopy(m)
	for _, name := range keyNames {
		switch v := m[name].(type) {
		case string:
			m[name] = v + pick(r, "x", "y", "-2")
			return m
		case int64:
			m[name] = v + 1 + r.Int64N(3)
			return m
		}
	}
	return m
}

var amount = regexp.MustCompile(`^[0-9.]+(m|k|M|G|Ki|Mi|Gi)?$`)

func alterScalar(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case string:
		if amount.MatchString(v) && r.IntN(3) > 0 {
			return pickAny(r, "1", "1000m", "1.0", "0.5", "500m", "2Gi", "2048Mi", "100u", "1k", "1000", int64(1), 0.5)
		}
		return pick(r, v+"x", "other", "", "x", "a b", "$(A)", "25%", "80")
	case int64:
		return pickAny(r, v+1, v-1, int64(0), v*2, float64(v), "80", "25%")
	case float64:
		return pickAny(r, v+1, int64(v))
	case bool:
		return !v
	}
	return "x"
}

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

func pickAny(r *rand.Rand, from ...any) any { return from[r.IntN(len(from))] }

func deepCopy(m map[string]any) map[string]any {
	out, _ := deepCopyValue(m).(map[string]any)
	return out
}

func deepCopyValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name := range v {
			out[name] = deepCopyValue(v[name])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = deepCopyValue(v[i])
		}
		return out
	}
	return v
}

// at leads into an object; nil when there is no mapping.
func at(object map[string]any, path ...string) map[string]any {
	for _, name := range path {
		object, _ = object[name].(map[string]any)
	}
	return object
}

// made leads into an object, and makes what is not there.
func made(object map[string]any, path ...string) map[string]any {
	for _, name := range path {
		next, ok := object[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			object[name] = next
		}
		object = next
	}
	return object
}
