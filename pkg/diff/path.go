package diff

import (
	"fmt"
	"strconv"
	"strings"
)

// Path leads from an object to one of its fields.
type Path []PathElement

// PathElement is one step: into a field, or to an item of a list, which has a key in a
// keyed list, a value in a set and an index in any other.
type PathElement struct {
	// Field is the name of a field; empty for an item of a list.
	Field string
	// Key names an item of a keyed list, sorted by name.
	Key []KeyValue
	// Value is an item of a set.
	Value any
	// Index is where the item stands: in the list that holds it, the later one when both
	// do. It identifies an item only in a list without keys.
	Index int
}

// KeyValue is a field that is part of the key of an item.
type KeyValue struct {
	Name  string
	Value any
}

// String gives a path as people write it:
//
//	spec.template.spec.containers[name=app].image
//	metadata.annotations[example.com/team]
//	metadata.finalizers[="example.com/protect"]
//	spec.rules[0].host
func (p Path) String() string {
	var b strings.Builder
	for _, e := range p {
		e.write(&b)
	}
	return b.String()
}

func (e PathElement) write(b *strings.Builder) {
	switch {
	case e.Field != "" && !plainField(e.Field):
		b.WriteString("[" + e.Field + "]")
	case e.Field != "":
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(e.Field)
	case e.Key != nil:
		b.WriteByte('[')
		for i, k := range e.Key {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(k.Name + "=" + plainText(k.Value))
		}
		b.WriteByte(']')
	case e.Value != nil:
		fmt.Fprintf(b, "[=%q]", plainText(e.Value))
	default:
		b.WriteString("[" + strconv.Itoa(e.Index) + "]")
	}
}

// plainField reports whether a name can stand after a dot.
func plainField(name string) bool {
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '$':
		default:
			return false
		}
	}
	return true
}

// with gives the path one step further, in memory of its own.
func (p Path) with(e PathElement) Path {
	out := make(Path, len(p), len(p)+1)
	copy(out, p)
	return append(out, e)
}

// field gives the path of a field.
func (p Path) field(name string) Path { return p.with(PathElement{Field: name}) }

// hasFields reports whether the path begins with these fields.
func (p Path) hasFields(names ...string) bool {
	if len(p) < len(names) {
		return false
	}
	for i, name := range names {
		if p[i].Field != name {
			return false
		}
	}
	return true
}

// under reports whether a path is that of a field or of something below it.
func (p Path) under(field Path) bool {
	return len(p) >= len(field) && p[:len(field)].String() == field.String()
}

// lookup follows a path into an object.
func lookup(object map[string]any, path Path) (any, bool) {
	var at any = object
	for _, e := range path {
		var ok bool
		if at, ok = e.step(at); !ok {
			return nil, false
		}
	}
	return at, true
}

func (e PathElement) step(at any) (any, bool) {
	if e.Field != "" {
		m, _ := at.(map[string]any)
		v, ok := m[e.Field]
		return v, ok
	}
	items, ok := at.([]any)
	if !ok {
		return nil, false
	}
	if e.Key == nil && e.Value == nil {
		if e.Index < 0 || e.Index >= len(items) {
			return nil, false
		}
		return items[e.Index], true
	}
	for _, item := range items {
		if e.matches(item) {
			return item, true
		}
	}
	return nil, false
}

// matches reports whether an item of a list has the key or the value.
func (e PathElement) matches(item any) bool {
	if e.Key == nil {
		return equalScalars(item, e.Value, unknown)
	}
	m, ok := item.(map[string]any)
	if !ok {
		return false
	}
	for _, k := range e.Key {
		v, ok := m[k.Name]
		switch {
		case !ok && k.Name == "protocol":
			v = "TCP" // a port's default, and the only default of a key
		case !ok:
			v = ""
		}
		if !equalScalars(v, k.Value, unknown) {
			return false
		}
	}
	return true
}

// plainText gives a scalar as text.
func plainText(v any) string {
	if f, ok := v.(float64); ok {
		return formatFloat(f)
	}
	return fmt.Sprint(v)
}
