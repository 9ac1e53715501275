package diff

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzReports: whatever values a ChangeSet holds, no writer panics, and each keeps what
// it promises.
func FuzzReports(f *testing.F) {
	f.Add([]byte(`{"a":[1,"x\ny",null]}`), []byte(`{"a":[1,"x\nz",{}]}`), "name", "note", "key", uint8(0), 3)
	f.Add([]byte(`"a\r\n"`), []byte(`"b \t\n\n"`), "", "", "", uint8(1), 0)
	f.Add([]byte(`null`), []byte("[[[[[[[[]]]]]]]]"), "```\n````", "</details>\x1b", "a.b/c", uint8(2), -1)
	f.Add([]byte(`1e400`), []byte(`12345678901234567890`), "\xff", "|", "[", uint8(3), 5000)
	f.Add([]byte(strings.Repeat("[", 120)+strings.Repeat("]", 120)), []byte(`"`+strings.Repeat("long ", 1000)+`"`), "x", "", "\n", uint8(4), 2048)
	schema := strictSchema(f)
	f.Fuzz(func(t *testing.T, before, after []byte, name, note, key string, choice uint8, number int) {
		object := arbitraryChange(before, after, name, note, key, choice)
		cs := ChangeSet{
			Objects:   []ObjectChange{object, object, imageChange(name, key, note, int64(number))},
			Unmatched: []IgnoreRule{{Source: name, Kind: key, Paths: []PathPattern{{{Field: key}, {Any: true}}}}},
		}
		r := NewReport(&cs, ReportOptions{MaskKeys: []string{key}})
		first, second := writeAll(t, r), writeAll(t, NewReport(&cs, ReportOptions{MaskKeys: []string{key}}))
		for format, got := range first {
			if !bytes.Equal(got, second[format]) {
				t.Errorf("%s: not the same bytes twice", format)
			}
			if format != "color.txt" && format != "report.json" {
				checkPlain(t, format, got)
			}
		}
		checkSchema(t, schema, first["report.json"])
		checkMarkdown(t, first["report.md"], MarkdownLimit)
		var out bytes.Buffer
		if err := r.WriteMarkdown(&out, MarkdownOptions{Title: note, Limit: max(number, 1)}); err != nil {
			t.Fatal(err)
		}
		checkMarkdown(t, out.Bytes(), max(number, minMarkdownLimit))
		if err := r.WriteUnified(&out, UnifiedOptions{Context: number % 1000}); err != nil {
			t.Fatal(err)
		}
	})
}

// arbitraryChange makes a change of what is given, consistent or not.
func arbitraryChange(before, after []byte, name, note, key string, choice uint8) ObjectChange {
	a, b := anyJSON(before), anyJSON(after)
	ops := []Op{Add, Remove, Replace, Reorder, Rename}
	effects := []Effect{EffectNone, EffectMetadata, EffectOrder, EffectInPlace, EffectScale, EffectRestart, EffectRecreate, EffectAdopt, EffectKept}
	actions := []Action{Create, Update, Delete, Unchanged}
	steps := []PathElement{{Field: key}, {Key: []KeyValue{{"name", name}}}, {Value: a}, {Index: int(choice)}}
	path := Path{{Field: "spec"}, steps[int(choice)%len(steps)], {Field: key}}
	field := FieldChange{
		Path: path, Op: ops[int(choice)%len(ops)], Before: a, After: b, Default: choice%2 == 0,
		Effect: effects[int(choice)%len(effects)], Owners: []string{note},
	}
	below := field
	below.Path = path[:2]
	ref := ObjectRef{APIVersion: "v1", Kind: key, Namespace: note, Name: name}
	was := ref
	was.Name = note
	object := func(v any) map[string]any {
		if m, ok := v.(map[string]any); ok && choice%3 == 0 {
			return m
		}
		return map[string]any{"spec": map[string]any{key: v, name: []any{v}}}
	}
	return ObjectChange{
		Object: ref, From: &was, Action: actions[int(choice)%len(actions)], Effect: field.Effect, Notes: []string{note},
		Fields: []FieldChange{field, below}, Adopted: []FieldChange{field}, Kept: []FieldChange{below}, Foreign: []FieldChange{field},
		Ignored: int(choice), Before: object(a), After: object(b),
	}
}

// anyJSON gives the value that a text is, with whole numbers as int64 as in objects, or
// the text itself.
func anyJSON(text []byte) any {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return string(text)
	}
	if f, ok := v.(float64); ok && f == float64(int64(f)) {
		return int64(f)
	}
	return v
}

// TestReportsOfExtremes: values beyond what any API server takes.
func TestReportsOfExtremes(t *testing.T) {
	t.Parallel()
	var deep any = "x"
	for range 1000 {
		deep = map[string]any{"a": []any{deep}}
	}
	changes := ChangeSet{Objects: []ObjectChange{
		configMapChange("deep", deep, "flat"),
		configMapChange("large", strings.Repeat("a\nb\n", 1<<15), strings.Repeat("a\nc\n", 1<<15)),
		{Object: refTo("v1", "ConfigMap", "empty"), Action: Update},
		{Object: refTo("v1", "ConfigMap", "empty"), Action: Create},
		{Object: refTo("v1", "ConfigMap", "empty"), Action: Delete},
		{},
	}}
	got := writeAll(t, NewReport(&changes, ReportOptions{}))
	if size := len(got["text.txt"]); size > 10*maxBlock {
		t.Errorf("text is not cut: %d bytes", size)
	}
	checkMarkdown(t, got["report.md"], MarkdownLimit)
}
