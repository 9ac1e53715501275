package bench

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kudevops.io/appsvc/test/peers/internal/measure"
	"kudevops.io/appsvc/test/peers/internal/plot"
	"kudevops.io/appsvc/test/peers/internal/report"
)

// Run is the program with the arguments args, its name aside. The report goes to
// stdout, all else to stderr. self is the path of the program, which has to pass
// measure.LaunchArg on to measure.Launch. It gives the exit status: 1 when
// appsvc-render fails or the programs render different objects, 2 for a wrong
// command line. A peer that is missing is no failure.
func Run(ctx context.Context, self string, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	if err := run(ctx, measure.Launcher{Path: self}, o, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "bench-peers:", err)
		return 1
	}
	return 0
}

func run(ctx context.Context, launcher measure.Launcher, o options, stdout, stderr io.Writer) error {
	dir, err := moduleFolder()
	if err != nil {
		return err
	}
	if o.build {
		return buildOnly(ctx, dir, stdout, stderr)
	}
	if o.write != "" {
		// Before minutes of measuring, not after.
		if err := report.Check(o.write); err != nil {
			return err
		}
	}
	temp, err := os.MkdirTemp("", "bench-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	p, err := buildPrograms(ctx, dir, temp, o, stderr)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, "writing inputs")
	in, err := writeInputs(ctx, launcher, p.ours, temp, o)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, "comparing what the programs render and find")
	verdicts, err := check(ctx, launcher, p, in)
	if err != nil {
		return err
	}
	for _, v := range verdicts {
		fmt.Fprint(stderr, v.differences)
	}
	if o.check {
		return judge(verdicts, verdict.good, stdout)
	}
	if o.write != "" {
		if err := judge(verdicts, func(v verdict) bool { return v.differences == "" }, io.Discard); err != nil {
			return err
		}
	}
	all, err := measureSections(ctx, launcher, dir, temp, p, in, o, stderr)
	if err != nil {
		return err
	}
	page, err := newPage(ctx, dir, p, o)
	if err != nil {
		return err
	}
	for _, v := range verdicts {
		page.Checks = append(page.Checks, v.text)
	}
	page.Grids = grids(all)
	return publish(page, all, o, []string{temp, repository(dir)}, stdout, stderr)
}

// buildOnly builds the peers and says where they are.
func buildOnly(ctx context.Context, dir string, stdout, stderr io.Writer) error {
	var errs []error
	for _, b := range buildPeers(ctx, dir, stderr).peers() {
		if b.missing != "" {
			errs = append(errs, errors.New(b.missing))
			continue
		}
		fmt.Fprintf(stdout, "%-20s %s\n", b.name, b.path)
	}
	return errors.Join(errs...)
}

// judge gives the verdicts that are not as wanted as an error, and prints the others.
func judge(all []verdict, wanted func(verdict) bool, stdout io.Writer) error {
	var errs []error
	for _, v := range all {
		if !wanted(v) {
			errs = append(errs, errors.New(v.text))
			continue
		}
		fmt.Fprintln(stdout, v.text)
	}
	return errors.Join(errs...)
}

// measureSections measures all there is.
func measureSections(ctx context.Context, launcher measure.Launcher, dir, temp string, p programs, in inputs, o options, stderr io.Writer) ([]section, error) {
	processes := scenarios(p, in)
	groups, err := measureAll(ctx, launcher, processes, o.runs, stderr)
	if err != nil {
		return nil, err
	}
	all := sections(processes, groups, p.ours)
	library, err := measureLibrary(ctx, repository(dir), o, stderr)
	if err != nil {
		return nil, err
	}
	controller, err := measureController(ctx, dir, temp, p, o, stderr)
	if err != nil {
		return nil, err
	}
	return append(append(all, library), controller...), nil
}

// publish prints the report and writes it where that is asked for. What ours lacks is
// written as missing, and is an error all the same.
func publish(page report.Page, all []section, o options, folders []string, stdout, stderr io.Writer) error {
	var failed error
	for _, s := range all {
		failed = errors.Join(failed, s.err)
	}
	if o.write != "" {
		page.Plot = filepath.Base(o.plotFile())
	}
	text := withoutFolders(page.Markdown(), folders...)
	fmt.Fprint(stdout, text)
	if o.write == "" {
		return failed
	}
	fmt.Fprintln(stderr, "writing", o.write, "and", o.plotFile())
	var picture bytes.Buffer
	if err := plot.WriteSVG(&picture, chart(all)); err != nil {
		return errors.Join(failed, err)
	}
	if err := os.WriteFile(o.plotFile(), picture.Bytes(), 0o644); err != nil {
		return errors.Join(failed, err)
	}
	return errors.Join(failed, report.Write(o.write, text))
}

func measureAll(ctx context.Context, launcher measure.Launcher, all []scenario, runs int, stderr io.Writer) ([]report.Group, error) {
	groups := make([]report.Group, len(all))
	for i, s := range all {
		rounds := runs
		if s.rounds > 0 {
			rounds = min(runs, s.rounds)
		}
		fmt.Fprintf(stderr, "measuring %d of %d, runs of each %d: %s\n", i+1, len(all), rounds, s.title)
		results, err := measure.Alternate(ctx, launcher.Run, s.entries, rounds)
		if err != nil {
			return nil, err
		}
		groups[i] = report.Group{Title: s.title, Results: results, Base: s.base, Rounds: rounds}
	}
	return groups, nil
}

func newPage(ctx context.Context, dir string, p programs, o options) (report.Page, error) {
	command, err := o.command(dir)
	if err != nil {
		return report.Page{}, err
	}
	versions, err := p.versions(ctx, dir, o)
	if err != nil {
		return report.Page{}, err
	}
	return report.Page{
		Date:     time.Now(),
		Machine:  report.ThisMachine(ctx),
		Versions: versions,
		Command:  command,
	}, nil
}

// withoutFolders takes the names of folders of this machine out of a text that is
// to be published: the reason why a peer is missing may hold paths.
func withoutFolders(text string, folders ...string) string {
	for _, f := range folders {
		text = strings.ReplaceAll(text, f+string(filepath.Separator), "")
	}
	return text
}
