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
	// Rounds is how often each program ran, the warm-up not counted.
	Rounds int
	// Comparison says whether the programs rendered the same objects.
	Comparison string
	// Groups are the tables.
	Groups []Group
}

// Markdown gives the page.
func (p Page) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured %s by\n\n", p.Date.Format(time.DateOnly))
	fmt.Fprintf(&b, "```sh\n%s\n```\n\n", p.Command)
	fmt.Fprintf(&b, "- machine: %s, %d cores, %s\n", p.Machine.CPU, p.Machine.Cores, p.Machine.Memory)
	fmt.Fprintf(&b, "- system: %s\n", p.Machine.OS)
	fmt.Fprintf(&b, "- versions: %s\n", strings.Join(p.Versions, "; "))
	fmt.Fprintf(&b, "- %s\n\n", p.Comparison)
	fmt.Fprintf(&b, "Whole processes, start and end included, output to a file. The programs of a table ran by turns; "+
		"measured runs of each: %d, after one to warm up. Times and memory are medians, CPU time is that of all threads, "+
		"and a ratio is that of two medians of this run.\n", p.Rounds)
	for _, g := range p.Groups {
		b.WriteString("\n" + g.Table())
	}
	return b.String()
}
