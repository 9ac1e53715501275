package crd

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"

	"kudevops.io/appsvc/api/v1alpha1"
)

// Case is an AppService at the edge of one rule of the schema. Cases are for tests.
type Case struct {
	// Name is the field, the rule and the side that the case is on. It is unique.
	Name string
	// Field is the path that an error about the rule begins with.
	Field string
	// Broken says that the rule is broken, and that no other one is. Otherwise none is.
	Broken bool
	// Object is the AppService. The caller owns it.
	Object map[string]any
}

// Cases gives AppServices on both sides of each rule below spec: required fields,
// enumerations, limits, patterns, keys of lists, and CEL. The rules are read out of the
// schema, so that one which is added has its cases, or fails here when it is of a kind
// that this function does not know. Types and formats have no cases. The order is
// always the same.
func Cases() ([]Case, error) {
	props, err := schemaProps()
	if err != nil {
		return nil, err
	}
	w := caseWalk{seen: map[string]bool{}}
	spec := props.Properties["spec"]
	w.walk(node{path: "spec", at: "spec", schema: &spec, wrap: appService})
	return w.cases, errors.Join(w.errs...)
}

// node is a place in the schema.
type node struct {
	// path has [] for each list and {} for each mapping, at has real positions.
	path, at string
	schema   *apiextensions.JSONSchemaProps
	// wrap puts a value into an AppService, at this place.
	wrap func(any) map[string]any
}

// absent stands for a field that is left out.
type absent struct{}

type caseWalk struct {
	cases []Case
	seen  map[string]bool
	errs  []error
}

func appService(spec any) map[string]any {
	return map[string]any{
		"apiVersion": v1alpha1.APIVersion, "kind": v1alpha1.Kind,
		"metadata": map[string]any{"name": "web"}, "spec": spec,
	}
}

func (w *caseWalk) walk(n node) {
	w.objectRules(n)
	w.valueRules(n)
	w.listRules(n)
	w.expressions(n)
	for _, name := range slices.Sorted(maps.Keys(n.schema.Properties)) {
		child := n.schema.Properties[name]
		w.walk(node{
			path: n.path + "." + name, at: n.at + "." + name, schema: &child,
			wrap: func(v any) map[string]any { return n.wrap(with(n, name, v)) },
		})
	}
	if n.schema.Items != nil {
		w.walk(node{
			path: n.path + "[]", at: n.at + "[0]", schema: n.schema.Items.Schema,
			wrap: func(v any) map[string]any { return n.wrap([]any{v}) },
		})
	}
	if values := n.schema.AdditionalProperties; values != nil && values.Schema != nil {
		key := example(n.path+"{key}", "x")
		w.walk(node{
			path: n.path + "{}", at: n.at + "[" + key.(string) + "]", schema: values.Schema,
			wrap: func(v any) map[string]any { return n.wrap(map[string]any{key.(string): v}) },
		})
	}
}

// with is the least valid value of an object, with one field set or left out.
func with(n node, name string, v any) map[string]any {
	m := minimal(n.path, n.schema).(map[string]any)
	// Of what excludes each other, the one that is asked for.
	for _, group := range alternatives() {
		if slices.Contains(group, name) {
			for _, other := range group {
				delete(m, other)
			}
		}
	}
	for sibling, value := range beside()[n.path+"."+name] {
		m[sibling] = value
	}
	if (v == absent{}) {
		delete(m, name)
	} else {
		m[name] = v
	}
	return m
}

func (w *caseWalk) add(n node, field, what string, broken bool, v any) {
	c := Case{Name: n.path + ": " + what, Field: field, Broken: broken}
	// Values are shared between cases until here.
	text, err := json.Marshal(n.wrap(v))
	if err == nil {
		err = json.Unmarshal(text, &c.Object)
	}
	if err != nil {
		w.errs = append(w.errs, fmt.Errorf("%s: %w", c.Name, err))
		return
	}
	if !broken && w.seen[string(text)] {
		return
	}
	w.seen[string(text)] = true
	w.cases = append(w.cases, c)
}

func (w *caseWalk) objectRules(n node) {
	for _, name := range n.schema.Required {
		field := n.schema.Properties[name]
		w.add(n, n.at+"."+name, name+" is given", false, with(n, name, minimal(n.path+"."+name, &field)))
		w.add(n, n.at+"."+name, name+" is absent", true, with(n, name, absent{}))
	}
	entries := func(count int64) map[string]any {
		m := map[string]any{}
		for i := range int(count) {
			m[varied(example(n.path+"{key}", "x"), i).(string)] = "x"
		}
		return m
	}
	if limit := n.schema.MaxProperties; limit != nil {
		w.add(n, n.at, fmt.Sprintf("%d entries of at most %[1]d", *limit), false, entries(*limit))
		w.add(n, n.at, fmt.Sprintf("%d entries of at most %d", *limit+1, *limit), true, entries(*limit+1))
	}
	if limit := n.schema.MinProperties; limit != nil {
		w.add(n, n.at, fmt.Sprintf("%d entries of at least %[1]d", *limit), false, entries(*limit))
		w.add(n, n.at, fmt.Sprintf("%d entries of at least %d", *limit-1, *limit), true, entries(*limit-1))
	}
}

