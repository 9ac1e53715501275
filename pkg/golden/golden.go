package golden

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudevops.io/appsvc/internal/manifest"
	"kudevops.io/appsvc/pkg/diff"
	"kudevops.io/appsvc/pkg/render"
)

// Check fails the test when objects differ from those in a golden file, and says what
// would happen if they were applied. With update it writes the file instead, and its
// folder where there is none.
func Check(t testing.TB, objects []*unstructured.Unstructured, file string, update bool) {
	t.Helper()
	if update {
		if err := Write(file, objects); err != nil {
			t.Fatal(err)
		}
		return
	}
	report, err := Compare(file, objects)
	if err != nil {
		t.Fatal(err)
	}
	if report != "" {
		t.Errorf("what is rendered differs from %s:\n%s", file, report)
	}
}

// Compare reports what applying objects would change in what a golden file holds; nothing
// when that is nothing.
func Compare(file string, objects []*unstructured.Unstructured) (string, error) {
	want, err := Read(file)
	if err != nil {
		return "", err
	}
	set, err := diff.Diff(want, objects, diff.Options{})
	if err != nil {
		return "", fmt.Errorf("compare with %s: %w", file, err)
	}
	if !set.Changed() {
		return "", nil
	}
	var out bytes.Buffer
	if err := diff.NewReport(set, diff.ReportOptions{}).WriteText(&out, diff.TextOptions{}); err != nil {
		return "", err
	}
	return out.String(), nil
}

// Render reads a file and gives what it stands for: AppServices rendered for the newest
// Kubernetes, other objects as they are. The error holds every fault, with file and line.
func Render(file string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	var errs []error
	err := each(file, func(object *manifest.Object) {
		if !object.IsAppService() {
			value, faults := object.Value()
			errs = append(errs, errorsOf(faults)...)
			out = append(out, &unstructured.Unstructured{Object: value})
			return
		}
		app, faults := object.AppService()
		if len(faults) > 0 {
			errs = append(errs, errorsOf(faults)...)
			return
		}
		result, invalid := render.Render(app, render.Options{})
		for _, e := range invalid {
			errs = append(errs, object.Fault(e.Field, e.ErrorBody()))
		}
		out = append(out, result.Objects...)
	})
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	return out, nil
}

// Read gives the objects of a file as they are.
func Read(file string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	var errs []error
	err := each(file, func(object *manifest.Object) {
		value, faults := object.Value()
		errs = append(errs, errorsOf(faults)...)
		out = append(out, &unstructured.Unstructured{Object: value})
	})
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	return out, nil
}

// Write writes objects into a file, and makes its folder where there is none.
func Write(file string, objects []*unstructured.Unstructured) error {
	var text []byte
	for i, object := range objects {
		if i > 0 {
			text = append(text, "---\n"...)
		}
		text = manifest.AppendYAML(text, object.Object)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// each calls do with every object of a file.
func each(file string, do func(*manifest.Object)) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	reader := manifest.NewReader(file, in)
	var errs []error
	for {
		document, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return errors.Join(errs...)
		}
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		objects, _, faults := manifest.Objects(document)
		errs = append(errs, errorsOf(faults)...)
		for _, object := range objects {
			do(object)
		}
	}
}

func errorsOf(faults []*manifest.Fault) []error {
	errs := make([]error, len(faults))
	for i := range faults {
		errs[i] = faults[i]
	}
	return errs
}
