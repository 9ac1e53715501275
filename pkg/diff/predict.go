package diff

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// prediction is what a forced server-side apply does to a live object.
type prediction struct {
	// after is the object that the API server would store, before it fills in defaults.
	after map[string]any
	// holders are the field managers whose ownership counts beside ours.
	holders []holder
	adopted []FieldChange
	kept    []FieldChange
	foreign []FieldChange
}

// holder is a field manager and what it owns below some path.
type holder struct {
	name   string
	fields fieldSet
}

// whole reports whether an item is held itself, and not only some of its fields: those do
// not keep it from being removed.
func (h holder) whole() bool {
	_, marked := h.fields["."]
	return marked || len(h.fields) == 0
}

// predict does what the API server does, in this order:
//
//  1. Desired fields take their values. A mapping that is replaced as a whole is; items
//     of keyed lists are found by key, and ours get our order.
//  2. What was ours and is no longer desired goes, with all below it, unless somebody
//     else owns it or something below it.
//  3. What the kind does with what is there already, such as ports that were allocated.
//
// Field managers that would be migrated count as us.
func predict(live, desired map[string]any, opts *Options, d *defaulter) prediction {
	own, holders := split(live, opts)
	seen := fieldSet{}
	union(seen, own)
	for _, h := range holders {
		union(seen, h.fields)
	}
	t := typeOf(apiVersionOf(desired), kindOf(desired))

	var p prediction
	p.holders = holders
	merged, _ := merge(withoutManagedFields(live), content(desired), seen, t).(map[string]any)
	pr := pruner{kept: &p.kept}
	pr.mapping(nil, merged, own, holders, content(desired))
	if pr.emptied {
		dropNulls(merged)
	}
	settle(live, merged)
	p.after = merged

	a := adopter{found: &p.adopted}
	a.mapping(nil, content(desired), live, own, t)
	f := foreigner{found: &p.foreign}
	filled, _ := d.fill(desired, t).(map[string]any)
	for _, h := range holders {
		f.mapping(nil, h.name, h.fields, own, filled, live)
	}
	p.foreign = slices.DeleteFunc(f.merged(), func(c FieldChange) bool {
		_, stays := lookup(merged, c.Path)
		return !stays || slices.ContainsFunc(p.kept, func(kept FieldChange) bool { return c.Path.under(kept.Path) })
	})
	return p
}

// split tells what is ours in a live object, or would be made so first, from what others
// hold.
func split(live map[string]any, opts *Options) (fieldSet, []holder) {
	list := entries(live)
	first := firstContact(list, opts.Manager)
	own := fieldSet{}
	var holders []holder
	var migrated []string
	for i, e := range list {
		replaced := slices.ContainsFunc(list[i+1:], func(next managerEntry) bool { return next.replaces(e) })
		switch {
		case e.applied(opts.Manager):
			union(own, e.fields)
		case e.migrates(opts.Manager, opts.Migrate, first):
			// Of a manager that has several entries, csaupgrade takes the first one, and a
			// second one where there is none of ours to add to, and drops the others.
			if !slices.Contains(migrated, e.manager) || first && len(migrated) == 1 && migrated[0] == e.manager {
				union(own, e.fields)
				migrated = append(migrated, e.manager)
			}
		case replaced:
		default:
			holders = append(holders, holder{name: e.name(), fields: e.fields})
		}
	}
	return own, holders
}

// migrates reports whether pkg/apply would make the entry's fields ours: leftovers of our
// own always, the named managers' at the first contact only.
func (e *managerEntry) migrates(manager string, names []string, first bool) bool {
	return e.leftover(manager) || first && e.operation == "Update" && e.subresource == "" && slices.Contains(names, e.manager)
}

// name is how people are told of the entry.
func (e *managerEntry) name() string {
	if e.subresource != "" {
		return e.manager + " (" + e.subresource + ")"
	}
	return e.manager
}

// union adds fields to a set, in place.
func union(into, fields fieldSet) {
	for key, below := range fields {
		below, _ := below.(map[string]any)
		have, ok := into[key].(map[string]any)
		if !ok {
			have = fieldSet{}
			into[key] = have
		}
		union(have, below)
	}
}

