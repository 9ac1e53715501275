package diff

import (
	"fmt"
	"maps"
	"slices"
)

// A text diff of two whole objects shows more than what differs: a field that a rule
// ignores, a default that is written out on one side, "1000m" beside "1". So the object
// that is compared with Before is made of both: After where a change is reported, and
// Before everywhere else.

// aligned gives After with everything as in Before that is no reported change.
func aligned(o *ObjectChange) map[string]any {
	root := &changeNode{}
	for i := range o.Fields {
		root.insert(o.Fields[i].Path, &o.Fields[i])
	}
	for _, name := range []string{"apiVersion", "kind"} {
		root.insert(Path{{Field: name}}, &FieldChange{})
	}
	for _, name := range []string{"name", "namespace"} {
		root.insert(Path{{Field: "metadata"}, {Field: name}}, &FieldChange{})
	}
	return root.object(o.Before, o.After)
}

// changeNode is a step of the paths of all changes.
type changeNode struct {
	step PathElement
	// change is what happens here, nil when it happens only below.
	change *FieldChange
	below  []*changeNode
}

func (n *changeNode) insert(path Path, change *FieldChange) {
	for _, step := range path {
		next := n.find(step)
		if next == nil {
			next = &changeNode{step: step}
			n.below = append(n.below, next)
		}
		n = next
	}
	n.change = change
}

func (n *changeNode) find(step PathElement) *changeNode {
	for _, b := range n.below {
		if b.step.Field == step.Field && b.step.Index == step.Index && fmt.Sprint(b.step.Key, b.step.Value) == fmt.Sprint(step.Key, step.Value) {
			return b
		}
	}
	return nil
}

// whole reports whether all that is here is as in After.
func (n *changeNode) whole() bool {
	return n.change != nil && n.change.Op != Reorder && n.change.Op != Rename
}

// value gives what is shown here, and whether there is anything.
func (n *changeNode) value(before, after any, hadBefore, hasAfter bool) (any, bool) {
	if n == nil {
		return before, hadBefore
	}
	if n.whole() || !hadBefore || !hasAfter {
		return after, hasAfter
	}
	switch b := before.(type) {
	case map[string]any:
		if a, ok := after.(map[string]any); ok {
			return n.object(b, a), true
		}
	case []any:
		if a, ok := after.([]any); ok {
			return n.list(b, a), true
		}
	}
	return after, true
}

func (n *changeNode) object(before, after map[string]any) map[string]any {
	out := make(map[string]any, len(before))
	below := make(map[string]*changeNode, len(n.below))
	for _, b := range n.below {
		below[b.step.Field] = b
	}
	keys := slices.Collect(maps.Keys(before))
	keys = slices.AppendSeq(keys, maps.Keys(after))
	for _, key := range keys {
		b, hadBefore := before[key]
		a, hasAfter := after[key]
		if v, ok := below[key].value(b, a, hadBefore, hasAfter); ok {
			out[key] = v
		}
	}
	return out
}

// list gives the items of After, each as it is in Before unless a change says
// otherwise. A list whose items cannot be told apart is that of After.
func (n *changeNode) list(before, after []any) []any {
	var keys []string
	for _, b := range n.below {
		if b.step.Key == nil {
			return after
		}
		if keys == nil {
			for _, k := range b.step.Key {
				keys = append(keys, k.Name)
			}
		}
	}
	if keys == nil {
		// Only the order: its items may differ in spelling, which is not known here.
		return after
	}
	out := make([]any, 0, len(after))
	for _, item := range after {
		change := n.item(item)
		was, had := findKeyed(before, item, keys)
		if change != nil && change.change != nil && change.change.Op == Rename {
			was, had = renamedFrom(before, change, keys)
			was = withKey(was, item, keys)
		}
		if v, ok := change.value(was, item, had, true); ok {
			out = append(out, v)
		}
	}
	for i, item := range before {
		// An item that is gone is only a difference where that is reported.
		_, has := findKeyed(after, item, keys)
		if !has && n.item(item) == nil && !n.renames(item, keys) {
			out = slices.Insert(out, min(i, len(out)), item)
		}
	}
	return out
}

// item gives the changes of an item.
func (n *changeNode) item(v any) *changeNode {
	for _, b := range n.below {
		if b.step.matches(v) {
			return b
		}
	}
	return nil
}

// renames reports whether an item of Before has another key in After.
func (n *changeNode) renames(item any, keys []string) bool {
	return slices.ContainsFunc(n.below, func(b *changeNode) bool {
		if b.change == nil || b.change.Op != Rename {
			return false
		}
		was, ok := renamedFrom([]any{item}, b, keys)
		return ok && was != nil
	})
}

// findKeyed gives the item that has the same key.
func findKeyed(list []any, like any, keys []string) (any, bool) {
	step := PathElement{Key: make([]KeyValue, len(keys))}
	object, _ := like.(map[string]any)
	for i, name := range keys {
		v, ok := object[name]
		if !ok && name == "protocol" {
			v = "TCP" // as in a key, where it is the default
		}
		step.Key[i] = KeyValue{name, v}
	}
	return step.step(list)
}

// renamedFrom gives the item that had another key.
func renamedFrom(list []any, n *changeNode, keys []string) (any, bool) {
	was, ok := n.change.Before.(map[string]any)
	if !ok && len(keys) == 1 {
		was = map[string]any{keys[0]: n.change.Before}
	}
	return findKeyed(list, was, keys)
}

// withKey gives an item with the key of another.
func withKey(item, like any, keys []string) any {
	object, _ := item.(map[string]any)
	other, _ := like.(map[string]any)
	if object == nil || other == nil {
		return item
	}
	object = maps.Clone(object)
	for _, name := range keys {
		object[name] = other[name]
	}
	return object
}
