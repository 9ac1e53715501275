package diff

import "slices"

// moves reports whether an apply moves our entry of managedFields. What is written in
// another way counts as applied just now, and entries stand in the order of their times:
// after that, ours is the last one of those who apply.
func (c *Checker) moves(live map[string]any) bool {
	found := false
	for _, e := range entries(live) {
		if found && e.operation == "Apply" {
			return true
		}
		found = found || e.applied(c.manager)
	}
	return false
}

// takes reports whether an apply that changes no value takes fields away from others: what
// is applied is compared with what is stored as it is written, so that whoever applies
// 1000m takes the field from another owner who has stored it as 1. It also decides whether
// a mapping of an unknown type, which is ours, is replaced as a whole: it is not when
// somebody owns some of it.
func (c *Checker) takes(desired, live map[string]any, own fieldSet, t *typeInfo) bool {
	var others []holder
	for _, e := range entries(live) {
		if !e.applied(c.manager) {
			others = append(others, holder{name: e.manager, fields: e.fields})
		}
	}
	return takes(content(desired), content(live), own, others, t)
}

func takes(desired, live any, own fieldSet, others []holder, t *typeInfo) bool {
	d, isMapping := desired.(map[string]any)
	l, wasMapping := live.(map[string]any)
	if isMapping && wasMapping && t.shape == shapeAny && own != nil && len(own) == 0 {
		shared := slices.ContainsFunc(others, holder.some)
		if shared && len(d) > 0 || !shared && len(d) == 0 && len(l) > 0 {
			return true
		}
	}
	if len(others) == 0 && len(own) == 0 {
		return false
	}
	if slices.ContainsFunc(others, holder.all) && !equal(desired, live, unknown) && !(isMapping && wasMapping && granular(d, t) && t.shape != shapeAny) {
		return true
	}
	if isMapping {
		for name := range d {
			key := "f:" + name
			typ, _ := t.at(name)
			ours, _ := own[key].(map[string]any)
			if takes(d[name], l[name], ours, below(others, key), typ) {
				return true
			}
		}
		return false
	}
	return takesItems(desired, live, own, others, t)
}

func takesItems(desired, live any, own fieldSet, others []holder, t *typeInfo) bool {
	items, _ := desired.([]any)
	has, _ := live.([]any)
	keys := keysOf(t, own)
	if keys == nil {
		return false
	}
	for _, item := range items {
		d, ok := item.(map[string]any)
		if !ok {
			continue
		}
		l, _ := findFrom(has, 0, d, keys)
		key := string(appendItemKey(nil, d, keys))
		ours, _ := own[key].(map[string]any)
		if takes(d, l, ours, below(others, key), t.item()) {
			return true
		}
	}
	return false
}

// all reports whether something is held as a whole.
func (h holder) all() bool { return len(h.fields) == 0 }

// some reports whether parts of something are held.
func (h holder) some() bool { return size(h.fields) > 0 }