// below gives the holders of a field or an item, with what they hold below it.
func below(holders []holder, key string) []holder {
	var out []holder
	for _, h := range holders {
		if fields, ok := h.fields[key].(map[string]any); ok {
			out = append(out, holder{name: h.name, fields: fields})
		}
	}
	return out
}

// names gives the names of holders, sorted, each once.
func names(holders []holder) []string {
	var out []string
	for _, h := range holders {
		out = append(out, h.name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// withoutManagedFields gives a deep copy without them.
func withoutManagedFields(object map[string]any) map[string]any {
	out := maps.Clone(object)
	if metadata, ok := out["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		delete(metadata, "managedFields")
		out["metadata"] = metadata
	}
	return runtime.DeepCopyJSON(out)
}

// content gives what of an object can be applied, in a shallow copy.
func content(object map[string]any) map[string]any {
	out := maps.Clone(object)
	delete(out, "status")
	if metadata, ok := out["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		maps.DeleteFunc(metadata, func(name string, _ any) bool { return serverKept(name) })
		out["metadata"] = metadata
	}
	return out
}

// merge gives live with what is desired, and takes live's spelling where both mean the
// same. What anybody owns, in seen, tells of types that are not known: what is owned as a
// whole is replaced as a whole. merge may change live.
func merge(live, desired any, seen fieldSet, t *typeInfo) any {
	switch d := desired.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		switch {
		case !ok:
			return runtime.DeepCopyJSONValue(d)
		case t.atomic(), t.shape == shapeAny && seen != nil && len(seen) == 0 && len(l) > 0:
			if equalFilled(d, l, t) {
				return l
			}
			return runtime.DeepCopyJSONValue(d)
		}
		mergeFields(l, d, seen, t)
		return l
	case []any:
		l, ok := live.([]any)
		if !ok {
			return runtime.DeepCopyJSONValue(d)
		}
		if keys := keysOf(t, seen); keys != nil {
			return mergeItems(l, d, seen, t, keys)
		}
		if t.shape == shapeSet || isSet(seen) {
			return mergeValues(l, d)
		}
		if equalFilled(d, l, t) {
			return l
		}
		return runtime.DeepCopyJSONValue(d)
	}
	if equalScalars(desired, live, t) {
		return live
	}
	return desired
}

func mergeFields(live, desired map[string]any, seen fieldSet, t *typeInfo) {
	for name, d := range desired {
		typ, dropped := t.at(name)
		l, present := live[name]
		switch {
		case isNone(d, dropped) && !present:
		case d == nil && granular(l, typ): // is as good as an empty one
		case isNone(d, dropped) && !granular(d, typ):
			delete(live, name) // the server stores no such value, and fills in its default
		default:
			fields, _ := seen["f:"+name].(map[string]any)
			live[name] = merge(l, d, fields, typ)
		}
	}
}

// granular reports whether an empty value in place of v leaves alone what others have put
// into it.
func granular(v any, t *typeInfo) bool {
	switch v.(type) {
	case map[string]any:
		return !t.atomic()
	case []any:
		return t.shape == shapeKeyed || t.shape == shapeSet
	}
	return false
}

// mergeItems merges keyed lists in the order that structured-merge-diff gives them: what
// is desired keeps its order, and what only is live stands where it stood before the next
// item that both have.
func mergeItems(live, desired []any, seen fieldSet, t *typeInfo, keys []keyField) []any {
	key := func(item any) string {
		m, _ := item.(map[string]any)
		return string(appendItemKey(nil, m, keys))
	}
	return mergeOrdered(live, desired, key, func(l, d any) any {
		fields, _ := seen[key(d)].(map[string]any)
		return merge(l, d, fields, t.item())
	})
}

func mergeValues(live, desired []any) []any {
	key := func(item any) string { return string(appendValueKey(nil, item)) }
	return mergeOrdered(live, desired, key, func(_, d any) any { return d })
}

func mergeOrdered(live, desired []any, key func(any) string, join func(l, d any) any) []any {
	liveKeys, desiredKeys := keysIn(live, key), keysIn(desired, key)
	liveBy, wanted := make(map[string]any, len(live)), make(map[string]bool, len(desired))
	for i, k := range liveKeys {
		if _, twice := liveBy[k]; twice {
			liveBy[k] = nil // nothing is taken from items that cannot be told apart
			continue
		}
		liveBy[k] = live[i]
	}
	var shared []string
	for _, k := range desiredKeys {
		wanted[k] = true
		if _, ok := liveBy[k]; ok {
			shared = append(shared, k)
		}
	}
	out := make([]any, 0, max(len(live), len(desired)))
	done := make(map[string]bool, len(desired))
	take := func(i int) {
		k := desiredKeys[i]
		l, ok := liveBy[k]
		if ok {
			out = append(out, join(l, desired[i]))
		} else {
			out = append(out, runtime.DeepCopyJSONValue(desired[i]))
		}
		done[k] = true
		if len(shared) > 0 && shared[0] == k {
			shared = shared[1:]
		}
	}
	l, d := 0, 0
	for l < len(live) || d < len(desired) {
		if l < len(live) && d < len(desired) {
			k := liveKeys[l]
			if k == desiredKeys[d] {
				take(d)
				l++
				d++
				continue
			}
			if wanted[k] && len(shared) > 0 && shared[0] != k {
				l++ // its turn comes with the desired order
				continue
			}
		}
		if l < len(live) {
			k := liveKeys[l]
			if !wanted[k] {
				out = append(out, live[l])
				l++
				continue
			}
			if done[k] {
				l++
			}
		}
		if d < len(desired) {
			take(d)
			d++
		}
	}
	return out
}

func keysIn(items []any, key func(any) string) []string {
	out := make([]string, len(items))
	for i := range items {
		out[i] = key(items[i])
	}
	return out
}

// pruner takes away what is ours and no longer desired.
type pruner struct {
	kept *[]FieldChange
	// emptied says that there are nulls.
	emptied bool
}

func (p *pruner) mapping(path Path, m map[string]any, own fieldSet, holders []holder, desired map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(own)) {
		name, ok := strings.CutPrefix(key, "f:")
		if !ok {
			continue
		}
		value, present := m[name]
		if !present {
			continue
		}
		fields, _ := own[key].(map[string]any)
		d, wanted := desired[name]
		step := path.field(name)
		others := below(holders, key)
		empty := isEmpty(value)
		switch {
		case wanted:
			m[name] = p.value(step, value, fields, others, d)
		case len(others) == 0 && aliased(m, name):
			p.keep(step, value, nil)
		case len(others) == 0:
			delete(m, name)
		default:
			m[name] = p.dropped(step, value, fields, others)
		}
		if left, stays := m[name]; stays && !empty && isEmpty(left) && isEmpty(d) {
			// What loses all that it had goes, also where an empty one is desired. What holds it
			// stays, with this null in it.
			m[name] = nil
			p.emptied = true
		}
	}
}

// dropNulls takes away what holds null, in place.
func dropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, below any) bool { return below == nil })
		for name := range v {
			dropNulls(v[name])
		}
	case []any:
		for i := range v {
			dropNulls(v[i])
		}
	}
}

