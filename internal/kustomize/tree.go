package kustomize

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/kio"

	"kudevops.io/appsvc/internal/manifest"
)

// tree is everything that a build reads, as it was when it was read, and what is
// wrong with it.
type tree struct {
	options Options
	disk    filesys.FileSystem
	top     string // the folder that is built, absolute and without symlinks
	shown   string // what messages call it
	layers  []*layer
	files   map[string][]byte // what was read, by absolute path without symlinks
	data    map[string]bool   // the files that are read as something else than a kustomization
	seen    map[visit]bool
	faults  Faults
}

// visit is a folder and what it is built for.
type visit struct {
	dir     string
	plugins bool // for configurations of plugins rather than for objects
}

// layer is one kustomization.
type layer struct {
	visit
	file          string // absolute, without symlinks
	text          []byte
	kustomization types.Kustomization
	lines         func() *yaml.Node // text, read for its lines
}

// readTree reads the kustomization of a folder and all that it refers to. The
// error says why there is no kustomization to begin with; all else that is wrong
// is in the tree's faults.
func readTree(dir string, o Options) (*tree, error) {
	disk := filesys.MakeFsOnDisk()
	top, file, err := disk.CleanedAbs(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", dir, reason(err))
	}
	if file != "" {
		return nil, fmt.Errorf("%s is a file, not a folder", dir)
	}
	t := &tree{
		options: o,
		disk:    disk,
		top:     top.String(),
		shown:   dir,
		files:   map[string][]byte{},
		data:    map[string]bool{},
		seen:    map[visit]bool{},
	}
	if resolved, err := filepath.EvalSymlinks(dir); err != nil || resolved != filepath.Clean(dir) {
		t.shown = t.top // "../base" is not to be taken from where a symlink is
	}
	if err := t.enter(visit{dir: t.top}); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	for _, l := range t.layers {
		if t.data[l.file] {
			// What is read as data would be the text that the view shows.
			t.faults = append(t.faults, &manifest.Fault{File: t.show(l.file), Message: "is both a kustomization of this build and read by one as a file"})
		}
	}
	return t, nil
}

// show gives a path as messages have it.
func (t *tree) show(path string) string {
	rel, err := filepath.Rel(t.top, path)
	if err != nil {
		return path
	}
	return filepath.Join(t.shown, rel)
}

// enter reads a folder and what it refers to, once. The error is for whoever
// refers to the folder.
func (t *tree) enter(v visit) error {
	if t.seen[v] {
		return nil
	}
	t.seen[v] = true
	l, err := t.readLayer(v)
	if l == nil || err != nil {
		return err
	}
	t.layers = append(t.layers, l)
	if v.plugins && !t.options.runsAnything() && !onlyLists(l.kustomization) {
		t.fault(l, nil, "a folder of plugin configurations may do nothing but list resources, so that each of them can be checked, unless everything is run: "+bothFlags)
	}
	for _, ref := range references(&l.kustomization) {
		t.follow(l, ref)
	}
	return nil
}

// readLayer finds the kustomization file of a folder as kustomize does, and reads
// it. It gives no layer for a file that is faulty.
func (t *tree) readLayer(v visit) (*layer, error) {
	var found []string
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		dir, file, err := t.disk.CleanedAbs(filepath.Join(v.dir, name))
		if err == nil && file != "" && dir.HasPrefix(filesys.ConfirmedDir(v.dir)) {
			found = append(found, dir.Join(file))
		}
	}
	switch len(found) {
	case 1:
	case 0:
		return nil, errors.New("holds no kustomization file: " + strings.Join(konfig.RecognizedKustomizationFileNames(), ", "))
	default:
		for i, file := range found {
			found[i] = filepath.Base(file)
		}
		return nil, errors.New("holds more than one kustomization file: " + strings.Join(found, ", "))
	}
	l := &layer{visit: v, file: found[0]}
	l.lines = sync.OnceValue(func() *yaml.Node { return parseNode(l.text) })
	text, err := t.read(l.file)
	if err != nil {
		t.fault(l, nil, "%s", reason(err))
		return nil, nil
	}
	l.text = text
	if err := l.kustomization.Unmarshal(text); err != nil {
		t.fault(l, unreadable(err), "%s", strings.TrimPrefix(strings.TrimPrefix(err.Error(), "invalid Kustomization: "), "json: "))
		return nil, nil
	}
	return l, nil
}

