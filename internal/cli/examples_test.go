package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"kudevops.io/appsvc/internal/cli"
)

// TestExamples: each folder of examples, and the samples, are valid and render
// without a warning.
func TestExamples(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{"../../config/samples"}
	for _, f := range folders {
		paths = append(paths, filepath.Join("../../examples", f.Name()))
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			var out, errOut bytes.Buffer
			if code := cli.Main(t.Context(), []string{"validate", path}, nil, &out, &errOut); code != 0 {
				t.Fatalf("validate: exit code %d: %s", code, errOut.String())
			}
			errOut.Reset()
			if code := cli.Main(t.Context(), []string{"build", path}, nil, &out, &errOut); code != 0 || errOut.Len() > 0 {
				t.Errorf("build: exit code %d: %s", code, errOut.String())
			}
			strictDecode(t, out.Bytes())
		})
	}
}
