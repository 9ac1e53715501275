package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudevops.io/appsvc/internal/manifest"
)

func TestPlainScanner(t *testing.T) {
	t.Parallel()
	object := func(rest string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n" + rest
	}
	accepted := map[string]string{
		"minimal":            object(""),
		"comments":           "# first\n\n" + object("# last\n"),
		"other order":        "kind: ConfigMap\nmetadata:\n  labels:\n    name: x\n  name: c\napiVersion: v1\n",
		"quoted identity":    "apiVersion: \"v1\"\nkind: ConfigMap\nmetadata:\n  name: \"1\"\n",
		"list under its key": object("list:\n- a: 1\n  b:\n  - c\n  - d\n- a: 2\nnext: x\n"),
		"list deeper":        object("list:\n  - a: 1\n    b: 2\n  - c\nnext: x\n"),
		"texts":              object("data:\n  a: |\n    any: [\n\n      deeper\n    x\n  b: >-\n    y\n"),
		"empty":              object("a: {}\nb: []\nc:\nd:\n  e:\n"),
		"scalars":            object("a: \"x: \\\"y\\\" # z\"\nb: 'it is'\nc: 500m\nd: 25%\ne: 0\nf: 12\ng: true\nh: a/b:c\ni:\n- -v\n- --flag=x\n"),
		"no line end":        strings.TrimSuffix(object("a: b\n"), "\n"),
	}
	for name, text := range accepted {
		var s plainScanner
		if !s.scan([]byte(text)) {
			t.Errorf("%s: is left to the parser:\n%s", name, text)
		}
		agree(t, text)
	}
	// What a parser refuses, or reads in another way than it seems.
	refused := map[string]string{
		"nothing":            "",
		"a key twice":        object("a: 1\nb: 2\na: 3\n"),
		"flow":               object("a: {b: c}\n"),
		"unclosed":           object("a: [\n"),
		"anchor":             object("a: &x y\n"),
		"tag":                object("a: !!int y\n"),
		"tab":                object("a:\tb\n"),
		"too deep":           object("a: b\n  c: d\n"),
		"list in a mapping":  object("a: b\n- c\n"),
		"mapping in a list":  object("a:\n- b\n  c: d\n"),
		"list too high":      object("a:\n  b:\n- c\n"),
		"not so deep":        object("a:\n    b: c\n  d: e\n"),
		"several lines":      object("a: b\n  c\n"),
		"colon":              object("a: b: c\n"),
		"comment behind":     object("a: b # c\n"),
		"colon at the end":   object("a: b:\n"),
		"text not so deep":   object("a: |\n    b\n   c\n"),
		"octal":              object("a: 010\n"),
		"exponent":           object("a: 1e3\n"),
		"a number as a name": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: 1\n",
		"a boolean as name":  "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yes\n",
		"boolean key":        object("on: x\n"),
		"quote not closed":   object("a: \"b\n"),
		"behind a quote":     object("a: \"b\" c\n"),
		"umlaut":             object("a: ä\n"),
		"return":             strings.ReplaceAll(object("a: b\n"), "\n", "\r\n"),
		"indented":           "  apiVersion: v1\n  kind: ConfigMap\n",
		"a list":             "- a\n- b\n",
	}
	for name, text := range refused {
		var s plainScanner
		if s.scan([]byte(text)) {
			t.Errorf("%s: is taken:\n%s", name, text)
		}
	}
}

// agree demands of what the scanner accepts that a parser accepts it too, as one object
// of the same identity on the same line.
func agree(t *testing.T, text string) {
	t.Helper()
	doc := manifest.Document{File: "f", Line: 1, Text: []byte(text)}
	r := sideRenderer{}
	got, ok := r.scanned(doc)
	if !ok {
		return
	}
	objects, _, faults := manifest.Objects(doc)
	if len(faults) > 0 || len(objects) != 1 {
		t.Fatalf("%d objects, faults %v in what was scanned:\n%s", len(objects), faults, text)
	}
	o := objects[0]
	if _, faults := o.Value(); len(faults) > 0 {
		t.Fatalf("a fault in what was scanned: %v in\n%s", faults[0], text)
	}
	if o.ID != got.id || o.APIVersion() != got.apiVersion || o.Line != got.line {
		t.Fatalf("scanned as %v %s in line %d, and is %v %s in line %d:\n%s", got.id, got.apiVersion, got.line, o.ID, o.APIVersion(), o.Line, text)
	}
}

// FuzzPlainScanner: see agree.
func FuzzPlainScanner(f *testing.F) {
	files, err := filepath.Glob("../../examples/*/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, text := range []string{
		"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: |\n    x\n\n   y\n  b: \"q\\n\"\n",
		"apiVersion: v1\nkind: Pod\nmetadata:\n  name: c\nspec:\n  containers:\n  - name: a\n    args:\n    - -v\n    - --x=y: z\n  - name: b\n",
		"apiVersion: v1\nkind: Pod\nmetadata:\n  name: c\na:\n  b:\n- c\n",
		"apiVersion: v1\nkind: Pod\nmetadata:\n- name: c\nname: d\n",
		"kind: Pod\napiVersion: apps/v1\nmetadata:\n  namespace: \"n\"\n  name: n\n  name: n\nx: 'y''z'\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 8<<10 || strings.Contains(text, "\n---") || strings.Contains(text, "\n...") {
			return // the reader has cut there
		}
		agree(t, text)
	})
}
