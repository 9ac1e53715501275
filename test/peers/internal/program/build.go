package program

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// buildFlags are the same for every program, so that none is at an advantage.
func buildFlags() []string { return []string{"-trimpath", "-ldflags", "-s -w"} }

// Build builds pkg, an import path or ./folder of the module in dir, into the
// file out, as what is measured is built. What the go command says goes to progress.
func Build(ctx context.Context, dir, pkg, out string, progress io.Writer) error {
	return build(ctx, dir, pkg, out, progress, buildFlags())
}

// BuildTool is Build for a program that measures. It is built as tests are, whose
// packages are compiled already.
func BuildTool(ctx context.Context, dir, pkg, out string, progress io.Writer) error {
	return build(ctx, dir, pkg, out, progress, nil)
}

func build(ctx context.Context, dir, pkg, out string, progress io.Writer, flags []string) error {
	args := append([]string{"build"}, flags...)
	var said bytes.Buffer
	cmd := goCommand(ctx, dir, append(args, "-o", out, pkg)...)
	cmd.Stderr = io.MultiWriter(progress, &said)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build %s: %w%s", pkg, err, Complaint(said.String()))
	}
	return nil
}

// Toolchain is what the outcome of a build depends on besides the sources, one
// setting a line; the first is the version of Go.
func Toolchain(ctx context.Context, dir string) (string, error) {
	out, err := goCommand(ctx, dir, "env", "GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "CGO_ENABLED", "GOFLAGS").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	return string(out), nil
}

func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// A workspace above this repository would change the versions.
	cmd.Env = append(os.Environ(), "GOWORK=off")
	return cmd
}

// Complaint is ": " and the last line that a failed program wrote to its standard
// error, where most say what was wrong; empty when it wrote nothing.
func Complaint(stderr string) string {
	stderr = strings.TrimSpace(stderr)
	if stderr == "" {
		return ""
	}
	return ": " + stderr[strings.LastIndexByte(stderr, '\n')+1:]
}
