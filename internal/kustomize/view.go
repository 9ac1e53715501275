package kustomize

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// view is the disk as kustomize sees it: the files of a tree as they were read,
// the kustomization files among them with our additions, and the virtual files
// that these refer to. It can only be read from.
//
// Of a file system kustomize uses CleanedAbs, which also tells whether there is a
// file, and ReadFile, with what CleanedAbs gave.
type view struct {
	filesys.FileSystem
	tree *tree
	// texts are the files that the disk does not have, or not so.
	texts map[string][]byte
	// keepLocal is the name of the virtual file with keepLocalTransformer.
	keepLocal string
}

// newView makes the additions to a tree that has no faults.
func newView(t *tree) (*view, error) {
	v := &view{FileSystem: t.disk, tree: t, texts: map[string][]byte{}}
	own, err := ownConfigurations(t.usersConfigurations(), t.options.runsAnything())
	if err != nil {
		return nil, err
	}
	virtual := map[string][]byte{}
	var configurations []string
	for _, name := range slices.Sorted(maps.Keys(own)) {
		free := t.freeName("appsvc-configuration-" + strings.TrimSuffix(name, ".yaml"))
		configurations = append(configurations, free)
		virtual[free] = own[name]
	}
	v.keepLocal = t.freeName("appsvc-keep-local")
	for _, l := range t.layers {
		add := map[string]any{"configurations": slices.Concat(l.kustomization.Configurations, configurations)}
		if l == t.layers[0] {
			add["transformers"] = slices.Concat(l.kustomization.Transformers, []string{v.keepLocal})
			add["buildMetadata"] = withOrigins(l.kustomization.BuildMetadata)
			v.texts[filepath.Join(l.dir, v.keepLocal)] = []byte(keepLocalTransformer)
		}
		text, err := extend(l.text, add)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.show(l.file), err)
		}
		v.texts[l.file] = text
		for name, text := range virtual {
			v.texts[filepath.Join(l.dir, name)] = text
		}
	}
	return v, nil
}

// freeName gives the name of a YAML file that no layer's folder has.
func (t *tree) freeName(base string) string {
	for i := 0; ; i++ {
		name := base + ".yaml"
		if i > 0 {
			name = base + "-" + strconv.Itoa(i) + ".yaml"
		}
		if !slices.ContainsFunc(t.layers, func(l *layer) bool { return t.disk.Exists(filepath.Join(l.dir, name)) }) {
			return name
		}
	}
}

func withOrigins(buildMetadata []string) []string {
	if slices.Contains(buildMetadata, types.OriginAnnotations) {
		return buildMetadata
	}
	return slices.Concat(buildMetadata, []string{types.OriginAnnotations})
}

// extend sets fields of a kustomization file. The text is otherwise the same to
// kustomize, which also turns it into JSON before anything else. A kustomization
// that is empty stays so: that is an error to kustomize.
func extend(text []byte, fields map[string]any) ([]byte, error) {
	var k types.Kustomization
	if err := k.Unmarshal(text); err != nil {
		return nil, err
	}
	k.FixKustomization()
	if k.CheckEmpty() != nil {
		return text, nil
	}
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	for name, value := range fields {
		maps.DeleteFunc(all, func(key string, _ json.RawMessage) bool { return strings.EqualFold(key, name) })
		if all[name], err = json.Marshal(value); err != nil {
			return nil, err
		}
	}
	return json.Marshal(all)
}

// CleanedAbs resolves a path as the disk does, the virtual files included.
func (v *view) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	if _, ok := v.texts[path]; ok {
		return filesys.ConfirmedDir(filepath.Dir(path)), filepath.Base(path), nil
	}
	return v.FileSystem.CleanedAbs(path)
}

// ReadFile reads what the tree has read, with the additions. It reads other files
// within the same limits, and no kustomization file: that would be one that was
// not checked.
func (v *view) ReadFile(path string) ([]byte, error) {
	if text, ok := v.texts[path]; ok {
		return text, nil
	}
	_, known := v.tree.files[path]
	if !known && slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(path)) {
		return nil, fmt.Errorf("%s was not there, or not referred to, when the build began", v.tree.show(path))
	}
	text, err := v.tree.read(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", v.tree.show(path), reason(err))
	}
	return text, nil
}

var errReadOnly = errors.New("a build writes no files")

// Create refuses.
func (v *view) Create(string) (filesys.File, error) { return nil, errReadOnly }

// Open refuses: ReadFile is what applies the limits and the additions.
func (v *view) Open(string) (filesys.File, error) { return nil, errReadOnly }

// Mkdir refuses.
func (v *view) Mkdir(string) error { return errReadOnly }

// MkdirAll refuses.
func (v *view) MkdirAll(string) error { return errReadOnly }

// RemoveAll refuses.
func (v *view) RemoveAll(string) error { return errReadOnly }

// WriteFile refuses.
func (v *view) WriteFile(string, []byte) error { return errReadOnly }
