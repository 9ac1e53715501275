package packaging

import (
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"
)

// TestDist makes the archives of a release, with checksums that are right and programs
// that run; and one of them again, from a copy of the sources in another folder, with the
// same bytes. The platforms are this test's; internal/archive tests the form for the
// others.
func TestDist(t *testing.T) {
	t.Parallel()
	dist := func(source, controllers string) map[string]string {
		dir := filepath.Join(t.TempDir(), "dist")
		runMake(t, "-C", source, "dist", "DIST="+dir, "RENDER_PLATFORMS=linux/amd64", "CONTROLLER_PLATFORMS="+controllers)
		return files(t, dir)
	}
	source := copySources(t, root)
	made := dist(source, "linux/amd64")
	again := dist(copySources(t, source), "")
	render, controller := "appsvc-render_"+version+"_linux_amd64", "appsvc-controller_"+version+"_linux_amd64"
	want := sets.New("SHA256SUMS", render+".tar.gz", controller+".tar.gz")
	if diff := cmp.Diff(sets.List(want), sets.List(sets.KeySet(made))); diff != "" {
		t.Errorf("files, -want +got:\n%s", diff)
	}
	if made[render+".tar.gz"] != again[render+".tar.gz"] {
		t.Error("the second build is another one")
	}
	sum := ""
	for _, name := range []string{controller, render} {
		archive := made[name+".tar.gz"]
		sum += fmt.Sprintf("%x  %s.tar.gz\n", sha256.Sum256([]byte(archive)), name)
		uncompressed, err := gzip.NewReader(strings.NewReader(archive))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(uncompressed)
		if err != nil {
			t.Fatal(err)
		}
		entries := tarFiles(t, text)
		program := strings.SplitN(name, "_", 2)[0]
		wantEntries := sets.New(name+"/"+program, name+"/LICENSE", name+"/README.md")
		if diff := cmp.Diff(sets.List(wantEntries), sets.List(sets.KeySet(entries))); diff != "" {
			t.Errorf("%s, -want +got:\n%s", name, diff)
		}
		data := entries[name+"/"+program].data
		checkProgram(t, data)
		file := filepath.Join(t.TempDir(), program)
		writeFile(t, file, string(data))
		if out := run(t, "", file, "--help"); !strings.Contains(out, program) {
			t.Errorf("%s --help: %s", program, out)
		}
	}
	if diff := cmp.Diff(sum, made["SHA256SUMS"]); diff != "" {
		t.Errorf("checksums, -want +got:\n%s", diff)
	}
}

// copySources copies what the archives are made from, and gives the new folder.
func copySources(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range []string{"Makefile", "go.mod", "go.sum", "LICENSE", "README.md"} {
		writeFile(t, filepath.Join(to, name), string(readFile(t, filepath.Join(from, name))))
	}
	for _, name := range []string{"api", "cmd", "internal", "pkg"} {
		if err := os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(from, name))); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// files gives the files of a folder, without those of its folders.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, e := range entries {
		if !e.IsDir() {
			found[e.Name()] = string(readFile(t, filepath.Join(dir, e.Name())))
		}
	}
	return found
}
