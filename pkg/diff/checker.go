package diff

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// beforeFirstApply is the field manager that the API server makes up for what an object
// held when it was first applied and had no managedFields, as after a conversion webhook
// was down (kubernetes/kubernetes#136919).
const beforeFirstApply = "before-first-apply"

// Checker tells, without asking the API server, whether a server-side apply would write.
// It has no state but its field manager, and may be used by several goroutines at once.
type Checker struct {
	manager string
}

// NewChecker gives the checker of a field manager.
func NewChecker(manager string) *Checker { return &Checker{manager: manager} }

// Changed reports whether the API server would write if desired were applied over live,
// with force, as the field manager. live must hold metadata.managedFields, with the entries
// of others too: what they own tells what an apply takes from them. It is the same object
// in the same version of the API.
//
// The rules, in the order in which they are tried:
//
//  1. Without an entry of our own for this apiVersion, with leftovers of our own from
//     other kinds of writes, or with two entries that the API server takes for one, an
//     apply writes.
//  2. Every desired field must be ours and have its value; our items of a keyed list
//     must be in order, whatever stands between them.
//  3. Whatever else is ours is no longer desired, and would go.
//  4. What is not ours and not desired makes no difference.
//  5. What has its value and is written in another way makes a difference where somebody
//     else owns it, too, or has applied after us: then managedFields change.
//
// What managedFields say of the type is taken from them: a field that is owned as a whole
// is compared as a whole, so that this holds for kinds that nobody here has heard of. It
// errs on one side only: it may report a change where an empty value stands for a default,
// where a default inside a list that is replaced as a whole is left out and the type is not
// known, and where a quantity of an unknown type is written in another way. See
// docs/exactness.md.
//
// Changed allocates nothing as long as values are written alike on both sides and the type
// is known.
func (c *Checker) Changed(desired, live *unstructured.Unstructured) bool {
	owned, ours := c.owned(desired, live)
	if !ours {
		return true
	}
	t := typeOf(apiVersionOf(desired.Object), kindOf(desired.Object))
	var w coverage
	if !w.object(folded(desired.Object), live.Object, owned, t) || countsEmpty(desired.Object, t) {
		return true
	}
	if !w.respelled && !w.whole {
		return false
	}
	return w.respelled && c.moves(live.Object) || c.takes(folded(desired.Object), live.Object, owned, t)
}

// countsEmpty reports whether an object is one that goes up in its generation with each
// write of an empty list, which is not stored: the API server compares NetworkPolicies
// with reflect.DeepEqual (k8s.io/kubernetes/pkg/registry/networking/networkpolicy).
func countsEmpty(object map[string]any, t *typeInfo) bool {
	if t.name != "networking/v1.NetworkPolicy" {
		return false
	}
	spec, _ := t.at("spec")
	return holdsEmpty(object["spec"], spec)
}

// holdsEmpty reports whether there is an empty list, or an empty mapping without known
// fields, in or below a value.
func holdsEmpty(v any, t *typeInfo) bool {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			below, _ := t.at(name)
			if holdsEmpty(v[name], below) {
				return true
			}
		}
		return len(v) == 0 && (t.shape == shapeMap || t.shape == shapeAtomicMap)
	case []any:
		for i := range v {
			if holdsEmpty(v[i], t.item()) {
				return true
			}
		}
		return len(v) == 0
	}
	return false
}

// owned gives what the field manager owns by applying, and whether that can be relied
// on.
func (c *Checker) owned(desired, live *unstructured.Unstructured) (fieldSet, bool) {
	metadata, _ := live.Object["metadata"].(map[string]any)
	list, _ := metadata["managedFields"].([]any)
	var own managerEntry
	var seen [32]managerEntry // enough for what the API server keeps, and no allocation
	for i, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			continue
		}
		e := entryOf(m)
		if i < len(seen) {
			if slices.ContainsFunc(seen[:i], e.replaces) {
				return nil, false
			}
			seen[i] = e
		}
		switch {
		case e.applied(c.manager):
			own = e
		case e.leftover(c.manager):
			return nil, false
		}
	}
	return own.fields, own.fields != nil && own.apiVersion == apiVersionOf(desired.Object)
}

