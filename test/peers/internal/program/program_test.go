package program_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kudevops.io/appsvc/test/peers/internal/program"
)

// write makes a file in dir, and the folders that it needs.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLoadPeer(t *testing.T) {
	t.Parallel()
	const module = "module example.com/build\n\ngo 1.26.0\n\n"
	tests := []struct {
		name   string
		reason string
		mod    string
		want   program.Peer
		err    string
	}{
		{
			name:   "a tool",
			reason: "its version is that of its module",
			mod:    module + "tool example.com/helm/v3/cmd/helm\n\nrequire (\n\texample.com/helm/v3 v3.22.0 // indirect\n\texample.com/other v1.0.0 // indirect\n)\n",
			want:   program.Peer{Name: "peer", Version: "v3.22.0", Package: "example.com/helm/v3/cmd/helm", Module: "example.com/helm/v3"},
		},
		{
			name:   "a module inside a module",
			reason: "the longest path holds the package; a path that merely begins alike does not",
			mod:    module + "tool example.com/k/cli/cmd\n\nrequire (\n\texample.com/k v1.0.0\n\texample.com/k/cli v1.1.0\n\texample.com/k/cl v1.2.0\n)\n",
			want:   program.Peer{Name: "peer", Version: "v1.1.0", Package: "example.com/k/cli/cmd", Module: "example.com/k/cli"},
		},
		{name: "no tool", reason: "nothing to build", mod: module, err: "peer peer: go.mod names 0 tools, want one"},
		{
			name:   "two tools",
			reason: "each peer has requirements of its own",
			mod:    module + "tool (\n\texample.com/a\n\texample.com/b\n)\n",
			err:    "peer peer: go.mod names 2 tools, want one",
		},
		{
			name:   "not required",
			reason: "no version to build",
			mod:    module + "tool example.com/a\n",
			err:    "peer peer: go.mod requires no module that holds example.com/a",
		},
		{name: "no go.mod", reason: "as when a folder was not added yet", err: "no such file or directory"},
		{name: "broken", reason: "the reason stands in the table", mod: "module\n", err: "usage: module module/path"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "peer")
			if tt.mod != "" {
				write(t, dir, "go.mod", tt.mod)
			}
			got, err := program.LoadPeer(dir)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q (%s)", err, tt.err, tt.reason)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(program.Peer{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestEveryModuleIsAPeer(t *testing.T) {
	t.Parallel()
	modules, err := filepath.Glob("../../build/*/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) == 0 {
		t.Fatal("no module in build/")
	}
	for _, m := range modules {
		if _, err := program.LoadPeer(filepath.Dir(m)); err != nil {
			t.Error(err)
		}
	}
}

// localPeer is a peer whose module stands beside it, so that building it needs no
// network.
func localPeer(t *testing.T, version, source string) program.Peer {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "greeter")
	write(t, dir, "go.mod", "module example.com/build\n\ngo 1.26.0\n\n"+
		"tool example.com/greeter\n\nrequire example.com/greeter "+version+"\n\nreplace example.com/greeter => ./greeter\n")
	write(t, dir, "go.sum", "")
	write(t, dir, "greeter/go.mod", "module example.com/greeter\n\ngo 1.26.0\n")
	write(t, dir, "greeter/main.go", source)
	peer, err := program.LoadPeer(dir)
	if err != nil {
		t.Fatal(err)
	}
	return peer
}

const greeter = "package main\n\nfunc main() { print(\"hello\") }\n"

func TestPeerIsBuiltOnce(t *testing.T) {
	t.Parallel()
	cache := filepath.Join(t.TempDir(), "not", "there", "yet")
	peer := localPeer(t, "v1.0.0", greeter)
	var first, second bytes.Buffer
	path, err := peer.Build(t.Context(), cache, &first)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(first.String(), "building greeter v1.0.0") {
		t.Errorf("progress %q, want what is being built", first.String())
	}
	if out, err := exec.Command(path).CombinedOutput(); err != nil || string(out) != "hello" {
		t.Errorf("the program said %q, %v", out, err)
	}

	again, err := peer.Build(t.Context(), cache, &second)
	if err != nil {
		t.Fatal(err)
	}
	if again != path || second.Len() != 0 {
		t.Errorf("the second build gave %s and said %q, want %s and nothing", again, second.String(), path)
	}

	newer, err := localPeer(t, "v1.1.0", greeter).Build(t.Context(), cache, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if newer == path {
		t.Error("another version has the same path")
	}
	// Both versions and nothing else: no folder of a build is left.
	if names := list(t, cache); len(names) != 2 {
		t.Errorf("the cache holds %q, want the two versions", names)
	}
}

func TestPeerThatDoesNotBuild(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	peer := localPeer(t, "v1.0.0", "package main\n\nfunc main() { greet() }\n")
	_, err := peer.Build(t.Context(), cache, io.Discard)
	if err == nil || !strings.HasPrefix(err.Error(), "peer greeter: go build example.com/greeter: exit status 1: ") ||
		!strings.HasSuffix(err.Error(), "undefined: greet") {
		t.Errorf("error %v, want the peer and what the compiler said", err)
	}
	if names := list(t, cache); len(names) != 0 {
		t.Errorf("the cache holds %q, want nothing", names)
	}
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

func TestComplaint(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, reason, stderr, want string }{
		{name: "nothing", reason: "no colon without a text", stderr: " \n", want: ""},
		{name: "one line", reason: "that line", stderr: "Error: no\n", want: ": Error: no"},
		{name: "several", reason: "the last says what was wrong", stderr: "go: downloading x\n\nmain.go:3: undefined\n\n", want: ": main.go:3: undefined"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := program.Complaint(tt.stderr); got != tt.want {
				t.Errorf("%q, want %q (%s)", got, tt.want, tt.reason)
			}
		})
	}
}
