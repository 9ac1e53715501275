package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	utiljson "sigs.k8s.io/json"

	"kudevops.io/appsvc/api/v1alpha1"
)

// AppService decodes an AppService strictly: an unknown field, a value of the
// wrong type, a null in a list and what a patch left behind are faults, all of which
// are reported. The result is nil when a value could not be read at all; otherwise
// it can be looked at further, to find more faults, even where there are some.
func (o *Object) AppService() (*v1alpha1.AppService, []*Fault) {
	c := o.convert(true)
	if c.stopped {
		return nil, c.sorted()
	}
	app := new(v1alpha1.AppService)
	strict, err := utiljson.UnmarshalStrict(c.out, app)
	if err != nil {
		c.faults = append(c.faults, o.typeFaults(c.out, err)...)
	}
	for _, e := range strict {
		c.faults = append(c.faults, o.unknownField(e))
	}
	for _, f := range c.fractions {
		// The one type that takes a fraction is a quantity, and in a custom resource
		// the API server takes it for a string only. Any other type has said so.
		if !slices.ContainsFunc(c.faults, func(known *Fault) bool { return known.Path == f.at }) {
			c.faults = append(c.faults, o.Fault(f.at, "is a fraction, and must be a string or a whole number: quote it"))
		}
	}
	if err != nil || c.unreadable {
		app = nil
	}
	return app, c.sorted()
}

var unknownField = regexp.MustCompile(`^unknown field "(.*)"$`)

func (o *Object) unknownField(err error) *Fault {
	m := unknownField.FindStringSubmatch(err.Error())
	if m == nil {
		return o.Fault("", err.Error())
	}
	return o.Fault(m[1], "unknown field")
}

// typeFaults names every value of the wrong type, and the unknown fields: a decoder
// stops at the first wrong value, so each is decoded by itself.
func (o *Object) typeFaults(text []byte, err error) []*Fault {
	var tree any
	if json.Unmarshal(text, &tree) != nil {
		return []*Fault{o.Fault("", err.Error())}
	}
	var faults []*Fault
	probe(reflect.TypeFor[v1alpha1.AppService](), tree, "", func(path, message string) {
		faults = append(faults, o.Fault(path, message))
	})
	if len(faults) == 0 {
		faults = append(faults, o.Fault("", typeMessage(err)))
	}
	return faults
}

func typeMessage(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	got, _, _ := strings.Cut(wrong.Value, " ")
	message := fmt.Sprintf("is %s, must be %s", jsonTypeName(got), typeName(wrong.Type))
	if got == "bool" && wrong.Type.Kind() == reflect.String {
		message += " (YAML reads yes, no, on, off, y, n, true and false as booleans: quote it)"
	} else if got == "number" && wrong.Type.Kind() == reflect.String {
		message += ": quote it"
	}
	return message
}

// jsonTypeName gives the decoder's name of a type the words that typeName uses.
func jsonTypeName(name string) string {
	switch name {
	case "array":
		return "a list"
	case "object":
		return "a mapping"
	case "bool":
		return "a boolean"
	default:
		return "a " + name
	}
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a mapping"
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a string"
	case reflect.Int32:
		return "an integer of 32 bits"
	case reflect.Int64:
		return "an integer of 64 bits"
	default:
		return "a " + t.Kind().String()
	}
}

// probe decodes each leaf of a tree into the type that it is meant for, and
// reports those that do not fit or have no place.
func probe(t reflect.Type, value any, path string, report func(path, message string)) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	_, custom := reflect.New(t).Interface().(json.Unmarshaler)
	if !custom {
		switch v := value.(type) {
		case map[string]any:
			switch t.Kind() {
			case reflect.Struct:
				for key, child := range v {
					if ft, ok := fieldType(t, key); ok {
						probe(ft, child, join(path, key), report)
					} else {
						report(join(path, key), "unknown field")
					}
				}
				return
			case reflect.Map:
				for key, child := range v {
					probe(t.Elem(), child, path+"["+key+"]", report)
				}
				return
			}
		case []any:
			if t.Kind() == reflect.Slice {
				for i, child := range v {
					probe(t.Elem(), child, fmt.Sprintf("%s[%d]", path, i), report)
				}
				return
			}
		}
	}
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, reflect.New(t).Interface())
	}
	if err != nil {
		report(path, typeMessage(err))
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// fieldType finds the field of a struct that JSON calls key, embedded ones too.
func fieldType(t reflect.Type, key string) (reflect.Type, bool) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == key:
			return f.Type, true
		case name == "" && f.Anonymous:
			if found, ok := fieldType(f.Type, key); ok {
				return found, true
			}
		}
	}
	return nil, false
}
