package bench

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudevops.io/appsvc/test/peers/internal/library"
	"kudevops.io/appsvc/test/peers/internal/report"
)

func TestLibrarySection(t *testing.T) {
	t.Parallel()
	const time, allocations = "Changed on a typical Deployment, time", "Changed on a typical Deployment, allocations"
	changed := library.Figures{Seconds: []float64{5e-6, 4e-6, 6e-6}, Allocations: []float64{0, 0, 0}}
	theirs := library.Figures{Seconds: []float64{500e-6}, Allocations: []float64{2400}}
	tests := []struct {
		name    string
		reason  string
		figures map[string]library.Figures
		err     error
		rows    []report.Row // the first, and that of structured-merge-diff
		aims    map[string]string
	}{
		{
			name: "both", reason: "ratios are those of medians",
			figures: map[string]library.Figures{"Changed/same": changed, oracle: theirs},
			rows: []report.Row{
				{Name: "Changed, nothing differs", Cells: []string{"5.00 us", "4.50 us to 5.50 us", "0", "0.010 x", "0.000 x"}, Missing: "no such benchmark"},
				{Name: "structured-merge-diff, converted and compared", Cells: []string{"500 us", "500 us to 500 us", "2,400", "", ""}, Missing: "no such benchmark"},
			},
			aims: map[string]string{time: "5.00 us reached", allocations: "0 reached"},
		},
		{
			name: "renamed", reason: "a benchmark that is no more is missing",
			figures: map[string]library.Figures{"Changed/same": changed},
			rows: []report.Row{
				{Name: "Changed, nothing differs", Cells: []string{"5.00 us", "4.50 us to 5.50 us", "0", "", ""}, Missing: "no such benchmark"},
				{Name: "structured-merge-diff, converted and compared", Missing: "no such benchmark"},
			},
			aims: map[string]string{time: "5.00 us reached", allocations: "0 reached"},
		},
		{
			name: "failed", reason: "with the reason",
			err: errors.New("go test: exit status 1"),
			rows: []report.Row{
				{Name: "Changed, nothing differs", Missing: "go test: exit status 1"},
				{Name: "structured-merge-diff, converted and compared", Missing: "go test: exit status 1"},
			},
			aims: map[string]string{time: "missing: go test: exit status 1", allocations: "missing: go test: exit status 1"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := librarySection(tt.figures, 3, tt.err)
			var rows []report.Row
			for i, r := range libraryRows() {
				if i == 0 || r.name == oracle {
					rows = append(rows, s.grid.Rows[i])
				}
			}
			if diff := cmp.Diff(tt.rows, rows); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(tt.aims, verdicts([]section{s})); diff != "" {
				t.Errorf("aims: %s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}
