package report

import (
	"fmt"
	"strings"
)

// Grid is a table.
type Grid struct {
	// Title stands above it, and Note, if any, between the two.
	Title, Note string
	// Columns are the headings of the cells.
	Columns []string
	// Rows are its rows.
	Rows []Row
}

// Row is a row of a Grid.
type Row struct {
	// Name stands in the first column.
	Name string
	// Cells are as many as there are columns; without them Missing says why.
	Cells   []string
	Missing string
}

// Markdown gives the grid with its heading. A row without cells says why.
func (g Grid) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", g.Title)
	if g.Note != "" {
		fmt.Fprintf(&b, "%s\n\n", g.Note)
	}
	fmt.Fprintf(&b, "| | %s |\n", strings.Join(g.Columns, " | "))
	b.WriteString("|---|" + strings.Repeat("---:|", len(g.Columns)) + "\n")
	for _, r := range g.Rows {
		if len(r.Cells) == 0 {
			rest := strings.Repeat(" |", len(g.Columns)-1)
			fmt.Fprintf(&b, "| %s | missing: %s |%s\n", cell(r.Name), cell(r.Missing), rest)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s |\n", cell(r.Name), strings.Join(r.Cells, " | "))
	}
	return b.String()
}

// cell makes text fit for a cell of a table: one line, and no separator.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}
