package diff

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// Fault is something that makes an object impossible to compare, because no API server
// takes it.
type Fault struct {
	Object ObjectRef
	// Path is the field, empty for the object as a whole.
	Path Path
	// Message says what is wrong, in lower case, and holds no value of the object.
	Message string
}

// Error gives the object, the field and what is wrong.
func (f Fault) Error() string {
	if len(f.Path) == 0 {
		return f.Object.String() + ": " + f.Message
	}
	return f.Object.String() + ": " + f.Path.String() + ": " + f.Message
}

// Faults are all that was found, in the order of the objects.
type Faults []Fault

// Error gives a line for each.
func (f Faults) Error() string {
	errs := make([]error, len(f))
	for i := range f {
		errs[i] = f[i]
	}
	return errors.Join(errs...).Error()
}

// checker finds what the API server refuses of an object of any kind: values of the wrong
// type, and two items of a list with one key.
type checker struct {
	object ObjectRef
	faults Faults
}

func check(ref ObjectRef, object map[string]any) Faults {
	c := checker{object: ref}
	c.mapping(nil, object, typeOf(ref.APIVersion, ref.Kind))
	return c.faults
}

func (c *checker) fault(path Path, message string) {
	c.faults = append(c.faults, Fault{Object: c.object, Path: path, Message: message})
}

func (c *checker) mapping(path Path, m map[string]any, t *typeInfo) {
	if t.shape == shapeAny {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		typ, _ := t.at(name)
		c.value(path, name, m[name], typ)
	}
}

func (c *checker) value(path Path, name string, v any, t *typeInfo) {
	if v == nil || t.shape == shapeAny {
		return
	}
	if message := mismatch(v, t); message != "" {
		c.fault(path.field(name), message)
		return
	}
	switch v := v.(type) {
	case map[string]any:
		c.mapping(path.field(name), v, t)
	case []any:
		c.items(path.field(name), v, t)
	}
}

// mismatch says what is wrong with a value of a type.
func mismatch(v any, t *typeInfo) string {
	_, isText := v.(string)
	_, isBool := v.(bool)
	_, isMapping := v.(map[string]any)
	_, isList := v.([]any)
	switch t.shape {
	case shapeText, shapeTime, shapeBinary:
		if !isText && !isMapping && !isList {
			return "must be text: put it in quotes"
		}
		return when(!isText, "must be text")
	case shapeNumber:
		return when(isText || isBool || isMapping || isList, "must be a number")
	case shapeBoolean:
		return when(!isBool, "must be true or false")
	case shapeQuantity, shapeIntOrString:
		return when(isBool || isMapping || isList, "must be a number or text")
	case shapeStruct, shapeAtomicStruct, shapeMap, shapeAtomicMap:
		return when(!isMapping, "must be a mapping")
	default:
		return when(!isList, "must be a list")
	}
}

func when(wrong bool, message string) string {
	if wrong {
		return message
	}
	return ""
}

func (c *checker) items(path Path, items []any, t *typeInfo) {
	seen := make(map[string]bool, len(items))
	for i, item := range items {
		if message := mismatch(item, t.item()); message != "" && t.item().shape != shapeAny {
			c.fault(path.with(PathElement{Index: i}), message)
			continue
		}
		m, ok := item.(map[string]any)
		if !ok {
			continue
		}
		if t.shape == shapeKeyed {
			key := string(appendItemKey(nil, m, t.keys))
			if seen[key] {
				c.fault(path.with(PathElement{Index: i}), "is there twice: another item has the same "+keyNames(t.keys))
			}
			seen[key] = true
		}
		c.mapping(path.with(PathElement{Index: i}), m, t.item())
	}
}

func keyNames(keys []keyField) string {
	list := make([]string, len(keys))
	for i := range keys {
		list[i] = keys[i].name
	}
	return strings.Join(list, " and ")
}
