package trial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"kudevops.io/appsvc/test/controlplane"
	"kudevops.io/appsvc/test/controlplane/internal/guard"
	"kudevops.io/appsvc/test/controlplane/internal/shipped"
)

// Options for Run.
type Options struct {
	// Apps is how many pairs each way makes, and Runs how often.
	Apps, Runs int
	// Growth are the numbers of AppServices that appsvc-controller is alone with, once each.
	Growth []int
	// Steady is how long nothing may happen for once all is as it should be.
	Steady time.Duration
	// Kro is the file of kro's controller. Empty means that there is none.
	Kro string
	// KroCRDs is the folder of its CRDs.
	KroCRDs string
	// Progress is told what is being done.
	Progress io.Writer
}

// The figures of a Sample.
const (
	// Seconds from the first creation to the last one that is Ready; those of kubectl are
	// from its start to its end.
	Seconds = "seconds"
	// CreationSeconds are those of them until the last one was created, which is not the
	// controller's work.
	CreationSeconds = "creationSeconds"
	// Writes until then, and until nothing more was written for four seconds.
	Writes = "writes"
	// SteadyWrites are those of the time that Options.Steady says.
	SteadyWrites = "steadyWrites"
	// RestartSeconds are from the start of a new process until it has looked at all and has
	// nothing to do, and RestartWrites what it wrote.
	RestartSeconds = "restartSeconds"
	RestartWrites  = "restartWrites"
	// Resident is the memory of the process when all is quiet, and Peak the most that it or
	// the one that was started anew ever took, in bytes.
	Resident = "resident"
	Peak     = "peak"
)

// Sample are the figures of one run. A figure that a way does not have is absent.
type Sample map[string]float64

// Result is what one way took.
type Result struct {
	// Name of the way.
	Name string `json:"name"`
	// Apps is how many pairs were made.
	Apps int `json:"apps"`
	// Samples are in the order of the runs.
	Samples []Sample `json:"samples,omitempty"`
	// Missing says why there are none; empty when there are.
	Missing string `json:"missing,omitempty"`
}

// Report is all that was seen.
type Report struct {
	// Comparison has a result for each way.
	Comparison []Result `json:"comparison"`
	// Growth has a result for each of Options.Growth.
	Growth []Result `json:"growth"`
}

// way is one way to make pairs in a cluster.
type way struct {
	name    string
	missing string
	make    func(ctx context.Context, a *arena, apps int) (Sample, error)
}

// patience is how long one run may take: several times what it does on two cores that do
// nothing else.
func patience(apps int) time.Duration {
	return 5*time.Minute + time.Duration(apps)*100*time.Millisecond
}

// Run has every way make its pairs. A way that fails is missing; the error is that of ctx,
// or of what all ways need.
func Run(ctx context.Context, o Options) (_ Report, err error) {
	dir, err := os.MkdirTemp("", "bench-controller-")
	if err != nil {
		return Report{}, err
	}
	group, err := guard.New(dir)
	if err != nil {
		return Report{}, errors.Join(err, os.RemoveAll(dir))
	}
	defer func() { err = errors.Join(err, group.Close()) }()
	fmt.Fprintln(o.Progress, "building appsvc-controller")
	if _, err := shipped.Build(ctx, dir, oursName); err != nil {
		return Report{}, err
	}
	t := trial{Options: o, dir: dir, guard: group}
	var report Report
	if report.Comparison, err = t.compare(ctx); err != nil {
		return Report{}, err
	}
	report.Growth, err = t.grow(ctx)
	return report, err
}

// trial is a run of the program.
type trial struct {
	Options
	dir   string
	guard *guard.Guard
}

// compare has the ways take turns.
func (t trial) compare(ctx context.Context) ([]Result, error) {
	ways := t.ways()
	results := make([]Result, len(ways))
	for i, w := range ways {
		results[i] = Result{Name: w.name, Apps: t.Apps, Missing: w.missing}
	}
	for run := range t.Runs {
		for i, w := range ways {
			if results[i].Missing != "" {
				continue
			}
			t.try(ctx, w, fmt.Sprintf("run %d of %d", run+1, t.Runs), &results[i])
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
		}
	}
	return results, nil
}

// grow has appsvc-controller handle ever more.
func (t trial) grow(ctx context.Context) ([]Result, error) {
	results := make([]Result, len(t.Growth))
	for i, apps := range t.Growth {
		results[i] = Result{Name: oursName, Apps: apps}
		t.try(ctx, t.ours(), "growth", &results[i])
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return results, nil
}

// ways are those that are compared.
func (t trial) ways() []way { return []way{t.ours(), t.kro(), t.kubectl()} }

// try adds a sample to the result, or says in it why there is none.
func (t trial) try(ctx context.Context, w way, what string, result *Result) {
	fmt.Fprintf(t.Progress, "controller, %s: %s, %d pairs\n", what, w.name, result.Apps)
	sample, err := t.once(ctx, w, result.Apps)
	if err != nil {
		result.Samples, result.Missing = nil, err.Error()
		fmt.Fprintf(t.Progress, "controller, %s: %s: %v\n", what, w.name, err)
		return
	}
	result.Samples = append(result.Samples, sample)
	fmt.Fprintf(t.Progress, "controller, %s: %s: %.1f s, %.0f writes\n", what, w.name, sample[Seconds], sample[Writes])
}

// once has a way make its pairs in a new cluster.
func (t trial) once(ctx context.Context, w way, apps int) (_ Sample, err error) {
	longest := patience(apps)
	ctx, cancel := context.WithTimeoutCause(ctx, longest, fmt.Errorf("not done after %s", longest))
	defer cancel()
	dir, err := os.MkdirTemp(t.dir, "run-")
	if err != nil {
		return nil, err
	}
	cluster, err := controlplane.Start(ctx, controlplane.Options{Progress: t.Progress, CRDs: []controlplane.CRDs{controlplane.AppServiceCRDs}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cluster.Stop(), os.RemoveAll(dir)) }()
	a := &arena{cluster: cluster, dir: dir, guard: t.guard, steady: t.Steady}
	if err := a.createNamespace(ctx); err != nil {
		return nil, err
	}
	sample, err := w.make(ctx, a, apps)
	if err != nil {
		return nil, err
	}
	return sample, a.check(ctx, apps)
}

// file is one of the programs that Run built.
func (t trial) file(name string) string { return filepath.Join(t.dir, name) }