// aliased reports whether the API server fills a field of a pod in again, from an alias
// that it has filled in itself (kubernetes/kubernetes#108208).
func aliased(m map[string]any, name string) bool {
	return name == "serviceAccountName" && m["containers"] != nil && m["serviceAccount"] == m[name]
}

// dropped gives what stays of a value that is ours and others', and no longer desired, and
// tells of it: in one, where nothing of it goes.
func (p *pruner) dropped(path Path, value any, own fieldSet, holders []holder) any {
	if size(own) == 0 {
		p.keep(path, value, holders)
		return value
	}
	told, before := len(*p.kept), runtime.DeepCopyJSONValue(value)
	after := p.value(path, value, own, holders, nil)
	if equal(before, after, unknown) {
		*p.kept = (*p.kept)[:told]
		p.keep(path, after, holders)
	}
	return after
}

func (p *pruner) keep(path Path, value any, holders []holder) {
	*p.kept = append(*p.kept, FieldChange{Path: path, Op: Replace, Before: value, After: value, Effect: EffectKept, Owners: names(holders)})
}

func (p *pruner) value(path Path, value any, own fieldSet, holders []holder, desired any) any {
	switch v := value.(type) {
	case map[string]any:
		d, _ := desired.(map[string]any)
		p.mapping(path, v, own, holders, d)
	case []any:
		d, _ := desired.([]any)
		return p.items(path, v, own, holders, d)
	}
	return value
}

