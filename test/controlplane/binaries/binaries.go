package binaries

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kudevops.io/appsvc/test/controlplane/internal/gocmd"
)

// Environment variables that Ensure reads.
const (
	// CacheVariable names the folder that programs are kept in. The default is
	// appsvc/controlplane in the user's cache folder.
	CacheVariable = "APPSVC_CONTROLPLANE_CACHE"
	// AssetsVariable names a folder whose programs are used instead of building
	// them; programs that it lacks are built. It is the one that envtest reads.
	AssetsVariable = "KUBEBUILDER_ASSETS"
)

// modulePath is the module that this package belongs to.
const modulePath = "kudevops.io/appsvc/test/controlplane"

// Name of a program.
type Name string

// The programs.
const (
	Etcd              Name = "etcd"
	APIServer         Name = "kube-apiserver"
	ControllerManager Name = "kube-controller-manager"
	Scheduler         Name = "kube-scheduler"
	Kubectl           Name = "kubectl"
	Kwok              Name = "kwok"
)

// program is how one of the programs is built.
type program struct {
	name Name
	// folder of the module below this one that requires module.
	folder string
	// module has the program's version.
	module string
	// pkg is the program's main package.
	pkg string
	// versionVariable, if any, is the string variable that is set to the version.
	versionVariable string
}

// programs in the order in which they are built: what is quick comes first, so
// that a problem with disk or network shows early.
func programs() []program {
	const kubernetes, kubernetesVersion = "k8s.io/kubernetes", "k8s.io/component-base/version.gitVersion"
	return []program{
		{Etcd, "etcd", "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3", ""},
		{Kwok, "kwok", "sigs.k8s.io/kwok", "sigs.k8s.io/kwok/cmd/kwok", ""},
		{APIServer, "kubernetes", kubernetes, kubernetes + "/cmd/kube-apiserver", kubernetesVersion},
		{ControllerManager, "kubernetes", kubernetes, kubernetes + "/cmd/kube-controller-manager", kubernetesVersion},
		{Scheduler, "kubernetes", kubernetes, kubernetes + "/cmd/kube-scheduler", kubernetesVersion},
		{Kubectl, "kubernetes", kubernetes, kubernetes + "/cmd/kubectl", kubernetesVersion},
	}
}

// Options for Ensure. The zero value is what tests want.
type Options struct {
	// Names are the programs wanted. None means all.
	Names []Name
	// Progress is told what is being built. Nil means the standard error.
	Progress io.Writer
	// Environ is the environment, as os.Environ returns it, which is the default.
	Environ []string
}

// Paths are the files that hold the programs.
type Paths map[Name]string

// Ensure builds the programs that are neither in KUBEBUILDER_ASSETS nor in the
// cache. The current folder has to be in a module that is or requires
// test/controlplane, as is that of each of its tests.
// An error names the program, what is missing (disk, network) if that is known,
// and the last lines of the go command.
func Ensure(ctx context.Context, opts Options) (Paths, error) {
	if opts.Progress == nil {
		opts.Progress = os.Stderr
	}
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	paths, rest := Paths{}, []program{}
	for _, p := range programs() {
		if len(opts.Names) > 0 && !slices.Contains(opts.Names, p.name) {
			continue
		}
		if path, ok := asset(opts.Environ, p.name); ok {
			paths[p.name] = path
			continue
		}
		rest = append(rest, p)
	}
	if len(rest) == 0 {
		return paths, nil
	}
	built, err := ensureBuilt(ctx, opts, rest)
	if err != nil {
		return nil, err
	}
	for name, path := range built {
		paths[name] = path
	}
	return paths, nil
}

// ensureBuilt returns the cache's paths of programs, having built those it lacked.
func ensureBuilt(ctx context.Context, opts Options, wanted []program) (Paths, error) {
	cacheDir, err := CacheDir(opts.Environ)
	if err != nil {
		return nil, err
	}
	gocmd, err := gocmd.New(ctx, opts.Environ)
	if err != nil {
		return nil, fmt.Errorf("the control plane is built by the go command: %w", err)
	}
	source, err := sourceDir(ctx, gocmd)
	if err != nil {
		return nil, err
	}
	paths, targets := Paths{}, []target{}
	for _, p := range wanted {
		t, err := newTarget(p, cacheDir, source, gocmd)
		if err != nil {
			return nil, err
		}
		paths[p.name] = t.path
		targets = append(targets, t)
	}
	if len(missing(targets)) == 0 {
		return paths, nil
	}
	b := builder{gocmd: gocmd, cacheDir: cacheDir, progress: opts.Progress, space: freeSpace}
	if err := b.build(ctx, targets); err != nil {
		return nil, err
	}
	return paths, nil
}

// ModuleDir is the folder of the module that one of the programs is built from.
// Its source is fetched if need be.
func ModuleDir(ctx context.Context, name Name) (string, error) {
	gocmd, err := gocmd.New(ctx, os.Environ())
	if err != nil {
		return "", err
	}
	source, err := sourceDir(ctx, gocmd)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(programs(), func(p program) bool { return p.name == name })
	if i < 0 {
		return "", fmt.Errorf("no program is called %q", name)
	}
	p := programs()[i]
	return gocmd.Download(ctx, filepath.Join(source, p.folder), p.module)
}

// sourceDir is the folder that holds the programs' modules.
func sourceDir(ctx context.Context, gocmd *gocmd.Go) (string, error) {
	dir, err := gocmd.SourceDir(ctx, modulePath)
	if err != nil {
		return "", fmt.Errorf("find the source of %s from the current folder: %w", modulePath, err)
	}
	return filepath.Join(dir, "binaries"), nil
}

// CacheDir is the folder that programs are kept in.
func CacheDir(environ []string) (string, error) {
	if dir := variable(environ, CacheVariable); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder to keep the control plane's programs in: set %s: %w", CacheVariable, err)
	}
	return filepath.Join(dir, "appsvc", "controlplane"), nil
}

// asset is the program's file in KUBEBUILDER_ASSETS, if there is one.
func asset(environ []string, name Name) (string, bool) {
	dir := variable(environ, AssetsVariable)
	if dir == "" {
		return "", false
	}
	path, err := filepath.Abs(filepath.Join(dir, string(name)))
	return path, err == nil && isProgram(path)
}

// isProgram says whether path is a file that can be run.
func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// variable is the value of an environment variable, the last one counting.
func variable(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
