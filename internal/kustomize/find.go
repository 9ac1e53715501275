package kustomize

import (
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/konfig"
)

// FindFile gives the kustomization file of a folder, and whether there is one,
// which makes the folder one that kustomize can build. The name is one of those
// that kustomize recognises; of several, which [Build] refuses, it is the first.
func FindFile(dir string) (string, bool) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, true
		}
	}
	return "", false
}
