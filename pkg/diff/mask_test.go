package diff

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMaskObject(t *testing.T) {
	t.Parallel()
	secret := func(fields map[string]any) map[string]any {
		return map[string]any{"kind": "Secret", "data": fields}
	}
	for _, tc := range []struct {
		name, reason string
		object, want map[string]any
		options      ReportOptions
	}{
		{
			name: "equal values", reason: "base64 in data and plain in stringData are one secret",
			object: map[string]any{"kind": "Secret", "data": map[string]any{"a": encoded("x"), "b": encoded("y")}, "stringData": map[string]any{"c": "y", "d": ""}},
			want:   map[string]any{"kind": "Secret", "data": map[string]any{"a": "(masked 1)", "b": "(masked 2)"}, "stringData": map[string]any{"c": "(masked 2)", "d": "(masked 3)"}},
		},
		{
			name: "no base64", reason: "an invalid Secret holds secrets all the same",
			object: secret(map[string]any{"a": "?", "b": int64(5), "c": map[string]any{"d": "e"}, "f": []any{"g"}, "h": nil}),
			want:   secret(map[string]any{"a": "(masked 1)", "b": "(masked 2)", "c": "(masked 3)", "f": "(masked 4)", "h": nil}),
		},
		{
			name: "no mapping", reason: "as above",
			object: map[string]any{"kind": "Secret", "data": "x", "stringData": []any{"x", "y"}},
			want:   map[string]any{"kind": "Secret", "data": "(masked 1)", "stringData": []any{"(masked 1)", "(masked 2)"}},
		},
		{
			name: "in a list", reason: "a Secret is one wherever it is",
			object: map[string]any{"kind": "List", "items": []any{secret(map[string]any{"a": "eA=="})}},
			want:   map[string]any{"kind": "List", "items": []any{secret(map[string]any{"a": "(masked 1)"})}},
		},
		{
			name: "in a SecretList", reason: "its items do not say what they are",
			object: map[string]any{"kind": "SecretList", "items": []any{map[string]any{"data": map[string]any{"a": "eA=="}}}},
			want:   map[string]any{"kind": "SecretList", "items": []any{map[string]any{"data": map[string]any{"a": "(masked 1)"}}}},
		},
		{
			name: "deep", reason: "such as in a policy that creates it",
			object: map[string]any{"kind": "ClusterPolicy", "spec": map[string]any{"rules": []any{map[string]any{"generate": secret(map[string]any{"a": "eA=="})}}}},
			want:   map[string]any{"kind": "ClusterPolicy", "spec": map[string]any{"rules": []any{map[string]any{"generate": secret(map[string]any{"a": "(masked 1)"})}}}},
		},
		{
			name: "others", reason: "what a SealedSecret or a ConfigMap holds is no secret",
			object: map[string]any{"kind": "SealedSecret", "spec": map[string]any{"encryptedData": map[string]any{"a": "x"}}, "data": map[string]any{"a": "x"}},
			want:   map[string]any{"kind": "SealedSecret", "spec": map[string]any{"encryptedData": map[string]any{"a": "x"}}, "data": map[string]any{"a": "x"}},
		},
		{
			name: "copies", reason: "annotations that hold the whole object, in any object",
			object: map[string]any{"metadata": map[string]any{"annotations": map[string]any{lastApplied: "x", "kapp.k14s.io/original": "y", "team": "z"}}},
			want:   map[string]any{"metadata": map[string]any{"annotations": map[string]any{"kapp.k14s.io/original": "(masked 1)", lastApplied: "(masked 2)", "team": "z"}}},
		},
		{
			name: "binary", reason: "shown by its size, and told apart",
			object: map[string]any{"kind": "ConfigMap", "binaryData": map[string]any{"a": "eA==", "b": "eQ==", "c": "eg==", "d": "eA==", "e": "eHg="}},
			want: map[string]any{"kind": "ConfigMap", "binaryData": map[string]any{"a": "(binary, 1 byte)", "b": "(binary, 1 byte, other content)",
				"c": "(binary, 1 byte, other content 2)", "d": "(binary, 1 byte)", "e": "(binary, 2 bytes)"}},
		},
		{
			name: "patterns", reason: "env, data of a ConfigMap, annotations; upper and lower case are the same",
			options: ReportOptions{MaskKeys: []string{"*PASSWORD*", "to?en"}},
			object: map[string]any{"kind": "ConfigMap", "data": map[string]any{"db.password.txt": "a", "token": "b", "tokens": "c"},
				"metadata": map[string]any{"annotations": map[string]any{"x/password": "a"}, "labels": map[string]any{"password": "l"}},
				"env":      []any{map[string]any{"name": "DB_PASSWORD", "value": "d"}, map[string]any{"name": "HOST", "value": "e"}}},
			want: map[string]any{"kind": "ConfigMap", "data": map[string]any{"db.password.txt": "(masked 1)", "token": "(masked 2)", "tokens": "c"},
				"metadata": map[string]any{"annotations": map[string]any{"x/password": "(masked 1)"}, "labels": map[string]any{"password": "l"}},
				"env":      []any{map[string]any{"name": "DB_PASSWORD", "value": "(masked 3)"}, map[string]any{"name": "HOST", "value": "e"}}},
		},
		{
			name: "shown", reason: "the only way out; binary data stays unreadable",
			options: ReportOptions{ShowSecrets: true, MaskKeys: []string{"*"}},
			object:  map[string]any{"kind": "Secret", "data": map[string]any{"a": "eA=="}, "metadata": map[string]any{"annotations": map[string]any{lastApplied: "x"}}},
			want:    map[string]any{"kind": "Secret", "data": map[string]any{"a": "eA=="}, "metadata": map[string]any{"annotations": map[string]any{lastApplied: "x"}}},
		},
		{name: "nothing", reason: "no object is none"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tc.want, MaskObject(tc.object, tc.options)); d != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

func TestMaskPatterns(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "a", true}, {"*", "", false}, {"", "", false}, {"", "a", false}, {"a", "A", true}, {"A", "a", true},
		{"a*", "ab", true}, {"a*", "ba", false}, {"*a*b", "xaxbxb", true}, {"*a*b", "xaxbx", false}, {"?", "ü", true}, {"??", "ü", false},
		{"[a]", "[a]", true}, {`\`, `\`, true}, {strings.Repeat("*a", 30), strings.Repeat("a", 60) + "b", false},
	} {
		if got := newMasker(ReportOptions{MaskKeys: []string{tc.pattern}}).matches(tc.name); got != tc.want {
			t.Errorf("pattern %q, name %q: %v, want %v", tc.pattern, tc.name, got, tc.want)
		}
	}
}

// TestMaskedPaths: what a path leads to is known from where it goes, whatever its depth.
func TestMaskedPaths(t *testing.T) {
	t.Parallel()
	list := map[string]any{"kind": "List", "items": []any{map[string]any{"kind": "Secret", "data": map[string]any{"a": "eA=="}}}}
	for _, tc := range []struct {
		name, kind string
		object     map[string]any
		path       Path
		value      any
		want       any
		wantPath   string
	}{
		{"data", "Secret", nil, pathOf("data"), map[string]any{"a": "eA=="}, map[string]any{"a": "(masked 1)"}, "data"},
		{"a key", "Secret", nil, pathOf("data", "a"), "eA==", "(masked 1)", "data.a"},
		{"below a key", "Secret", nil, pathOf("data", "a", "s3cr3t"), "eA==", "(masked 1)", "data.a"},
		{"an item of a set", "Secret", nil, append(pathOf("stringData"), PathElement{Value: "s3cr3t"}), "s3cr3t", "(masked 1)", "stringData"},
		{"labels", "Secret", nil, pathOf("metadata", "labels", "data"), "x", "x", "metadata.labels.data"},
		{"in a list", "List", list, append(pathOf("items"), PathElement{Index: 0}, PathElement{Field: "data"}, PathElement{Field: "a"}), "eA==", "(masked 1)", "items[0].data.a"},
		{"in a SecretList", "SecretList", nil, append(pathOf("items"), PathElement{Index: 0}, PathElement{Field: "data"}, PathElement{Field: "a"}), "eA==", "(masked 1)", "items[0].data.a"},
		{"env", "Deployment", nil, inApp("env", "name=PASSWORD", "value"), "x", "(masked 1)", "spec.template.spec.containers[name=app].env[name=PASSWORD].value"},
		{"env whole", "Deployment", nil, inApp("env", "name=PASSWORD"), map[string]any{"name": "PASSWORD", "value": "x"}, map[string]any{"name": "PASSWORD", "value": "(masked 1)"}, "spec.template.spec.containers[name=app].env[name=PASSWORD]"},
		{"whole object", "Secret", nil, nil, map[string]any{"kind": "Secret", "data": map[string]any{"a": "eA=="}}, map[string]any{"kind": "Secret", "data": map[string]any{"a": "(masked 1)"}}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cs := ChangeSet{Objects: []ObjectChange{{
				Object: ObjectRef{Kind: tc.kind}, Action: Update, Before: tc.object,
				Fields: []FieldChange{{Path: tc.path, Op: Replace, Before: tc.value}},
			}}}
			f := NewReport(&cs, ReportOptions{MaskKeys: []string{"password"}}).ChangeSet().Objects[0].Fields[0]
			if d := cmp.Diff(tc.want, f.Before); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if got := f.Path.String(); got != tc.wantPath {
				t.Errorf("path %s, want %s", got, tc.wantPath)
			}
		})
	}
}

// secretPlaces are all ways in which a ChangeSet may hold secrets. Each takes secrets as
// it needs them.
var secretPlaces = []func(secret func() string) ObjectChange{
	func(secret func() string) ObjectChange { // values one by one
		a, b := encoded(secret()), encoded(secret())
		return ObjectChange{Object: refTo("v1", "Secret", "s"), Action: Update, Effect: EffectInPlace, Notes: []string{"becomes " + b},
			Fields: []FieldChange{{Path: pathOf("data", "a"), Op: Replace, Before: a, After: b}},
			Before: map[string]any{"kind": "Secret", "data": map[string]any{"a": a}}, After: map[string]any{"kind": "Secret", "data": map[string]any{"a": b}}}
	},
	func(secret func() string) ObjectChange { // text
		a, b := secret(), secret()
		return ObjectChange{Object: refTo("v1", "Secret", "s"), Action: Update, Notes: []string{fmt.Sprintf("%q becomes %s", a, b)},
			Kept:    []FieldChange{{Path: pathOf("stringData", "a"), Before: a}},
			Adopted: []FieldChange{{Path: pathOf("stringData"), Before: map[string]any{"a": a}, After: map[string]any{"a": b}}},
			Foreign: []FieldChange{{Path: pathOf("stringData", "b"), Before: []any{a, map[string]any{b: a}}}}}
	},
	func(secret func() string) ObjectChange { // invalid Secrets, without base64
		a := "!" + secret()
		return ObjectChange{Object: refTo("v1", "Secret", "s"), Action: Create,
			After:  map[string]any{"data": map[string]any{"a": map[string]any{a: a}, "b": []any{a}}, "stringData": a},
			Fields: []FieldChange{{Path: pathOf("data", "a", a), Op: Add, After: a}, {Path: append(pathOf("data", "b"), PathElement{Value: a}), Op: Add, After: a}}}
	},
	func(secret func() string) ObjectChange { // in lists
		item := map[string]any{"kind": "Secret", "data": map[string]any{"a": encoded(secret())}}
		return ObjectChange{Object: refTo("v1", "List", "l"), Action: Delete,
			Before: map[string]any{"kind": "List", "items": []any{item, map[string]any{"kind": "SecretList", "items": []any{map[string]any{"stringData": map[string]any{"a": secret()}}}}}},
			Fields: []FieldChange{{Path: pathOf("items"), Op: Remove, Before: []any{item}}, {Path: append(pathOf("items"), PathElement{Index: 0}), Op: Remove, Before: item}}}
	},
	func(secret func() string) ObjectChange { // copies in annotations
		o := imageChange("web", "a", "b", 1)
		annotations := map[string]any{lastApplied: `{"data":{"a":` + strconv.Quote(secret()) + `}}`}
		o.Before["metadata"].(map[string]any)["annotations"] = annotations
		o.Foreign = []FieldChange{{Path: pathOf("metadata", "annotations"), Before: annotations}, {Path: pathOf("metadata", "annotations", lastApplied), Before: annotations[lastApplied]}}
		return o
	},
	func(secret func() string) ObjectChange { // by pattern
		a, b := secret(), secret()
		entry := map[string]any{"name": "THE_PASSWORD", "value": a}
		o := imageChange("web", "a", "b", 1)
		o.Fields = append(o.Fields,
			FieldChange{Path: inApp("env", "name=THE_PASSWORD", "value"), Op: Replace, Before: a, After: b},
			FieldChange{Path: inApp("env", "name=THE_PASSWORD"), Op: Add, After: entry},
			FieldChange{Path: inApp("env"), Op: Reorder, Before: []any{entry}, After: []any{entry}})
		return o
	},
	func(secret func() string) ObjectChange { // by pattern, in a ConfigMap
		o := configMapChange("c", "x", "y")
		o.After["data"].(map[string]any)["password.txt"] = secret()
		o.Fields = append(o.Fields, FieldChange{Path: pathOf("data", "password.txt"), Op: Add, After: o.After["data"].(map[string]any)["password.txt"]})
		return o
	},
}

// secretForms are ways in which the core of a secret may appear: itself, and in base64
// at each of three alignments.
func secretForms(core string) []string {
	forms := []string{core}
	for shift := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + core))
		start := (shift*8 + 5) / 6
		end := (shift + len(core)) * 8 / 6
		forms = append(forms, text[start:end])
	}
	return forms
}

// TestMaskingNeverLeaks: no byte of a secret is in any report, and no report depends on
// what a secret is, how long it is or how many lines it has.
func TestMaskingNeverLeaks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.SliceOfN(rapid.IntRange(0, len(secretPlaces)-1), 1, 6).Draw(t, "places")
		// Which secrets are equal is to be seen, so it is the same in both.
		equal := rapid.SliceOfN(rapid.IntRange(0, 5), 40, 40).Draw(t, "equal")
		cores := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zA-Z0-9]{16}`), 12, 12, rapid.ID[string]).Draw(t, "cores")
		around := rapid.SliceOfN(rapid.StringMatching("([ -~]|\n|\r|ü|\x00|<|&|\"|`){0,40}"), 12, 12).Draw(t, "around")
		report := func(offset int) map[string][]byte {
			n := 0
			secret := func() string {
				i := equal[n%len(equal)] + offset
				n++
				return around[i] + cores[i] + around[(i+5)%6+offset]
			}
			var cs ChangeSet
			for _, p := range places {
				cs.Objects = append(cs.Objects, secretPlaces[p](secret))
			}
			return writeAll(t, NewReport(&cs, ReportOptions{MaskKeys: []string{"*password*"}}))
		}
		first, second := report(0), report(6)
		for name, got := range first {
			for _, core := range cores {
				checkNoSecret(t, name, got, core)
			}
			if d := cmp.Diff(string(got), string(second[name])); d != "" {
				t.Errorf("%s depends on what is secret:\n%s", name, d)
			}
		}
	})
}