// items takes items away from a list whose items are owned one by one.
func (p *pruner) items(path Path, items []any, own fieldSet, holders []holder, desired []any) []any {
	if size(own) == 0 {
		return items
	}
	keys := keysOf(unknown, own)
	key := func(item any) string {
		if m, ok := item.(map[string]any); ok && keys != nil {
			return string(appendItemKey(nil, m, keys))
		}
		return string(appendValueKey(nil, item))
	}
	if keys != nil {
		keys = withProtocol(keys)
	}
	wanted := make(map[string]any, len(desired))
	for _, d := range desired {
		wanted[key(d)] = d
	}
	out := items[:0:0]
	for _, item := range items {
		k := key(item)
		fields, ours := own[k].(map[string]any)
		d, isWanted := wanted[k]
		others := below(holders, k)
		m, isMapping := item.(map[string]any)
		step := path.with(elementOf(item, keys))
		switch {
		case !ours:
		case isWanted && isMapping:
			d, _ := d.(map[string]any)
			p.mapping(step, m, fields, others, d)
		case isWanted:
		case !slices.ContainsFunc(others, holder.whole):
			continue
		default:
			item = p.dropped(step, item, fields, others)
		}
		out = append(out, item)
	}
	return out
}

// withProtocol gives the keys of ports their default, which keys that were read from
// managedFields do not tell.
func withProtocol(keys []keyField) []keyField {
	out := slices.Clone(keys)
	for i := range out {
		if out[i].name == "protocol" {
			out[i].absent = "TCP"
		}
	}
	return out
}

// elementOf gives the step to an item of a list.
func elementOf(item any, keys []keyField) PathElement {
	m, ok := item.(map[string]any)
	if !ok || keys == nil {
		return PathElement{Value: item}
	}
	e := PathElement{Key: make([]KeyValue, 0, len(keys))}
	for _, k := range keys {
		v, ok := m[k.name]
		if !ok {
			v = k.absent
		}
		e.Key = append(e.Key, KeyValue{Name: k.name, Value: v})
	}
	return e
}

// adopter finds desired fields that have their value and are not ours.
type adopter struct {
	found *[]FieldChange
}

func (a *adopter) mapping(path Path, desired, live map[string]any, own fieldSet, t *typeInfo) {
	for _, name := range slices.Sorted(maps.Keys(desired)) {
		if len(path) == 0 && (name == "apiVersion" || name == "kind") {
			continue
		}
		d := desired[name]
		typ, dropped := t.at(name)
		l, present := live[name]
		if isNone(d, dropped) && !present {
			continue
		}
		fields, owned := own["f:"+name].(map[string]any)
		a.value(path.field(name), d, l, fields, owned, typ)
	}
}

func (a *adopter) value(path Path, desired, live any, own fieldSet, owned bool, t *typeInfo) {
	if owned && len(own) == 0 {
		return
	}
	if !owned && path.String() != "metadata" && equalFilled(desired, live, t) {
		*a.found = append(*a.found, FieldChange{Path: path, Op: Replace, Before: live, After: live, Effect: EffectAdopt})
		return
	}
	switch d := desired.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		if ok && !t.atomic() {
			a.mapping(path, d, l, own, t)
		}
	case []any:
		l, _ := live.([]any)
		a.items(path, d, l, own, t)
	}
}

