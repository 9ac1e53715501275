package diff

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// reportWriters are all formats, by the name of their golden file.
var reportWriters = map[string]func(r *Report, out *bytes.Buffer) error{
	"text.txt":     func(r *Report, out *bytes.Buffer) error { return r.WriteText(out, TextOptions{}) },
	"color.txt":    func(r *Report, out *bytes.Buffer) error { return r.WriteText(out, TextOptions{Color: true}) },
	"unified.diff": func(r *Report, out *bytes.Buffer) error { return r.WriteUnified(out, UnifiedOptions{}) },
	"report.json":  func(r *Report, out *bytes.Buffer) error { return r.WriteJSON(out) },
	"report.md": func(r *Report, out *bytes.Buffer) error {
		return r.WriteMarkdown(out, MarkdownOptions{Title: "What this changes"})
	},
	"names.txt": func(r *Report, out *bytes.Buffer) error { return r.WriteNames(out) },
}

// failer is what tests, fuzz targets and property tests have in common.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

func writeAll(t failer, r *Report) map[string][]byte {
	t.Helper()
	out := make(map[string][]byte, len(reportWriters))
	for name, write := range reportWriters {
		var buf bytes.Buffer
		if err := write(r, &buf); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = buf.Bytes()
	}
	return out
}

func TestReports(t *testing.T) {
	t.Parallel()
	root := filepath.Join("testdata", "reports")
	known := make(map[string]bool)
	for _, tc := range reportCases() {
		known[tc.name] = true
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := NewReport(&tc.changes, tc.options)
			first := writeAll(t, r)
			for name, got := range first {
				golden(t, filepath.Join(root, tc.name, name), got)
			}
			if d := cmp.Diff(first, writeAll(t, NewReport(&tc.changes, tc.options))); d != "" {
				t.Errorf("%s: the same report twice is not the same bytes:\n%s", tc.reason, d)
			}
			onlyKnown(t, filepath.Join(root, tc.name), func(name string) bool { return reportWriters[name] != nil })
		})
	}
	onlyKnown(t, root, func(name string) bool { return known[name] })
}

// onlyKnown finds golden files that nothing compares with.
func onlyKnown(t *testing.T, dir string, known func(string) bool) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !known(e.Name()) {
			t.Errorf("nothing uses %s", filepath.Join(dir, e.Name()))
		}
	}
}

// TestReportIsACopy: reportWriters and masking leave the changes as they were.
func TestReportIsACopy(t *testing.T) {
	t.Parallel()
	for _, tc := range reportCases() {
		before, err := json.Marshal(tc.changes)
		if err != nil {
			t.Fatal(err)
		}
		writeAll(t, NewReport(&tc.changes, tc.options))
		after, err := json.Marshal(tc.changes)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(before, after) {
			t.Errorf("%s: writing a report changed what it is about", tc.name)
		}
	}
}

// TestTextIsPlain: nothing but printing characters and line ends, without colour.
func TestTextIsPlain(t *testing.T) {
	t.Parallel()
	for _, tc := range reportCases() {
		for name, got := range writeAll(t, NewReport(&tc.changes, tc.options)) {
			if name == "color.txt" || name == "report.json" {
				continue
			}
			checkPlain(t, tc.name+"/"+name, got)
		}
	}
}

func checkPlain(t testing.TB, name string, got []byte) {
	t.Helper()
	if !utf8.Valid(got) {
		t.Errorf("%s: not UTF-8", name)
	}
	for _, r := range string(got) {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x202a && r <= 0x202e {
			t.Errorf("%s: %q would steer a terminal", name, r)
		}
	}
}

func TestMarkdownLimit(t *testing.T) {
	t.Parallel()
	var objects []ObjectChange
	for i := range 3000 {
		c := configMapChange(strings.Repeat("ü", i%90)+"-"+strings.Repeat("x", i/90), "a\n", strings.Repeat("ö<&`\n", i%100))
		objects = append(objects, c)
	}
	objects = append(objects, imageChange("the-gravest", "a", "b", 3))
	r := NewReport(&ChangeSet{Objects: objects}, ReportOptions{})
	for _, limit := range []int{0, 1, 2048, 5000, 20000, 100000} {
		var out bytes.Buffer
		if err := r.WriteMarkdown(&out, MarkdownOptions{Limit: limit, Title: strings.Repeat("title ", 1000)}); err != nil {
			t.Fatal(err)
		}
		want := limit
		if limit == 0 {
			want = MarkdownLimit
		}
		want = max(want, 2048)
		checkMarkdown(t, out.Bytes(), want)
		for _, text := range []string{"3,000", "Left out for its length: the details of", "<code>Deployment shop/the-gravest</code>"} {
			if !strings.Contains(out.String(), text) {
				t.Errorf("limit %d: %q is missing", limit, text)
			}
		}
		if limit >= 5000 && !strings.Contains(out.String(), "<details><summary>&#126; <code>Deployment shop/the-gravest</code>") {
			t.Errorf("limit %d: the details of the gravest change are missing", limit)
		}
	}
}

