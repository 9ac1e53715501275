package report

import (
	"fmt"
	"strings"
	"time"

	"kudevops.io/appsvc/test/peers/internal/measure"
)

// NoBase is Group.Base where there is nothing to compare with.
const NoBase = -1

// Group is a table: results that were measured by turns.
type Group struct {
	// Title stands above the table.
	Title string
	// Results are the rows.
	Results []measure.Result
	// Base is the index of the row that ratios are against, or NoBase.
	Base int
}

// Table gives the group as Markdown: a heading and a table with a row for every
// result. A row without samples says why.
func (g Group) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", g.Title)
	if g.Base != NoBase {
		fmt.Fprintf(&b, "Ratios are against %s.\n\n", g.Results[g.Base].Name)
	}
	b.WriteString("| | wall time | quartiles | CPU time | peak memory | wall ratio | CPU ratio | memory ratio |\n")
	b.WriteString("|---|---:|---:|---:|---:|---:|---:|---:|\n")
	for i, r := range g.Results {
		if len(r.Samples) == 0 {
			fmt.Fprintf(&b, "| %s | missing: %s | | | | | | |\n", cell(r.Name), cell(r.Missing))
			continue
		}
		wall, cpu, peak := measure.Wall(r.Samples), measure.CPU(r.Samples), measure.PeakMemory(r.Samples)
		fmt.Fprintf(&b, "| %s | %s | %s to %s | %s | %s | %s |\n",
			cell(r.Name), seconds(wall.Median), seconds(wall.Lower), seconds(wall.Upper),
			seconds(cpu.Median), mebibytes(peak.Median), strings.Join(g.ratios(i), " | "))
	}
	return b.String()
}

// ratios of the medians of a row to those of the base, or empty cells.
func (g Group) ratios(row int) []string {
	if g.Base == NoBase || row == g.Base || len(g.Results[g.Base].Samples) == 0 {
		return []string{"", "", ""}
	}
	ours, base := g.Results[row].Samples, g.Results[g.Base].Samples
	return []string{
		ratio(measure.Wall(ours), measure.Wall(base)),
		ratio(measure.CPU(ours), measure.CPU(base)),
		ratio(measure.PeakMemory(ours), measure.PeakMemory(base)),
	}
}

func ratio(a, b measure.Summary) string {
	if b.Median == 0 {
		return ""
	}
	return digits(a.Median/b.Median) + " x"
}

func seconds(s float64) string {
	if s < time.Second.Seconds() {
		return digits(s*1000) + " ms"
	}
	return digits(s) + " s"
}

func mebibytes(bytes float64) string { return digits(bytes/(1<<20)) + " MiB" }

// digits writes three of them: more would be noise.
func digits(v float64) string {
	switch {
	case v < 1:
		return fmt.Sprintf("%.3f", v)
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// cell makes text fit for a cell of a table: one line, and no separator.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}
