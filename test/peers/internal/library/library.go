package library

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"kudevops.io/appsvc/test/peers/internal/measure"
	"kudevops.io/appsvc/test/peers/internal/program"
)

// Options for Run.
type Options struct {
	// Dir is the folder of the module, and Package the one in it, such as "./pkg/diff".
	Dir, Package string
	// Pattern selects benchmarks, as go test's -bench does.
	Pattern string
	// Runs is how often each runs, and Time for how long, as go test's -benchtime says.
	Runs int
	Time string
}

// Figures are those of one benchmark.
type Figures struct {
	// Seconds that one operation took, in each of the runs.
	Seconds []float64
	// Allocations of one operation, in each of the runs.
	Allocations []float64
}

// Time is the summary of the times, in seconds.
func (f Figures) Time() measure.Summary { return measure.Summarize(f.Seconds) }

// Allocated is the median of the allocations.
func (f Figures) Allocated() float64 { return measure.Summarize(f.Allocations).Median }

// Run runs benchmarks. The figures are by the names of the benchmarks, such as
// "Changed/same".
func Run(ctx context.Context, o Options) (map[string]Figures, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", o.Pattern, "-benchmem",
		"-count", strconv.Itoa(o.Runs), "-benchtime", o.Time, o.Package)
	cmd.Dir = o.Dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("go test %s: %w%s", o.Package, err, program.Complaint(said.String()+string(out)))
	}
	return parse(string(out))
}

// parse reads the format of testing.BenchmarkResult, a line for each run:
//
//	BenchmarkChanged/same-2   300000   3900 ns/op   0 B/op   0 allocs/op
func parse(text string) (map[string]Figures, error) {
	all := map[string]Figures{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		figures := all[name(fields[0])]
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("a benchmark said %q: %w", strings.TrimSpace(line), err)
			}
			switch fields[i+1] {
			case "ns/op":
				figures.Seconds = append(figures.Seconds, value/1e9)
			case "allocs/op":
				figures.Allocations = append(figures.Allocations, value)
			}
		}
		all[name(fields[0])] = figures
	}
	return all, nil
}

// name is that of a benchmark, without the number of processors that go test adds if there
// are several.
func name(field string) string {
	field = strings.TrimPrefix(field, "Benchmark")
	at := strings.LastIndexByte(field, '-')
	if at < 0 {
		return field
	}
	if _, err := strconv.Atoi(field[at+1:]); err != nil {
		return field
	}
	return field[:at]
}
