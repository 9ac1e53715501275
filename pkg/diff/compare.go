package diff

import (
	"maps"
	"slices"
)

// comparer finds the changes between two objects with their defaults filled in. The
// objects as they are written say what to show: nobody wants to read ten defaults of a
// container that is new.
type comparer struct {
	before, after map[string]any // as written
	changes       []FieldChange
}

// compare gives the changes that lead from one object to another, in the order of their
// fields.
func compare(before, after map[string]any, t *typeInfo, d *defaulter) []FieldChange {
	filledBefore, _ := d.fill(before, t).(map[string]any)
	filledAfter, _ := d.fill(after, t).(map[string]any)
	c := comparer{before: before, after: after}
	c.mapping(nil, filledBefore, filledAfter, t)
	return c.changes
}

func (c *comparer) add(change FieldChange) {
	switch change.Op {
	case Add, Replace, Remove:
		was, is := asWritten(c.before, change.Path), asWritten(c.after, change.Path)
		if was != nil {
			change.Before = was
		}
		switch {
		case was == nil && is == nil:
			// A default that follows from another field, whose change is reported: a cluster
			// that has filled it in before keeps what it filled in.
			return
		case is != nil:
			change.After = is
		case change.After != nil:
			change.Op, change.Default = Remove, true
		}
	}
	c.changes = append(c.changes, change)
}

// written gives what is written of a field, perhaps under its deprecated name.
func asWritten(object map[string]any, path Path) any {
	v, _ := lookup(object, path)
	if last := len(path) - 1; v == nil && path[last].Field == "serviceAccountName" {
		v, _ = lookup(object, path[:last].field("serviceAccount"))
	}
	return v
}

func (c *comparer) mapping(path Path, before, after map[string]any, t *typeInfo) {
	for _, name := range fieldNames(before, after) {
		typ, dropped := t.at(name)
		if len(path) == 0 && name == "metadata" {
			// Every object has metadata, also where only what identifies it was written.
			was, _ := before[name].(map[string]any)
			is, _ := after[name].(map[string]any)
			c.mapping(path.field(name), was, is, typ)
			continue
		}
		c.field(path.field(name), before[name], after[name], typ, dropped)
	}
}

// fieldNames gives the names in either mapping, sorted.
func fieldNames(a, b map[string]any) []string {
	out := make([]string, 0, max(len(a), len(b)))
	for name := range a {
		out = append(out, name)
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func (c *comparer) field(path Path, before, after any, t *typeInfo, dropped bool) {
	switch none, then := isNone(before, dropped), isNone(after, dropped); {
	case none && then, none != then && before != nil && after != nil && equal(before, after, t):
		return
	case none:
		c.add(FieldChange{Path: path, Op: Add, After: after})
		return
	case then:
		c.add(FieldChange{Path: path, Op: Remove, Before: before})
		return
	}
	c.value(path, before, after, t)
}

func (c *comparer) value(path Path, before, after any, t *typeInfo) {
	if b, ok := before.(map[string]any); ok {
		if a, ok := after.(map[string]any); ok && len(b) > 0 && len(a) > 0 {
			c.mapping(path, b, a, t)
			return
		}
	}
	if b, ok := before.([]any); ok {
		if a, ok := after.([]any); ok {
			c.lists(path, b, a, t)
			return
		}
	}
	if !equal(before, after, t) {
		c.add(FieldChange{Path: path, Op: Replace, Before: before, After: after})
	}
}

func (c *comparer) lists(path Path, before, after []any, t *typeInfo) {
	switch {
	case equal(before, after, t):
	case t.shape == shapeKeyed && apart(before, t.keys) && apart(after, t.keys):
		c.keyed(path, before, after, t)
	case t.shape == shapeSet:
		c.set(path, before, after)
	case permuted(before, after, t.item()):
		c.add(FieldChange{Path: path, Op: Reorder, Before: before, After: after})
	case len(before) == len(after) && allMappings(before) && allMappings(after):
		// The list is replaced as a whole; what of it differs is easier to read.
		for i := range before {
			c.value(path.with(PathElement{Index: i}), before[i], after[i], t.item())
		}
	default:
		c.add(FieldChange{Path: path, Op: Replace, Before: before, After: after})
	}
}

// apart reports whether items are mappings with keys of their own.
func apart(items []any, keys []keyField) bool {
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			return false
		}
		key := string(appendItemKey(nil, m, keys))
		if seen[key] {
			return false
		}
		seen[key] = true
	}
	return true
}

func allMappings(items []any) bool {
	return !slices.ContainsFunc(items, func(v any) bool {
		_, ok := v.(map[string]any)
		return !ok
	})
}