// leftover reports whether an entry holds back fields that an apply of manager drops,
// and is manager's own doing.
func (e *managerEntry) leftover(manager string) bool {
	return e.operation == "Update" && e.subresource == "" && (e.manager == manager || e.manager == beforeFirstApply)
}

func apiVersionOf(object map[string]any) string { return textAt(object, "apiVersion") }
func kindOf(object map[string]any) string       { return textAt(object, "kind") }

func textAt(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}

// coverage walks what is desired beside what is live and what is owned. It reports false
// at the first difference.
type coverage struct {
	// respelled says that values mean the same and are written in different ways.
	respelled bool
	// whole says that a mapping of an unknown type is ours, and may be replaced as a whole.
	whole bool
	// scratch holds the key that is looked up, so that looking up allocates nothing.
	scratch [192]byte
}

// object compares all but what identifies an object and what the server writes into it.
// Its metadata need not be owned: an object may have nothing there but its name.
func (w *coverage) object(desired, live map[string]any, owned fieldSet, t *typeInfo) bool {
	desiredMetadata, _ := desired["metadata"].(map[string]any)
	liveMetadata, _ := live["metadata"].(map[string]any)
	ownedMetadata, _ := owned["f:metadata"].(map[string]any)
	below, _ := t.at("metadata")
	if !w.metadata(desiredMetadata, liveMetadata, ownedMetadata, below) {
		return false
	}
	matched := 0
	if ownedMetadata != nil {
		matched++
	}
	for name, d := range desired {
		switch name {
		case "apiVersion", "kind", "status", "metadata":
			continue
		}
		l, present := live[name]
		ok, same := w.entry(name, d, l, present, owned, t)
		if !same {
			return false
		}
		if ok {
			matched++
		}
	}
	return matched == size(owned)
}

// serverKept are the fields of metadata that the API server writes or that name the
// object. It strips them from managedFields, so they count for nothing.
func serverKept(name string) bool {
	switch name {
	case "name", "namespace", "generateName", "uid", "resourceVersion", "generation", "creationTimestamp",
		"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields":
		return true
	}
	return false
}

// metadata compares the metadata of an object.
func (w *coverage) metadata(desired, live map[string]any, owned fieldSet, t *typeInfo) bool {
	return w.fields(desired, live, owned, t, serverKept)
}

// mapping compares a mapping whose fields are owned one by one.
func (w *coverage) mapping(desired, live map[string]any, owned fieldSet, t *typeInfo) bool {
	return w.fields(desired, live, owned, t, nil)
}

func (w *coverage) fields(desired, live map[string]any, owned fieldSet, t *typeInfo, skip func(string) bool) bool {
	matched := 0
	for name, d := range desired {
		if skip != nil && skip(name) {
			continue
		}
		l, present := live[name]
		ok, same := w.entry(name, d, l, present, owned, t)
		if !same {
			return false
		}
		if ok {
			matched++
		}
	}
	return matched == size(owned)
}

// entry compares one field of a mapping, and reports whether it is owned and whether it
// is as desired.
func (w *coverage) entry(name string, desired, live any, present bool, owned fieldSet, t *typeInfo) (ok, same bool) {
	below, dropped := t.at(name)
	own, ok := owned[string(appendFieldKey(w.scratch[:0], name))].(map[string]any)
	if !ok {
		// Everything that is applied is owned, empty or not, but for a list that has
		// items of its own and none of them.
		return false, ownsNothing(desired, below)
	}
	return true, !migrated(own, t, name) && w.value(desired, live, present, own, below, dropped)
}

// ownsNothing reports whether applying a value makes its field manager no owner.
func ownsNothing(v any, t *typeInfo) bool {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			if below, _ := t.at(name); !ownsNothing(v[name], below) {
				return false
			}
		}
		return len(v) > 0 && t.shape == shapeStruct
	case []any:
		return len(v) == 0 && (t.shape == shapeKeyed || t.shape == shapeSet)
	}
	return false
}

