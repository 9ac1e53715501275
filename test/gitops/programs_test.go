package gitops

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// root is the folder of the repository, seen from here.
const root = "../.."

// program is one that is built from a module of its own.
type program struct {
	name, pkg string
	// module is what the version is that of.
	module string
	// dir is the folder of the go.mod that requires it.
	dir string
}

func kustomizeProgram() program {
	const module = "sigs.k8s.io/kustomize/kustomize/v5"
	return program{name: "kustomize", pkg: module, module: module, dir: filepath.Join(root, "tools")}
}

func kptProgram() program {
	return program{name: "kpt", pkg: ".", module: "github.com/kptdev/kpt", dir: filepath.Join("build", "kpt")}
}

// TestPrograms builds what the other tests run. `make` runs it first, since it shows
// its progress then, and has no limit of ten minutes.
func TestPrograms(t *testing.T) {
	programs(t)
}

// tools are the paths of the programs.
type tools struct {
	kustomize, kpt, appsvc string
	err                    error
}

var buildTools = sync.OnceValue(func() tools {
	var t tools
	ctx := context.Background()
	if t.kustomize, t.err = kustomizeProgram().build(ctx); t.err != nil {
		return t
	}
	if t.kpt, t.err = kptProgram().build(ctx); t.err != nil {
		return t
	}
	t.appsvc, t.err = buildAppsvc(ctx)
	return t
})

// programs gives the programs, and builds them the first time.
func programs(tb testing.TB) tools {
	tb.Helper()
	t := buildTools()
	if t.err != nil {
		tb.Fatal(t.err)
	}
	return t
}

// TestMain removes what was built for this run only.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := os.RemoveAll(runDir()); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// runDir is a folder for what is built for this run only.
var runDir = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "appsvc-gitops-")
	if err != nil {
		panic(err) // a test cannot do without
	}
	return dir
})

// buildAppsvc builds appsvc-render as it is now, as a release is built.
func buildAppsvc(ctx context.Context) (string, error) {
	path := filepath.Join(runDir(), "appsvc-render")
	return path, goBuild(ctx, root, "./cmd/appsvc-render", path, os.Stderr)
}

// build gives the path of the program in the cache, and builds it unless this
// version, of these requirements, is there.
func (p program) build(ctx context.Context) (string, error) {
	version, err := goOutput(ctx, p.dir, "list", "-m", "-f", "{{.Version}}", p.module)
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.name, err)
	}
	key, err := p.key(ctx)
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.name, err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(cache, "appsvc", "gitops")
	path := filepath.Join(cache, p.name+"-"+version+"-"+key)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	// Built beside its place and renamed: a run that is interrupted leaves no half a
	// program there, and two runs at once do not disturb each other.
	temp, err := os.MkdirTemp(cache, ".building-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	start := time.Now()
	fmt.Fprintf(os.Stderr, "gitops: building %s %s, once; it takes minutes and is kept in %s\n", p.name, version, cache)
	built := filepath.Join(temp, p.name)
	if err := goBuild(ctx, p.dir, p.pkg, built, os.Stderr); err != nil {
		return "", fmt.Errorf("%s: %w", p.name, err)
	}
	fmt.Fprintf(os.Stderr, "gitops: built %s in %s\n", p.name, time.Since(start).Round(time.Second))
	return path, os.Rename(built, path)
}

// key is a short hash of what the program is made from: the files of the folder of
// its go.mod, the toolchain and the flags.
func (p program) key(ctx context.Context) (string, error) {
	hash := sha256.New()
	names, err := filepath.Glob(filepath.Join(p.dir, "*.*"))
	if err != nil {
		return "", err
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s %d\n%s", filepath.Base(name), len(data), data)
	}
	toolchain, err := goOutput(ctx, p.dir, "env", "GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64")
	if err != nil {
		return "", err
	}
	fmt.Fprintf(hash, "%s%q", toolchain, buildFlags())
	return fmt.Sprintf("%x", hash.Sum(nil)[:6]), nil
}

func buildFlags() []string { return []string{"-trimpath", "-ldflags", "-s -w"} }

// goBuild builds a package of the module in dir into the file out.
func goBuild(ctx context.Context, dir, pkg, out string, progress io.Writer) error {
	cmd := goCommand(ctx, dir, append(append([]string{"build"}, buildFlags()...), "-o", out, pkg)...)
	var said bytes.Buffer
	cmd.Stderr = io.MultiWriter(progress, &said)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build %s: %w: %s", pkg, err, strings.TrimSpace(said.String()))
	}
	return nil
}

func goOutput(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := goCommand(ctx, dir, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// What the user has set for builds of the main module would break the others.
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0")
	return cmd
}
