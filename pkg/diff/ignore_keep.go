package diff

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Keep gives what has to be applied so that ignored fields stay as they are: desired
// with the live value of each ignored field that is owned by the field manager, and
// without those that are not. It changes neither object, and gives desired itself when
// no rule makes a difference. Live is nil, or the object in the same version of the API.
//
// To be used before every comparison and every apply, so that a rule counts everywhere:
// [Checker.Changed] of what Keep gives is false when nothing but ignored fields differ.
func (ig *Ignorer) Keep(desired, live *unstructured.Unstructured) *unstructured.Unstructured {
	if live == nil || len(ig.rules) == 0 {
		return desired
	}
	own, _ := split(live.Object, &ig.opts)
	kept, _ := ig.keep(live.Object, desired.Object, refOf(desired.Object, ig.opts.Namespace), own, nil)
	if !kept.changed {
		return desired
	}
	return &unstructured.Unstructured{Object: kept.object}
}

// keptObject is an object in which ignored fields were kept.
type keptObject struct {
	object map[string]any
	// changed says that it is another one than what was given.
	changed bool
}

// keep gives to with the ignored fields as they are in from, and how many fields differed
// there. It changes neither, and shares with both what it can. Either may be nil, which
// leaves the other as it is. own is what the field manager owns in from, nil where there
// is no cluster. The rules that found a field on either side are marked in matched, if
// that is not nil.
//
//  1. Where there is no cluster, an ignored field becomes what it is in from: it takes
//     that value, or goes, or comes back.
//  2. In a comparison with a cluster that holds for fields that are ours. One that is not
//     ours goes from what is desired: to apply it would be to own it.
//  3. Inside of what is replaced as a whole (an atomic list or mapping), the first rule
//     holds always: there are no fields that could be owned one by one.
//  4. An item of a list is the one with the same key on the other side; in a list without
//     keys the one at the same index. A field in an item that one side lacks is left
//     alone: the item is what differs. A mapping that one side lacks is as good as empty.
//  5. Keys of items are left alone.
func (ig *Ignorer) keep(from, to map[string]any, ref ObjectRef, own fieldSet, matched []bool) (keptObject, int) {
	k := keeper{live: ig.opts.Manager != "", looking: from == nil || to == nil}
	out := keptObject{object: to}
	var t *typeInfo
	for i := range ig.rules {
		rule := &ig.rules[i]
		if !rule.selects(ref, from, to) {
			continue
		}
		if t == nil {
			t = typeOf(ref.APIVersion, ref.Kind)
		}
		found := false
		patterns := rule.Paths
		if k.live && len(rule.Managers) > 0 {
			patterns = slices.Concat(patterns, managerPatterns(from, rule.Managers, &ig.opts))
		}
		for _, pattern := range patterns {
			k.found = false
			result := k.descend(spot{from: anyMap(from), to: anyMap(out.object), inFrom: from != nil, inTo: out.object != nil, own: own, t: t}, pattern)
			found = found || k.found
			if m, ok := result.value.(map[string]any); ok && result.changed {
				out.object, out.changed = m, true
			}
		}
		if found && matched != nil {
			matched[i] = true
		}
	}
	return out, k.ignored
}

