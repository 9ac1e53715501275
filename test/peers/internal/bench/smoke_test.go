package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudevops.io/appsvc/test/peers/internal/report"
)

// TestSmoke runs every comparison once, with tiny sizes and the real programs: figures
// mean nothing, but each has to be there. `make peers controlplane` builds what it needs
// before; it does so itself otherwise, which takes long.
func TestSmoke(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("# Page\n\n"+report.Begin+"\n"+report.End+"\n\nprose\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := Run(t.Context(), self(t), []string{"-smoke", "-write", page}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit status %d\n%s", code, stderr.String())
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ reason, text string }{
		{"all did the same work", "- all render the same 6 objects, compared field by field\n- both find the one object that differs, and all 6\n- the KRM function adds a Deployment and a Service\n"},
		{"a table of processes", "\n| dyff v1.12.0 between | "},
		{"the start of one", "\n| kustomize v5.8.2 version | "},
		{"the library", "\n| Changed, nothing differs | "},
		{"the controller beside its peers", "\n| kro v0.9.4 | "},
		{"and beside kubectl", "\n| kubectl apply --server-side | "},
		{"the controller alone", "\n| appsvc-controller, 3 | "},
		{"the plot", "![Time by number of objects](page.svg)"},
		{"what is not generated stays", "\n\nprose\n"},
	} {
		if !strings.Contains(string(text), want.text) {
			t.Errorf("no %q (%s)", want.text, want.reason)
		}
	}
	for line := range strings.Lines(string(text)) {
		// The aims of the large sizes are not in this run.
		if strings.Contains(line, "missing: ") && !strings.Contains(line, "missing: not in this run") {
			t.Errorf("missing: %s", line)
		}
	}
	if picture, err := os.ReadFile(filepath.Join(filepath.Dir(page), "page.svg")); err != nil || !bytes.Contains(picture, []byte("<polyline")) {
		t.Errorf("no plot: %v\n%s", err, picture)
	}
	if t.Failed() {
		t.Logf("%s\n%s", text, stderr.String())
	}
}
