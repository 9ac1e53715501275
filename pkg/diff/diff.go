package diff

import (
	"encoding/base64"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Options say how two sets of objects are compared. The zero value compares two
// trees of rendered objects.
type Options struct {
	// Manager, when given, makes this a comparison with a cluster: the first set is
	// live objects, the second what would be applied by server-side apply, forced, as
	// this field manager. Live objects that are not desired are then reported as
	// deleted: give only those that would be pruned.
	Manager string
	// Migrate are field managers whose ownership would be made ours first, when this
	// field manager has not yet applied the object; see pkg/apply.
	Migrate []string
	// Namespace is where objects go that name none. Empty leaves them without one,
	// which is an identity of its own.
	Namespace string
	// Ignore are the fields that make no difference.
	Ignore []IgnoreRule
}

// Diff says what has to be done to get from one set of objects to another.
//
// Objects are the same when group, kind, namespace and name are: the version of the API
// is a field like any other, and kinds that Kubernetes has moved to another group are
// followed there. A ConfigMap or Secret that differs in the content hash of its name is
// the same one, renamed.
//
// Two trees are compared after the defaults of a published table (docs/diff.md) are filled
// in on both sides. With a Manager, what a server-side apply would do is worked out from
// the live objects' managedFields; live objects must hold them, and come in the version
// that is desired.
//
// Two objects with one identity on one side, and what no API server takes in the second
// set, are Faults. Nothing that is given is changed or kept, but for the values that the
// result shows.
func Diff(from, to []*unstructured.Unstructured, opts Options) (*ChangeSet, error) {
	before, faults := newSide(from, opts.Namespace)
	after, more := newSide(to, opts.Namespace)
	faults = append(faults, more...)
	for i, object := range after.objects {
		faults = append(faults, check(after.refs[i], object)...)
	}
	if len(faults) > 0 {
		return nil, faults
	}

	ignore, err := NewIgnorer(opts)
	if err != nil {
		return nil, err
	}
	d := differ{opts: &opts, defaults: newDefaulter(), ignore: ignore, matched: make([]bool, len(opts.Ignore))}
	out := &ChangeSet{Objects: make([]ObjectChange, 0, max(len(from), len(to)))}
	renamed := rename(&before, &after)
	paired := make([]bool, len(from))
	for i, ref := range after.refs {
		j, ok := before.index[identityOf(ref)]
		if !ok {
			j, ok = renamed[i]
		}
		if !ok {
			out.Objects = append(out.Objects, d.created(ref, after.objects[i]))
			continue
		}
		paired[j] = true
		out.Objects = append(out.Objects, d.pair(before.refs[j], ref, before.objects[j], after.objects[i]))
	}
	for j, ref := range before.refs {
		if !paired[j] {
			out.Objects = append(out.Objects, d.deleted(ref, before.objects[j]))
		}
	}
	for i, rule := range opts.Ignore {
		if !d.matched[i] {
			out.Unmatched = append(out.Unmatched, rule)
		}
	}
	return out, nil
}

// differ compares pairs of objects.
type differ struct {
	opts     *Options
	defaults *defaulter
	ignore   *Ignorer
	matched  []bool // by ignore rule
}

func (d *differ) created(ref ObjectRef, after map[string]any) ObjectChange {
	after = folded(after)
	d.ignore.keep(nil, after, ref, nil, d.matched)
	return ObjectChange{Object: ref, Action: Create, Effect: EffectNone, After: shown(after, ref)}
}

func (d *differ) deleted(ref ObjectRef, before map[string]any) ObjectChange {
	before = folded(before)
	d.ignore.keep(before, nil, ref, nil, d.matched)
	return ObjectChange{Object: ref, Action: Delete, Effect: EffectNone, Before: shown(before, ref)}
}

func (d *differ) pair(was, is ObjectRef, before, after map[string]any) ObjectChange {
	c := ObjectChange{Object: is, Action: Unchanged, Effect: EffectNone}
	typ := typeOf(is.APIVersion, is.Kind)
	if was != is {
		c.From = &was
	}
	before, after = folded(before), folded(after)
	var holders []holder
	var own fieldSet
	if d.opts.Manager != "" {
		own, _ = split(before, d.opts)
	}
	kept, ignored := d.ignore.keep(before, after, is, own, d.matched)
	after, c.Ignored = kept.object, ignored
	if d.opts.Manager != "" {
		p := predict(before, after, d.opts, d.defaults)
		c.Adopted, c.Kept, c.Foreign = p.adopted, p.kept, p.foreign
		after, holders = p.after, p.holders
	}
	c.Before, c.After = shown(before, was), shown(after, is)
	if was, is := nameless(c.Before), nameless(c.After); !equal(was, is, typ) {
		c.Fields = compare(was, is, typ, d.defaults)
	}
	for i := range c.Fields {
		c.Fields[i].Owners = ownersOf(holders, c.Fields[i].Path)
	}
	for i := range c.Adopted {
		c.Adopted[i].Owners = ownersOf(holders, c.Adopted[i].Path)
	}
	if len(c.Fields) > 0 || c.From != nil {
		c.Action = Update
	}
	judge(&c)
	return c
}

// nameless gives an object without what identifies it, which From tells of; its version
// is a field like any other.
func nameless(object map[string]any) map[string]any {
	out := maps.Clone(object)
	delete(out, "kind")
	if metadata, ok := out["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		for _, name := range []string{"name", "namespace", "generateName", "deletionTimestamp"} {
			delete(metadata, name)
		}
		out["metadata"] = metadata
	}
	return out
}

