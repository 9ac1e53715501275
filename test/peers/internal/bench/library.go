package bench

import (
	"context"
	"fmt"
	"io"

	"kudevops.io/appsvc/test/peers/internal/library"
	"kudevops.io/appsvc/test/peers/internal/plot"
	"kudevops.io/appsvc/test/peers/internal/report"
)

// oracle is the benchmark that the others' ratios are against: it compares as the API
// server does.
const oracle = "StructuredMergeDiff"

// libraryRows are the benchmarks of pkg/diff in the table, and what it calls them.
func libraryRows() []struct{ name, shown string } {
	return []struct{ name, shown string }{
		{"Changed/same", "Changed, nothing differs"},
		{"Changed/other", "Changed, another image"},
		{"Diff/live/same", "Diff with a live object, nothing differs"},
		{"Diff/live/other", "Diff with a live object, another image"},
		{"Diff/trees/same", "Diff of two manifests, nothing differs"},
		{"Diff/trees/other", "Diff of two manifests, another image"},
		{oracle, "structured-merge-diff, converted and compared"},
		{"GoCmp/Equal", "go-cmp, Equal, nothing differs"},
		{"GoCmp/Diff", "go-cmp, Diff, another image"},
	}
}

// measureLibrary runs the benchmarks of pkg/diff in the repository.
func measureLibrary(ctx context.Context, root string, o options, stderr io.Writer) (section, error) {
	fmt.Fprintln(stderr, "measuring pkg/diff beside structured-merge-diff and go-cmp")
	runs, time := o.libraryRuns()
	figures, err := library.Run(ctx, library.Options{
		Dir: root, Package: "./pkg/diff", Pattern: "^Benchmark(Changed|Diff|StructuredMergeDiff|GoCmp)$", Runs: runs, Time: time,
	})
	if ctx.Err() != nil {
		return section{}, ctx.Err()
	}
	return librarySection(figures, runs, err), nil
}

func librarySection(figures map[string]library.Figures, runs int, err error) section {
	s := section{
		err:  err,
		line: plot.Line{},
		grid: report.Grid{
			Title:   "pkg/diff: one typical Deployment",
			Note:    fmt.Sprintf("Benchmarks of `go test`, medians of %d. Ratios are against structured-merge-diff.", runs),
			Columns: []string{"time", "quartiles", "allocations", "time ratio", "allocations ratio"},
		},
	}
	reason := "no such benchmark"
	if err != nil {
		reason = err.Error()
	}
	base := figures[oracle]
	for _, r := range libraryRows() {
		row := report.Row{Name: r.shown, Missing: reason}
		if f, found := figures[r.name]; found {
			row.Cells = []string{report.Seconds(f.Time().Median), report.Quartiles(f.Time()), report.Count(f.Allocated()), "", ""}
			if r.name != oracle && len(base.Seconds) > 0 {
				row.Cells[3] = report.Ratio(f.Time().Median / base.Time().Median)
				row.Cells[4] = report.Ratio(f.Allocated() / base.Allocated())
			}
		}
		s.grid.Rows = append(s.grid.Rows, row)
	}
	const most = 10e-6
	same, found := figures["Changed/same"]
	for _, aim := range []struct {
		report.Aim
		value func(library.Figures) float64
	}{
		{report.Aim{Figure: "Changed on a typical Deployment, time", Limit: most, Goal: most, Unit: report.Seconds}, func(f library.Figures) float64 { return f.Time().Median }},
		{report.Aim{Figure: "Changed on a typical Deployment, allocations", Unit: report.Count}, library.Figures.Allocated},
	} {
		reached := report.Reached{Aim: aim.Aim, Missing: reason}
		if found {
			reached = report.Reached{Aim: aim.Aim, Value: aim.value(same)}
		}
		s.reached = append(s.reached, reached)
	}
	return s
}
