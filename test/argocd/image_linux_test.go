package argocd_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestImage does what config/argocd/Dockerfile says and runs Argo CD's server in what
// comes of it, as the user of the sidecar: there is no shell, no library, and nothing
// that can be written to but what the sidecar mounts. Row 17 (argo-cd#18528, #23272):
// the program comes with the image.
//
// A container engine is not needed: the file system is a folder that the server's
// process has as its root, which is a thing of Linux.
func TestImage(t *testing.T) {
	t.Parallel()
	file := parseDockerfile(t)
	root := shortTempDir(t)
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	out := file.build(t)
	for _, c := range file.copies {
		from := filepath.Join(repository, c.from)
		if c.stage != "" {
			from = filepath.Join(out, c.from)
		}
		copyFile(t, from, filepath.Join(root, c.to))
	}
	// What the sidecar mounts, and what every container has.
	copyFile(t, programs.cmpServer, filepath.Join(root, "var/run/argocd/argocd-cmp-server"))
	for _, dir := range []string{"tmp", "home/argocd/cmp-server/plugins"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(root, "dev/null"), "")
	before := listFiles(t, root)

	if file.user != "999:999" {
		t.Fatalf("the user of the image is %q, and Argo CD's is 999", file.user)
	}
	s := newServer(t, serverOptions{root: root, env: file.env, attr: asUser999(root)})
	r := newRequest(t, "overlays/prod", overlay())
	r.server = s
	match, err := r.match(t.Context())
	if err != nil || !match.IsSupported {
		t.Errorf("match: %v, %v", match, err)
	}
	if got, err := r.announce(t.Context()); err != nil || len(got.ParameterAnnouncements) == 0 {
		t.Errorf("parameters: %v, %v", got, err)
	}
	if diff := cmp.Diff(built(t, r.path()), r.objects(t)); diff != "" {
		t.Errorf("-build +Argo CD:\n%s", diff)
	}
	waitFor(t, "the server to tidy up", func() bool {
		left, err := os.ReadDir(s.work())
		return err == nil && len(left) == 0
	})
	after := listFiles(t, root)
	delete(after, "home/argocd/cmp-server/plugins/appsvc-render.sock")
	delete(after, "tmp/_cmp_server")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("files were left, -before +after:\n%s", diff)
	}
}

// asUser999 makes a process of user 999 with root as its root folder. Who is not root
// needs a user namespace for it, in which 999 stands for that user.
func asUser999(root string) *syscall.SysProcAttr {
	if os.Getuid() == 0 {
		return &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 999, Gid: 999}}
	}
	return &syscall.SysProcAttr{
		Chroot:      root,
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 999, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 999, HostID: os.Getgid(), Size: 1}},
	}
}

// dockerfile is what the tests know of a Dockerfile with two stages.
type dockerfile struct {
	sources []string // folders and files that the first stage copies
	command string   // the command that builds
	copies  []dockerCopy
	env     []string
	user    string
}

type dockerCopy struct{ stage, from, to string }

func parseDockerfile(t *testing.T) dockerfile {
	t.Helper()
	var d dockerfile
	stages := 0
	text := strings.ReplaceAll(readFile(t, filepath.Join(repository, "config/argocd/Dockerfile")), "\\\n", " ")
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		args := strings.Fields(rest)
		switch {
		case word == "FROM":
			stages++
			if stages == 2 && rest != "scratch" {
				t.Fatalf("the image is built from %s", rest)
			}
		case word == "COPY" && stages == 1:
			d.sources = append(d.sources, args[:len(args)-1]...)
		case word == "RUN" && strings.Contains(rest, "go build"):
			d.command = rest
		case word == "COPY":
			c := dockerCopy{}
			if stage, ok := strings.CutPrefix(args[0], "--from="); ok {
				c.stage, args = stage, args[1:]
			}
			c.from, c.to = args[0], args[1]
			d.copies = append(d.copies, c)
		case word == "ENV":
			d.env = append(d.env, args...)
		case word == "USER":
			d.user = rest
		}
	}
	if stages != 2 || d.command == "" || len(d.copies) == 0 {
		t.Fatalf("the Dockerfile is not as this test expects it: %+v", d)
	}
	return d
}

// build runs the first stage's command, on nothing but what that stage copies, and
// gives the folder in which its /out is.
func (d dockerfile) build(t *testing.T) string {
	t.Helper()
	source, root := t.TempDir(), t.TempDir()
	for _, name := range d.sources {
		from := filepath.Join(repository, name)
		if info, err := os.Stat(from); err != nil {
			t.Fatal(err)
		} else if !info.IsDir() {
			copyFile(t, from, filepath.Join(source, name))
		} else if err := os.CopyFS(filepath.Join(source, name), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(d.command, "/out/", root+"/out/"))
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "TARGETOS="+runtime.GOOS, "TARGETARCH="+runtime.GOARCH, "GOWORK=off", "GOFLAGS=-mod=readonly")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", d.command, err, out)
	}
	return root
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()|0o444)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
}

// listFiles are the paths below a folder.
func listFiles(t *testing.T, root string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, _ fs.DirEntry, err error) error {
		found[path] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
