package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudevops.io/appsvc/test/peers/internal/report"
)

func TestReplace(t *testing.T) {
	t.Parallel()
	const begin, end = report.Begin + "\n", report.End + "\n"
	tests := []struct {
		name   string
		reason string
		page   string
		want   string
		err    string
	}{
		{
			name:   "between two texts",
			reason: "what stands outside is kept to the byte",
			page:   "# Title \n\nbefore\n" + begin + "old\n" + end + "after\t\n\n\nno newline at the end",
			want:   "# Title \n\nbefore\n" + begin + "\nnew\n\n" + end + "after\t\n\n\nno newline at the end",
		},
		{
			name:   "nothing between",
			reason: "as a page begins",
			page:   begin + end,
			want:   begin + "\nnew\n\n" + end,
		},
		{
			name:   "the last line",
			reason: "the page need not end in a newline",
			page:   begin + report.End,
			want:   begin + "\nnew\n\n" + report.End,
		},
		{
			name:   "again",
			reason: "writing the same twice changes nothing",
			page:   "a\n" + begin + "\nnew\n\n" + end + "b\n",
			want:   "a\n" + begin + "\nnew\n\n" + end + "b\n",
		},
		{
			name:   "named in the text",
			reason: "only a line of its own counts",
			page:   "Between `" + report.Begin + "` and `" + report.End + "`:\n" + begin + end,
			want:   "Between `" + report.Begin + "` and `" + report.End + "`:\n" + begin + "\nnew\n\n" + end,
		},
		{name: "no markers", reason: "a page without a place for it", page: "text\n", err: "bench-peers:begin -->\" is there 0 times"},
		{name: "no end", reason: "the rest of the page would be lost", page: begin + "text\n", err: "bench-peers:end -->\" is there 0 times"},
		{name: "two ends", reason: "which one is meant is not known", page: begin + end + "text\n" + end, err: "bench-peers:end -->\" is there 2 times"},
		{name: "reversed", reason: "nothing stands between", page: end + begin, err: "stands before"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := report.Replace(tt.page, "\nnew\n")
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q (%s)", err, tt.err, tt.reason)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "page.md")
	page := "before\n" + report.Begin + "\n" + report.End + "\nafter\n"
	if err := os.WriteFile(path, []byte(page), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := report.Check(path); err != nil {
		t.Fatal(err)
	}
	if err := report.Write(path, "new"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "before\n" + report.Begin + "\n\nnew\n\n" + report.End + "\nafter\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, want what it was", info.Mode())
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("%d files, want the page alone", len(entries))
	}
}

func TestCheckFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "page.md")
	if err := report.Check(path); err == nil {
		t.Error("no error for a page that does not exist")
	}
	if err := os.WriteFile(path, []byte("text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := report.Check(path); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("error %v, want one that names the page without markers", err)
	}
}
