package gitops

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"kudevops.io/appsvc/internal/manifest"
)

// object is one of a stream, as plain JSON values.
type object map[string]any

// objects reads a stream.
func objects(tb testing.TB, stream string) []object {
	tb.Helper()
	var list []object
	for r := manifest.NewReader("stream", strings.NewReader(stream)); ; {
		doc, err := r.Next()
		if err == io.EOF {
			return list
		}
		if err != nil {
			tb.Fatal(err)
		}
		found, _, faults := manifest.Objects(doc)
		for _, o := range found {
			value, broken := o.Value()
			faults = append(faults, broken...)
			list = append(list, value)
		}
		if len(faults) > 0 {
			tb.Fatal(faults[0])
		}
	}
}

// byID gives objects by kind, namespace and name, each of which may occur once.
func byID(tb testing.TB, list []object) map[string]object {
	tb.Helper()
	m := make(map[string]object, len(list))
	for _, o := range list {
		if m[o.id()] != nil {
			tb.Errorf("%s occurs twice", o.id())
		}
		m[o.id()] = o
	}
	return m
}

// id is kind, namespace and name.
func (o object) id() string {
	return fmt.Sprintf("%v %v/%v", o["kind"], o.at("metadata", "namespace"), o.name())
}

func (o object) kind() string { return fmt.Sprint(o["kind"]) }

func (o object) name() string { return fmt.Sprint(o.at("metadata", "name")) }

// at is the value at a path of keys, or nil.
func (o object) at(path ...string) any {
	var value any = map[string]any(o)
	for _, key := range path {
		m, _ := value.(map[string]any)
		value = m[key]
	}
	return value
}