// anyMap keeps a mapping that is not there from being something that is.
func anyMap(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

// managerPatterns gives the paths of all that field managers own in a live object.
func managerPatterns(live map[string]any, managers []string, opts *Options) []PathPattern {
	var out []PathPattern
	for _, e := range entries(live) {
		if slices.Contains(managers, e.manager) && !e.applied(opts.Manager) {
			out = appendOwned(out, nil, e.fields)
		}
	}
	return out
}

// appendOwned appends the paths of what a set holds and nothing below is held of.
func appendOwned(out []PathPattern, at PathPattern, owned fieldSet) []PathPattern {
	for _, key := range slices.Sorted(maps.Keys(owned)) {
		step, ok := ownedStep(key)
		if !ok {
			continue
		}
		path := append(slices.Clone(at), step)
		below, _ := owned[key].(map[string]any)
		if size(below) > 0 {
			out = appendOwned(out, path, below)
		} else if path.check() == nil {
			out = append(out, path)
		}
	}
	return out
}

// ownedStep reads a key of managedFields.
func ownedStep(key string) (PatternElement, bool) {
	kind, text, _ := strings.Cut(key, ":")
	var value any
	switch kind {
	case "f":
		return PatternElement{Field: text}, text != ""
	case "i":
		index, err := strconv.Atoi(text)
		return PatternElement{Index: index}, err == nil
	case "k", "v":
		if json.Unmarshal([]byte(text), &value) != nil {
			return PatternElement{}, false
		}
	}
	if keys, ok := value.(map[string]any); ok && kind == "k" {
		var where []KeyValue
		for _, name := range slices.Sorted(maps.Keys(keys)) {
			where = append(where, KeyValue{Name: name, Value: keys[name]})
		}
		return PatternElement{Where: where}, where != nil
	}
	return PatternElement{Value: value}, value != nil
}

// keeper keeps the fields of one pattern after the other.
type keeper struct {
	live bool
	// looking says that nothing is kept, only found.
	looking bool
	found   bool
	ignored int
}

// spot is a place in both objects.
type spot struct {
	from, to     any
	inFrom, inTo bool
	t            *typeInfo
	own          fieldSet   // nil: not ours
	keys         []keyField // of an item of a keyed list
	// whole says that the place is inside of what is replaced as a whole.
	whole bool
}

// settled is what comes to stand at a spot.
type settled struct {
	value   any
	there   bool
	changed bool
}

func (s *spot) asItIs() settled { return settled{value: s.to, there: s.inTo} }

// settle keeps what is at a spot.
func (k *keeper) settle(s spot) settled {
	if !s.inFrom && !s.inTo {
		return s.asItIs()
	}
	k.found = true
	if k.looking {
		return s.asItIs()
	}
	if !k.live || s.whole {
		n := differences(s.to, s.inTo, s.from, s.inFrom, s.t)
		k.ignored += n
		if n == 0 {
			return s.asItIs()
		}
		return settled{value: s.from, there: s.inFrom, changed: true}
	}
	var out settled
	if s.inFrom && s.own != nil {
		out.value, out.there = extract(s.from, s.own, s.t)
	}
	k.ignored += liveDifferences(s, out)
	out.changed = out.there != s.inTo || out.there && !equal(s.to, out.value, s.t)
	if !out.changed {
		return s.asItIs()
	}
	return out
}

// descend follows a pattern from a spot. What is a mapping on one side and something
// else on the other differs as a whole.
func (k *keeper) descend(s spot, pattern PathPattern) settled {
	if len(pattern) == 0 {
		return k.settle(s)
	}
	fromMap, fromIsMap := s.from.(map[string]any)
	toMap, toIsMap := s.to.(map[string]any)
	if (fromIsMap || toIsMap) && (fromIsMap || s.from == nil) && (toIsMap || s.to == nil) {
		return k.mapping(s, fromMap, toMap, pattern)
	}
	fromList, fromIsList := s.from.([]any)
	toList, toIsList := s.to.([]any)
	if (fromIsList || toIsList) && (fromIsList || s.from == nil) && (toIsList || s.to == nil) {
		return k.list(s, fromList, toList, pattern)
	}
	return s.asItIs()
}

func (k *keeper) mapping(s spot, from, to map[string]any, pattern PathPattern) settled {
	var out map[string]any
	for _, name := range pattern[0].names(from, to) {
		below, _ := s.t.at(name)
		next := spot{t: below, whole: s.whole || s.t.atomic()}
		next.from, next.inFrom = from[name]
		next.to, next.inTo = to[name]
		next.own, _ = s.own[string(appendFieldKey(nil, name))].(map[string]any)
		if slices.ContainsFunc(s.keys, func(key keyField) bool { return key.name == name }) {
			k.look(next, pattern[1:])
			continue
		}
		result := k.descend(next, pattern[1:])
		if !result.changed {
			continue
		}
		if out == nil {
			out = maps.Clone(to)
		}
		if out == nil {
			out = map[string]any{}
		}
		if result.there {
			out[name] = result.value
		} else {
			delete(out, name)
		}
	}
	if out == nil {
		return s.asItIs()
	}
	return settled{value: out, there: len(out) > 0 || s.staysEmpty(k.live), changed: true}
}

// staysEmpty reports whether a mapping or list from which everything went stays there.
func (s *spot) staysEmpty(live bool) bool {
	return s.inFrom && (!live || s.whole || s.own != nil)
}

// look finds out whether a pattern leads anywhere.
func (k *keeper) look(s spot, pattern PathPattern) {
	looking := k.looking
	k.looking = true
	k.descend(s, pattern)
	k.looking = looking
}

// names gives the fields that a step leads to, those of both mappings.
func (e PatternElement) names(a, b map[string]any) []string {
	switch {
	case e.Field != "":
		return []string{e.Field}
	case !e.Any:
		return nil
	}
	var names []string
	for _, m := range []map[string]any{a, b} {
		names = slices.AppendSeq(names, maps.Keys(m))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// item reports whether a step leads to an item of a list.
func (e PatternElement) item(item any, index int) bool {
	switch {
	case e.Field != "":
		return e.Field == strconv.Itoa(index)
	case e.Any:
		return true
	case e.Where != nil:
		m, ok := item.(map[string]any)
		return ok && !slices.ContainsFunc(e.Where, func(w KeyValue) bool {
			v, there := m[w.Name]
			return !there || !hasValue(v, w.Value)
		})
	case e.Value != nil:
		return hasValue(item, e.Value)
	}
	return e.Index == index
}

// hasValue compares a value with that of a rule, in which numbers may be texts.
func hasValue(v, wanted any) bool {
	if s, ok := wanted.(string); ok {
		return plainText(v) == s
	}
	return equalScalars(v, wanted, unknown)
}

// pair is an item on both sides; an index of -1 says that one lacks it.
type pair struct{ from, to int }

func (k *keeper) list(s spot, from, to []any, pattern PathPattern) settled {
	step, rest := pattern[0], pattern[1:]
	l := newListKeys(s, step)
	pairs := pairItems(from, to, l.key)
	out := make([]listItem, 0, len(pairs))
	changed := false
	for _, p := range pairs {
		next := spot{t: s.t.item(), keys: l.keys, whole: l.whole}
		matches := false
		var key string
		if p.to >= 0 {
			next.to, next.inTo = to[p.to], true
			matches, key = step.item(next.to, p.to), l.key(next.to, p.to)
		}
		if p.from >= 0 {
			next.from, next.inFrom = from[p.from], true
			matches, key = matches || step.item(next.from, p.from), l.key(next.from, p.from)
		}
		next.own, _ = s.own[key].(map[string]any)
		result := next.asItIs()
		switch {
		case !matches:
		case len(rest) == 0 || next.inFrom && next.inTo:
			result = k.descend(next, rest)
		default:
			k.look(next, rest)
		}
		changed = changed || result.changed
		switch {
		case result.there && p.to >= 0:
			out = append(out, listItem{result.value, p.from})
		case result.there:
			out = insert(out, listItem{result.value, p.from})
		}
	}
	if !changed {
		return s.asItIs()
	}
	items := make([]any, len(out))
	for i := range out {
		items[i] = out[i].value
	}
	return settled{value: items, there: len(items) > 0 || s.staysEmpty(k.live), changed: true}
}

// listKeys tells the items of a list apart.
type listKeys struct {
	keys  []keyField
	set   bool
	whole bool
}

func newListKeys(s spot, step PatternElement) listKeys {
	l := listKeys{keys: keysOf(s.t, s.own), set: s.t.shape == shapeSet || isSet(s.own)}
	l.whole = s.whole || l.keys == nil && !l.set
	if l.keys == nil && s.t.shape == shapeAny {
		// Nobody knows the type, so what the rule asks for is as good as a key.
		for _, w := range step.Where {
			l.keys = append(l.keys, keyField{name: w.Name})
		}
	}
	return l
}

// key gives what an item is called in managedFields; without keys and values, its index.
func (l *listKeys) key(item any, index int) string {
	m, isMap := item.(map[string]any)
	switch {
	case l.keys != nil && isMap:
		return string(appendItemKey(nil, m, l.keys))
	case l.set:
		return string(appendValueKey(nil, item))
	}
	return "i:" + strconv.Itoa(index)
}

// pairItems gives the items of to in order, each with its like in from, and then those
// that only from has.
func pairItems(from, to []any, key func(item any, index int) string) []pair {
	places := make(map[string]int, len(from))
	for i, item := range from {
		if k := key(item, i); places[k] == 0 {
			places[k] = i + 1
		}
	}
	taken := make([]bool, len(from))
	pairs := make([]pair, 0, max(len(from), len(to)))
	for i, item := range to {
		p := pair{from: places[key(item, i)] - 1, to: i}
		if p.from >= 0 && taken[p.from] {
			p.from = -1
		}
		if p.from >= 0 {
			taken[p.from] = true
		}
		pairs = append(pairs, p)
	}
	for i := range from {
		if !taken[i] {
			pairs = append(pairs, pair{from: i, to: -1})
		}
	}
	return pairs
}

// listItem is an item and where it stands in the list that is compared from, or -1.
type listItem struct {
	value any
	from  int
}

// insert puts an item behind the nearest one that it stands behind in from.
func insert(items []listItem, item listItem) []listItem {
	at, nearest := 0, -1
	for i := range items {
		if before := items[i].from; before < item.from && before > nearest {
			at, nearest = i+1, before
		}
	}
	return slices.Insert(items, at, item)
}

// extract gives what of a live value is owned, and whether that is anything.
func extract(live any, own fieldSet, t *typeInfo) (any, bool) {
	switch v := live.(type) {
	case map[string]any:
		if size(own) == 0 {
			if t.shape == shapeStruct || t.shape == shapeMap {
				return map[string]any{}, true // the field is ours, what is in it is not
			}
			return v, true
		}
		out := make(map[string]any, len(own))
		for key, below := range own {
			name, isField := strings.CutPrefix(key, "f:")
			value, there := v[name]
			if !isField || !there {
				continue
			}
			fields, _ := below.(map[string]any)
			typ, _ := t.at(name)
			if part, ok := extract(value, fields, typ); ok {
				out[name] = part
			}
		}
		_, itself := own["."]
		return out, itself || len(out) > 0
	case []any:
		return extractItems(v, own, t)
	}
	return live, true
}

func extractItems(live []any, own fieldSet, t *typeInfo) (any, bool) {
	if size(own) == 0 {
		if t.shape == shapeKeyed || t.shape == shapeSet {
			return []any{}, true
		}
		return live, true
	}
	l := listKeys{keys: keysOf(t, own), set: t.shape == shapeSet || isSet(own)}
	out := make([]any, 0, len(live))
	for i, item := range live {
		fields, ours := own[l.key(item, i)].(map[string]any)
		if !ours {
			continue
		}
		part, _ := extract(item, fields, t.item())
		if m, ok := part.(map[string]any); ok {
			for _, key := range l.keys {
				if _, has := m[key.name]; has {
					continue
				}
				if v, there := item.(map[string]any)[key.name]; there {
					m[key.name] = v
				}
			}
		}
		out = append(out, part)
	}
	return out, len(out) > 0
}

// differences counts the fields that differ, mappings of both sides key by key and all
// else as a whole.
func differences(a any, inA bool, b any, inB bool, t *typeInfo) int {
	am, aIsMap := a.(map[string]any)
	bm, bIsMap := b.(map[string]any)
	switch {
	case !inA && !inB, inA && inB && equal(a, b, t):
		return 0
	case !aIsMap, !bIsMap, t.atomic():
		return 1
	}
	n := 0
	for _, name := range (PatternElement{Any: true}).names(am, bm) {
		av, inA := am[name]
		bv, inB := bm[name]
		typ, dropped := t.at(name)
		if isNone(av, dropped) && isNone(bv, dropped) {
			continue
		}
		n += differences(av, inA, bv, inB, typ)
	}
	return n
}

// liveDifferences counts the fields at a spot that an apply would change, add or take
// away. kept is what is ours of them in the live object.
func liveDifferences(s spot, kept settled) int {
	desired, isMap := s.to.(map[string]any)
	live, liveIsMap := s.from.(map[string]any)
	if !isMap || !liveIsMap || s.t.atomic() {
		if !s.inTo || s.own != nil {
			return differences(s.to, s.inTo, kept.value, kept.there, s.t)
		}
		return differences(s.to, s.inTo, s.from, s.inFrom, s.t)
	}
	ours, _ := kept.value.(map[string]any)
	n := 0
	for _, name := range (PatternElement{Any: true}).names(desired, ours) {
		typ, dropped := s.t.at(name)
		next := spot{t: typ}
		next.to, next.inTo = desired[name]
		next.from, next.inFrom = live[name]
		next.own, _ = s.own[string(appendFieldKey(nil, name))].(map[string]any)
		if isNone(next.to, dropped) && isNone(next.from, dropped) {
			continue
		}
		var part settled
		part.value, part.there = ours[name]
		n += liveDifferences(next, part)
	}
	return n
}
