package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"kudevops.io/appsvc/internal/cli"
)

// FuzzBuild holds what is promised of build whatever it reads: no panic; exit code
// 0 and output, or exit code 1, a word on standard error and no output; and output
// that can be built again, into itself.
func FuzzBuild(f *testing.F) {
	seedCases(f)
	f.Fuzz(func(t *testing.T, input []byte) {
		code, stdout, stderr := execute(t, input, "build", "-")
		switch {
		case code == 1 && stdout == "" && stderr != "":
			return
		case code == 0 && stdout != "":
		default:
			t.Fatalf("exit code %d\nstdout: %q\nstderr: %q", code, stdout, stderr)
		}
		code, again, stderr := execute(t, []byte(stdout), "build", "-")
		if code != 0 || stderr != "" {
			t.Fatalf("output cannot be built: exit code %d, %q\nstdout: %q", code, stderr, stdout)
		}
		if diff := cmp.Diff(stdout, again); diff != "" {
			t.Fatalf("output builds to something else, -first +second:\n%s", diff)
		}

		// The same as JSON holds the same values.
		code, asJSON, stderr := execute(t, input, "build", "-o", "json", "-")
		if code != 0 {
			t.Fatalf("fails as JSON only: %q", stderr)
		}
		code, fromYAML, stderr := execute(t, []byte(stdout), "build", "-o", "json", "-")
		if code != 0 {
			t.Fatalf("output cannot be built as JSON: %q", stderr)
		}
		if diff := cmp.Diff(values(t, asJSON), values(t, fromYAML)); diff != "" {
			t.Fatalf("YAML and JSON differ, -JSON +YAML:\n%s", diff)
		}
	})
}

// FuzzFunction holds what is promised of the KRM function whatever it reads: no
// panic, exit code 0 or 1; a ResourceList on standard output, or nothing when there
// was none to read; the items that were read when anything failed; and nothing that
// a second run would change.
func FuzzFunction(f *testing.F) {
	seedCases(f)
	for _, items := range untouchedItems() {
		f.Add([]byte("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n" + items))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		code, stdout, stderr := execute(t, input)
		switch {
		case code == 1 && stderr != "":
			if stdout == "" {
				return
			}
			// What could be read, yaml.Unmarshal of the oracle reads as well, but for
			// what YAML 1.1 has no word for.
			var before, after list
			if yaml.Unmarshal(input, &before) == nil && yaml.Unmarshal([]byte(stdout), &after) == nil {
				if diff := cmp.Diff(before.Items, after.Items); diff != "" {
					t.Fatalf("failed and changed the items, -before +after:\n%s", diff)
				}
			}
			return
		case code == 0 && stdout != "":
		default:
			t.Fatalf("exit code %d\nstdout: %q\nstderr: %q", code, stdout, stderr)
		}
		code, again, stderr := execute(t, []byte(stdout))
		if code != 0 {
			t.Fatalf("a run on its own output fails: %q\nstdout: %q", stderr, stdout)
		}
		var first, second list
		if err := yaml.Unmarshal([]byte(stdout), &first); err != nil {
			t.Fatalf("writes what cannot be read: %v\nstdout: %q", err, stdout)
		}
		if err := yaml.Unmarshal([]byte(again), &second); err != nil {
			t.Fatalf("writes what cannot be read: %v\nstdout: %q", err, again)
		}
		if diff := cmp.Diff(first.Items, second.Items); diff != "" {
			t.Fatalf("a second run changes the items, -first +second:\n%s", diff)
		}
		others(t, input, first)
	})
}

// untouchedItems are items that a YAML encoder easily spoils. The text of them may
// change, the value must not, be it once or with every run.
func untouchedItems() []string {
	const configMap = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n"
	return []string{
		// A folded block with lines that are indented more, or with line ends to keep.
		configMap + "  data:\n    a: >\n      one\n        two\n      three\n",
		configMap + "  data:\n    a: >\n      one\n\n        two\n",
		configMap + "  data:\n    a: >+\n      one\n\n    b: c\n",
		// A literal block whose first line begins with white space.
		configMap + "  data:\n    a: |2\n         one\n      two\n",
		configMap + "  data:\n    a: |2 # comment\n      \tone\n",
		// A key of a flow mapping without a value, which is null.
		configMap + "  data: {a: , b}\n",
		// An anchor on what the AppService's mark goes into.
		"- apiVersion: apps.kudevops.io/v1alpha1\n  kind: AppService\n" +
			"  metadata:\n    name: web\n    annotations: &notes {x: z}\n  spec: {image: nginx}\n" +
			"- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a, annotations: *notes}\n",
		// Words of YAML 1.1, numbers and times in their own spelling.
		configMap + "  data: {a: on, b: 0644, c: 1_000, d: 2001-01-01, e: 12:30:45, f: 0x1F, g: 1e3, h: ~}\n",
	}
}

// list is a ResourceList, as far as it matters here.
type list struct {
	Items []any `json:"items"`
}

// others demands that the items which are neither AppServices nor among what is
// rendered from one are there still, in their order.
func others(t *testing.T, input []byte, after list) {
	t.Helper()
	var before list
	if yaml.Unmarshal(input, &before) != nil {
		return
	}
	at := 0
	for _, item := range before.Items {
		object, _ := item.(map[string]any)
		switch object["kind"] {
		case "AppService", "Deployment", "Service":
			continue
		}
		for at < len(after.Items) && !cmp.Equal(item, after.Items[at]) {
			at++
		}
		if at == len(after.Items) {
			t.Fatalf("changed or lost an item: %v", item)
		}
		at++
	}
}

// seedCases adds the input of every golden case.
func seedCases(f *testing.F) {
	files, err := filepath.Glob("../../testdata/*/input.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal("no golden cases: ", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
}

func execute(t *testing.T, stdin []byte, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = cli.Main(t.Context(), args, bytes.NewReader(stdin), &out, &errOut)
	return code, out.String(), errOut.String()
}

// values reads a stream of JSON objects.
func values(t *testing.T, stream string) []any {
	t.Helper()
	var all []any
	dec := json.NewDecoder(bytes.NewReader([]byte(stream)))
	dec.UseNumber()
	for dec.More() {
		var v any
		if err := dec.Decode(&v); err != nil {
			t.Fatalf("no JSON: %v\n%s", err, stream)
		}
		all = append(all, v)
	}
	return all
}
