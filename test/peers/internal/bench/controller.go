package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/modfile"

	"kudevops.io/appsvc/test/peers/internal/measure"
	"kudevops.io/appsvc/test/peers/internal/plot"
	"kudevops.io/appsvc/test/peers/internal/program"
	"kudevops.io/appsvc/test/peers/internal/report"
)

// trialReport is what bench-controller of test/controlplane says: see its package trial,
// which explains the figures.
type trialReport struct {
	Comparison []trialResult `json:"comparison"`
	Growth     []trialResult `json:"growth"`
}

type trialResult struct {
	Name    string               `json:"name"`
	Apps    int                  `json:"apps"`
	Samples []map[string]float64 `json:"samples"`
	Missing string               `json:"missing"`
}

// The figures of a sample, and the names of the results.
const (
	seconds         = "seconds"
	creationSeconds = "creationSeconds"
	writes          = "writes"
	steadyWrites    = "steadyWrites"
	restartSeconds  = "restartSeconds"
	restartWrites   = "restartWrites"
	resident        = "resident"
	peak            = "peak"

	oursController = "appsvc-controller"
	kroController  = "kro"
	kubectlApply   = "kubectl apply --server-side"
)

// controllerSizes are how much bench-controller does.
type controllerSizes struct {
	apps, runs int
	growth     []int
	steady     time.Duration
}

// measureController runs bench-controller on the control plane of test/controlplane.
func measureController(ctx context.Context, dir, temp string, p programs, o options, stderr io.Writer) ([]section, error) {
	sizes := o.controllerSizes()
	if o.controllerApps == 0 {
		return controllerSections(trialReport{}, sizes, p.kro, errors.New("left out by -controller-apps=0")), nil
	}
	fmt.Fprintln(stderr, "measuring appsvc-controller beside kro and kubectl")
	seen, err := runTrial(ctx, dir, temp, p.kro, sizes, stderr)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	out := controllerSections(seen, sizes, p.kro, err)
	if out[0].err == nil {
		out[0].err = errors.Join(err, trialFailure(seen))
	}
	return out, nil
}

// controlplaneFolder is that of the module test/controlplane.
func controlplaneFolder(dir string) string { return filepath.Join(filepath.Dir(dir), "controlplane") }

func runTrial(ctx context.Context, dir, temp string, kro binary, sizes controllerSizes, stderr io.Writer) (trialReport, error) {
	module, path := controlplaneFolder(dir), filepath.Join(temp, "bench-controller")
	if err := program.BuildTool(ctx, module, "./cmd/bench-controller", path, stderr); err != nil {
		return trialReport{}, err
	}
	cmd := exec.CommandContext(ctx, path, sizes.args(kro)...)
	cmd.Dir = module
	// It has processes of its own to end.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	var said bytes.Buffer
	cmd.Stderr = io.MultiWriter(stderr, &said)
	out, err := cmd.Output()
	if err != nil {
		return trialReport{}, fmt.Errorf("bench-controller: %w%s", err, program.Complaint(said.String()))
	}
	var seen trialReport
	if err := json.Unmarshal(out, &seen); err != nil {
		return trialReport{}, fmt.Errorf("bench-controller: %w", err)
	}
	return seen, nil
}

// args are those of bench-controller.
func (s controllerSizes) args(kro binary) []string {
	args := []string{"-apps=" + strconv.Itoa(s.apps), "-runs=" + strconv.Itoa(s.runs), "-steady=" + s.steady.String()}
	growth := make([]string, len(s.growth))
	for i, n := range s.growth {
		growth[i] = strconv.Itoa(n)
	}
	args = append(args, "-growth="+strings.Join(growth, ","))
	if kro.missing == "" {
		args = append(args, "-kro="+kro.path, "-kro-crds="+filepath.Join(kro.source, "helm", "crds"))
	}
	return args
}

// trialFailure is the first result of ours that has no figures.
func trialFailure(seen trialReport) error {
	for _, r := range append(seen.Comparison, seen.Growth...) {
		if r.Name == oursController && r.Missing != "" {
			return fmt.Errorf("%s, %s AppServices: %s", r.Name, report.Thousands(r.Apps), r.Missing)
		}
	}
	return nil
}

