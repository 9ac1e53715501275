package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudevops.io/appsvc/internal/manifest"
)

// TestSyntaxErrorLines: the line is that of the fault, not that of the construct
// around it, which is what the parser's own message has.
func TestSyntaxErrorLines(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want int
		part string
	}{
		"mapping in a scalar": {"a: 1\nb: c: d\n", 2, "mapping values"},
		"tab":                 {"a:\n\tb: 1\n", 2, "cannot start any token"},
		"indentation":         {"a: 1\nb:\n  c: 2\n d: 3\ne: 4\n", 4, "expected key"},
		"dash":                {"a:\n- b\nc\n", 3, "could not find expected ':'"},
		"list in a mapping":   {"a: 1\n- b\n", 2, "expected key"},
		"quote never closed":  {"a: 1\nb: \"c\nd: e\n", 2, "unexpected end of stream"},
		"brace never closed":  {"a: {b: 1\n", 1, "',' or '}'"},
		"unknown alias":       {"a: 1\nb: *c\n", 2, "unknown anchor"},
		"control character":   {"a: 1\nb: \x01\n", 2, "control characters"},
		"zero byte":           {"a: 1\nb: \x00\n", 2, "UTF-8"},
		"Latin-1":             {"a: 1\nb: caf\xe9\n", 2, "UTF-8"},
		"UTF-16":              {"a\x00:\x00", 1, "UTF-8"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, fault := manifest.Parse(manifest.Document{File: "f.yaml", Line: 10, Text: []byte(tc.text)})
			if fault == nil {
				t.Fatal("accepted")
			}
			if fault.Line != tc.want+9 || !strings.Contains(fault.Message, tc.part) {
				t.Errorf("got line %d %q, want line %d and %q", fault.Line-9, fault.Message, tc.want, tc.part)
			}
		})
	}
}

func TestParseTakesJSONWithTabs(t *testing.T) {
	t.Parallel()
	o := object(t, "{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"ConfigMap\",\n\t\"data\": {\"a\": \"b\\tc\"}\n}\n")
	if got := o.StringAt("data", "a"); got != "b\tc" {
		t.Errorf("got %q", got)
	}
}

