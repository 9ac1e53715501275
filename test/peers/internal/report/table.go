package report

import (
	"fmt"

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
	// Rounds is how often each program ran, the warm-up not counted.
	Rounds int
}

// Grid gives the group as a table with a row for every result.
func (g Group) Grid() Grid {
	out := Grid{
		Title:   g.Title,
		Note:    fmt.Sprintf("Runs of each: %d.", g.Rounds),
		Columns: []string{"wall time", "quartiles", "CPU time", "peak memory", "wall ratio", "CPU ratio", "memory ratio"},
	}
	if g.Base != NoBase {
		out.Note += fmt.Sprintf(" Ratios are against %s.", g.Results[g.Base].Name)
	}
	for i, r := range g.Results {
		row := Row{Name: r.Name, Missing: r.Missing}
		if len(r.Samples) > 0 {
			wall, cpu, peak := measure.Wall(r.Samples), measure.CPU(r.Samples), measure.PeakMemory(r.Samples)
			row.Cells = append([]string{Seconds(wall.Median), Quartiles(wall), Seconds(cpu.Median), Mebibytes(peak.Median)}, g.ratios(i)...)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// Quartiles writes how far times spread.
func Quartiles(s measure.Summary) string { return Seconds(s.Lower) + " to " + Seconds(s.Upper) }

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
	return Ratio(a.Median / b.Median)
}