// controllerSections are the two tables of the controller. err says why there are no
// figures at all.
func controllerSections(seen trialReport, sizes controllerSizes, kro binary, err error) []section {
	if err != nil {
		for _, name := range []string{oursController, kroController, kubectlApply} {
			seen.Comparison = append(seen.Comparison, trialResult{Name: name, Apps: sizes.apps, Missing: err.Error()})
		}
		for _, n := range sizes.growth {
			seen.Growth = append(seen.Growth, trialResult{Name: oursController, Apps: n, Missing: err.Error()})
		}
	}
	for i, r := range seen.Comparison {
		if r.Name == kroController {
			seen.Comparison[i].Name = kro.name
			if kro.missing != "" {
				seen.Comparison[i].Missing = kro.missing
			}
		}
	}
	for _, results := range [][]trialResult{seen.Comparison, seen.Growth} {
		for i := range results {
			// What follows is the log of a process, which has been shown as progress.
			results[i].Missing, _, _ = strings.Cut(results[i].Missing, "\n")
		}
	}
	return []section{compared(seen.Comparison, sizes, kro), grown(seen.Growth, sizes)}
}

// compared is ours beside kro and kubectl.
func compared(all []trialResult, sizes controllerSizes, kro binary) section {
	apps := report.Thousands(sizes.apps)
	s := section{grid: report.Grid{
		Title: "controller: " + apps + " AppServices (no replicas; Deployment and Service) from nothing to Ready",
		Note: fmt.Sprintf("Each run in a new cluster, by turns; runs of each: %d. Controllers handle 10 objects at once. kubectl applies what the AppServices render to. "+
			"Ratios are against %s.", sizes.runs, kro.name),
		Columns: []string{"time", "quartiles", "of it to create", "writes", "of each", "time ratio", "writes ratio", "writes in " + sizes.steady.String() + " of rest", "writes by a restart", "resident memory"},
	}}
	ours, theirs, applied := find(all, oursController), find(all, kro.name), find(all, kubectlApply)
	for _, r := range all {
		row := report.Row{Name: r.Name, Missing: r.Missing}
		if time, found := r.summary(seconds); found {
			row.Cells = []string{
				report.Seconds(time.Median), report.Quartiles(time), r.shown(creationSeconds, report.Seconds),
				r.shown(writes, report.Count), r.each(writes, report.Count), "", "", r.shown(steadyWrites, report.Count), r.shown(restartWrites, report.Count), r.shown(resident, report.Mebibytes),
			}
			if r.Name != kro.name {
				row.Cells[5], row.Cells[6] = shownRatio(r, theirs, seconds), shownRatio(r, theirs, writes)
			}
		}
		s.grid.Rows = append(s.grid.Rows, row)
	}
	title := "controller: " + apps + " AppServices, "
	s.reached = []report.Reached{
		ratioReached(report.Aim{Figure: title + "time to that of kro", Limit: 0.5, Goal: 0.5, Unit: report.Ratio}, ours, theirs, seconds),
		ratioReached(report.Aim{Figure: title + "writes to those of kro", Limit: 0.5, Goal: 0.5, Unit: report.Ratio}, ours, theirs, writes),
		ratioReached(report.Aim{Figure: title + "time to that of kubectl apply --server-side of the objects", Limit: 1, Goal: 1, Unit: report.Ratio}, ours, applied, seconds),
		mostReached(report.Aim{Figure: title + "writes in " + sizes.steady.String() + " of rest", Unit: report.Count}, ours, steadyWrites),
		mostReached(report.Aim{Figure: title + "writes by a restart", Unit: report.Count}, ours, restartWrites),
	}
	return s
}

// plotted is the most AppServices of the controller that the plot shows.
const plotted = 5000

