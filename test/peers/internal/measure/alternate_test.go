package measure_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kudevops.io/appsvc/test/peers/internal/measure"
)

// fake gives every run the next higher wall time, and fails where it is told to.
type fake struct {
	ran  []string
	fail map[string]int // by path: in which run, from 1
}

func (f *fake) run(_ context.Context, c measure.Command) (measure.Sample, error) {
	f.ran = append(f.ran, c.Path)
	if n := f.fail[c.Path]; n > 0 {
		if f.fail[c.Path]--; n == 1 {
			return measure.Sample{}, errors.New("it broke")
		}
	}
	return measure.Sample{Wall: time.Duration(len(f.ran))}, nil
}

func entry(name string) measure.Entry {
	return measure.Entry{Name: name, Command: measure.Command{Path: name}}
}

func TestAlternate(t *testing.T) {
	t.Parallel()
	absent := entry("absent")
	absent.Missing = "does not build"
	tests := []struct {
		name    string
		reason  string
		entries []measure.Entry
		fail    map[string]int
		ran     []string
		want    []measure.Result
	}{
		{
			name:    "by turns",
			reason:  "what disturbs the machine has to hit both; the first run of each is not counted",
			entries: []measure.Entry{entry("ours"), entry("theirs")},
			ran:     []string{"ours", "theirs", "ours", "theirs", "ours", "theirs"},
			want: []measure.Result{
				{Name: "ours", Samples: []measure.Sample{{Wall: 3}, {Wall: 5}}},
				{Name: "theirs", Samples: []measure.Sample{{Wall: 4}, {Wall: 6}}},
			},
		},
		{
			name:    "one is missing",
			reason:  "it has a row with the reason, and the other is measured",
			entries: []measure.Entry{entry("ours"), absent},
			ran:     []string{"ours", "ours", "ours"},
			want: []measure.Result{
				{Name: "ours", Samples: []measure.Sample{{Wall: 2}, {Wall: 3}}},
				{Name: "absent", Missing: "does not build"},
			},
		},
		{
			name:    "one fails late",
			reason:  "figures of half its runs would not be comparable",
			entries: []measure.Entry{entry("ours"), entry("theirs")},
			fail:    map[string]int{"theirs": 2},
			ran:     []string{"ours", "theirs", "ours", "theirs", "ours"},
			want: []measure.Result{
				{Name: "ours", Samples: []measure.Sample{{Wall: 3}, {Wall: 5}}},
				{Name: "theirs", Missing: "it broke"},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{fail: tt.fail}
			got, err := measure.Alternate(t.Context(), f.run, tt.entries, 2)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.ran, f.ran); diff != "" {
				t.Errorf("order of runs: %s (-want +got):\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestAlternateStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	run := func(context.Context, measure.Command) (measure.Sample, error) {
		runs++
		cancel()
		return measure.Sample{}, errors.New("killed")
	}
	_, err := measure.Alternate(ctx, run, []measure.Entry{entry("ours"), entry("theirs")}, 5)
	if !errors.Is(err, context.Canceled) || runs != 1 {
		t.Errorf("error %v after %d runs, want that of the context after the first", err, runs)
	}
}
