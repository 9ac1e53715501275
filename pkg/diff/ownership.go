package diff

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fieldSet is what a field manager owns, in the form of managedFields: "f:NAME" leads to
// a field, `k:{"name":"app"}` to an item of a keyed list, `v:"a"` to an item of a set,
// and "." says that what holds it is owned itself. An empty fieldSet is a field that is
// owned as a whole.
type fieldSet = map[string]any

// managerEntry is an entry of metadata.managedFields.
type managerEntry struct {
	manager, operation, apiVersion, subresource string
	fields                                      fieldSet
}

// entries gives managedFields as they stand. Entries in another form are left out.
func entries(object map[string]any) []managerEntry {
	metadata, _ := object["metadata"].(map[string]any)
	list, _ := metadata["managedFields"].([]any)
	out := make([]managerEntry, 0, len(list))
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, entryOf(m))
		}
	}
	return out
}

func entryOf(m map[string]any) managerEntry {
	var e managerEntry
	e.manager, _ = m["manager"].(string)
	e.operation, _ = m["operation"].(string)
	e.apiVersion, _ = m["apiVersion"].(string)
	e.subresource, _ = m["subresource"].(string)
	e.fields, _ = m["fieldsV1"].(map[string]any)
	return e
}

// replaces reports whether two entries are the same one to the API server, which drops the
// first when it writes. It makes such entries itself, when an object is scaled whose
// replicas were set in another way.
func (e *managerEntry) replaces(other managerEntry) bool {
	return e.manager == other.manager && e.operation == other.operation && e.subresource == other.subresource &&
		(e.apiVersion == other.apiVersion || e.operation == "Apply")
}

// applied reports whether this is the entry that a server-side apply of manager writes.
func (e *managerEntry) applied(manager string) bool {
	return e.manager == manager && e.operation == "Apply" && e.subresource == ""
}

// appendFieldKey appends the key of a field: "f:NAME".
func appendFieldKey(buf []byte, name string) []byte {
	buf = append(buf, 'f', ':')
	return append(buf, name...)
}

// appendItemKey appends the key of an item of a keyed list, as the API server writes it:
// compact JSON, names sorted, strings escaped as for HTML.
func appendItemKey(buf []byte, item map[string]any, keys []keyField) []byte {
	buf = append(buf, 'k', ':', '{')
	for i, k := range keys {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = appendJSONText(buf, k.name)
		buf = append(buf, ':')
		if v, ok := item[k.name]; ok {
			buf = appendJSON(buf, v)
		} else {
			buf = appendJSONText(buf, k.absent)
		}
	}
	return append(buf, '}')
}

// appendValueKey appends the key of an item of a set.
func appendValueKey(buf []byte, v any) []byte { return appendJSON(append(buf, 'v', ':'), v) }

func appendJSON(buf []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return appendJSONText(buf, v)
	case bool:
		return strconv.AppendBool(buf, v)
	}
	if i, ok := asInt(v); ok {
		return strconv.AppendInt(buf, i, 10)
	}
	written, err := json.Marshal(v)
	if err != nil {
		return append(buf, "null"...) // nothing that JSON holds fails to be written
	}
	return append(buf, written...)
}

func appendJSONText(buf []byte, s string) []byte {
	for _, c := range []byte(s) {
		if c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			written, err := json.Marshal(s)
			if err != nil {
				return buf // a string is always written
			}
			return append(buf, written...)
		}
	}
	buf = append(buf, '"')
	buf = append(buf, s...)
	return append(buf, '"')
}

// formatFloat writes a float as JSON does.
func formatFloat(f float64) string {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return ""
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// keysOf gives the keys of a list: those of its type or, where that is not known, those
// by which the API server has told its items apart in owned. It gives none for a list
// that is replaced as a whole.
func keysOf(t *typeInfo, owned fieldSet) []keyField {
	if t.shape == shapeKeyed {
		return t.keys
	}
	if t.shape != shapeAny {
		return nil
	}
	for key := range owned {
		written, ok := strings.CutPrefix(key, "k:")
		if !ok {
			continue
		}
		var values map[string]any
		if json.Unmarshal([]byte(written), &values) != nil {
			return nil
		}
		keys := make([]keyField, 0, len(values))
		for name := range values {
			keys = append(keys, keyField{name: name})
		}
		slices.SortFunc(keys, func(a, b keyField) int { return strings.Compare(a.name, b.name) })
		return keys
	}
	return nil
}

// sameItem reports whether two items of a keyed list have the same key.
func sameItem(a, b map[string]any, keys []keyField) bool {
	for _, k := range keys {
		av, aOK := a[k.name]
		bv, bOK := b[k.name]
		if !aOK && k.absent != "" {
			av = k.absent
		}
		if !bOK && k.absent != "" {
			bv = k.absent
		}
		if !equalScalars(av, bv, unknown) {
			return false
		}
	}
	return true
}

// size counts the fields and items of a set, without the mark for the set itself.
func size(owned fieldSet) int {
	if _, ok := owned["."]; ok {
		return len(owned) - 1
	}
	return len(owned)
}

// Migrates names the field managers whose fields pkg/apply makes those of opts.Manager
// before it applies to live: leftovers of its own, and opts.Migrate at the first contact.
// Sorted, each once.
func Migrates(live *unstructured.Unstructured, opts Options) []string {
	list := entries(live.Object)
	first := firstContact(list, opts.Manager)
	var out []string
	for _, e := range list {
		if e.migrates(opts.Manager, opts.Migrate, first) {
			out = append(out, e.manager)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Owners tells who owns a field of a live object, or something below it: whether
// opts.Manager does, counting what would be migrated, and which others do, sorted.
func Owners(live *unstructured.Unstructured, path Path, opts Options) (own bool, others []string) {
	fields, holders := split(live.Object, &opts)
	if len(fields) > 0 {
		own = len(ownersOf([]holder{{name: opts.Manager, fields: fields}}, path)) > 0
	}
	return own, ownersOf(holders, path)
}

// firstContact reports whether the field manager has not applied yet.
func firstContact(list []managerEntry, manager string) bool {
	return !slices.ContainsFunc(list, func(e managerEntry) bool { return e.applied(manager) })
}
