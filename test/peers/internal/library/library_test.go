package library

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		reason string
		text   string
		want   map[string]Figures
		err    string
	}{
		{
			name:   "two runs of two",
			reason: "each run is a sample; other lines and other units are passed over",
			text: "goos: linux\ncpu: Some Processor\n" +
				"BenchmarkChanged/same-2 \t 300000\t 3900 ns/op\t 12 MB/s\t 0 B/op\t 0 allocs/op\n" +
				"BenchmarkChanged/same-2 \t 300000\t 4100 ns/op\t 12 MB/s\t 0 B/op\t 0 allocs/op\n" +
				"BenchmarkGoCmp/Equal-2 \t 2000\t 470000 ns/op\t 90 B/op\t 7 allocs/op\nPASS\n",
			want: map[string]Figures{
				"Changed/same": {Seconds: []float64{3.9e-6, 4.1e-6}, Allocations: []float64{0, 0}},
				"GoCmp/Equal":  {Seconds: []float64{470e-6}, Allocations: []float64{7}},
			},
		},
		{
			name:   "one processor",
			reason: "go test then adds no number, and a hyphen in a name is not one",
			text:   "BenchmarkChanged/server-side 10 5.5 ns/op\n",
			want:   map[string]Figures{"Changed/server-side": {Seconds: []float64{5.5e-9}}},
		},
		{name: "none", reason: "nothing was selected", text: "PASS\n", want: map[string]Figures{}},
		{name: "no number", reason: "a format that is not known must not become a figure", text: "BenchmarkX 10 fast ns/op\n", err: `"BenchmarkX 10 fast ns/op"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := parse(tt.text)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q (%s)", err, tt.err, tt.reason)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// module makes a module with one test file.
func module(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.26.0\n", "m_test.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRun(t *testing.T) {
	t.Parallel()
	dir := module(t, "package m\n\nimport \"testing\"\n\nvar kept []byte\n\n"+
		"func BenchmarkMake(b *testing.B) {\n\tfor b.Loop() {\n\t\tkept = make([]byte, 1<<16)\n\t}\n}\n\nfunc BenchmarkOther(b *testing.B) {}\n")
	got, err := Run(t.Context(), Options{Dir: dir, Package: ".", Pattern: "Make", Runs: 2, Time: "1x"})
	if err != nil {
		t.Fatal(err)
	}
	figures := got["Make"]
	if len(got) != 1 || len(figures.Seconds) != 2 || figures.Time().Median <= 0 || figures.Allocated() != 1 {
		t.Errorf("%+v, want two runs of the one that was selected, with one allocation", got)
	}
}

func TestRunFails(t *testing.T) {
	t.Parallel()
	dir := module(t, "package m\n\nimport \"testing\"\n\nfunc BenchmarkBroken(b *testing.B) { b.Fatal(\"it broke\") }\n")
	_, err := Run(t.Context(), Options{Dir: dir, Package: ".", Pattern: ".", Runs: 1, Time: "1x"})
	if err == nil || !strings.Contains(err.Error(), "go test .: exit status 1") {
		t.Errorf("error %v, want that of go test", err)
	}
}
