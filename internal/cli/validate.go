package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kudevops.io/appsvc/internal/crd"
	"kudevops.io/appsvc/internal/manifest"
	"kudevops.io/appsvc/pkg/render"
)

const validateLong = `Validate says what is wrong with the AppServices in the paths, without a cluster.

It gives two verdicts: what the API server would say of each AppService, by the
schema and the rules of its CRD, and what the renderer says, which refuses all of
that and more (docs/validation.md). Paths are those of build.

As text, findings go to standard error; as json or github (annotations on a pull
request) they are the output. Warnings do not make it fail.`

func newValidate(s streams) *cobra.Command {
	var format string
	var target targetOptions
	var layers kustomizeOptions
	cmd := &cobra.Command{
		Use:   "validate [PATH|-]...",
		Short: "Say what is wrong with AppServices, without a cluster",
		Long:  validateLong,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runValidate(cmd.Context(), s, format, layers, target, args)
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "text", "format: text, json or github")
	layers.addTo(cmd.Flags())
	target.addTo(cmd.Flags())
	return cmd
}

// finding is a fault or a warning and who found it.
type finding struct {
	*manifest.Fault
	// by is "input", "schema" or "render".
	by string
}

// verdict is what came of a batch.
type verdict struct {
	findings []finding
	apps     []*manifest.Object
	scaling  scaling
}

func runValidate(ctx context.Context, s streams, format string, layers kustomizeOptions, target targetOptions, paths []string) error {
	printer, err := newPrinter(format, s)
	if err != nil {
		return err
	}
	options, err := target.renderOptions()
	if err != nil {
		return err
	}
	kustomize, err := layers.options()
	if err != nil {
		return err
	}
	kustomize.KeepRendered = true
	schema, err := crd.NewValidator()
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	v := validator{ctx: ctx, schema: schema, options: options}
	in := inputs{paths: paths, stdin: s.in, kustomize: kustomize}
	progress := startProgress(s.err, "validating")
	seen := newIdentities()
	apps := 0
	failed := false
	var scaling scaling
	err = inOrder(ctx,
		func(yield func(batch) bool) { in.read(ctx, yield) },
		v.batch,
		func(got verdict) error {
			scaling.merge(got.scaling)
			for _, o := range got.apps {
				progress.count.Add(1)
				apps++
				if fault := seen.add(output{id: o.ID, source: o}); fault != nil {
					got.findings = append(got.findings, finding{fault, "input"})
				}
			}
			for _, f := range got.findings {
				failed = failed || !f.Warning
				if err := printer.add(f); err != nil {
					return err
				}
			}
			return nil
		})
	progress.stop()
	if err != nil {
		return err
	}
	for _, fault := range scaling.warnings() {
		if err := printer.add(finding{fault, "render"}); err != nil {
			return err
		}
	}
	if apps == 0 && !failed {
		failed = true
		if err := printer.add(finding{&manifest.Fault{File: paths[0], Message: "there is nothing to validate: no AppService in " + quoted(paths)}, "input"}); err != nil {
			return err
		}
	}
	if err := printer.finish(apps); err != nil {
		return err
	}
	if failed {
		return errReported
	}
	return nil
}

// validator judges batches. It is used by several goroutines.
type validator struct {
	ctx     context.Context
	schema  *crd.Validator
	options render.Options
}

func (v *validator) batch(in batch) verdict {
	var r verdict
	add := func(by string, faults ...*manifest.Fault) {
		for _, f := range faults {
			r.findings = append(r.findings, finding{f, by})
		}
	}
	objects := in.objects
	for _, doc := range in.documents {
		found, isObject, faults := manifest.Objects(doc)
		add("input", faults...)
		if !isObject {
			add("input", skipped(doc))
		}
		objects = append(objects, found...)
	}
	for _, o := range objects {
		if fault := misplaced(o); fault != nil {
			add("input", fault)
		}
		if !o.IsAppService() {
			if scalesAppService(o) {
				r.scaling.add(o, nil)
			}
			continue
		}
		r.apps = append(r.apps, o)
		app, faults := o.AppService()
		add("input", faults...)
		if value, broken := o.Value(); len(broken) == 0 {
			add("schema", without(v.schemaFaults(o, value), faults)...)
		}
		if app == nil {
			continue
		}
		r.scaling.add(o, app)
		errs, warnings := render.Validate(app, v.options)
		for _, w := range warnings {
			fault := o.Fault(w.Field, w.Message)
			fault.Warning = true
			add("render", fault)
		}
		add("render", validationFaults(o, errs)...)
	}
	add("input", in.faults...) // what ended the batch
	return r
}

