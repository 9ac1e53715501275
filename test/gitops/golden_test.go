package gitops

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what is seen into the golden files")

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test ./test/gitops -update writes it:\n%s", err, got)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("testdata/%s (go test ./test/gitops -update writes it anew), -want +got:\n%s", name, diff)
	}
}

// tree gives the files below a folder as one text.
func tree(tb testing.TB, dir string) string {
	tb.Helper()
	var archive txtar.Archive
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: data})
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return string(txtar.Format(&archive))
}

// noStrays demands that a folder of testdata holds these files and no other.
func noStrays(t *testing.T, dir string, names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join("testdata", dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !slices.Contains(names, entry.Name()) {
			t.Errorf("testdata/%s/%s: no test compares with it", dir, entry.Name())
		}
	}
}