// shown gives an object without its status and what the API server writes into its
// metadata, in the namespace that it goes to.
func shown(object map[string]any, ref ObjectRef) map[string]any {
	out := content(object)
	metadata := make(map[string]any)
	if m, ok := out["metadata"].(map[string]any); ok {
		metadata = maps.Clone(m)
	}
	given, _ := object["metadata"].(map[string]any)
	for _, name := range []string{"name", "generateName", "deletionTimestamp"} {
		if v, ok := given[name]; ok {
			metadata[name] = v
		}
	}
	if ref.Namespace != "" {
		metadata["namespace"] = ref.Namespace
	}
	out["metadata"] = metadata
	return out
}

// folded gives a Secret with its stringData in data, as the API server stores it. With
// server-side apply, stringData itself would never be taken away again
// (kubernetes/kubernetes#108008).
func folded(object map[string]any) map[string]any {
	if kindOf(object) != "Secret" || apiVersionOf(object) != "v1" {
		return object
	}
	plain, ok := object["stringData"].(map[string]any)
	if !ok {
		return object
	}
	out := maps.Clone(object)
	delete(out, "stringData")
	if len(plain) == 0 {
		return out
	}
	data, _ := out["data"].(map[string]any)
	data = maps.Clone(data)
	if data == nil {
		data = make(map[string]any, len(plain))
	}
	for name, v := range plain {
		if s, ok := v.(string); ok {
			data[name] = base64.StdEncoding.EncodeToString([]byte(s))
		}
	}
	out["data"] = data
	return out
}

// ownersOf gives the field managers that own a field, or something below it.
func ownersOf(holders []holder, path Path) []string {
	for _, e := range path {
		if len(holders) == 0 {
			return nil
		}
		holders = e.heldBelow(holders)
	}
	return names(holders)
}

// heldBelow gives the holders of one step further. Who owns a list or mapping as a whole
// owns all of it.
func (e PathElement) heldBelow(holders []holder) []holder {
	var key string
	switch {
	case e.Field != "":
		key = "f:" + e.Field
	case e.Key != nil:
		item := make(map[string]any, len(e.Key))
		keys := make([]keyField, 0, len(e.Key))
		for _, k := range e.Key {
			item[k.Name] = k.Value
			keys = append(keys, keyField{name: k.Name})
		}
		key = string(appendItemKey(nil, item, keys))
	case e.Value != nil:
		key = string(appendValueKey(nil, e.Value))
	}
	var out []holder
	for _, h := range holders {
		if fields, ok := h.fields[key].(map[string]any); ok {
			out = append(out, holder{name: h.name, fields: fields})
		} else if len(h.fields) == 0 {
			out = append(out, h)
		}
	}
	return slices.Clip(out)
}