// migrated reports whether what is owned of a field was migrated from another kind of
// write, and not applied since: an apply never marks a field of a structure as owned
// itself, and so takes the mark away.
func migrated(own fieldSet, t *typeInfo, name string) bool {
	if _, marked := own["."]; !marked {
		return false
	}
	_, declared := t.find(name)
	return declared
}

// value compares a field that is owned. An empty value that the server does not store is
// there although it cannot be seen (kubernetes/kubernetes#128924).
func (w *coverage) value(desired, live any, present bool, owned fieldSet, t *typeInfo, dropped bool) bool {
	if !present || live == nil {
		w.respelled = w.respelled || desired != nil
		return isNone(desired, dropped)
	}
	switch d := desired.(type) {
	case nil:
		// Null takes away a value, and what is ours of a structure or a keyed list.
		return granular(live, t) && size(owned) == 0
	case map[string]any:
		l, ok := live.(map[string]any)
		if !ok {
			return false
		}
		if size(owned) > 0 {
			return w.mapping(d, l, owned, t)
		}
		if t.shape == shapeStruct || t.shape == shapeMap {
			return len(d) == 0 // the field is ours, what others put into it is theirs
		}
		w.whole = w.whole || t.shape == shapeAny
		return len(d) == 0 && t.shape == shapeAny || w.alike(desired, live, t)
	case []any:
		l, ok := live.([]any)
		if !ok {
			return false
		}
		if len(owned) == 0 {
			return len(d) == 0 && t.shape >= shapeKeyed || w.alike(desired, live, t)
		}
		return w.items(d, l, owned, t)
	}
	return w.alike(desired, live, t)
}

// alike reports whether two values mean the same, and takes note when they are written in
// different ways.
func (w *coverage) alike(desired, live any, t *typeInfo) bool {
	if equal(desired, live, unknown) {
		return true
	}
	w.respelled = true
	return equalFilled(desired, live, t)
}

// items compares a list whose items are owned one by one: each has to be there, after
// the one before it.
func (w *coverage) items(desired, live []any, owned fieldSet, t *typeInfo) bool {
	if isSet(owned) {
		return w.values(desired, live, owned)
	}
	keys := keysOf(t, owned)
	if keys == nil || len(desired) != size(owned) {
		return false
	}
	item := t.item()
	next := 0
	for _, d := range desired {
		d, ok := d.(map[string]any)
		if !ok {
			return false
		}
		own, ok := owned[string(appendItemKey(w.scratch[:0], d, keys))].(map[string]any)
		if !ok {
			return false
		}
		l, after := findFrom(live, next, d, keys)
		if l == nil || !w.item(d, l, own, item) {
			return false
		}
		next = after
	}
	return true
}

// item compares an item of a keyed list. One that is replaced as a whole, as an owner
// reference is, is owned without any of its fields.
func (w *coverage) item(desired, live map[string]any, owned fieldSet, t *typeInfo) bool {
	if len(owned) == 0 {
		return w.alike(desired, live, t)
	}
	_, marked := owned["."]
	return marked && w.mapping(desired, live, owned, t)
}

// values compares a set.
func (w *coverage) values(desired, live []any, owned fieldSet) bool {
	if len(desired) != size(owned) {
		return false
	}
	next := 0
	for _, d := range desired {
		if _, ok := owned[string(appendValueKey(w.scratch[:0], d))]; !ok {
			return false
		}
		for next < len(live) && !equalScalars(d, live[next], unknown) {
			next++
		}
		if next == len(live) {
			return false
		}
		next++
	}
	return true
}

// isSet reports whether a list is owned value by value.
func isSet(owned fieldSet) bool {
	for key := range owned {
		if key != "." {
			return strings.HasPrefix(key, "v:")
		}
	}
	return false
}

// findFrom finds the item with the key of wanted, from an index on, and gives the index
// after it.
func findFrom(items []any, from int, wanted map[string]any, keys []keyField) (map[string]any, int) {
	for i := from; i < len(items); i++ {
		if item, ok := items[i].(map[string]any); ok && sameItem(item, wanted, keys) {
			return item, i + 1
		}
	}
	return nil, 0
}
