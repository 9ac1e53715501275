package binaries

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"kudevops.io/appsvc/test/controlplane/internal/gocmd"
)

// target is a program together with its place in the cache.
type target struct {
	program
	version string
	// dir is the folder of the module that the program is built in.
	dir string
	// path is the program's file in the cache.
	path string
}

// newTarget reads the program's version and finds its place in the cache, whose
// name changes with whatever the program is built from.
func newTarget(p program, cacheDir, source string, gocmd *gocmd.Go) (target, error) {
	t := target{program: p, dir: filepath.Join(source, p.folder)}
	hash := sha256.New()
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(t.dir, name))
		if err != nil {
			return target{}, fmt.Errorf("read what %s is built from: %w", p.name, err)
		}
		if name == "go.mod" {
			t.version = requiredVersion(string(data), p.module)
		}
		hash.Write(data)
	}
	if t.version == "" {
		return target{}, fmt.Errorf("%s does not require %s", filepath.Join(t.dir, "go.mod"), p.module)
	}
	fmt.Fprintln(hash, gocmd.Version, runtime.GOOS, runtime.GOARCH, t.buildFlags())
	t.path = filepath.Join(cacheDir, fmt.Sprintf("%s-%s-%.6x", p.folder, t.version, hash.Sum(nil)), string(p.name))
	return t, nil
}

// buildFlags are the flags of go build that decide what comes out. Without symbols
// the programs are a third smaller, and nobody debugs them, so that the compiler
// need not write them either: a sixth of the time and of the build cache. Without
// a version the API server calls itself v0.0.0, which clients refuse.
func (t target) buildFlags() []string {
	flags := "-s -w"
	if t.versionVariable != "" {
		flags += " -X " + t.versionVariable + "=" + t.version
	}
	return []string{"-buildvcs=false", "-gcflags=all=-dwarf=false", "-ldflags", flags}
}

// requiredVersion is the version in which a go.mod requires module, or "".
func requiredVersion(gomod, module string) string {
	for line := range strings.Lines(gomod) {
		fields := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(fields) > 1 && fields[0] == module && strings.HasPrefix(fields[1], "v") {
			return fields[1]
		}
	}
	return ""
}

// missing are the targets that the cache lacks.
func missing(targets []target) []target {
	return slices.DeleteFunc(slices.Clone(targets), func(t target) bool { return isProgram(t.path) })
}
