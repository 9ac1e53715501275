package gitops

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// run is a run of a program.
type run struct {
	code           int
	stdout, stderr string
	// cpu is the processor time of the program and of what it ran.
	cpu time.Duration
}

// command runs a program in a folder, with appsvc-render first in PATH.
func command(tb testing.TB, dir, program string, args ...string) run {
	tb.Helper()
	return commandWith(tb, filepath.Dir(programs(tb).appsvc), dir, program, args...)
}

// commandWith runs a program in a folder, with the folder bin first in PATH.
func commandWith(tb testing.TB, bin, dir, program string, args ...string) run {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		tb.Fatal(err)
	}
	return run{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String(), cpu(cmd)}
}

func cpu(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// ok demands success and gives standard output, which must not be empty: kustomize
// skips a function without a word when a flag is missing.
func (r run) ok(tb testing.TB) string {
	tb.Helper()
	if r.code != 0 {
		tb.Fatalf("exit code %d: %s%s", r.code, r.stderr, r.stdout)
	}
	if strings.TrimSpace(r.stdout) == "" {
		tb.Fatalf("nothing was printed; stderr: %s", r.stderr)
	}
	return r.stdout
}

// kustomize runs `kustomize build` with functions allowed.
func kustomize(tb testing.TB, dir string) run {
	tb.Helper()
	return command(tb, "", programs(tb).kustomize, "build", "--enable-alpha-plugins", "--enable-exec", dir)
}

// appsvc runs `appsvc-render build`.
func appsvc(tb testing.TB, args ...string) run {
	tb.Helper()
	return command(tb, "", programs(tb).appsvc, append([]string{"build"}, args...)...)
}

// render runs `kpt fn render` in place.
func render(tb testing.TB, dir string) run {
	tb.Helper()
	return command(tb, dir, programs(tb).kpt, "fn", "render", "--allow-exec", "--truncate-output=false")
}

// plant writes an archive of text into a new folder, beside a copy of
// config/kustomize, which kustomizations refer to as ../config/kustomize and so on.
func plant(tb testing.TB, archive string) string {
	tb.Helper()
	dir := tb.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "config", "kustomize"), os.DirFS(filepath.Join(root, "config", "kustomize"))); err != nil {
		tb.Fatal(err)
	}
	for _, file := range txtar.Parse([]byte(archive)).Files {
		write(tb, filepath.Join(dir, filepath.FromSlash(file.Name)), string(file.Data))
	}
	return dir
}

// write makes a file, and the folders that it needs.
func write(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}
