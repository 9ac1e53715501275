package kustomize

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// Options are the choices of a build. The zero value runs nothing and reads nothing
// outside of a kustomization's folder. The fields are flags of `kustomize build` and
// mean what they mean there.
type Options struct {
	// EnableAlphaPlugins runs what is no part of kustomize: functions in containers,
	// and plugins in kustomize's plugin folder.
	EnableAlphaPlugins bool
	// EnableExec, together with EnableAlphaPlugins, runs functions that are programs
	// of this machine (exec). Their standard error is that of this process.
	EnableExec bool
	// AnyFile reads files that are outside of the folder of the kustomization that
	// refers to them: --load-restrictor LoadRestrictionsNone.
	AnyFile bool
	// KeepRendered also gives the AppServices that a function has rendered within
	// the build, as long as it left them there. By default they are left out: what
	// they render to is among the objects.
	KeepRendered bool
}

// runsAnything says whether functions of every kind are run, so that none is skipped.
func (o Options) runsAnything() bool { return o.EnableAlphaPlugins && o.EnableExec }

func (o Options) pluginConfig() *types.PluginConfig {
	if !o.EnableAlphaPlugins {
		return types.DisabledPluginConfig()
	}
	config := types.EnabledPluginConfig(types.BploUseStaticallyLinked)
	config.HelmConfig.Enabled = false // helm would fetch charts
	config.FnpLoadingOptions.EnableExec = o.EnableExec
	return config
}

func (o Options) loadRestrictions() types.LoadRestrictions {
	if o.AnyFile {
		return types.LoadRestrictionsNone
	}
	return types.LoadRestrictionsRootOnly
}

// Object is one object of a build.
type Object struct {
	// Value holds plain JSON values: int64 for what is written as an integer and
	// fits, float64 for other numbers, string, bool, nil, map[string]any, []any.
	Value map[string]any
	// Origin is the file that the object was declared in, or the kustomization
	// file whose generator made it, relative to the folder that was built. Empty
	// where kustomize does not know.
	Origin string
}

// running is held by a build. kyaml keeps its OpenAPI schema in the process, as
// variables that are read without a lock while another build may be filling them
// in (kustomize issue 4824), so builds take turns.
var running sync.Mutex

// Build builds the kustomization in a folder. The objects come in the order in
// which `kustomize build` prints them, without the annotations that kustomize works
// with; those that buildMetadata of the folder asks for stay.
//
// What was refused before kustomize was asked is a [Faults]. Any other error says
// that there is no kustomization, or is kustomize's own, after the name of the
// folder. Concurrent calls are safe and run one after the other.
func Build(dir string, o Options) ([]Object, error) {
	t, err := readTree(dir, o)
	if err != nil {
		return nil, err
	}
	if len(t.faults) > 0 {
		return nil, t.faults.sorted()
	}
	v, err := newView(t)
	if err != nil {
		return nil, err
	}
	resources, err := v.run()
	if err != nil {
		return nil, fmt.Errorf("%s: kustomize: %w", dir, &buildError{cause: err, text: t.shorten(err.Error())})
	}
	if o.EnableAlphaPlugins && !o.KeepRendered {
		resources = withoutRendered(resources)
	}
	objects := make([]Object, len(resources))
	for i, r := range resources {
		if objects[i], err = v.object(r); err != nil {
			return nil, fmt.Errorf("%s: %s %s: %w", dir, r.GetKind(), r.GetName(), err)
		}
	}
	return objects, nil
}

// LocalFiles lists, by name, the files that a build of the folder reads: the
// kustomization files of all layers and what these refer to. Where a build would be
// refused it lists what could be read nevertheless.
func LocalFiles(dir string) []string {
	t, err := readTree(dir, Options{})
	if err != nil {
		return nil
	}
	var files []string
	for path := range t.files {
		files = append(files, t.show(path))
	}
	slices.Sort(files)
	return files
}

func (v *view) run() (_ []*resource.Resource, err error) {
	running.Lock()
	defer running.Unlock()
	// kyaml panics where a schema that a layer brings is malformed.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if v.tree.readsOpenAPI() {
		// A schema of the user's is added to those that are there, and stays for
		// the builds that follow, unless somebody clears it away.
		openapi.ResetOpenAPI()
		defer openapi.ResetOpenAPI()
	}
	resMap, err := krusty.MakeKustomizer(&krusty.Options{
		// The order of the command line tool; sortOptions take precedence.
		Reorder:          krusty.ReorderOptionUnspecified,
		LoadRestrictions: v.tree.options.loadRestrictions(),
		PluginConfig:     v.tree.options.pluginConfig(),
	}).Run(v, v.tree.top)
	if err != nil {
		return nil, err
	}
	return resMap.Resources(), nil
}

// object takes out of a resource what the view has put in.
func (v *view) object(r *resource.Resource) (Object, error) {
	asked := v.tree.layers[0].kustomization.BuildMetadata
	var object Object
	// Whoever has overwritten the annotation has made the origin unknown.
	if origin, err := r.GetOrigin(); err == nil && origin != nil {
		object.Origin = origin.Path
		if object.Origin == "" {
			object.Origin = origin.ConfiguredIn
		}
		object.Origin = filepath.ToSlash(object.Origin)
	}
	if !slices.Contains(asked, types.OriginAnnotations) {
		if err := r.SetOrigin(nil); err != nil {
			return object, err
		}
	}
	if slices.Contains(asked, types.TransformerAnnotations) {
		if err := v.forgetKeepLocal(r); err != nil {
			return object, err
		}
	}
	data, err := r.MarshalJSON()
	if err != nil {
		return object, err
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(data, &object.Value); err != nil {
		return object, err
	}
	restoreLocal(object.Value)
	return object, nil
}

// forgetKeepLocal removes our transformer from the list of those that an object
// went through.
func (v *view) forgetKeepLocal(r *resource.Resource) error {
	transformations, err := r.GetTransformations()
	if err != nil {
		return err
	}
	if err := r.ClearTransformations(); err != nil {
		return err
	}
	for _, transformation := range transformations {
		if transformation.ConfiguredIn == v.keepLocal {
			continue
		}
		if err := r.AddTransformation(transformation); err != nil {
			return err
		}
	}
	return nil
}

// buildError is an error of kustomize's with the paths as the user knows them.
type buildError struct {
	cause error
	text  string
}

// Error gives the text.
func (e *buildError) Error() string { return e.text }

// Unwrap gives kustomize's error.
func (e *buildError) Unwrap() error { return e.cause }

// kustomize tries to read an entry of resources as a file first and as a folder
// then, and tells of both: of every base that a message passes through it says that
// it is not a file, and of a file with something wrong that it is not a folder.
var (
	notAFile  = regexp.MustCompile(`accumulation err='accumulating resources from '[^']*': '[^']*' must resolve to a file': `)
	notFolder = regexp.MustCompile(`(?s)accumulation err='(.*)': must build at directory: '[^']*': file is not directory`)
)

// shorten takes out of a message what helps nobody, and puts the names of folders
// that messages have in the place of absolute paths.
func (t *tree) shorten(text string) string {
	text = notFolder.ReplaceAllString(notAFile.ReplaceAllString(text, ""), "$1")
	dirs := []string{t.top}
	for _, l := range t.layers {
		dirs = append(dirs, l.dir)
	}
	// The longest first: a folder inside another is not named by way of that.
	slices.SortFunc(dirs, func(a, b string) int { return len(b) - len(a) })
	for _, dir := range dirs {
		text = strings.ReplaceAll(text, dir, t.show(dir))
	}
	return strings.TrimSpace(text)
}