// permuted reports whether two lists hold the same items in another order.
func permuted(before, after []any, t *typeInfo) bool {
	// Comparing each with each grows with the square: nobody reorders by hand what is
	// longer.
	const most = 500
	if len(before) != len(after) || len(before) > most {
		return false
	}
	left := slices.Clone(after)
	for _, b := range before {
		i := slices.IndexFunc(left, func(a any) bool { return equal(b, a, t) })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

func (c *comparer) keyed(path Path, before, after []any, t *typeInfo) {
	was, is := positions(before, t.keys), positions(after, t.keys)
	step := func(items []any, i int) Path {
		e := elementOf(items[i], t.keys)
		e.Index = i
		return path.with(e)
	}
	renamed := c.renamed(before, after, was, is, t)
	if renamed >= 0 {
		c.changes = append(c.changes, FieldChange{
			Path: step(after, renamed), Op: Rename, Before: keyName(before[renamed], t.keys), After: keyName(after[renamed], t.keys),
		})
	}
	var keptBefore, keptAfter []any
	for i := range before {
		a, kept := is[itemKey(before[i], t.keys)]
		switch {
		case kept:
			keptBefore = append(keptBefore, keyName(before[i], t.keys))
			c.value(step(after, a), before[i], after[a], t.item())
		case i != renamed:
			c.add(FieldChange{Path: step(before, i), Op: Remove, Before: before[i]})
		}
	}
	for i := range after {
		_, kept := was[itemKey(after[i], t.keys)]
		switch {
		case kept:
			keptAfter = append(keptAfter, keyName(after[i], t.keys))
		case i != renamed:
			c.add(FieldChange{Path: step(after, i), Op: Add, After: after[i]})
		}
	}
	c.order(path, keptBefore, keptAfter)
}

// order reports that what both lists hold comes in another order.
func (c *comparer) order(path Path, before, after []any) {
	if !equal(before, after, unknown) {
		c.changes = append(c.changes, FieldChange{Path: path, Op: Reorder, Before: before, After: after})
	}
}

// positions says where the item with a key stands.
func positions(items []any, keys []keyField) map[string]int {
	out := make(map[string]int, len(items))
	for i := range items {
		out[itemKey(items[i], keys)] = i
	}
	return out
}

func itemKey(item any, keys []keyField) string {
	m, _ := item.(map[string]any)
	return string(appendItemKey(nil, m, keys))
}

// renamed gives the position of an item that was only given another name, or -1: there is
// one that went and one that came, at the same place, and the rest of them is the same. An
// item with a number for a key is another one.
func (c *comparer) renamed(before, after []any, was, is map[string]int, t *typeInfo) int {
	if len(before) != len(after) || len(t.keys) != 1 || t.keys[0].name != "name" {
		return -1
	}
	found := -1
	for i := range before {
		_, stays := is[itemKey(before[i], t.keys)]
		_, stayed := was[itemKey(after[i], t.keys)]
		switch {
		case stays && stayed:
			continue
		case stays || stayed || found >= 0 || !equal(unnamed(before[i]), unnamed(after[i]), t.item()):
			return -1
		}
		found = i
	}
	if found >= 0 && (len(unnamed(before[found])) == 0 || keyName(before[found], t.keys) == nil || keyName(after[found], t.keys) == nil) {
		return -1 // nothing but a name, or none: it is another one
	}
	return found
}

func unnamed(item any) map[string]any {
	m, _ := item.(map[string]any)
	m = maps.Clone(m)
	delete(m, "name")
	return m
}

// keyName is what people call an item: the value of its only key, or all of them.
func keyName(item any, keys []keyField) any {
	m, _ := item.(map[string]any)
	if len(keys) == 1 {
		return m[keys[0].name]
	}
	name := ""
	for i, k := range keys {
		if i > 0 {
			name += "/"
		}
		v, ok := m[k.name]
		if !ok {
			v = k.absent
		}
		name += plainText(v)
	}
	return name
}

func (c *comparer) set(path Path, before, after []any) {
	for i, v := range before {
		if !contains(after, v) {
			c.add(FieldChange{Path: path.with(PathElement{Value: v, Index: i}), Op: Remove, Before: v})
		}
	}
	for i, v := range after {
		if !contains(before, v) {
			c.add(FieldChange{Path: path.with(PathElement{Value: v, Index: i}), Op: Add, After: v})
		}
	}
	c.order(path, shared(before, after), shared(after, before))
}

func shared(items, others []any) []any {
	return slices.DeleteFunc(slices.Clone(items), func(v any) bool { return !contains(others, v) })
}

func contains(items []any, v any) bool {
	return slices.ContainsFunc(items, func(item any) bool { return equalScalars(item, v, unknown) })
}
