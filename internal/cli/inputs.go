package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/kustomize/api/konfig"

	"kudevops.io/appsvc/internal/kustomize"
	"kudevops.io/appsvc/internal/manifest"
)

// batch is a piece of the input: documents to be parsed, or objects that kustomize
// built, or faults.
type batch struct {
	documents []manifest.Document
	objects   []*manifest.Object
	faults    []*manifest.Fault
}

const (
	// batchBytes and batchDocuments bound a batch: large enough that handing it to
	// a goroutine costs nothing beside the work, small enough to keep all of them
	// busy.
	batchBytes     = 64 << 10
	batchDocuments = 64
)

// inputs reads what the paths on a command line name.
type inputs struct {
	paths []string
	stdin io.Reader
	// except is a folder that is left out of folders, or empty.
	except string
	// kustomize is how a folder with a kustomization is built.
	kustomize kustomize.Options
}

// kustomizeOptions are flags of `kustomize build`, by the same names.
type kustomizeOptions struct {
	alphaPlugins, exec bool
	loadRestrictor     string
}

// The values of --load-restrictor.
const (
	rootOnly       = "LoadRestrictionsRootOnly"
	noRestrictions = "LoadRestrictionsNone"
)

func (k *kustomizeOptions) addTo(f *pflag.FlagSet) {
	f.BoolVar(&k.alphaPlugins, "enable-alpha-plugins", false, "kustomize: run functions and other plugins that a kustomization lists")
	f.BoolVar(&k.exec, "enable-exec", false, "kustomize: run functions that are programs of this machine")
	f.StringVar(&k.loadRestrictor, "load-restrictor", rootOnly, "kustomize: "+noRestrictions+" lets a kustomization read files outside of its folder")
}

func (k *kustomizeOptions) options() (kustomize.Options, error) {
	if k.loadRestrictor != rootOnly && k.loadRestrictor != noRestrictions {
		return kustomize.Options{}, fmt.Errorf("load-restrictor %q: must be %s or %s", k.loadRestrictor, rootOnly, noRestrictions)
	}
	return kustomize.Options{
		EnableAlphaPlugins: k.alphaPlugins,
		EnableExec:         k.exec,
		AnyFile:            k.loadRestrictor == noRestrictions,
	}, nil
}

// read hands the input over in batches, in order, until yield says stop. What
// cannot be read is a fault in its place; the rest is read all the same.
func (in *inputs) read(ctx context.Context, yield func(batch) bool) {
	b := batcher{yield: yield}
	for _, p := range in.paths {
		if ctx.Err() != nil || b.stopped {
			return
		}
		in.readPath(ctx, &b, p)
	}
	b.flush()
}

func (in *inputs) readPath(ctx context.Context, b *batcher, name string) {
	if name == "" {
		b.fault(`""`, "a path is empty; the folder you are in is .")
		return
	}
	if name == "-" {
		b.stream("stdin", in.stdin)
		return
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		b.fault(name, readError(err))
	case !info.IsDir():
		if isKustomization(name) {
			b.fault(name, fmt.Sprintf("is a kustomization: name its folder, %q", filepath.Dir(name)))
			return
		}
		b.file(name, os.DirFS(filepath.Dir(name)), filepath.Base(name))
	case isRoot(name):
		b.kustomization(name, in.kustomize)
	default:
		b.folder(ctx, name, in.except)
	}
}

// readError says what went wrong without repeating the name of the file.
func readError(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// batcher collects documents into batches.
type batcher struct {
	yield   func(batch) bool
	current batch
	bytes   int
	stopped bool
}

func (b *batcher) flush() {
	if b.stopped || (len(b.current.documents) == 0 && len(b.current.objects) == 0 && len(b.current.faults) == 0) {
		return
	}
	b.stopped = !b.yield(b.current)
	b.current, b.bytes = batch{}, 0
}

// fault ends the batch, so that faults come in the order of the input.
func (b *batcher) fault(file, message string) {
	b.add(&manifest.Fault{File: file, Message: message})
}

func (b *batcher) add(f *manifest.Fault) {
	b.current.faults = append(b.current.faults, f)
	b.flush()
}

func (b *batcher) file(shown string, fsys fs.FS, name string) {
	f, err := fsys.Open(name)
	if err != nil {
		b.fault(shown, readError(err))
		return
	}
	defer f.Close()
	b.stream(shown, f)
}

func (b *batcher) stream(shown string, in io.Reader) {
	r := manifest.NewReader(shown, in)
	for n := 0; !b.stopped; n++ {
		doc, err := r.Next()
		if err == io.EOF {
			if n == 0 {
				b.add(&manifest.Fault{File: shown, Line: 1, Message: "is empty: skipped", Warning: true})
			}
			return
		}
		if err != nil {
			var fault *manifest.Fault
			if !errors.As(err, &fault) {
				fault = &manifest.Fault{File: shown, Message: err.Error()}
			}
			b.add(fault)
			return
		}
		b.current.documents = append(b.current.documents, doc)
		b.bytes += len(doc.Text)
		if b.bytes >= batchBytes || len(b.current.documents) >= batchDocuments {
			b.flush()
		}
	}
}

func (b *batcher) kustomization(dir string, o kustomize.Options) {
	built, err := kustomize.Build(dir, o)
	if err != nil {
		var faults kustomize.Faults
		if !errors.As(err, &faults) {
			faults = kustomize.Faults{{Message: err.Error()}}
		}
		b.current.faults = append(b.current.faults, faults...)
		b.flush()
		return
	}
	for _, o := range built {
		object, fault := manifest.FromValue(o.Value, dir, o.Origin)
		if fault != nil {
			b.add(fault)
			continue
		}
		b.current.objects = append(b.current.objects, object)
		if len(b.current.objects) >= batchDocuments {
			b.flush()
		}
	}
	if len(built) == 0 {
		b.add(&manifest.Fault{File: dir, Message: "kustomize built nothing: skipped", Warning: true})
	}
	b.flush()
}

// unjoin gives the errors that errors.Join put together.
func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// isRoot says whether kustomize can build a folder.
func isRoot(dir string) bool {
	_, ok := kustomize.FindFile(dir)
	return ok
}

// isKustomization says whether a file is what makes its folder one that kustomize
// can build.
func isKustomization(file string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(file))
}

