package argocd_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
)

// repository is the root of this repository.
const repository = "../.."

// programs are what the tests run. They are set once, before any test.
var programs struct {
	// appsvcRender is built as the image of the sidecar has it.
	appsvcRender string
	// cmpServer is argocd-cmp-server.
	cmpServer string
}

// plugin is the server that most tests share. It stands for a sidecar with
// config/argocd/plugin.yaml.
var plugin *server

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	// What Argo CD logs in this process is what it would tell its operator.
	logrus.SetOutput(io.Discard)
	dir, err := os.MkdirTemp("", "argocd-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := buildPrograms(filepath.Join(dir, "bin")); err != nil {
		return 1, err
	}
	if plugin, err = startServer(serverOptions{dir: filepath.Join(dir, "cmp")}); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, plugin.stop()) }()
	// Where the repo-server's code, which runs in this process, looks for plugins.
	if err := os.Setenv("ARGOCD_PLUGINSOCKFILEPATH", plugin.plugins()); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// buildPrograms builds appsvc-render into dir, alone, since it becomes all of a PATH.
func buildPrograms(dir string) error {
	path := filepath.Join(dir, "appsvc-render")
	if _, err := goCommand(repository, "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "./cmd/appsvc-render"); err != nil {
		return err
	}
	programs.appsvcRender = path
	// The go command keeps programs that "go tool" runs; with -n it only names them.
	out, err := goCommand(".", "tool", "-n", "argocd-cmp-server")
	programs.cmpServer = strings.TrimSpace(out)
	return err
}

func goCommand(dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(context.Background(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}
