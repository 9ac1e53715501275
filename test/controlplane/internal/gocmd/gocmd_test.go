package gocmd

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFlags(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, reason, user, want string }{
		{"none", "an empty GOFLAGS would be replaced by that of go env -w", "", "-mod=readonly"},
		{"vendor", "no module of ours has a vendor folder", "-mod=vendor", "-mod=readonly"},
		{"mod", "it would change go.mod, and so the hash that the cache goes by", "-mod=mod", "-mod=readonly"},
		{"two dashes", "the go command takes both", "--mod=vendor", "-mod=readonly"},
		{"build", "race needs cgo; tags and trimpath change what comes out", "-race -tags=x -trimpath -ldflags=-w", "-mod=readonly"},
		{"machine", "how the machine is used is up to the user", "-p=1 -modcacherw", "-mod=readonly -p=1 -modcacherw"},
		{"prefix", "a flag that only begins alike is another one", "-pgo=off", "-mod=readonly"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, flags(test.user)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestCommandOverridesEnvironment(t *testing.T) {
	t.Parallel()
	environ := append(os.Environ(), "GOFLAGS=-mod=vendor -race", "GOWORK=/nowhere/go.work", "GOOS=plan9", "GOARCH=386", "CGO_ENABLED=1", "GO111MODULE=off")
	g, err := New(t.Context(), environ)
	if err != nil {
		t.Fatal(err)
	}
	out, err := output(g.Command(t.Context(), "", "env", "GOFLAGS", "GOWORK", "GOOS", "GOARCH", "CGO_ENABLED", "GO111MODULE"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"-mod=readonly", "off", runtime.GOOS, runtime.GOARCH, "0", "on"}
	if diff := cmp.Diff(want, strings.Fields(string(out))); diff != "" {
		t.Errorf("go env (-want +got):\n%s", diff)
	}
}

func TestSourceDir(t *testing.T) {
	t.Parallel()
	g, err := New(t.Context(), os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	dir, err := g.SourceDir(t.Context(), "kudevops.io/appsvc/test/controlplane")
	if err != nil {
		t.Fatal(err)
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSuffix(wd, "/internal/gocmd"); dir != want {
		t.Errorf("SourceDir is %q, want %q", dir, want)
	}
	if _, err := g.SourceDir(t.Context(), "example.com/unknown"); err == nil {
		t.Error("a module that is not required has no source, and there is no error")
	}
}

func TestDownloadError(t *testing.T) {
	t.Parallel()
	environ := append(os.Environ(), "GOPROXY=off", "GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw")
	g, err := New(t.Context(), environ)
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.Download(t.Context(), "../../manifests", "sigs.k8s.io/gateway-api")
	if err == nil || !strings.Contains(err.Error(), "GOPROXY=off") {
		t.Errorf("download without a network: %v, want an error that names GOPROXY", err)
	}
}
