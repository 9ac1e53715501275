package main

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kudevops.io/appsvc/test/controlplane/cmd/bench-controller/internal/trial"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		reason string
		args   []string
		want   trial.Options
		err    string
	}{
		{name: "defaults", reason: "those of the documentation", want: trial.Options{Apps: 300, Runs: 3, Steady: 10 * time.Second, Growth: []int{100, 1000, 5000}}},
		{
			name: "all", reason: "each flag has its place",
			args: []string{"-apps=3", "-runs=1", "-steady=1s", "-growth=3,4", "-kro=/bin/kro", "-kro-crds=/crds"},
			want: trial.Options{Apps: 3, Runs: 1, Steady: time.Second, Growth: []int{3, 4}, Kro: "/bin/kro", KroCRDs: "/crds"},
		},
		{name: "no growth", reason: "an empty list is none", args: []string{"-growth="}, want: trial.Options{Apps: 300, Runs: 3, Steady: 10 * time.Second}},
		{name: "no runs", reason: "no median of nothing", args: []string{"-runs=0"}, err: "-apps and -runs have to be at least 1"},
		{name: "no number", reason: "named in the message", args: []string{"-growth=10,x"}, err: `-growth: "x" is no number of AppServices`},
		{name: "argument", reason: "a flag without its dash", args: []string{"apps"}, err: `unexpected argument "apps"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := parse(tt.args, io.Discard)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Fatalf("error %v, want %q (%s)", err, tt.err, tt.reason)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(trial.Options{}, "Progress")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		reason string
		args   []string
		want   int
	}{
		{"help", "asked for", []string{"-h"}, 0},
		{"unknown flag", "a wrong command line", []string{"-no-such-flag"}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var stdout bytes.Buffer
			if got := run(t.Context(), tt.args, &stdout, io.Discard); got != tt.want || stdout.Len() > 0 {
				t.Errorf("exit code %d and %q, want %d and nothing (%s)", got, stdout.String(), tt.want, tt.reason)
			}
		})
	}
}