func checkNoSecret(t interface{ Errorf(string, ...any) }, name string, got []byte, core string) {
	texts := [][]byte{got, []byte(html.UnescapeString(string(got)))}
	for _, form := range secretForms(core) {
		if slices.ContainsFunc(texts, func(text []byte) bool { return bytes.Contains(text, []byte(form)) }) {
			t.Errorf("%s leaks %q of %q:\n%s", name, form, core, got)
		}
	}
}

// TestLeaksAreFound: the search of the tests above finds what is not masked.
func TestLeaksAreFound(t *testing.T) {
	t.Parallel()
	const core = "0123456789abcdef"
	for i, place := range secretPlaces {
		cs := ChangeSet{Objects: []ObjectChange{place(func() string { return "a\n" + core })}}
		for name, got := range writeAll(t, NewReport(&cs, ReportOptions{ShowSecrets: true})) {
			if name != "report.json" {
				continue
			}
			found := &counter{}
			checkNoSecret(found, name, got, core)
			if found.n == 0 {
				t.Errorf("nothing was found of what place %d shows:\n%s", i, got)
			}
		}
	}
}

type counter struct{ n int }

func (c *counter) Errorf(string, ...any) { c.n++ }

// FuzzMask: nothing of a secret in any report of arbitrary objects.
func FuzzMask(f *testing.F) {
	f.Add([]byte(`{"kind":"Secret","data":{"a":"SECRET"},"stringData":{"b":"SECRET"}}`), "data", "a", "")
	f.Add([]byte(`{"kind":"List","items":[{"kind":"Secret","data":{"a":{"SECRET":["SECRET"]}}}]}`), "items", "", "")
	f.Add([]byte(`{"kind":"Deployment","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"SECRET"}}}`), "metadata", "annotations", lastApplied)
	f.Fuzz(func(t *testing.T, text []byte, first, second, third string) {
		const core = "k7Qz9PxW2mVb4TnL"
		var object map[string]any
		if json.Unmarshal(text, &object) != nil || strings.Contains(string(text), core) {
			t.Skip("no object")
		}
		plant(object, core, false)
		path := pathOf()
		for _, name := range []string{first, second, third} {
			if name != "" && name != core {
				path = append(path, PathElement{Field: name})
			}
		}
		value, _ := lookup(object, path)
		kind, _ := object["kind"].(string)
		change := []FieldChange{{Path: path, Op: Replace, Before: value, After: nil, Effect: EffectInPlace}}
		cs := ChangeSet{Objects: []ObjectChange{
			{Object: ObjectRef{Kind: kind}, Action: Update, Fields: change, Kept: change, Before: object, After: map[string]any{}},
			{Object: ObjectRef{Kind: kind}, Action: Create, After: object},
			{Object: ObjectRef{Kind: kind}, Action: Delete, Before: object},
		}}
		for name, got := range writeAll(t, NewReport(&cs, ReportOptions{})) {
			checkNoSecret(t, name, got, core)
		}
	})
}

// plant puts a secret into all values and names that are below the data of a Secret, and
// into copies of objects.
func plant(v any, core string, inSecret bool) any {
	switch v := v.(type) {
	case map[string]any:
		kind, _ := v["kind"].(string)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			switch {
			case inSecret:
				value := plant(v[key], core, true)
				delete(v, key)
				v[core+key] = value
			case kind == "Secret" && (key == "data" || key == "stringData"):
				if values, ok := v[key].(map[string]any); ok {
					for k := range values {
						values[k] = plant(values[k], core, true)
					}
					continue
				}
				v[key] = plant(v[key], core, true)
			case key == "annotations":
				if annotations, ok := v[key].(map[string]any); ok && annotations[lastApplied] != nil {
					annotations[lastApplied] = plant(annotations[lastApplied], core, true)
				}
				v[key] = plant(v[key], core, false)
			default:
				v[key] = plant(v[key], core, false)
			}
		}
		return v
	case []any:
		for i := range v {
			v[i] = plant(v[i], core, inSecret)
		}
		return v
	case string:
		if inSecret {
			return "\n" + core + v
		}
	}
	return v
}
