package packaging

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// root is the folder of the repository, seen from here.
const root = "../.."

// version is what the tests build.
const version = "v0.1.0-test.1"

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
	dir, err := os.MkdirTemp("", "appsvc-packaging-")
	if err != nil {
		panic(err) // a test cannot do without
	}
	return dir
})

// TestPrograms builds what the other tests run. `make` runs it first, since it shows
// its progress then, and has no limit of ten minutes.
func TestPrograms(t *testing.T) {
	t.Parallel()
	programs(t)
	referee(t)
}

// bin is where make puts the tools; no other run of make disturbs them there.
func bin() string { return filepath.Join(runDir(), "bin") }

var buildPrograms = sync.OnceValue(func() error {
	var targets []string
	for _, name := range []string{"kustomize", "crane", "image"} {
		targets = append(targets, filepath.Join(bin(), name))
	}
	_, err := tryMake(context.Background(), targets...)
	return err
})

// programs builds the tools of the Makefile, the first time.
func programs(t *testing.T) {
	t.Helper()
	if err := buildPrograms(); err != nil {
		t.Fatal(err)
	}
}

var buildReferee = sync.OnceValues(func() (string, error) {
	path := filepath.Join(bin(), "referee")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = "referee"
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the referee: %w\n%s", err, out)
	}
	return path, nil
})

// referee gives the path of the program that judges by other people's code.
func referee(t *testing.T) string {
	t.Helper()
	path, err := buildReferee()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// runMake makes targets, and gives what was printed.
func runMake(t *testing.T, args ...string) string {
	t.Helper()
	programs(t)
	out, err := tryMake(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func tryMake(ctx context.Context, args ...string) (string, error) {
	args = append([]string{"--no-print-directory", "BIN=" + bin(), "VERSION=" + version, "SOURCE_DATE_EPOCH=1700000000"}, args...)
	cmd := exec.CommandContext(ctx, "make", args...)
	cmd.Dir = root
	// What a make that runs these tests was called with is not for this one.
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !strings.HasPrefix(name, "MAKE") && name != "MFLAGS" {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("make %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// run runs a program and gives its standard output.
func run(t *testing.T, in string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdin = strings.NewReader(in)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", filepath.Base(name), strings.Join(args, " "), err, out, said.String())
	}
	return string(out)
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
}