// follow checks one entry and reads what it refers to.
func (t *tree) follow(l *layer, ref reference) {
	if ref.use == useChart {
		t.fault(l, ref.at, "chart %q: %s", ref.target, noHelm)
		return
	}
	if ref.use == useText {
		if err := checkAliases([]byte(ref.target)); err != nil {
			t.fault(l, ref.at, "%s", err)
		}
		return
	}
	folder := ref.use == useObjects || ref.use == useComponent || ref.use == usePlugin
	if isURL(ref.target) || isURL(ref.file()) || (folder && isRepository(ref.target)) {
		message := remoteMessage(ref.target)
		if path := filepath.Join(l.dir, ref.target); folder && t.disk.Exists(path) {
			message += fmt.Sprintf(" (a local path like this is written %q)", "./"+ref.target)
		}
		t.fault(l, ref.at, "%s", message)
		return
	}
	switch ref.use {
	case usePlugin, useTextOrFile:
		if err := checkAliases([]byte(ref.target)); err != nil {
			t.fault(l, ref.at, "%s", err)
			return
		}
		nodes := inlinePlugins(ref.target)
		if ref.use == useTextOrFile {
			// kustomize takes for a file whatever is no text of a patch, so that
			// text with a mistake has its own error there.
			if len(nodes) == 0 && t.disk.Exists(filepath.Join(l.dir, ref.target)) {
				t.followFile(l, ref)
			}
			return
		}
		if len(nodes) > 0 {
			t.faultAll(l, ref.at, t.options.checkPlugins(nodes))
			return
		}
	}
	t.followFile(l, ref)
}

// followFile checks and reads the file or folder that an entry names.
func (t *tree) followFile(l *layer, ref reference) {
	path := ref.file()
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.dir, path)
	}
	dir, file, err := t.disk.CleanedAbs(path)
	if err != nil {
		t.fault(l, ref.at, "%q: %s", ref.file(), reason(err))
		return
	}
	if file == "" {
		t.followFolder(l, ref, dir.String())
		return
	}
	if ref.use == useComponent {
		t.fault(l, ref.at, "%q is a file: a component is a folder with a kustomization file", ref.file())
		return
	}
	if !t.options.AnyFile && !dir.HasPrefix(filesys.ConfirmedDir(l.dir)) {
		t.fault(l, ref.at, "%q is outside of the folder of this kustomization, where kustomize reads no files: put it into a folder with a kustomization file and list the folder under resources, or give --load-restrictor LoadRestrictionsNone", ref.file())
		return
	}
	path = dir.Join(file)
	t.data[path] = true
	text, err := t.read(path)
	if err != nil {
		t.fault(l, ref.at, "%q %s", ref.file(), reason(err))
		return
	}
	if ref.use == usePlugin || (ref.use == useObjects && l.plugins) {
		nodes, err := kio.FromBytes(text)
		if err != nil {
			t.fault(l, ref.at, "%q: %s", ref.file(), reason(err))
			return
		}
		t.faultAll(l, ref.at, prefixed(fmt.Sprintf("%q", ref.file()), t.options.checkPlugins(nodes)))
	}
}

func (t *tree) followFolder(l *layer, ref reference, dir string) {
	switch ref.use {
	case useObjects, useComponent, usePlugin:
		if err := t.enter(visit{dir: dir, plugins: l.plugins || ref.use == usePlugin}); err != nil {
			t.fault(l, ref.at, "%q %w", ref.target, err)
		}
	default:
		t.fault(l, ref.at, "%q is a folder, not a file", ref.file())
	}
}

func (t *tree) faultAll(l *layer, at fieldPath, messages []string) {
	for _, message := range messages {
		t.fault(l, at, "%s", message)
	}
}

func (t *tree) fault(l *layer, at fieldPath, format string, args ...any) {
	t.faults = append(t.faults, &manifest.Fault{
		File:    t.show(l.file),
		Line:    lineOf(l.lines(), at),
		Path:    at.String(),
		Message: fmt.Errorf(format, args...).Error(),
	})
}

// read reads a file within the limits, once: what was checked is what kustomize
// gets.
func (t *tree) read(path string) ([]byte, error) {
	if text, ok := t.files[path]; ok {
		return text, nil
	}
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	t.files[path] = text
	return text, nil
}

// reason is what is wrong with a path, without the path.
func reason(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err.Error()
	}
	return err.Error()
}

// readsOpenAPI says whether any layer brings its own OpenAPI schema.
func (t *tree) readsOpenAPI() bool {
	return slices.ContainsFunc(t.layers, func(l *layer) bool { return len(l.kustomization.OpenAPI) > 0 })
}
