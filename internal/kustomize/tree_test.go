package kustomize

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// plant writes the files of an archive below a new folder and gives the folder.
func plant(t *testing.T, archive string) string {
	t.Helper()
	root := t.TempDir()
	for _, file := range txtar.Parse([]byte(archive)).Files {
		write(t, filepath.Join(root, file.Name), file.Data)
	}
	return root
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