// grown is ours with ever more AppServices.
func grown(all []trialResult, sizes controllerSizes) section {
	s := section{
		line: plot.Line{Name: "controller"},
		grid: report.Grid{
			Title:   "controller: growth with the number of AppServices",
			Note:    "One run each, in a new cluster. A restart is over when the new process has looked at all and has nothing to do.",
			Columns: []string{"time", "of it to create", "time of each", "writes of each", "resident memory", "peak memory", "time of a restart", "writes by a restart", "writes in " + sizes.steady.String() + " of rest"},
		},
	}
	for _, r := range all {
		row := report.Row{Name: r.Name + ", " + report.Thousands(r.Apps), Missing: r.Missing}
		if time, found := r.summary(seconds); found {
			row.Cells = []string{
				report.Seconds(time.Median), r.shown(creationSeconds, report.Seconds), r.each(seconds, report.Seconds), r.each(writes, report.Count),
				r.shown(resident, report.Mebibytes), r.shown(peak, report.Mebibytes),
				r.shown(restartSeconds, report.Seconds), r.shown(restartWrites, report.Count), r.shown(steadyWrites, report.Count),
			}
			if r.Apps <= plotted {
				s.line.Points = append(s.line.Points, plot.Point{X: float64(r.Apps), Y: time.Median})
			}
		}
		s.grid.Rows = append(s.grid.Rows, row)
	}
	const mebibyte = 1 << 20
	last := trialResult{Missing: "not in this run"}
	if len(all) > 0 {
		last = all[len(all)-1]
	}
	title := "controller: " + report.Thousands(last.Apps) + " AppServices, "
	s.reached = []report.Reached{
		mostReached(report.Aim{Figure: title + "resident memory", Limit: 400 * mebibyte, Goal: 250 * mebibyte, Unit: report.Mebibytes}, last, resident),
		mostReached(report.Aim{Figure: title + "writes by a restart", Unit: report.Count}, last, restartWrites),
	}
	return s
}

func find(all []trialResult, name string) trialResult {
	for _, r := range all {
		if r.Name == name {
			return r
		}
	}
	return trialResult{Name: name, Missing: "not in this run"}
}

// values are those of a figure in all samples that have it.
func (r trialResult) values(figure string) []float64 {
	var values []float64
	for _, s := range r.Samples {
		if value, found := s[figure]; found {
			values = append(values, value)
		}
	}
	return values
}

func (r trialResult) summary(figure string) (measure.Summary, bool) {
	values := r.values(figure)
	if len(values) == 0 {
		return measure.Summary{}, false
	}
	return measure.Summarize(values), true
}

// shown is the median of a figure, or nothing.
func (r trialResult) shown(figure string, unit func(float64) string) string {
	s, found := r.summary(figure)
	if !found {
		return ""
	}
	return unit(s.Median)
}

// each is a figure for each AppService.
func (r trialResult) each(figure string, unit func(float64) string) string {
	return r.shown(figure, func(v float64) string { return unit(v / float64(r.Apps)) })
}

func shownRatio(a, b trialResult, figure string) string {
	reached := ratioReached(report.Aim{}, a, b, figure)
	if reached.Missing != "" {
		return ""
	}
	return report.Ratio(reached.Value)
}

// ratioReached is about the ratio of two medians.
func ratioReached(aim report.Aim, a, b trialResult, figure string) report.Reached {
	for _, r := range []trialResult{a, b} {
		if s, found := r.summary(figure); !found || s.Median == 0 {
			return report.Reached{Aim: aim, Missing: r.why(figure)}
		}
	}
	of, _ := a.summary(figure)
	to, _ := b.summary(figure)
	return report.Reached{Aim: aim, Value: of.Median / to.Median}
}

// mostReached is about the largest value in any run: a median of zero writes might hide
// some.
func mostReached(aim report.Aim, r trialResult, figure string) report.Reached {
	values := r.values(figure)
	if len(values) == 0 {
		return report.Reached{Aim: aim, Missing: r.why(figure)}
	}
	most := values[0]
	for _, v := range values {
		most = max(most, v)
	}
	return report.Reached{Aim: aim, Value: most}
}

// why there is no figure.
func (r trialResult) why(figure string) string {
	if r.Missing != "" {
		return r.Name + ": " + r.Missing
	}
	return r.Name + " has no " + figure
}

// kubernetesVersion is that of the control plane.
func kubernetesVersion(dir string) (string, error) {
	path := filepath.Join(controlplaneFolder(dir), "binaries", "kubernetes", "go.mod")
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	file, err := modfile.Parse(path, data, nil)
	if err != nil {
		return "", err
	}
	for _, r := range file.Require {
		if r.Mod.Path == "k8s.io/kubernetes" {
			return r.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s requires no k8s.io/kubernetes", path)
}
