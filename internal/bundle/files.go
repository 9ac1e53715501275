package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// readObjects reads a stream of YAML documents.
func readObjects(in io.Reader) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for r := utilyaml.NewYAMLReader(bufio.NewReader(in)); ; {
		text, err := r.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		object, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", len(objects)+1, err)
		}
		objects = append(objects, object)
	}
}

func readFile(path string) (*unstructured.Unstructured, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	object, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return object, nil
}

func parse(text []byte) (*unstructured.Unstructured, error) {
	var object map[string]any
	if err := yaml.UnmarshalStrict(text, &object); err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: object}
	if u.GetKind() == "" || u.GetName() == "" && u.GetKind() != versionKind {
		return nil, errors.New("kind or metadata.name is missing")
	}
	return u, nil
}

// writeFiles writes the files of a bundle, and leaves no other in the folder, which is
// empty, no more than a bundle, or not there.
func writeFiles(dir string, files map[string][]byte) error {
	existing, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, annotationsFile)); len(existing) > 0 && err != nil {
		return fmt.Errorf("%s holds something else than a bundle", dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