// checkMarkdown: no longer than its limit, whole characters, whole blocks.
func checkMarkdown(t testing.TB, got []byte, limit int) {
	t.Helper()
	if len(got) > limit {
		t.Errorf("%d bytes are beyond the limit of %d", len(got), limit)
	}
	checkPlain(t, "markdown", got)
	fence, depth := "", 0
	for line := range strings.Lines(string(got)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case fence != "":
			if line == fence {
				fence = ""
			} else if strings.HasPrefix(line, fence) {
				t.Errorf("a line within a fence could end it: %q", line)
			}
		case strings.HasPrefix(line, "```"):
			fence = strings.TrimSuffix(line, "diff")
		default:
			depth += strings.Count(line, "<details>") - strings.Count(line, "</details>")
		}
	}
	if fence != "" || depth != 0 {
		t.Errorf("a block is not closed")
	}
}

func TestMarkdownGroups(t *testing.T) {
	t.Parallel()
	changes := sameChangeCase().changes
	var out bytes.Buffer
	if err := NewReport(&changes, ReportOptions{}).WriteMarkdown(&out, MarkdownOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"<code>Deployment</code>: the same in 12 objects", "<code>PodDisruptionBudget</code>: the same in 3 objects", "<code>Deployment shop/app-11</code>"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("%q is missing", text)
		}
	}
	if n := strings.Count(out.String(), "<details>"); n != 3 {
		t.Errorf("%d blocks instead of 3: two groups and the one that differs", n)
	}
}

// TestUnifiedContext: as many equal lines as wanted.
func TestUnifiedContext(t *testing.T) {
	t.Parallel()
	changes := ChangeSet{Objects: []ObjectChange{configMapChange("web", numberedLines(20), numberedLines(20, 10))}}
	for _, tc := range []struct {
		name    string
		context int
		want    int
	}{
		{"as usual", 0, 6},
		{"none", -1, 0},
		{"one", 1, 2},
		{"all", 100, 26},
	} {
		var out bytes.Buffer
		if err := NewReport(&changes, ReportOptions{}).WriteUnified(&out, UnifiedOptions{Context: tc.context}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), "\n "); got != tc.want {
			t.Errorf("%s: %d equal lines, want %d:\n%s", tc.name, got, tc.want, out.String())
		}
	}
}

func TestSchemaIsPublished(t *testing.T) {
	t.Parallel()
	golden(t, filepath.Join("..", "..", "docs", "diffreport.schema.json"), JSONSchema())
}

func TestJSONFollowsItsSchema(t *testing.T) {
	t.Parallel()
	schema := strictSchema(t)
	for _, tc := range reportCases() {
		var out bytes.Buffer
		if err := NewReport(&tc.changes, tc.options).WriteJSON(&out); err != nil {
			t.Fatal(err)
		}
		checkSchema(t, schema, out.Bytes())
	}
	for _, wrong := range []string{
		`{}`, `{"apiVersion":"v1","kind":"DiffReport","summary":{},"objects":[]}`,
		`{"apiVersion":"diff.kudevops.io/v1alpha1","kind":"DiffReport","summary":{"create":0,"update":0,"delete":0,"unchanged":0,"adopted":0,"kept":0,"foreign":0,"ignored":0},"objects":[{}]}`,
	} {
		var v any
		if err := json.Unmarshal([]byte(wrong), &v); err != nil {
			t.Fatal(err)
		}
		if validate.NewSchemaValidator(schema, nil, "", strfmt.Default).Validate(v).IsValid() {
			t.Errorf("%s passes", wrong)
		}
	}
}

func checkSchema(t testing.TB, schema *spec.Schema, report []byte) {
	t.Helper()
	var v any
	if err := json.Unmarshal(report, &v); err != nil {
		t.Fatal(err)
	}
	if err := validate.NewSchemaValidator(schema, nil, "", strfmt.Default).Validate(v).AsError(); err != nil {
		t.Errorf("%v\n%s", err, report)
	}
}

// strictSchema is the published one with its references followed, since the validator
// knows none, and with nothing allowed that it does not name: so it names all there is.
func strictSchema(t testing.TB) *spec.Schema {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(JSONSchema(), &root); err != nil {
		t.Fatal(err)
	}
	definitions := root["$defs"].(map[string]any)
	delete(root, "$schema")
	delete(root, "$defs")
	text, err := json.Marshal(resolved(root, definitions))
	if err != nil {
		t.Fatal(err)
	}
	var schema spec.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	return &schema
}

func resolved(v any, definitions map[string]any) any {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			return resolved(definitions[strings.TrimPrefix(ref, "#/$defs/")], definitions)
		}
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = resolved(e, definitions)
		}
		if _, open := v["additionalProperties"]; v["type"] == "object" && !open {
			out["additionalProperties"] = false
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = resolved(out[i], definitions)
		}
		return out
	}
	return v
}
