package binaries

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudevops.io/appsvc/test/controlplane/internal/gocmd"
)

func TestCacheKey(t *testing.T) {
	t.Parallel()
	const gomod, gosum = "module m\n\nrequire (\n\texample.com/etcd v1.2.3\n)\n", "example.com/etcd v1.2.3 h1:x=\n"
	p := program{name: Etcd, folder: "etcd", module: "example.com/etcd"}
	path := func(gomod, gosum, goVersion string, p program) string {
		t.Helper()
		source := t.TempDir()
		for name, text := range map[string]string{"go.mod": gomod, "go.sum": gosum} {
			if err := os.MkdirAll(filepath.Join(source, "etcd"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(source, "etcd", name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		target, err := newTarget(p, "/cache", source, &gocmd.Go{Version: goVersion})
		if err != nil {
			t.Fatal(err)
		}
		return target.path
	}
	base := path(gomod, gosum, "go1.26.0", p)
	if !strings.HasPrefix(base, "/cache/etcd-v1.2.3-") || filepath.Base(base) != "etcd" {
		t.Errorf("the path %q does not name the version and the program", base)
	}
	if again := path(gomod, gosum, "go1.26.0", p); again != base {
		t.Errorf("two checkouts of the same do not share: %q and %q", base, again)
	}
	other := p
	other.versionVariable = "v.Version"
	for name, changed := range map[string]string{
		"go.mod":     path(gomod+"// x\n", gosum, "go1.26.0", p),
		"go.sum":     path(gomod, gosum+"x", "go1.26.0", p),
		"Go version": path(gomod, gosum, "go1.26.1", p),
		"flags":      path(gomod, gosum, "go1.26.0", other),
	} {
		if changed == base {
			t.Errorf("another %s has the same path", name)
		}
	}
}

func TestTargetWithoutVersion(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := os.WriteFile(filepath.Join(source, name), []byte("module m\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := newTarget(program{name: Etcd, module: "example.com/etcd"}, "/cache", source, &gocmd.Go{})
	if err == nil || !strings.Contains(err.Error(), "does not require example.com/etcd") {
		t.Errorf("the error is %v", err)
	}
}

func TestDiskTooSmall(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, reason string
		devices      [3]uint64
		free         uint64
		refused      bool
	}{
		{"one disk, enough", "the needs add up to less", [3]uint64{1, 1, 1}, 10 << 30, false},
		{"one disk, too small", "each need alone would fit, all of them do not", [3]uint64{1, 1, 1}, spaceForBuilds + 1, true},
		{"three disks", "each need fits on its own disk", [3]uint64{1, 2, 3}, spaceForBuilds + 1, false},
		{"three disks, one too small", "the builds do not fit on theirs", [3]uint64{1, 2, 3}, spaceForBuilds - 1, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			devices := map[string]uint64{"/programs": test.devices[0], "/builds": test.devices[1], "/modules": test.devices[2]}
			b := builder{
				gocmd:    &gocmd.Go{BuildCache: "/builds", ModuleCache: "/modules"},
				cacheDir: "/programs",
				space:    func(path string) (uint64, uint64, error) { return devices[path], test.free, nil },
			}
			err := b.checkDisk()
			if (err != nil) != test.refused {
				t.Errorf("the error is %v, want one: %t: %s", err, test.refused, test.reason)
			}
			if err != nil && !strings.Contains(err.Error(), "MiB are free on the disk of") {
				t.Errorf("the error does not say how much is free: %v", err)
			}
		})
	}
}

func TestFreeSpace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	device, free, err := freeSpace(dir)
	if err != nil || free == 0 {
		t.Fatalf("free space is %d, %v", free, err)
	}
	if later, _, err := freeSpace(filepath.Join(dir, "not", "yet")); err != nil || later != device {
		t.Errorf("a folder that is not there yet is on disk %d, %v, want that of its parent, %d", later, err, device)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	failed := errors.New("exit status 1")
	for _, test := range []struct{ name, reason, tail, want string }{
		{"disk", "the linker's words", "link: write out: no space left on device", "the disk is full: "},
		{"quota", "the same, for one user", "write out: disk quota exceeded", "the disk is full: "},
		{"name", "no name server", `Get "https://proxy/x": dial tcp: lookup proxy: no such host`, "the sources could not be downloaded (GOPROXY=https://proxy): "},
		{"other", "a compiler's error speaks for itself", "x.go:1: undefined: y", "exit status 1\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := builder{gocmd: &gocmd.Go{Proxy: "https://proxy"}}
			err := b.explain(failed, test.tail)
			if !strings.HasPrefix(err.Error(), test.want) || !strings.HasSuffix(err.Error(), "\n"+test.tail) || !errors.Is(err, failed) {
				t.Errorf("%s: the error is %q", test.reason, err)
			}
		})
	}
}

func TestBuildLog(t *testing.T) {
	t.Parallel()
	var log buildLog
	for _, part := range []string{"go: downloading a/b v1\ngo: down", "loading c v2\n"} {
		if _, err := log.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := log.state(), "2 modules downloaded"; got != want {
		t.Errorf("state is %q, want %q", got, want)
	}
	if _, err := log.Write([]byte("a/b\nc/d\n# c/d\nx.go:1:1: undefined: y\nlink: failed")); err != nil {
		t.Fatal(err)
	}
	if got, want := log.state(), "2 packages compiled"; got != want {
		t.Errorf("state is %q, want %q", got, want)
	}
	if got, want := log.tail(), "# c/d\nx.go:1:1: undefined: y\nlink: failed"; got != want {
		t.Errorf("tail is %q, want %q", got, want)
	}
}
