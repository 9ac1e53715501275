package bench

import (
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
	in, err := writeInputs(temp, o)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, "comparing what the programs render")
	v, err := compare(ctx, launcher, p, in)
	if err != nil {
		return err
	}
	fmt.Fprint(stderr, v.differences)
	switch {
	case o.check && v.good():
		fmt.Fprintln(stdout, v.text)
		return nil
	case o.check, o.write != "" && v.differences != "":
		return errors.New(v.text)
	}

	groups, err := measureAll(ctx, launcher, scenarios(p, in), o.runs, stderr)
	if err != nil {
		return err
	}
	page, err := newPage(ctx, dir, p, o)
	if err != nil {
		return err
	}
	page.Comparison, page.Groups = v.text, groups
	text := withoutFolders(page.Markdown(), temp, repository(dir))
	fmt.Fprint(stdout, text)
	if err := failure(groups, p.ours); err != nil {
		return err
	}
	if o.write == "" {
		return nil
	}
	fmt.Fprintln(stderr, "writing", o.write)
	return report.Write(o.write, text)
}

func measureAll(ctx context.Context, launcher measure.Launcher, all []scenario, runs int, stderr io.Writer) ([]report.Group, error) {
	groups := make([]report.Group, len(all))
	for i, s := range all {
		fmt.Fprintf(stderr, "measuring %d of %d, runs of each %d: %s\n", i+1, len(all), runs, s.title)
		results, err := measure.Alternate(ctx, launcher.Run, s.entries, runs)
		if err != nil {
			return nil, err
		}
		groups[i] = report.Group{Title: s.title, Results: results, Base: s.base}
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
		Rounds:   o.runs,
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

// failure is the first row of ours that has no figures.
func failure(groups []report.Group, ours binary) error {
	for _, g := range groups {
		for _, r := range g.Results {
			if r.Missing != "" && strings.HasPrefix(r.Name, ours.name+" ") {
				return fmt.Errorf("%s: %s", r.Name, r.Missing)
			}
		}
	}
	return nil
}
