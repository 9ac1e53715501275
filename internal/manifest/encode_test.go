package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	goyaml "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"kudevops.io/appsvc/internal/manifest"
)

func TestAppendYAML(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		object map[string]any
		want   string
	}{
		"sorted": {
			reason: "the same object is the same text, however the map was built",
			object: map[string]any{"b": int64(1), "a": true, "c": nil},
			want:   "a: true\nb: 1\nc: null\n",
		},
		"nested": {
			reason: "lists are not indented, as kubectl prints them",
			object: map[string]any{"spec": map[string]any{"ports": []any{map[string]any{"name": "http", "port": int64(80)}, []any{"x", []any{int64(1)}}}}},
			want:   "spec:\n  ports:\n  - name: http\n    port: 80\n  - - x\n    - - 1\n",
		},
		"empty": {
			reason: "an empty list or mapping stays one",
			object: map[string]any{"a": map[string]any{}, "b": []any{}, "c": []any{map[string]any{}, []any{}, ""}},
			want:   "a: {}\nb: []\nc:\n- {}\n- []\n- \"\"\n",
		},
		"booleans of YAML 1.1": {
			reason: "unquoted, kubectl would read them as booleans (go-yaml#214)",
			object: map[string]any{"v": []any{"on", "OFF", "yes", "No", "y", "N", "true", "False", "null", "~", "Null"}},
			want:   "v:\n- \"on\"\n- \"OFF\"\n- \"yes\"\n- \"No\"\n- \"y\"\n- \"N\"\n- \"true\"\n- \"False\"\n- \"null\"\n- \"~\"\n- \"Null\"\n",
		},
		"like numbers": {
			reason: "unquoted, some reader takes each for a number or a time (helm#1707)",
			object: map[string]any{"v": []any{"012", "1e3", "0x1F", "0o17", "1_000", "12:30:45", "2001-01-01", ".5", "-1", "+1", "0b1", "1.", ".inf", "-.inf", "12345678901234567890", "1.2.3"}},
			want:   "v:\n- \"012\"\n- \"1e3\"\n- \"0x1F\"\n- \"0o17\"\n- \"1_000\"\n- \"12:30:45\"\n- \"2001-01-01\"\n- \".5\"\n- \"-1\"\n- \"+1\"\n- \"0b1\"\n- \"1.\"\n- \".inf\"\n- \"-.inf\"\n- \"12345678901234567890\"\n- \"1.2.3\"\n",
		},
		"no numbers": {
			reason: "what people read often stays readable",
			object: map[string]any{"v": []any{"500m", "128Mi", "nginx:1.27", "a/b@sha256:0123", "--flag=x", "-c", "25%", "$(HOME)/x y", "v1", "http://x"}},
			want:   "v:\n- 500m\n- 128Mi\n- nginx:1.27\n- a/b@sha256:0123\n- --flag=x\n- -c\n- 25%\n- $(HOME)/x y\n- v1\n- http://x\n",
		},
		"syntax": {
			reason: "a string that looks like YAML is none",
			object: map[string]any{"v": []any{"a: b", "a #b", "- a", "---", "...", "a:", " a", "a ", "{a}", "&a", "*a", "!a", "|", "%a", "@a", "`a", "'a", "\"a\"", "#a", "?", "<<", "="}},
			want:   "v:\n- \"a: b\"\n- \"a #b\"\n- \"- a\"\n- \"---\"\n- \"...\"\n- \"a:\"\n- \" a\"\n- \"a \"\n- \"{a}\"\n- \"&a\"\n- \"*a\"\n- \"!a\"\n- \"|\"\n- \"%a\"\n- \"@a\"\n- \"`a\"\n- \"'a\"\n- \"\\\"a\\\"\"\n- \"#a\"\n- \"?\"\n- \"<<\"\n- \"=\"\n",
		},
		"lines": {
			reason: "a file in a ConfigMap is read by people",
			object: map[string]any{"clip": "a\n b\n\nc\n", "keep": "a\n\n", "strip": "a\nb", "no": " a\nb", "space": "a\n \nb"},
			want:   "clip: |\n  a\n   b\n\n  c\nkeep: |+\n  a\n\n\"no\": \" a\\nb\"\nspace: \"a\\n \\nb\"\nstrip: |-\n  a\n  b\n",
		},
		"unprintable": {
			reason: "what cannot be seen is escaped, what can is kept",
			object: map[string]any{"v": []any{"é", "\u0000", "\u0085", "\u2028", "\ufeff", "\r\n", "\U0001f600"}},
			want:   "v:\n- \"é\"\n- \"\\x00\"\n- \"\\x85\"\n- \"\\u2028\"\n- \"\\ufeff\"\n- \"\\r\\n\"\n- \"😀\"\n",
		},
		"numbers": {
			reason: "integers keep all digits; a float of a whole number is that number",
			object: map[string]any{"v": []any{int64(9007199254740993), 0.5, 2.0, 1e21, -1e-7}},
			want:   "v:\n- 9007199254740993\n- 0.5\n- 2\n- 1e+21\n- -1e-07\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := manifest.AppendYAML(nil, tc.object)
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
			readBack(t, tc.object, got)
		})
	}
}

