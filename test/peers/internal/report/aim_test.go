package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudevops.io/appsvc/test/peers/internal/report"
)

func TestAims(t *testing.T) {
	t.Parallel()
	hoped := report.Aim{Figure: "time", Limit: 3, Goal: 2, Unit: report.Ratio}
	none := report.Aim{Figure: "writes", Unit: report.Count}
	got := report.Aims([]report.Reached{
		{Aim: hoped, Value: 2},
		{Aim: hoped, Value: 2.5},
		{Aim: hoped, Value: 3.1},
		{Aim: hoped, Missing: "no kustomize"},
		{Aim: none, Value: 0},
		{Aim: none, Value: 1},
	})
	want := report.Grid{Title: "Aims", Columns: []string{"measured", "at most", "hoped for", ""}, Rows: []report.Row{
		{Name: "time", Cells: []string{"2.00 x", "3.00 x", "2.00 x", "reached"}},
		{Name: "time", Cells: []string{"2.50 x", "3.00 x", "2.00 x", "reached, less than hoped for"}},
		{Name: "time", Cells: []string{"3.10 x", "3.00 x", "2.00 x", "MISSED"}},
		{Name: "time", Missing: "no kustomize"},
		{Name: "writes", Cells: []string{"0", "0", "", "reached"}},
		{Name: "writes", Cells: []string{"1", "0", "", "MISSED"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
