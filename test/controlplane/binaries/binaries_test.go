package binaries_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudevops.io/appsvc/test/controlplane/binaries"
	"kudevops.io/appsvc/test/controlplane/internal/proctest"
)

func TestMain(m *testing.M) {
	if proctest.Role() != "" {
		child()
	}
	os.Exit(m.Run())
}

// child builds etcd and never comes to an end: see TestKilledBuild.
func child() {
	_, err := binaries.Ensure(context.Background(), binaries.Options{Names: []binaries.Name{binaries.Etcd}, Progress: os.Stdout})
	fmt.Println("the build ended:", err)
}

// hostile is an environment that breaks a go build in several ways.
func hostile(entries ...string) []string {
	environ := append(os.Environ(), "KUBEBUILDER_ASSETS=", "GOFLAGS=-mod=vendor -race -tags=none", "GOWORK=/nowhere/go.work", "GOOS=plan9")
	return append(environ, entries...)
}

func TestTwoBuildsAtOnce(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	ensure := func(progress io.Writer, entries ...string) (binaries.Paths, error) {
		return binaries.Ensure(t.Context(), binaries.Options{
			Names:    []binaries.Name{binaries.Etcd},
			Progress: progress,
			Environ:  hostile(append(entries, "APPSVC_CONTROLPLANE_CACHE="+cache)...),
		})
	}
	// The second begins when the first has, which goes on when the second waits.
	var first, second bytes.Buffer
	var secondPaths binaries.Paths
	var secondErr error
	waiting, secondDone := make(chan struct{}), make(chan struct{})
	firstPaths, firstErr := ensure(onWrite(func(text string) {
		first.WriteString(text)
		if !strings.HasSuffix(text, "started\n") {
			return
		}
		waits := sync.OnceFunc(func() { close(waiting) })
		go func() {
			defer close(secondDone)
			secondPaths, secondErr = ensure(onWrite(func(text string) {
				second.WriteString(text)
				waits()
			}))
		}()
		select {
		case <-waiting:
		case <-secondDone:
		}
	}))
	if firstErr != nil {
		t.Fatal(firstErr)
	}
	<-secondDone
	if secondErr != nil {
		t.Fatal(secondErr)
	}
	if !strings.Contains(first.String(), "[1/1] etcd v3.") || !strings.Contains(first.String(), "built in") {
		t.Errorf("the first one is to build; it said:\n%s", first.String())
	}
	if !strings.HasPrefix(second.String(), "controlplane: another process is building") || strings.Count(second.String(), "\n") != 1 {
		t.Errorf("the second one is to wait and no more; it said:\n%s", second.String())
	}
	if diff := cmp.Diff(firstPaths, secondPaths); diff != "" {
		t.Errorf("the two found different programs:\n%s", diff)
	}
	out, err := exec.CommandContext(t.Context(), firstPaths[binaries.Etcd], "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), "etcd Version: 3.") {
		t.Errorf("etcd --version: %v\n%s", err, out)
	}
	proctest.WaitNoFile(t, filepath.Join(cache, "building-*"))

	var later bytes.Buffer
	paths, err := ensure(&later, "GOPROXY=off", "GOCACHE="+t.TempDir())
	if err != nil || later.Len() > 0 || !cmp.Equal(paths, firstPaths) {
		t.Errorf("from the cache: %v, %v, having said:\n%s", paths, err, later.String())
	}
}

func TestKilledBuild(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	// Nothing is compiled yet there, so that the compilers are still at work when
	// the child is killed.
	compiled := t.TempDir()
	child := proctest.Start(t, "build", "APPSVC_CONTROLPLANE_CACHE="+cache, "GOCACHE="+compiled, "KUBEBUILDER_ASSETS=", "GOFLAGS=-p=1")
	proctest.WaitProcessOf(t, "/_pkg_.a -trimpath "+cache) // a compiler
	child.Kill()
	proctest.WaitNoProcessOf(t, cache)
	proctest.WaitNoFile(t, filepath.Join(cache, "building-*"))
	proctest.WaitNoFile(t, filepath.Join(cache, "*", "etcd"))
}

func TestAssets(t *testing.T) {
	t.Parallel()
	assets, cache := t.TempDir(), t.TempDir()
	write := func(path string, mode os.FileMode) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	etcd := write(filepath.Join(assets, "etcd"), 0o755)
	write(filepath.Join(assets, "kwok"), 0o644)
	environ := append(os.Environ(), "KUBEBUILDER_ASSETS="+assets, "APPSVC_CONTROLPLANE_CACHE="+cache, "GOPROXY=off", "GOMODCACHE="+t.TempDir())

	var progress bytes.Buffer
	paths, err := binaries.Ensure(t.Context(), binaries.Options{Names: []binaries.Name{binaries.Etcd}, Environ: environ, Progress: &progress})
	if want := (binaries.Paths{binaries.Etcd: etcd}); err != nil || !cmp.Equal(paths, want) || progress.Len() > 0 {
		t.Errorf("what the folder has: %v, %v, want %v; said:\n%s", paths, err, want, progress.String())
	}
	_, err = binaries.Ensure(t.Context(), binaries.Options{Names: []binaries.Name{binaries.Etcd, binaries.Kwok}, Environ: environ, Progress: &progress})
	if err == nil || !strings.HasPrefix(err.Error(), "build kwok v") {
		t.Errorf("a file that cannot be run is no program: the error is %v, want one of building it", err)
	}
	if text := progress.String(); !strings.Contains(text, "[1/1] kwok") {
		t.Errorf("only what the folder lacks is to be built; said:\n%s", text)
	}
}

func TestNoNetwork(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	_, err := binaries.Ensure(t.Context(), binaries.Options{
		Names:    []binaries.Name{binaries.Etcd},
		Progress: t.Output(),
		Environ:  hostile("APPSVC_CONTROLPLANE_CACHE="+cache, "GOPROXY=off", "GOMODCACHE="+t.TempDir()),
	})
	if err == nil {
		t.Fatal("built without any source")
	}
	for _, want := range []string{
		"build etcd v3.",
		"the sources could not be downloaded (GOPROXY=off): the first build needs the network",
		"module lookup disabled by GOPROXY=off",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
	proctest.WaitNoFile(t, filepath.Join(cache, "building-*"))
}

func TestCancelledWhileWaiting(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	lock, err := os.Create(filepath.Join(cache, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = binaries.Ensure(ctx, binaries.Options{
		Names:    []binaries.Name{binaries.Etcd},
		Progress: onWrite(func(string) { cancel() }),
		Environ:  hostile("APPSVC_CONTROLPLANE_CACHE=" + cache),
	})
	if err == nil || !strings.Contains(err.Error(), "wait for the lock") {
		t.Errorf("the error is %v, want one of the lock", err)
	}
}

// onWrite is called with what is written.
type onWrite func(text string)

func (f onWrite) Write(p []byte) (int, error) {
	f(string(p))
	return len(p), nil
}
