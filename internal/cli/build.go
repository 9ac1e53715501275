package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"kudevops.io/appsvc/internal/manifest"
	"kudevops.io/appsvc/pkg/render"
)

const buildLong = `Build prints the manifests of the AppServices in the paths, and every other
object in its place and unchanged.

A path is a file, a folder, or "-" for standard input; without one it is the
folder you are in. Of a folder, *.yaml, *.yml and *.json are read, those below it
too; hidden ones are left out. A folder with a kustomization is built by
kustomize first, in process: overlays act on the AppServices, whose images,
replicas and references kustomize is told about.

Nothing is printed when anything is wrong, or when there is nothing to print.

As a plugin of Argo CD it takes --namespace, --kube-version and --api-versions from
the environment too: from the parameters of the Application
(ARGOCD_APP_PARAMETERS; see appsvc-render parameters), and the latter two, where
ARGOCD_APP_NAME is set, from KUBE_VERSION and KUBE_API_VERSIONS. Flags come first,
then parameters.`

// buildOptions are the flags of build.
type buildOptions struct {
	output      string
	outputDir   string
	namespace   string
	keepSources bool
	kustomize   kustomizeOptions
	target      targetOptions
}

func newBuild(s streams) *cobra.Command {
	var o buildOptions
	cmd := &cobra.Command{
		Use:   "build [PATH|-]...",
		Short: "Print the manifests of AppServices",
		Long:  buildLong,
		Example: `  appsvc-render build app.yaml
  appsvc-render build overlays/prod | kubectl apply --server-side -f -
  appsvc-render build apps --output-dir rendered`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.takeEnvironment(cmd.Flags().Changed, os.Getenv); err != nil {
				return err
			}
			return runBuild(cmd.Context(), s, o, args)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "yaml", "format: yaml or json")
	f.StringVar(&o.outputDir, "output-dir", "", "write a file for each object into this folder, and remove those of earlier runs that are not rendered any more")
	f.StringVar(&o.namespace, "namespace", "", "namespace of objects that name none")
	f.BoolVar(&o.keepSources, "keep-sources", false, "also print the AppServices")
	o.kustomize.addTo(f)
	o.target.addTo(f)
	return cmd
}

// result is what came of a batch.
type result struct {
	objects []output
	faults  []*manifest.Fault
	scaling scaling
	// text is where the text of the objects is put together.
	text []byte
}

// output is an object as it will be written. One without text is only counted: an
// AppService of which nothing but its children is printed.
type output struct {
	id   manifest.ID
	text []byte
	// source is where the object, or the AppService it was rendered from, stands.
	source *manifest.Object
}

func runBuild(ctx context.Context, s streams, o buildOptions, paths []string) error {
	if o.output != "yaml" && o.output != "json" {
		return fmt.Errorf("output %q: must be yaml or json", o.output)
	}
	if o.outputDir != "" && o.output != "yaml" {
		return fmt.Errorf("output-dir writes yaml, not %s", o.output)
	}
	if err := checkNamespace(o.namespace); err != nil {
		return err
	}
	options, err := o.target.renderOptions()
	if err != nil {
		return err
	}
	layers, err := o.kustomize.options()
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	b := builder{options: o, render: options}
	spool := newSpool()
	defer spool.Close()
	var sink sink = &stream{spool: spool, json: o.output == "json"}
	if o.outputDir != "" {
		sink = &folder{spool: spool, dir: o.outputDir}
	}

	report := newReport(s.err)
	progress := startProgress(s.err, "rendering")
	in := inputs{paths: paths, stdin: s.in, except: o.outputDir, kustomize: layers}
	seen := newIdentities()
	objects := 0
	var twice *manifest.Object // the last one that was there before
	var scaling scaling
	err = inOrder(ctx,
		func(yield func(batch) bool) { in.read(ctx, yield) },
		b.batch,
		func(r result) error {
			report.add(r.faults)
			scaling.merge(r.scaling)
			for _, out := range r.objects {
				progress.count.Add(1)
				objects++
				if out.source == twice {
					continue // and so do its children
				}
				if fault := seen.add(out); fault != nil {
					report.add([]*manifest.Fault{fault})
					twice = out.source
					continue
				}
				if len(out.text) == 0 || report.failed() {
					continue
				}
				if err := sink.add(out); err != nil {
					return err
				}
			}
			return nil
		})
	progress.stop()
	if err != nil {
		return err
	}
	report.add(scaling.warnings())
	if objects == 0 && !report.failed() {
		report.add([]*manifest.Fault{{File: paths[0], Message: "there is nothing to build: no object in " + quoted(paths)}})
	}
	if report.failed() {
		return errReported
	}
	return sink.finish(s.out)
}