// readBack demands that both readers that matter, sigs.k8s.io/yaml (YAML 1.1, as
// in kubectl) and yaml.v3 (as in kustomize), and our own, get the values back.
func readBack(t *testing.T, object map[string]any, text []byte) {
	t.Helper()
	want := floats(object)
	var kubectl map[string]any
	if err := yaml.UnmarshalStrict(text, &kubectl); err != nil {
		t.Fatalf("sigs.k8s.io/yaml: %v in\n%s", err, text)
	}
	if diff := cmp.Diff(want, floats(kubectl)); diff != "" {
		t.Errorf("sigs.k8s.io/yaml reads something else, -want +got:\n%s\nin\n%s", diff, text)
	}
	var kustomize map[string]any
	if err := goyaml.Unmarshal(text, &kustomize); err != nil {
		t.Fatalf("yaml.v3: %v in\n%s", err, text)
	}
	if diff := cmp.Diff(want, floats(kustomize)); diff != "" {
		t.Errorf("yaml.v3 reads something else, -want +got:\n%s\nin\n%s", diff, text)
	}
	root, fault := manifest.Parse(manifest.Document{File: "x", Line: 1, Text: text})
	if fault != nil {
		t.Fatal(fault)
	}
	o, fault := manifest.FromNode(root, "x", 1)
	if fault != nil {
		return // no apiVersion and kind: no object
	}
	own, faults := o.Value()
	if len(faults) > 0 {
		t.Fatal(faults[0])
	}
	if diff := cmp.Diff(want, floats(own)); diff != "" {
		t.Errorf("this package reads something else, -want +got:\n%s\nin\n%s", diff, text)
	}
}

// floats turns every number into a float64, so that values are compared and not
// the Go types that readers choose; an integer that float64 cannot hold stays.
func floats(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = floats(e)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = floats(e)
		}
		return l
	case int:
		return floats(int64(v))
	case int64:
		return float64(v)
	}
	return v
}

// FuzzAppendYAML: any string, as a key and as a value, at any place, reads back.
func FuzzAppendYAML(f *testing.F) {
	for _, s := range []string{
		"", "a", "on", "012", "1e3", "-", "--", "-a", "- a", "a: b", "a:", "x #y", "a\nb", "a\n", "\n", "\n\n", "a\n\n", " a\nb", "a\n b", "a\n \nb",
		"a\tb", "\ta\nb", "a\r\nb", "é", "\u0085", "\u2028\n", "\ufeff", "\x00", "\x7f", "1:2", "0:", "1 2", "1,2", "12e03", "- - a", "---", "--- a", "...", "a\n---\nb", "a\n...\n",
		"? a", "a ? b", "key: |", "<<", "=", "!!str a", "*a", "&a b", "%YAML", "@", "`", "{", "[a]", "'", "\"", "\\", "#", "a\n#b", "nan", ".nan", "0x_", "+", "+.inf", "1__0", "0b", "\U0001f600",
		strings.Repeat("k", 2000),
	} {
		f.Add(s, int64(len(s)))
	}
	f.Fuzz(func(t *testing.T, s string, n int64) {
		s = strings.ToValidUTF8(s, "?")
		object := map[string]any{
			"apiVersion": "v1", "kind": "Fuzz",
			"value": s,
			"list":  []any{s, []any{s, n}, map[string]any{"x": s, "y": n}, map[string]any{"a" + s: nil}},
			"deep":  map[string]any{"map": map[string]any{"s" + s: s}, "tail": "end"},
			"z":     n,
		}
		readBack(t, object, manifest.AppendYAML(nil, object))
	})
}
