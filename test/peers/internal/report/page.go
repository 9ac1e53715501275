package report

import (
	"fmt"
	"strings"
	"time"
)

// Page is all that is written between the markers.
type Page struct {
	// Date of the run; the day counts.
	Date time.Time
	// Machine that it ran on.
	Machine Machine
	// Versions are "program version", appsvc-render first, then the peers and Go.
	Versions []string
	// Command repeats the run, from the root of the repository.
	Command string
	// Checks say whether the programs did the same work, a line each.
	Checks []string
	// Plot is the file of the plot, relative to the page; empty when there is none.
	Plot string
	// Grids are the tables.
	Grids []Grid
}

// Markdown gives the page.
func (p Page) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured %s by\n\n", p.Date.Format(time.DateOnly))
	fmt.Fprintf(&b, "```sh\n%s\n```\n\n", p.Command)
	fmt.Fprintf(&b, "- machine: %s, %d cores, %s\n", p.Machine.CPU, p.Machine.Cores, p.Machine.Memory)
	fmt.Fprintf(&b, "- system: %s\n", p.Machine.OS)
	fmt.Fprintf(&b, "- versions: %s\n", strings.Join(p.Versions, "; "))
	for _, check := range p.Checks {
		fmt.Fprintf(&b, "- %s\n", check)
	}
	b.WriteString("\nPrograms are whole processes, start and end included, output to a file; one run of each to warm up is not counted. " +
		"What stands in one table ran by turns. Times and memory are medians, CPU time is that of all threads, " +
		"and a ratio is that of two medians of this run.\n")
	if p.Plot != "" {
		fmt.Fprintf(&b, "\n![Time by number of objects](%s)\n", p.Plot)
	}
	for _, g := range p.Grids {
		b.WriteString("\n" + g.Markdown())
	}
	return b.String()
}