func (w *caseWalk) valueRules(n node) {
	s := n.schema
	for _, value := range s.Enum {
		w.add(n, n.at, fmt.Sprintf("%q, which is in the enumeration", value), false, value)
	}
	if len(s.Enum) > 0 {
		w.add(n, n.at, "a word that is not in the enumeration", true, "Other")
	}
	if s.Pattern != "" {
		w.add(n, n.at, "a text that fits the pattern", false, minimal(n.path, s))
		w.add(n, n.at, "a text that does not fit the pattern", true, "-?")
	}
	limit := func(have bool, name string, value, beyond int64, make func(int64) any) {
		if have {
			w.add(n, n.at, fmt.Sprintf("%d, which is the %s", value, name), false, make(value))
			w.add(n, n.at, fmt.Sprintf("%d, beyond the %s", beyond, name), true, make(beyond))
		}
	}
	number := func(v int64) any { return v }
	prefix, _ := example(n.path+"{prefix}", "").(string)
	text := func(v int64) any { return prefix + strings.Repeat("a", int(v)-len(prefix)) }
	limit(s.Minimum != nil, "minimum", int64(deref(s.Minimum)), int64(deref(s.Minimum))-1, number)
	limit(s.Maximum != nil, "maximum", int64(deref(s.Maximum)), int64(deref(s.Maximum))+1, number)
	limit(s.MinLength != nil, "least length", deref(s.MinLength), deref(s.MinLength)-1, text)
	limit(s.MaxLength != nil, "greatest length", deref(s.MaxLength), deref(s.MaxLength)+1, text)
	if s.Not != nil || len(s.AllOf) > 0 || len(s.OneOf) > 0 || s.MultipleOf != nil || s.UniqueItems || s.ExclusiveMinimum || s.ExclusiveMaximum {
		w.errs = append(w.errs, fmt.Errorf("%s has a rule of a kind that has no cases", n.path))
	}
}

func deref[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}

func (w *caseWalk) listRules(n node) {
	s := n.schema
	if s.Items == nil {
		return
	}
	items := func(count int64) []any {
		list := make([]any, 0, count)
		for i := range int(count) {
			list = append(list, varied(minimal(n.path+"[]", s.Items.Schema), i))
		}
		return list
	}
	if limit := s.MaxItems; limit != nil {
		w.add(n, n.at, fmt.Sprintf("%d items of at most %[1]d", *limit), false, items(*limit))
		w.add(n, n.at, fmt.Sprintf("%d items of at most %d", *limit+1, *limit), true, items(*limit+1))
	}
	if limit := s.MinItems; limit != nil {
		w.add(n, n.at, fmt.Sprintf("%d items of at least %[1]d", *limit), false, items(*limit))
		w.add(n, n.at, fmt.Sprintf("%d items of at least %d", *limit-1, *limit), true, items(*limit-1))
	}
	if s.XListType == nil || *s.XListType == "atomic" {
		return
	}
	list := items(2)
	w.add(n, n.at+"[1]", "two items apart", false, list)
	// The same key, but for the name, which another rule may want to differ.
	twin := items(1)
	if m, ok := list[1].(map[string]any); ok && len(s.XListMapKeys) > 0 && !slices.Contains(s.XListMapKeys, "name") && m["name"] != nil {
		m = maps.Clone(m)
		for _, key := range s.XListMapKeys {
			delete(m, key)
			if v, ok := twin[0].(map[string]any)[key]; ok {
				m[key] = v
			}
		}
		twin = append(twin, m)
	} else {
		twin = append(twin, twin[0])
	}
	w.add(n, n.at+"[1]", "one item twice", true, twin)
}

func (w *caseWalk) expressions(n node) {
	for _, rule := range n.schema.XValidations {
		if strings.Contains(rule.Rule, "oldSelf") {
			continue // about changes: validate_test.go
		}
		sides, ok := expressions()[rule.Message]
		if !ok {
			w.errs = append(w.errs, fmt.Errorf("%s: the rule %q has no cases", n.path, rule.Message))
		}
		for i, v := range sides {
			fields, isObject := v.(map[string]any)
			if isObject {
				m := minimal(n.path, n.schema).(map[string]any)
				maps.Copy(m, fields)
				maps.DeleteFunc(m, func(_ string, v any) bool { return v == absent{} })
				v = m
			}
			// What it is reported at is one of the fields that the rule compares.
			w.add(n, n.at, fmt.Sprintf("%s: %s", rule.Message, [...]string{"no", "yes"}[i]), i == 1, v)
		}
	}
}