// folder reads the manifests below a folder, in the order of their names.
func (b *batcher) folder(ctx context.Context, dir, except string) {
	files, roots, err := manifestFiles(dir, except)
	if err != nil {
		b.fault(dir, err.Error())
		return
	}
	if len(roots) > 0 {
		for i, r := range roots {
			roots[i] = filepath.Join(dir, r)
		}
		b.fault(dir, "holds folders that kustomize has to build, and is none itself; name what is to be built: "+strings.Join(roots, " "))
		return
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.fault(dir, readError(err))
		return
	}
	defer root.Close()
	if len(files) == 0 {
		b.add(&manifest.Fault{File: dir, Message: "holds no *.yaml, *.yml or *.json: skipped", Warning: true})
	}
	for _, name := range files {
		if ctx.Err() != nil || b.stopped {
			return
		}
		b.file(filepath.Join(dir, filepath.FromSlash(name)), root.FS(), name)
	}
}

// maxFolders bounds how many folders are walked, for links that lead in circles
// by ever longer ways.
const maxFolders = 100_000

// manifestFiles lists the manifests below a folder, as slash-separated paths in
// it, and the folders below it that have a kustomization. Hidden files and folders
// are left out. A symbolic link is followed within the folder; one that leads out
// of it is an error, since leaving it out could mean that what it names is pruned.
// except is a folder that is left out, or empty.
func manifestFiles(dir, except string) (files, roots []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, errors.New(readError(err))
	}
	defer root.Close()
	w := walker{root: root}
	if except != "" {
		w.except, _ = os.Stat(except) // that it is not there is fine
	}
	if err := w.walk(".", false, nil); err != nil {
		return nil, nil, err
	}
	return w.names(), w.roots, nil
}

type walker struct {
	root    *os.Root
	found   []foundFile
	roots   []string
	folders int
	except  fs.FileInfo
}

type foundFile struct {
	name string
	info fs.FileInfo
	link bool // a symbolic link is on the way to it
}

// names gives the files that were found, without links to others among them.
func (w *walker) names() []string {
	var names []string
	for i, f := range w.found {
		same := func(g foundFile) bool { return os.SameFile(f.info, g.info) }
		if f.link && (slices.ContainsFunc(w.found[:i], same) ||
			slices.ContainsFunc(w.found[i+1:], func(g foundFile) bool { return !g.link && same(g) })) {
			continue
		}
		names = append(names, f.name)
	}
	return names
}

func (w *walker) walk(folder string, linked bool, above []fs.FileInfo) error {
	if w.folders++; w.folders > maxFolders {
		return fmt.Errorf("holds more than %d folders", maxFolders)
	}
	entries, err := fs.ReadDir(w.root.FS(), folder)
	if err != nil {
		return fmt.Errorf("%s: %s", folder, readError(err))
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := path.Join(folder, e.Name())
		link := linked || e.Type()&fs.ModeSymlink != 0
		info, err := w.root.Stat(filepath.FromSlash(name))
		if err != nil {
			if link && !isManifest(name) && !w.leadsToFolder(name) {
				continue // it would not be read anyway
			}
			return fmt.Errorf("%s: %s", name, linkError(link, err))
		}
		switch {
		case info.IsDir():
			if slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, info) }) {
				continue // a link to a folder that it is in
			}
			if w.except != nil && os.SameFile(w.except, info) {
				continue
			}
			if isRoot(filepath.Join(w.root.Name(), filepath.FromSlash(name))) {
				w.roots = append(w.roots, name)
				continue
			}
			if err := w.walk(name, link, append(slices.Clone(above), info)); err != nil {
				return err
			}
		case isManifest(name) && info.Mode().IsRegular():
			w.found = append(w.found, foundFile{name, info, link})
		}
	}
	return nil
}

// leadsToFolder says whether a link leads to a folder, wherever that is.
func (w *walker) leadsToFolder(name string) bool {
	info, err := os.Stat(filepath.Join(w.root.Name(), filepath.FromSlash(name)))
	return err == nil && info.IsDir()
}

func linkError(link bool, err error) string {
	if link && !errors.Is(err, fs.ErrNotExist) {
		return "is a symbolic link that leads out of the folder: " + readError(err)
	}
	return readError(err)
}

func isManifest(name string) bool {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}
