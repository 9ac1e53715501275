package measure_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kudevops.io/appsvc/test/peers/internal/measure"
)

func TestSummarize(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		reason string
		values []float64
		want   measure.Summary
	}{
		{name: "one", reason: "it is all three", values: []float64{7}, want: measure.Summary{Median: 7, Lower: 7, Upper: 7}},
		{name: "two", reason: "interpolated", values: []float64{1, 2}, want: measure.Summary{Median: 1.5, Lower: 1.25, Upper: 1.75}},
		{name: "odd", reason: "values themselves", values: []float64{5, 1, 4, 2, 3}, want: measure.Summary{Median: 3, Lower: 2, Upper: 4}},
		{name: "even", reason: "as R's quantile(c(1,2,4,8)) says", values: []float64{8, 1, 4, 2}, want: measure.Summary{Median: 3, Lower: 1.75, Upper: 5}},
		{name: "outlier", reason: "one slow run changes nothing", values: []float64{1, 1, 1, 1, 1000}, want: measure.Summary{Median: 1, Lower: 1, Upper: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			before := slices.Clone(tt.values)
			if diff := cmp.Diff(tt.want, measure.Summarize(tt.values)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(before, tt.values); diff != "" {
				t.Errorf("the values were changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestSummariesOfSamples(t *testing.T) {
	t.Parallel()
	samples := []measure.Sample{
		{Wall: 3 * time.Second, CPU: 30 * time.Millisecond, PeakMemory: 300},
		{Wall: 1 * time.Second, CPU: 10 * time.Millisecond, PeakMemory: 100},
		{Wall: 2 * time.Second, CPU: 20 * time.Millisecond, PeakMemory: 200},
	}
	got := []measure.Summary{measure.Wall(samples), measure.CPU(samples), measure.PeakMemory(samples)}
	want := []measure.Summary{
		{Median: 2, Lower: 1.5, Upper: 2.5},
		{Median: 0.02, Lower: 0.015, Upper: 0.025},
		{Median: 200, Lower: 150, Upper: 250},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wall in seconds, CPU in seconds, memory in bytes (-want +got):\n%s", diff)
	}
}
