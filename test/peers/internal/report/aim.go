package report

// Aim is a figure to reach.
type Aim struct {
	// Figure says what is measured.
	Figure string
	// Limit is what it may be at most, and Goal what is hoped for; none where it is
	// the limit.
	Limit, Goal float64
	// Unit writes such a figure.
	Unit func(float64) string
}

// Reached is what an aim has come to.
type Reached struct {
	Aim
	// Value is the figure, unless Missing says why there is none.
	Value   float64
	Missing string
}

// Aims gives what was to be reached and what was.
func Aims(all []Reached) Grid {
	g := Grid{Title: "Aims", Columns: []string{"measured", "at most", "hoped for", ""}}
	for _, r := range all {
		row := Row{Name: r.Figure, Missing: r.Missing}
		if r.Missing == "" {
			row.Cells = []string{r.Unit(r.Value), r.Unit(r.Limit), "", r.verdict()}
			if r.Goal != r.Limit {
				row.Cells[2] = r.Unit(r.Goal)
			}
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

func (r Reached) verdict() string {
	switch {
	case r.Value > r.Limit:
		return "MISSED"
	case r.Value > r.Goal:
		return "reached, less than hoped for"
	}
	return "reached"
}
