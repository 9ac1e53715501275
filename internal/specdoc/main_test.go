package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPage(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "types.go")
	source := "package x\n\n// Thing is a thing,\n// of two lines.\n//\n// +marker\ntype Thing struct {\n\tEmbedded `json:\",inline\"`\n\t// name of it, a|b.\n\t// +required\n\tName string `json:\"name\"`\n\t// size says how large\n\t// it is.\n\t// +optional\n\tSize *corev1.Size `json:\"size,omitempty\"`\n}\n\n// ThingList is left out.\ntype ThingList struct{}\n"
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := pageOf(file)
	if err != nil {
		t.Fatal(err)
	}
	want := head + "\n## Thing\n\nThing is a thing, of two lines.\n\n| field | type | |\n|---|---|---|\n| `name` | `string` | **required.** of it, a\\|b. |\n| `size` | `corev1.Size` | says how large it is. |\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestCommittedPage: the page is that of the types as they are.
func TestCommittedPage(t *testing.T) {
	t.Parallel()
	want, err := pageOf("../../api/v1alpha1/appservice_types.go")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/spec.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/spec.md is stale, run make generate, -want +got:\n%s", diff)
	}
}
