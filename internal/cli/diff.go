package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kudevops.io/appsvc/internal/kustomize"
	"kudevops.io/appsvc/internal/manifest"
	"kudevops.io/appsvc/pkg/diff"
	"kudevops.io/appsvc/pkg/render"
)

const diffLong = `Diff renders two sides and says what differs between them, field by field, and what
that does to what runs. It needs no cluster.

A side is a path, as for build, or a revision: git:REV or git:REV:PATH, where PATH is
from the root of the repository, or from the folder you are in when it begins with ./
or ../. REV may be A...B, the merge base of A and B. Without a path a revision takes
that of the other side.

  diff             what is committed (git:HEAD) against the folder you are in
  diff PATH        git:HEAD against PATH
  diff git:REV     REV against the folder you are in
  diff FROM TO     any two sides

With --live it says what applying PATH would do in a cluster. That only reads; with
--server-side the API server is asked by dry run, which needs the right to patch.

With --live-file it says what applying PATH would do to the objects in a dump of a
cluster, exactly and offline. Make the dump by
  kubectl get --show-managed-fields -o yaml KINDS

Exit codes: 0 nothing differs, 1 something differs, 2 it could not be said.`

// Exit codes of diff.
const (
	exitDiffers = 1
	exitFailed  = 2
)

// exitError is an error with the exit code that it ends the program with.
type exitError struct {
	error
	code int
}

func (e exitError) Unwrap() error { return e.error }

// errDiffers stands for differences, which are no error.
var errDiffers = exitError{errReported, exitDiffers}

// exitCode gives the exit code that an error stands for.
func exitCode(err error) int {
	var exit exitError
	if errors.As(err, &exit) {
		return exit.code
	}
	return 1
}

// failed makes an error one of exit code 2, unless it has an exit code.
func failed(err error) error {
	var exit exitError
	if err == nil || errors.As(err, &exit) {
		return err
	}
	return exitError{err, exitFailed}
}

// diffOptions are the flags of diff.
type diffOptions struct {
	output, color string
	ignore        []string
	failOn        []string
	showSecrets   bool
	mask          []string
	liveFile      string
	cluster       clusterOptions
	namespace     string
	kustomize     kustomizeOptions
	target        targetOptions
}

func newDiff(s streams) *cobra.Command {
	var o diffOptions
	cmd := &cobra.Command{
		Use:   "diff [FROM] [TO]",
		Short: "Show what differs between two sides",
		Long:  diffLong,
		Example: `  appsvc-render diff
  appsvc-render diff git:origin/main...HEAD apps -o markdown
  appsvc-render diff before.yaml after.yaml
  appsvc-render diff --live --context prod apps
  appsvc-render diff --live-file dump.yaml apps`,
		Args: func(cmd *cobra.Command, args []string) error {
			return failed(cobra.MaximumNArgs(2)(cmd, args))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return failed(runDiff(cmd.Context(), s, o, args))
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return failed(err) })
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "text", "format: "+strings.Join(diffOutputs(), ", "))
	f.StringVar(&o.color, "color", "auto", "colours: auto (on a terminal, unless NO_COLOR is set), always or never")
	f.StringArrayVar(&o.ignore, "ignore", nil, "file with rules for fields that make no difference; may be given several times")
	f.StringSliceVar(&o.failOn, "fail-on", nil, "also exit with 1 when there are fields of these kinds: "+strings.Join(failOns(), ", "))
	f.BoolVar(&o.showSecrets, "show-secrets", false, "show the values of Secrets")
	f.StringSliceVar(&o.mask, "mask", nil, "also mask values with a name like this, such as *PASSWORD*: of env, of the data of ConfigMaps, of annotations")
	f.StringVar(&o.liveFile, "live-file", "", "compare with the live objects in this file")
	f.BoolVar(&o.cluster.live, "live", false, "compare with the live objects of a cluster")
	f.BoolVar(&o.cluster.serverSide, "server-side", false, "with --live: ask the API server by dry run, which needs the right to patch")
	f.StringVar(&o.cluster.kubeconfig, "kubeconfig", "", "with --live: the file that says how to reach the cluster")
	f.StringVar(&o.cluster.context, "context", "", "with --live: the context in that file")
	f.StringVar(&o.namespace, "namespace", "", "namespace of objects that name none")
	o.kustomize.addTo(f)
	o.target.addTo(f)
	return cmd
}

