// Package gocmd runs the go command for this machine, in whatever environment the
// caller has: GOFLAGS that would break a build in a module of ours (-mod=vendor,
// -mod=mod, -race, -tags...), a go.work file, a foreign GOOS and cgo are overridden.
package gocmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// Go is the go command in an environment. Make one with New.
type Go struct {
	// Version is the toolchain's, such as "go1.26.8".
	Version string
	// Proxy is GOPROXY, for messages.
	Proxy string
	// BuildCache and ModuleCache are the folders GOCACHE and GOMODCACHE.
	BuildCache, ModuleCache string

	environ []string
}

// New asks the go command that is on the PATH for its settings. environ is as
// os.Environ returns it.
func New(ctx context.Context, environ []string) (*Go, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "-json", "GOVERSION", "GOFLAGS", "GOPROXY", "GOCACHE", "GOMODCACHE")
	cmd.Env = environ
	out, err := output(cmd)
	if err != nil {
		return nil, err
	}
	var env struct{ GOVERSION, GOFLAGS, GOPROXY, GOCACHE, GOMODCACHE string }
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	return &Go{
		Version:     env.GOVERSION,
		Proxy:       env.GOPROXY,
		BuildCache:  env.GOCACHE,
		ModuleCache: env.GOMODCACHE,
		// The last value of a variable counts.
		environ: append(slices.Clone(environ),
			"GOFLAGS="+flags(env.GOFLAGS),
			"GOWORK=off",
			"GO111MODULE=on",
			"CGO_ENABLED=0",
			"GOOS="+runtime.GOOS,
			"GOARCH="+runtime.GOARCH,
		),
	}, nil
}

// flags keeps of GOFLAGS what says how the machine is to be used and drops what
// says how to build. It is never empty: an empty GOFLAGS is an unset one to the go
// command, which then takes that of `go env -w`.
func flags(user string) string {
	kept := []string{"-mod=readonly"}
	for flag := range strings.FieldsSeq(user) {
		name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		if name == "modcacherw" || name == "p" {
			kept = append(kept, flag)
		}
	}
	return strings.Join(kept, " ")
}

// Command is `go args...` in the folder dir; an empty dir is the current one.
func (g *Go) Command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = g.environ
	return cmd
}

// SourceDir is the folder of a module that the module of the current folder is or
// requires.
func (g *Go) SourceDir(ctx context.Context, module string) (string, error) {
	out, err := output(g.Command(ctx, "", "list", "-m", "-f", "{{.Dir}}", module))
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}

// Download is the folder, in the module cache, of a module that the module in dir
// requires. It is fetched if need be.
func (g *Go) Download(ctx context.Context, dir, module string) (string, error) {
	out, err := output(g.Command(ctx, dir, "mod", "download", "-json", module))
	var info struct{ Dir, Error string }
	if json.Unmarshal(out, &info) == nil && info.Error != "" {
		return "", fmt.Errorf("download module %s (GOPROXY=%s): %s", module, g.Proxy, info.Error)
	}
	if err != nil {
		return "", err
	}
	return info.Dir, nil
}

// output is cmd's standard output, with its standard error in the error. The
// former comes with an error too.
func output(cmd *exec.Cmd) ([]byte, error) {
	out, err := cmd.Output()
	if err == nil {
		return out, nil
	}
	err = fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && len(exit.Stderr) > 0 {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}