// checkNamespace says what is wrong with a namespace. None is fine.
func checkNamespace(ns string) error {
	if ns == "" {
		return nil
	}
	if msgs := validation.IsDNS1123Label(ns); len(msgs) > 0 {
		return fmt.Errorf("namespace %q: %s", ns, strings.Join(msgs, "; "))
	}
	return nil
}

// builder turns batches into output. It is used by several goroutines.
type builder struct {
	options buildOptions
	render  render.Options
}

func (b *builder) batch(in batch) result {
	var r result
	size := 0
	for _, doc := range in.documents {
		size += len(doc.Text)
	}
	r.text = make([]byte, 0, 4*size) // what typical AppServices render to
	for _, doc := range in.documents {
		objects, isObject, faults := manifest.Objects(doc)
		r.faults = append(r.faults, faults...)
		if !isObject {
			r.faults = append(r.faults, skipped(doc))
		}
		for _, o := range objects {
			b.object(o, &r)
		}
	}
	for _, o := range in.objects {
		b.object(o, &r)
	}
	r.faults = append(r.faults, in.faults...) // what ended the batch
	return r
}

func (b *builder) object(o *manifest.Object, r *result) {
	if fault := misplaced(o); fault != nil {
		r.faults = append(r.faults, fault)
		return
	}
	if o.IsAppService() {
		b.appService(o, r)
	} else {
		b.other(o, r)
	}
}

func (b *builder) appService(o *manifest.Object, r *result) {
	app, children, faults := renderAppService(o, b.options.namespace, b.render)
	r.faults = append(r.faults, faults...)
	if app == nil {
		return
	}
	r.scaling.add(o, app)
	source := output{id: o.ID, source: o}
	if b.options.keepSources {
		text, faults := b.verbatim(o)
		if len(faults) > 0 {
			r.faults = append(r.faults, faults...)
			return
		}
		source.text = text
	}
	r.objects = append(r.objects, source)
	for _, child := range children {
		start := len(r.text)
		var err error
		if r.text, err = b.encode(r.text, child.Object); err != nil {
			r.faults = append(r.faults, o.Fault("", err.Error()))
			return
		}
		text := r.text[start:]
		r.objects = append(r.objects, output{id: manifest.IDOf(child), text: text, source: o})
	}
}

// other passes an object through: as it was written where that is possible.
func (b *builder) other(o *manifest.Object, r *result) {
	if ns := b.options.namespace; ns != "" && o.Namespace == "" && namespaced(o) {
		// Only a sound tree can be changed: one that holds itself has no end.
		if _, faults := o.JSON(); len(faults) > 0 {
			r.faults = append(r.faults, faults...)
			return
		}
		o.SetNamespace(ns)
	}
	text, faults := b.verbatim(o)
	if len(faults) > 0 {
		r.faults = append(r.faults, faults...)
		return
	}
	if scalesAppService(o) {
		r.scaling.add(o, nil)
	}
	r.objects = append(r.objects, output{id: o.ID, text: text, source: o})
}

func (b *builder) verbatim(o *manifest.Object) ([]byte, []*manifest.Fault) {
	text, faults := o.JSON()
	if len(faults) > 0 {
		return nil, faults
	}
	if b.options.output == "json" {
		var out bytes.Buffer
		if err := json.Indent(&out, text, "", "  "); err != nil {
			return nil, []*manifest.Fault{o.Fault("", err.Error())}
		}
		out.WriteByte('\n')
		return out.Bytes(), nil
	}
	if text, ok := o.Text(); ok {
		return text, nil
	}
	value, faults := o.Value()
	if len(faults) > 0 {
		return nil, faults
	}
	return manifest.AppendYAML(nil, value), nil
}

func (b *builder) encode(dst []byte, object map[string]any) ([]byte, error) {
	if b.options.output == "json" {
		return manifest.AppendJSON(dst, object)
	}
	return manifest.AppendYAML(dst, object), nil
}

// namespaced says whether objects of a kind live in a namespace. A kind that
// Kubernetes does not bring counts as one that does, as in kustomize.
func namespaced(o *manifest.Object) bool {
	yes, known := openapi.IsNamespaceScoped(kyaml.TypeMeta{APIVersion: o.APIVersion(), Kind: o.Kind})
	return yes || !known
}

func quoted(paths []string) string {
	list := slices.Clone(paths)
	for i, p := range list {
		list[i] = fmt.Sprintf("%q", p)
	}
	if len(list) > 5 {
		list = append(list[:5], "...")
	}
	var b bytes.Buffer
	for i, p := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p)
	}
	return b.String()
}
