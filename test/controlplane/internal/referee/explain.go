package referee

import (
	"encoding/json"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/diff"
)

// explainStored names the reasons why the content of a kind without a type is not what was
// predicted: with them seen to, it is.
func (j *judgement) explainStored() string {
	var names []string
	var predicted any = content(&unstructured.Unstructured{Object: j.said.After})
	stored, live := content(j.answer), content(j.live)
	for _, e := range []struct {
		name  string
		apply func(predicted any) any
	}{
		{"a default inside a list", func(v any) any { return withDefaults(v, stored, false) }},
		{"a default comes back", func(v any) any { return withReturned(v, live, stored) }},
		{"nothing in managedFields tells how it is merged", func(v any) any { return withUntold(v, stored, j.untold()) }},
	} {
		next := e.apply(predicted)
		if !reflect.DeepEqual(next, predicted) {
			names = append(names, e.name)
		}
		if predicted = next; reflect.DeepEqual(predicted, any(stored)) {
			return strings.Join(names, ", ")
		}
	}
	return ""
}

// merged are the fields of kinds without a type, in spec, that are not merged as pkg/diff
// takes for granted where it knows nothing: mappings that are replaced as a whole, and lists
// that are not.
var merged = map[string][]string{"ServiceMonitor": {"selector"}, "Widget": {"whole", "tags", "numbers", "ports", "parts"}}

// untold gives those of which nobody owns a part, which would tell.
func (j *judgement) untold() []string {
	var out []string
	for _, field := range merged[j.live.GetKind()] {
		told := false
		for _, e := range j.live.GetManagedFields() {
			var fields map[string]any
			if e.FieldsV1 != nil && json.Unmarshal(e.FieldsV1.GetRawBytes(), &fields) == nil {
				told = told || len(at(fields, "f:spec", "f:"+field)) > 0
			}
		}
		if !told {
			out = append(out, field)
		}
	}
	return out
}

func withUntold(predicted any, stored map[string]any, fields []string) any {
	out, _ := deepCopyValue(predicted).(map[string]any)
	for _, field := range fields {
		if v, ok := at(stored, "spec")[field]; ok {
			made(out, "spec")[field] = v
		} else {
			delete(made(out, "spec"), field)
		}
	}
	return out
}

// withReturned gives what was predicted with the fields that are live and stored again.
func withReturned(predicted, live, stored any) any {
	p, isMapping := predicted.(map[string]any)
	l, wasMapping := live.(map[string]any)
	s, staysMapping := stored.(map[string]any)
	if predicted == nil && wasMapping && staysMapping {
		p, isMapping = map[string]any{}, true
	}
	if !isMapping || !wasMapping || !staysMapping {
		return predicted
	}
	out := make(map[string]any, len(p))
	for name := range p {
		out[name] = withReturned(p[name], l[name], s[name])
	}
	for name := range s {
		if _, ok := p[name]; ok {
			continue
		}
		if _, was := l[name]; was {
			out[name] = s[name]
		} else if below := withReturned(nil, l[name], s[name]); below != nil {
			out[name] = below
		}
	}
	return out
}

// explain names the reason why Changed errs on the safe side: written as the API server
// stores it, what is wanted would be what is there.
func (j *judgement) explain() string {
	checker := diff.NewChecker(v1alpha1.FieldManager)
	for _, e := range explanations {
		if e.unknown && j.subject.shipped {
			continue
		}
		written, _ := e.written(j.desired.Object, j.live.Object).(map[string]any)
		if !checker.Changed(&unstructured.Unstructured{Object: written}, j.live) {
			return e.name
		}
	}
	return ""
}

// explanations are the ways to write something that Changed does not see through.
var explanations = []struct {
	name string
	// unknown says that it holds for kinds alone whose type pkg/diff does not know.
	unknown bool
	// written gives what is wanted as the API server stores it.
	written func(desired, live any) any
}{
	{"an empty value where the API server fills in a default", false, withoutEmpty},
	{"a default inside a list of a kind without a type", true, func(desired, live any) any { return withDefaults(desired, live, false) }},
}

// withoutEmpty gives what is wanted with the values that are live in place of empty ones.
func withoutEmpty(desired, live any) any {
	switch d := desired.(type) {
	case map[string]any:
		l, _ := live.(map[string]any)
		out := make(map[string]any, len(d))
		for name := range d {
			out[name] = withoutEmpty(d[name], l[name])
		}
		if len(out) == 0 && len(l) > 0 {
			return l
		}
		return out
	case []any:
		l, _ := live.([]any)
		if len(d) == 0 && len(l) > 0 {
			return l
		}
		out := make([]any, len(d))
		for i := range d {
			out[i] = withoutEmpty(d[i], counterpart(d[i], i, l, len(d)))
		}
		return out
	case nil:
		return live
	case string, int64, float64, bool:
		if live != nil && reflect.ValueOf(d).IsZero() {
			return live
		}
	}
	return desired
}

// counterpart gives the item of a list that is meant by the i-th of n: the one at its place
// or, where there are more or fewer, one with the same key.
func counterpart(item any, i int, list []any, n int) any {
	if len(list) == n {
		return list[i]
	}
	m, _ := item.(map[string]any)
	for _, name := range keyNames {
		if m[name] == nil {
			continue
		}
		for _, other := range list {
			if o, ok := other.(map[string]any); ok && reflect.DeepEqual(whole(o[name]), whole(m[name])) {
				return other
			}
		}
	}
	return nil
}

// withDefaults gives what is wanted with the fields that are live in items of lists.
func withDefaults(desired, live any, inside bool) any {
	switch d := desired.(type) {
	case map[string]any:
		l, _ := live.(map[string]any)
		out := make(map[string]any, len(d))
		for name := range d {
			out[name] = withDefaults(d[name], l[name], inside)
		}
		for name := range l {
			if _, ok := out[name]; !ok && inside {
				out[name] = l[name]
			}
		}
		return out
	case []any:
		l, _ := live.([]any)
		if len(l) != len(d) {
			return d
		}
		out := make([]any, len(d))
		for i := range d {
			out[i] = withDefaults(d[i], l[i], true)
		}
		return out
	}
	return desired
}