// schemaFaults is the API server's verdict, without the fields that it does not
// know: decoding, which knows the same ones, has named those.
func (v *validator) schemaFaults(o *manifest.Object, value map[string]any) []*manifest.Fault {
	return validationFaults(o, v.schema.Validate(v.ctx, value).Errors)
}

// without leaves out faults in lines that known ones are in: the schema has several
// words for a value of the wrong type.
func without(faults, known []*manifest.Fault) []*manifest.Fault {
	return slices.DeleteFunc(faults, func(f *manifest.Fault) bool {
		return slices.ContainsFunc(known, func(k *manifest.Fault) bool { return k.Line == f.Line && k.Line > 0 })
	})
}

// printer writes findings in one format.
type printer interface {
	add(finding) error
	finish(apps int) error
}

func newPrinter(format string, s streams) (printer, error) {
	switch format {
	case "text":
		return &textPrinter{w: s.err}, nil
	case "json":
		return &jsonPrinter{w: s.out, Findings: []jsonFinding{}}, nil
	case "github":
		return &githubPrinter{w: s.out}, nil
	}
	return nil, fmt.Errorf("output %q: must be text, json or github", format)
}

type textPrinter struct {
	w                io.Writer
	faults, warnings int
}

func (p *textPrinter) add(f finding) error {
	if f.Warning {
		p.warnings++
	} else {
		p.faults++
	}
	_, err := fmt.Fprintf(p.w, "%s [%s]\n", f.Error(), f.by)
	return err
}

func (p *textPrinter) finish(apps int) error {
	_, err := fmt.Fprintf(p.w, "%d AppServices, %d errors, %d warnings\n", apps, p.faults, p.warnings)
	return err
}

// jsonPrinter writes one JSON object. Its form is part of the command line's
// contract: fields are added, never renamed.
type jsonPrinter struct {
	w           io.Writer
	AppServices int           `json:"appServices"`
	Errors      int           `json:"errors"`
	Warnings    int           `json:"warnings"`
	Findings    []jsonFinding `json:"findings"`
}

type jsonFinding struct {
	Severity string `json:"severity"`
	By       string `json:"by"`
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
	Origin   string `json:"origin,omitempty"`
	Object   string `json:"object,omitempty"`
	Field    string `json:"field,omitempty"`
	Message  string `json:"message"`
}

func (p *jsonPrinter) add(f finding) error {
	severity := "error"
	if f.Warning {
		severity = "warning"
		p.Warnings++
	} else {
		p.Errors++
	}
	p.Findings = append(p.Findings, jsonFinding{severity, f.by, f.File, f.Line, f.Origin, f.Object, f.Path, f.Message})
	return nil
}

func (p *jsonPrinter) finish(apps int) error {
	p.AppServices = apps
	enc := json.NewEncoder(p.w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(p)
}

// githubPrinter writes workflow commands, which GitHub shows beside the lines of a
// pull request.
type githubPrinter struct{ w io.Writer }

func (p *githubPrinter) add(f finding) error {
	command := "error"
	if f.Warning {
		command = "warning"
	}
	where := "file=" + githubProperty(f.File)
	if f.Line > 0 {
		where += fmt.Sprintf(",line=%d", f.Line)
	}
	text := *f.Fault
	text.File, text.Line, text.Warning = "", 0, false
	_, err := fmt.Fprintf(p.w, "::%s %s,title=%s::%s\n", command, where, githubProperty("appsvc-render "+f.by), githubData(strings.TrimSpace(text.Error())))
	return err
}

func (p *githubPrinter) finish(int) error { return nil }

func githubData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func githubProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