func diffOutputs() []string { return []string{"text", "unified", "json", "markdown", "names"} }

func failOns() []string { return []string{"adopt", "kept", "foreign"} }

// check says what is wrong with the flags.
func (o *diffOptions) check() error {
	var errs []error
	if !slices.Contains(diffOutputs(), o.output) {
		errs = append(errs, fmt.Errorf("output %q: must be one of %s", o.output, strings.Join(diffOutputs(), ", ")))
	}
	if !slices.Contains([]string{"auto", "always", "never"}, o.color) {
		errs = append(errs, fmt.Errorf("color %q: must be auto, always or never", o.color))
	}
	for _, what := range o.failOn {
		if !slices.Contains(failOns(), what) {
			errs = append(errs, fmt.Errorf("fail-on %q: must be one of %s", what, strings.Join(failOns(), ", ")))
		}
	}
	if o.cluster.live && o.liveFile != "" {
		errs = append(errs, errors.New("--live and --live-file: there can be only one source of live objects"))
	}
	if !o.cluster.live && o.cluster != (clusterOptions{}) {
		errs = append(errs, errors.New("--server-side, --kubeconfig and --context go with --live"))
	}
	return errors.Join(append(errs, checkNamespace(o.namespace))...)
}

// comparison is one run of diff.
type comparison struct {
	streams
	options diffOptions
	render  render.Options
	layers  kustomize.Options
	report  *report
	rules   []diff.IgnoreRule
	scratch *scratch
}

func runDiff(ctx context.Context, s streams, o diffOptions, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	c := comparison{streams: s, options: o, report: newReport(s.err)}
	var err error
	if c.render, err = o.target.renderOptions(); err != nil {
		return err
	}
	if c.layers, err = o.kustomize.options(); err != nil {
		return err
	}
	if c.rules, err = readIgnoreFiles(o.ignore); err != nil {
		return err
	}
	c.scratch = newScratch()
	defer c.scratch.Close()

	progress := startProgress(s.err, "comparing")
	var changes *diff.ChangeSet
	switch {
	case o.liveFile != "":
		changes, err = c.withLive(ctx, dump{file: o.liveFile}, args, progress)
	case o.cluster.live:
		changes, err = c.withCluster(ctx, args, progress)
	default:
		changes, err = c.trees(ctx, args, progress)
	}
	progress.stop()
	if err != nil {
		return err
	}
	if c.report.failed() {
		return errReported
	}
	c.warnUnmatched(changes.Unmatched)
	if err := c.write(changes); err != nil {
		return err
	}
	if changes.Changed() || c.fails(changes.Counts()) {
		return errDiffers
	}
	return nil
}

// trees compares two sides.
func (c *comparison) trees(ctx context.Context, args []string, progress *progress) (*diff.ChangeSet, error) {
	fromSpec, toSpec, err := parseSides(args)
	if err != nil {
		return nil, err
	}
	from, fromErr := c.read(ctx, fromSpec, toSpec)
	to, toErr := c.read(ctx, toSpec, fromSpec)
	if fromErr == nil && toErr == nil && from.missing() && to.missing() {
		return nil, fmt.Errorf("there is neither %s nor %s", from.place.name, to.place.name)
	}
	shareSame(from, to)
	r := sideRenderer{namespace: c.options.namespace, render: c.render, progress: progress}
	for _, side := range []*treeSide{from, to} {
		if err := r.side(ctx, side); err != nil {
			return nil, err
		}
	}
	// What is wrong is said of both: whoever mends FROM wants to know.
	c.show(from, fromErr, false)
	c.show(to, toErr, true)
	if c.report.failed() {
		if toErr == nil && to.faults() == 0 {
			fmt.Fprintf(c.err, "%s is fine (%s), but there is nothing to compare it with\n", to.place.name, counted(len(to.objects), "object"))
		}
		return nil, errReported
	}
	c.rules = append(c.rules, c.annotationRules(from, to)...)
	if c.report.failed() {
		return nil, errReported
	}
	changes, err := diff.Diff(from.values(), to.values(), diff.Options{Ignore: c.rules})
	if err != nil {
		return nil, c.locate(err, to, from)
	}
	to.insertSame(changes)
	changes.Unmatched = r.unmatchedInSame(to, changes.Unmatched)
	return changes, nil
}