func (a *adopter) items(path Path, desired, live []any, own fieldSet, t *typeInfo) {
	keys := keysOf(t, own)
	if keys == nil {
		return
	}
	for _, d := range desired {
		d, ok := d.(map[string]any)
		if !ok {
			continue
		}
		l, _ := findFrom(live, 0, d, keys)
		if l == nil {
			continue
		}
		fields, owned := own[string(appendItemKey(nil, d, keys))].(map[string]any)
		a.value(path.with(elementOf(d, keys)), d, l, fields, owned, t.item())
	}
}

// foreigner finds live fields that others own, and that are neither ours nor desired nor
// what the server fills in.
type foreigner struct {
	found *[]FieldChange
}

// merged gives the fields in order, each once with all its owners.
func (f *foreigner) merged() []FieldChange {
	list := *f.found
	slices.SortStableFunc(list, func(a, b FieldChange) int { return strings.Compare(a.Path.String(), b.Path.String()) })
	var out []FieldChange
	for _, c := range list {
		if n := len(out); n > 0 && out[n-1].Path.String() == c.Path.String() {
			owners := append(slices.Clone(out[n-1].Owners), c.Owners...)
			slices.Sort(owners)
			out[n-1].Owners = slices.Compact(owners)
			continue
		}
		out = append(out, c)
	}
	return out
}

func (f *foreigner) mapping(path Path, manager string, theirs, own fieldSet, desired, live map[string]any) {
	for key, fields := range theirs {
		name, ok := strings.CutPrefix(key, "f:")
		if !ok || len(path) == 0 && name == "status" || path.hasFields("metadata") && len(path) == 1 && serverKept(name) || systemAnnotation(name) {
			continue
		}
		l, present := live[name]
		if !present {
			continue
		}
		fields, _ := fields.(map[string]any)
		ours, owned := own[key].(map[string]any)
		f.value(path.field(name), manager, fields, ours, owned, desired[name], l)
	}
}

// systemAnnotation names what Kubernetes and kubectl themselves keep on an object.
func systemAnnotation(name string) bool {
	return name == "deployment.kubernetes.io/revision" || name == "deprecated.daemonset.template.generation" ||
		name == "kubectl.kubernetes.io/last-applied-configuration"
}

func (f *foreigner) value(path Path, manager string, theirs, own fieldSet, owned bool, desired, live any) {
	if size(theirs) > 0 {
		switch l := live.(type) {
		case map[string]any:
			d, _ := desired.(map[string]any)
			f.mapping(path, manager, theirs, own, d, l)
			return
		case []any:
			d, _ := desired.([]any)
			f.items(path, manager, theirs, own, d, l)
			return
		}
	}
	if owned || desired != nil || isEmpty(live) {
		return
	}
	*f.found = append(*f.found, FieldChange{Path: path, Op: Replace, Before: live, After: live, Effect: EffectNone, Owners: []string{manager}})
}

func (f *foreigner) items(path Path, manager string, theirs, own fieldSet, desired, live []any) {
	keys := keysOf(unknown, theirs)
	if keys == nil {
		for _, l := range live {
			key := appendValueKey(nil, l)
			_, isTheirs := theirs[string(key)]
			_, owned := own[string(key)]
			if isTheirs && !owned && !slices.ContainsFunc(desired, func(d any) bool { return equalScalars(d, l, unknown) }) {
				f.value(path.with(PathElement{Value: l}), manager, nil, nil, false, nil, l)
			}
		}
		return
	}
	keys = withProtocol(keys)
	for _, l := range live {
		item, ok := l.(map[string]any)
		if !ok {
			continue
		}
		key := appendItemKey(nil, item, keys)
		fields, isTheirs := theirs[string(key)].(map[string]any)
		if !isTheirs {
			continue
		}
		ours, owned := own[string(key)].(map[string]any)
		d, _ := findFrom(desired, 0, item, keys)
		step := path.with(elementOf(item, keys))
		if d == nil && !owned {
			f.value(step, manager, nil, nil, false, nil, l)
			continue
		}
		f.mapping(step, manager, fields, ours, d, item)
	}
}
