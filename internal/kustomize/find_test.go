package kustomize

import (
	"path/filepath"
	"testing"
)

func TestFindFile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, reason, archive, want string
	}{
		{"usual", "the name that everybody uses", "-- kustomization.yaml --\n", "kustomization.yaml"},
		{"yml", "kustomize recognises the other extension", "-- kustomization.yml --\n", "kustomization.yml"},
		{"old", "kustomize recognises the name without an extension", "-- Kustomization --\n", "Kustomization"},
		{"several", "a folder with two is a root all the same, so that Build says what is wrong", "-- Kustomization --\n-- kustomization.yml --\n", "kustomization.yml"},
		{"none", "a folder of manifests", "-- app.yaml --\n", ""},
		{"case", "kustomize does not recognise it", "-- Kustomization.yaml --\n", ""},
		{"folder", "a folder is no kustomization file", "-- kustomization.yaml/app.yaml --\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := plant(t, tt.archive)
			got, ok := FindFile(root)
			want := ""
			if tt.want != "" {
				want = filepath.Join(root, tt.want)
			}
			if got != want || ok != (want != "") {
				t.Errorf("FindFile() = %q, %v; want %q: %s", got, ok, want, tt.reason)
			}
		})
	}
}
