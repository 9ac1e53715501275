package report_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kudevops.io/appsvc/test/peers/internal/measure"
	"kudevops.io/appsvc/test/peers/internal/report"
)

func sample(wall, cpu time.Duration, mebibytes int64) measure.Sample {
	return measure.Sample{Wall: wall, CPU: cpu, PeakMemory: mebibytes << 20}
}

func TestTable(t *testing.T) {
	t.Parallel()
	const header = "| | wall time | quartiles | CPU time | peak memory | wall ratio | CPU ratio | memory ratio |\n" +
		"|---|---:|---:|---:|---:|---:|---:|---:|\n"
	ours := measure.Result{Name: "ours build", Samples: []measure.Sample{
		sample(100*time.Millisecond, 150*time.Millisecond, 16),
		sample(120*time.Millisecond, 170*time.Millisecond, 18),
		sample(110*time.Millisecond, 160*time.Millisecond, 17),
	}}
	theirs := measure.Result{Name: "helm v3 template", Samples: []measure.Sample{sample(1100*time.Millisecond, 2*time.Second, 170)}}
	tests := []struct {
		name   string
		reason string
		group  report.Group
		want   string
	}{
		{
			name:   "beside a peer",
			reason: "medians, the spread, and the ratios of ours to theirs",
			group:  report.Group{Title: "build", Results: []measure.Result{ours, theirs}, Base: 1, Rounds: 3},
			want: "### build\n\nRuns of each: 3. Ratios are against helm v3 template.\n\n" + header +
				"| ours build | 110 ms | 105 ms to 115 ms | 160 ms | 17.0 MiB | 0.100 x | 0.080 x | 0.100 x |\n" +
				"| helm v3 template | 1.10 s | 1.10 s to 1.10 s | 2.00 s | 170 MiB |  |  |  |\n",
		},
		{
			name:   "peer missing",
			reason: "it is shown with the reason, in one line that breaks no table, and there are no ratios",
			group: report.Group{Title: "build", Base: 1, Rounds: 3, Results: []measure.Result{
				ours, {Name: "helm v3 template", Missing: "go build: exit status 1:\n a | b"},
			}},
			want: "### build\n\nRuns of each: 3. Ratios are against helm v3 template.\n\n" + header +
				"| ours build | 110 ms | 105 ms to 115 ms | 160 ms | 17.0 MiB |  |  |  |\n" +
				"| helm v3 template | missing: go build: exit status 1: a \\| b | | | | | | |\n",
		},
		{
			name:   "ours missing",
			reason: "the peer's figures stay",
			group:  report.Group{Title: "build", Base: 1, Results: []measure.Result{{Name: "ours build", Missing: "no"}, theirs}, Rounds: 1},
			want: "### build\n\nRuns of each: 1. Ratios are against helm v3 template.\n\n" + header +
				"| ours build | missing: no | | | | | | |\n" +
				"| helm v3 template | 1.10 s | 1.10 s to 1.10 s | 2.00 s | 170 MiB |  |  |  |\n",
		},
		{
			name:   "alone",
			reason: "no base, no ratios",
			group:  report.Group{Title: "start-up", Results: []measure.Result{ours}, Base: report.NoBase, Rounds: 3},
			want: "### start-up\n\nRuns of each: 3.\n\n" + header +
				"| ours build | 110 ms | 105 ms to 115 ms | 160 ms | 17.0 MiB |  |  |  |\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.group.Grid().Markdown()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	page := report.Page{
		Date:     time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC),
		Machine:  report.Machine{CPU: "Fast Processor", Cores: 2, Memory: "15.6 GiB", OS: "Some OS 12, amd64"},
		Versions: []string{"appsvc-render at commit abc1234", "helm v3.22.0"},
		Command:  "go -C test/peers run ./cmd/bench-peers -runs=3",
		Checks:   []string{"all render the same 2 objects", "both find them"},
		Plot:     "page.svg",
		Grids:    []report.Grid{{Title: "start-up", Columns: []string{"time"}}},
	}
	want := "Measured 2026-02-03 by\n\n" +
		"```sh\ngo -C test/peers run ./cmd/bench-peers -runs=3\n```\n\n" +
		"- machine: Fast Processor, 2 cores, 15.6 GiB\n" +
		"- system: Some OS 12, amd64\n" +
		"- versions: appsvc-render at commit abc1234; helm v3.22.0\n" +
		"- all render the same 2 objects\n- both find them\n\n" +
		"Programs are whole processes, start and end included, output to a file; one run of each to warm up is not counted. " +
		"What stands in one table ran by turns. Times and memory are medians, CPU time is that of all threads, " +
		"and a ratio is that of two medians of this run.\n\n" +
		"![Time by number of objects](page.svg)\n\n" +
		"### start-up\n\n| | time |\n|---|---:|\n"
	if diff := cmp.Diff(want, page.Markdown()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
