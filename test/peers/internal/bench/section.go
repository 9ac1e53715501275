package bench

import (
	"fmt"
	"strings"

	"kudevops.io/appsvc/test/peers/internal/measure"
	"kudevops.io/appsvc/test/peers/internal/plot"
	"kudevops.io/appsvc/test/peers/internal/report"
)

// section is what one kind of measurement adds to the report.
type section struct {
	grid    report.Grid
	reached []report.Reached
	// line of the plot; without a name, none.
	line plot.Line
	// err says that ours failed.
	err error
}

// sections of processes that were measured.
func sections(all []scenario, groups []report.Group, ours binary) []section {
	out := make([]section, len(all))
	for i, s := range all {
		rows := groups[i].Results
		out[i] = section{grid: groups[i].Grid(), line: plot.Line{Name: s.line}, err: failure(rows, ours)}
		for _, a := range s.aims {
			out[i].reached = append(out[i].reached, a.reached(rows))
		}
		for row, size := range s.sizes {
			if samples := rows[row].Samples; len(samples) > 0 {
				out[i].line.Points = append(out[i].line.Points, plot.Point{X: float64(size), Y: measure.Wall(samples).Median})
			}
		}
	}
	return out
}

// failure is the first row of ours that has no figures.
func failure(rows []measure.Result, ours binary) error {
	for _, r := range rows {
		if r.Missing != "" && strings.HasPrefix(r.Name, ours.name+" ") {
			return fmt.Errorf("%s: %s", r.Name, r.Missing)
		}
	}
	return nil
}

// chart of all that grows. Lines without a point are left out.
func chart(all []section) plot.Chart {
	c := plot.Chart{
		Title:  "Time by number of AppServices (build, controller) and objects (diff)",
		XLabel: "number; on a dashed line, ten times as many take ten times as long",
		YLabel: "seconds",
	}
	for _, s := range all {
		if s.line.Name != "" && len(s.line.Points) > 0 {
			c.Lines = append(c.Lines, s.line)
		}
	}
	return c
}

// grids are the tables of the report, the aims first.
func grids(all []section) []report.Grid {
	var reached []report.Reached
	for _, s := range all {
		reached = append(reached, s.reached...)
	}
	out := []report.Grid{report.Aims(reached)}
	for _, s := range all {
		out = append(out, s.grid)
	}
	return out
}