// show prints what there is to say of a side. Warnings about FROM are left out: what was
// is no longer to be changed.
func (c *comparison) show(side *treeSide, err error, warnings bool) {
	if err != nil {
		for _, e := range unjoin(err) {
			c.report.add([]*manifest.Fault{{Message: e.Error()}})
		}
		return
	}
	if warnings && side.missing() {
		c.report.add([]*manifest.Fault{{File: side.place.name, Message: "is not there: everything is deleted", Warning: true}})
	}
	for _, f := range side.found {
		if f.Warning && !warnings {
			continue
		}
		c.report.add([]*manifest.Fault{side.place.fault(f)})
	}
}

// counted gives a number of things: "1 object", "2 objects".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// locate gives the faults of the engine, which knows no files, their lines.
func (c *comparison) locate(err error, sides ...*treeSide) error {
	var faults diff.Faults
	if !errors.As(err, &faults) {
		return err
	}
	for _, f := range faults {
		c.report.add([]*manifest.Fault{locateFault(f, sides)})
	}
	return errReported
}

func locateFault(f diff.Fault, sides []*treeSide) *manifest.Fault {
	for _, side := range sides {
		for i := range side.objects {
			o := &side.objects[i]
			if o.ref() != f.Object || o.same {
				continue
			}
			return side.place.fault(o.fault(f.Path.String(), f.Message))
		}
	}
	return &manifest.Fault{Object: f.Object.String(), Path: f.Path.String(), Message: f.Message}
}

// warnUnmatched tells of ignore rules that are good for nothing. One that stands for
// several has matched when any of them has.
func (c *comparison) warnUnmatched(rules []diff.IgnoreRule) {
	for _, rule := range rules {
		if len(rule.Paths) == 0 && c.options.liveFile == "" && !c.options.cluster.live {
			continue // field managers own something in a cluster only
		}
		fmt.Fprintf(c.err, "%s: warning: ignores no field of any object\n", rule.Source)
	}
}

// fails says whether there is anything that --fail-on names.
func (c *comparison) fails(n diff.Counts) bool {
	counts := map[string]int{"adopt": n.Adopted, "kept": n.Kept, "foreign": n.Foreign}
	return slices.ContainsFunc(c.options.failOn, func(what string) bool { return counts[what] > 0 })
}

// write writes the report. Nothing is on standard output before all of it is made.
func (c *comparison) write(changes *diff.ChangeSet) error {
	r := diff.NewReport(changes, diff.ReportOptions{ShowSecrets: c.options.showSecrets, MaskKeys: c.options.mask})
	spool := newSpool()
	defer spool.Close()
	if err := c.writeTo(spool, r); err != nil {
		return err
	}
	if _, err := spool.WriteTo(c.out); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

func (c *comparison) writeTo(w io.Writer, r *diff.Report) error {
	switch c.options.output {
	case "unified":
		return r.WriteUnified(w, diff.UnifiedOptions{Color: c.colored()})
	case "json":
		return r.WriteJSON(w)
	case "markdown":
		return r.WriteMarkdown(w, diff.MarkdownOptions{})
	case "names":
		return r.WriteNames(w)
	}
	return r.WriteText(w, diff.TextOptions{Color: c.colored()})
}

// colored says whether output is coloured; see no-color.org for NO_COLOR.
func (c *comparison) colored() bool {
	switch c.options.color {
	case "always":
		return true
	case "never":
		return false
	}
	return isTerminal(c.out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