// TestParseTakesJSONEscapes: programs that keep to ASCII write a character outside
// the basic plane as two escapes (Python's json, jq -a).
func TestParseTakesJSONEscapes(t *testing.T) {
	t.Parallel()
	o := object(t, `{"apiVersion": "v1", "kind": "ConfigMap", "data": {"pair": "\ud83d\uDE00!", "half": "\ud800x", "text": "\\ud83d\\\ud83d\ude00", "plain": "\u00e9\/\n"}}`)
	for key, want := range map[string]string{
		"pair":  "\U0001f600!",
		"half":  "\ufffdx",
		"text":  `\ud83d\` + "\U0001f600",
		"plain": "é/\n",
	} {
		if got := o.StringAt("data", key); got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
	if _, ok := o.Text(); ok {
		t.Error("the text would be passed through, and readers of YAML do not take it")
	}
}

// object reads a document that holds one object, in line 1 of f.yaml.
func object(t *testing.T, text string) *manifest.Object {
	t.Helper()
	objects, _, faults := manifest.Objects(manifest.Document{File: "f.yaml", Line: 1, Text: []byte(text)})
	if len(faults) > 0 || len(objects) != 1 {
		t.Fatalf("got %d objects and %v", len(objects), faults)
	}
	return objects[0]
}

func lines(faults []*manifest.Fault) []string {
	var list []string
	for _, f := range faults {
		list = append(list, f.Error())
	}
	return list
}

func TestAppServiceFaults(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: apps.kudevops.io/v1alpha1\nkind: AppService\nmetadata: {name: web, namespace: shop}\n"
	tests := map[string]struct {
		reason string
		spec   string
		want   []string
	}{
		"fine": {"", "spec:\n  image: a\n", nil},
		"unknown fields": {
			"each is named, with its line",
			"spec:\n  imge: a\n  ports:\n  - port: 80\n    targetport: 8080\n",
			[]string{
				"f.yaml:5: AppService shop/web: spec.imge: unknown field",
				"f.yaml:8: AppService shop/web: spec.ports[0].targetport: unknown field",
			},
		},
		"case": {
			"field names have one spelling",
			"spec:\n  Image: a\n",
			[]string{"f.yaml:5: AppService shop/web: spec.Image: unknown field"},
		},
		"wrong types": {
			"all of them, not the first",
			"spec:\n  image: [a]\n  replicas: many\n  ports: {port: 80}\n  command: sh\n  suspend: 1\n  podLabels:\n    a/b: 1\n",
			[]string{
				"f.yaml:5: AppService shop/web: spec.image: is a list, must be a string",
				"f.yaml:6: AppService shop/web: spec.replicas: is a string, must be an integer of 32 bits",
				"f.yaml:7: AppService shop/web: spec.ports: is a mapping, must be a list",
				"f.yaml:8: AppService shop/web: spec.command: is a string, must be a list",
				"f.yaml:9: AppService shop/web: spec.suspend: is a number, must be a boolean",
				"f.yaml:11: AppService shop/web: spec.podLabels[a/b]: is a number, must be a string: quote it",
			},
		},
		"booleans of YAML 1.1": {
			"kubectl reads an unquoted on as a boolean, and so does this program",
			"spec:\n  image: a\n  env:\n  - name: A\n    value: on\n",
			[]string{"f.yaml:8: AppService shop/web: spec.env[0].value: is a boolean, must be a string (YAML reads yes, no, on, off, y, n, true and false as booleans: quote it)"},
		},
		"duplicate keys": {
			"the second would win silently",
			"spec:\n  image: a\n  replicas: 1\n  image: b\n",
			[]string{"f.yaml:7: AppService shop/web: spec.image: is given twice, first in line 5"},
		},
		"null in a list": {
			"it would become an empty string",
			"spec:\n  image: a\n  args: [x, null, ~]\n",
			[]string{
				"f.yaml:6: AppService shop/web: spec.args[1]: is null; a list has no empty elements",
				"f.yaml:6: AppService shop/web: spec.args[2]: is null; a list has no empty elements",
			},
		},
		"null": {
			"the API server drops it, so it means the same as nothing",
			"spec:\n  image: a\n  replicas: null\n  podLabels: {a: ~}\n  service:\n",
			nil,
		},
		"a patch's leftovers": {
			"kustomize leaves them where it knows no merge key",
			"spec:\n  image: a\n  ports:\n  - $patch: delete\n    port: 80\n  $setElementOrder/env: []\n",
			[]string{
				"f.yaml:7: AppService shop/web: spec.ports[0].$patch: is left over from a patch: a strategic merge patch replaces a list of a custom resource as a whole, so give the whole list or use a JSON 6902 patch",
				"f.yaml:9: AppService shop/web: spec[$setElementOrder/env]: is left over from a patch: a strategic merge patch replaces a list of a custom resource as a whole, so give the whole list or use a JSON 6902 patch",
			},
		},
		"unknown tag": {
			"CloudFormation and others have such",
			"spec:\n  image: !Ref a\n",
			[]string{"f.yaml:5: AppService shop/web: spec.image: has the tag !Ref, which has no meaning here"},
		},
		"quantity": {
			"the type's own message",
			"spec:\n  image: a\n  resources: {limits: {cpu: lots}}\n",
			[]string{"f.yaml:6: AppService shop/web: spec.resources.limits[cpu]: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
		},
		"control character": {
			"an API server reads what is applied as YAML",
			"spec:\n  image: a\n  args: [\"x\\x7f\", \"\\u0085\", \"\\t is fine\"]\n",
			[]string{
				"f.yaml:6: AppService shop/web: spec.args[0]: holds the control character U+007F, which an API server refuses or changes in what is applied",
				"f.yaml:6: AppService shop/web: spec.args[1]: holds the control character U+0085, which an API server refuses or changes in what is applied",
			},
		},
		"fraction": {
			"2.0 is 2, as kubectl reads it; 2.5 is no count",
			"spec:\n  image: a\n  replicas: 2.5\n",
			[]string{"f.yaml:6: AppService shop/web: spec.replicas: is a number, must be an integer of 32 bits"},
		},
		"whole float":    {"2.0 is 2, as kubectl reads it", "spec:\n  image: a\n  replicas: 2.0\n", nil},
		"anchors":        {"anchors and merge keys are plain YAML", "spec:\n  image: a\n  env:\n  - &e {name: A, value: x}\n  - <<: *e\n    name: B\n", nil},
		"boolean as key": {"kubectl would make it \"true\"", "spec:\n  image: a\n  podLabels: {on: x}\n", []string{"f.yaml:6: AppService shop/web: spec.podLabels: has the key \"on\", which YAML reads as a boolean: quote it"}},
		"not a number":   {"JSON has none", "spec:\n  image: a\n  replicas: .nan\n", []string{"f.yaml:6: AppService shop/web: spec.replicas: is not a number that JSON can hold"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app, faults := object(t, head+tc.spec).AppService()
			if diff := cmp.Diff(tc.want, lines(faults)); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
			if app == nil && len(faults) == 0 {
				t.Error("neither an AppService nor a fault")
			}
		})
	}
}

// TestBounds: what expands or nests without end is refused, and quickly.
func TestBounds(t *testing.T) {
	t.Parallel()
	bomb := "apiVersion: v1\nkind: Bomb\na: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for _, c := range "bcdefghij" {
		p := string(c - 1)
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+p+",", 10) + "]\n"
	}
	merges := "apiVersion: v1\nkind: Bomb\na: &a {x: 1}\n"
	for _, c := range "bcdefghijklmnopqrstuvw" {
		p := string(c - 1)
		merges += string(c) + ": &" + string(c) + " {<<: [*" + p + ", *" + p + "], " + string(c) + string(c) + ": *" + p + ", " + string(c) + "2: *" + p + "}\n"
	}
	tests := map[string]struct{ text, want string }{
		"aliases":      {bomb, "its aliases stand for more than"},
		"merge keys":   {merges, "its aliases stand for more than"},
		"itself":       {"apiVersion: v1\nkind: Bomb\na: &a\n  b: *a\n", "deeper than"},
		"deep lists":   {"apiVersion: v1\nkind: Bomb\na: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "\n", "deeper than"},
		"many keys":    {"apiVersion: v1\nkind: Bomb\na:\n" + strings.Repeat("  k: 1\n", 3), "given twice"},
		"merge itself": {"apiVersion: v1\nkind: Bomb\na: &a\n  <<: *a\n", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, _, faults := manifest.Objects(manifest.Document{File: "f.yaml", Line: 1, Text: []byte(tc.text)})
			for _, o := range objects {
				_, more := o.JSON()
				faults = append(faults, more...)
			}
			if tc.want == "" {
				return // it ends, which is all that is asked
			}
			if len(faults) == 0 || !strings.Contains(faults[0].Error(), tc.want) {
				t.Errorf("got %v, want %q", faults, tc.want)
			}
			if len(faults) > 10 {
				t.Errorf("%d faults for one", len(faults))
			}
		})
	}
}

func TestLineOf(t *testing.T) {
	t.Parallel()
	o := object(t, `apiVersion: v1
kind: Any
metadata:
  name: x
  labels:
    a.b/c: d
spec:
  list:
  - one: 1
  - two: 2
    three:
      four: [5]
`)
	for path, want := range map[string]int{
		"":                         1,
		"metadata.name":            4,
		"metadata.labels[a.b/c]":   6,
		"metadata.labels.a.b/c":    6,
		"spec":                     7,
		"spec.list":                8,
		"spec.list[0]":             9,
		"spec.list[1].two":         10,
		"spec.list[1].three":       11,
		"spec.list[1].three.four":  12,
		"spec.list[1].missing.any": 10,
		"spec.list[7]":             8,
		"spec.list[x":              8,
		"nothing.at.all":           1,
	} {
		if got := o.LineOf(path); got != want {
			t.Errorf("%s: got line %d, want %d", path, got, want)
		}
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		text   string
		ids    []string
		skip   bool
		faults []string
	}{
		"list":             {"kubectl get -o yaml prints one", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: x}}\n- {apiVersion: g/v1, kind: B, metadata: {name: z, namespace: ns}}\n", []string{"A x", "B ns/z"}, false, nil},
		"typed list":       {"clients leave apiVersion and kind out", "apiVersion: apps.kudevops.io/v1alpha1\nkind: AppServiceList\nitems:\n- metadata: {name: x}\n", []string{"AppService x"}, false, nil},
		"empty list":       {"", "apiVersion: v1\nkind: List\nitems: []\n", nil, false, nil},
		"other list":       {"a kind of somebody else that ends in List is an object", "apiVersion: net/v1\nkind: AllowList\nmetadata: {name: a}\nitems: [1]\n", []string{"AllowList a"}, false, nil},
		"no object":        {"values of a chart", "replicas: 1\n", nil, true, nil},
		"a list of things": {"", "- a\n- b\n", nil, true, nil},
		"comment":          {"", "# nothing\n", nil, true, nil},
		"no kind":          {"half an object is none", "apiVersion: v1\n", nil, false, []string{"f.yaml:1: kind: is needed, as a string"}},
		"no apiVersion":    {"", "kind: A\nmetadata: {name: x}\n", nil, false, []string{"f.yaml:1: A x: apiVersion: is needed, as a string"}},
		"kind a number":    {"", "apiVersion: v1\nkind: 1\n", nil, false, []string{"f.yaml:2: kind: is needed, as a string"}},
		"bad items":        {"", "apiVersion: v1\nkind: List\nitems:\n- x\n- {kind: A}\n", nil, false, []string{"f.yaml:4: List: items[0]: is no object", "f.yaml:5: A: apiVersion: is needed, as a string"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, isObject, faults := manifest.Objects(manifest.Document{File: "f.yaml", Line: 1, Text: []byte(tc.text)})
			var ids []string
			for _, o := range objects {
				ids = append(ids, o.ID.String())
			}
			if diff := cmp.Diff(tc.ids, ids); diff != "" {
				t.Errorf("%s: objects, -want +got:\n%s", tc.reason, diff)
			}
			if isObject == tc.skip {
				t.Errorf("%s: isObject is %t", tc.reason, isObject)
			}
			if diff := cmp.Diff(tc.faults, lines(faults)); diff != "" {
				t.Errorf("%s: faults, -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
