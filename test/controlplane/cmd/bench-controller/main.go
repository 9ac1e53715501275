// Command bench-controller measures appsvc-controller on a real Kubernetes, beside kro and
// beside kubectl apply. test/peers/cmd/bench-peers runs it and reports.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kudevops.io/appsvc/test/controlplane/cmd/bench-controller/internal/trial"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run prints a trial.Report as JSON to stdout and returns the exit code: 0, 1 for a
// failure, 2 for arguments that make no sense. A way that fails is no failure.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "bench-controller:", err)
		return 2
	}
	report, err := trial.Run(ctx, o)
	if err == nil {
		err = json.NewEncoder(stdout).Encode(report)
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench-controller:", err)
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (trial.Options, error) {
	o := trial.Options{Progress: stderr}
	flags := flag.NewFlagSet("bench-controller", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.Apps, "apps", 300, "`number` of pairs that each way makes")
	flags.IntVar(&o.Runs, "runs", 3, "`times` that each way makes them, by turns")
	flags.DurationVar(&o.Steady, "steady", 10*time.Second, "how long nothing may be written for at the end")
	flags.StringVar(&o.Kro, "kro", "", "kro's controller, a `FILE`; without it kro is missing")
	flags.StringVar(&o.KroCRDs, "kro-crds", "", "the `FOLDER` of kro's CRDs")
	growth := flags.String("growth", "100,1000,5000", "`numbers` of AppServices for appsvc-controller alone, with commas between them")
	if err := flags.Parse(args); err != nil {
		return trial.Options{}, err
	}
	if flags.NArg() > 0 {
		return trial.Options{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if o.Apps < 1 || o.Runs < 1 {
		return trial.Options{}, errors.New("-apps and -runs have to be at least 1")
	}
	var err error
	o.Growth, err = numbers(*growth)
	return o, err
}

// numbers reads the flag -growth.
func numbers(text string) ([]int, error) {
	var out []int
	for word := range strings.SplitSeq(text, ",") {
		if word == "" {
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-growth: %q is no number of AppServices", word)
		}
		out = append(out, n)
	}
	return out, nil
}
