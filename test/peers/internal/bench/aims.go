package bench

import (
	"fmt"

	"kudevops.io/appsvc/test/peers/internal/measure"
	"kudevops.io/appsvc/test/peers/internal/report"
)

// aim is something to reach, and how it follows from the rows of a table.
type aim struct {
	report.Aim
	value func([]measure.Result) (float64, error)
}

// reached is what the rows have come to.
func (a aim) reached(rows []measure.Result) report.Reached {
	value, err := a.value(rows)
	if err != nil {
		return report.Reached{Aim: a.Aim, Missing: err.Error()}
	}
	return report.Reached{Aim: a.Aim, Value: value}
}

// wallRatio is that of two rows' wall times.
func wallRatio(of, to int) func([]measure.Result) (float64, error) {
	return func(rows []measure.Result) (float64, error) {
		a, err := samples(rows, of)
		if err != nil {
			return 0, err
		}
		b, err := samples(rows, to)
		if err != nil {
			return 0, err
		}
		return measure.Wall(a).Median / measure.Wall(b).Median, nil
	}
}

// peakMemory is that of a row.
func peakMemory(of int) func([]measure.Result) (float64, error) {
	return func(rows []measure.Result) (float64, error) {
		s, err := samples(rows, of)
		if err != nil {
			return 0, err
		}
		return measure.PeakMemory(s).Median, nil
	}
}

// samples of a row, of which there is at least one.
func samples(rows []measure.Result, row int) ([]measure.Sample, error) {
	switch {
	case row < 0:
		return nil, fmt.Errorf("not in this run")
	case len(rows[row].Samples) == 0:
		return nil, fmt.Errorf("%s: %s", rows[row].Name, rows[row].Missing)
	}
	return rows[row].Samples, nil
}
