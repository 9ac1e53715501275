package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"kudevops.io/appsvc/internal/cli"
)

// functions lists the examples that consist of several kustomizations: the folders
// to build, of which all need the function to be run.
func functions() map[string][]string {
	return map[string][]string{
		"kustomize-component":  {"prod", "canary"},
		"kustomize-base":       {"prod"},
		"kustomize-two-stages": {"prod"},
		"kustomize-generator":  {"prod"},
	}
}

// TestExamples: each folder of examples, and the samples, are valid and render
// without a warning.
func TestExamples(t *testing.T) {
	t.Parallel()
	const root = "../../examples"
	folders, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{"../../config/samples"}
	for _, f := range folders {
		if functions()[f.Name()] == nil {
			paths = append(paths, filepath.Join(root, f.Name()))
		}
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			runExample(t, "validate", path)
			strictDecode(t, runExample(t, "build", path))
		})
	}
}

// TestExamplesWithFunctions is TestExamples for the examples of which kustomize runs
// the function. validate has nothing to say of AppServices that only configure a
// generator: none of them is left in the build.
func TestExamplesWithFunctions(t *testing.T) {
	// The function is looked up in PATH, which is the process's.
	t.Setenv("PATH", buildProgram(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	flags := []string{"--enable-alpha-plugins", "--enable-exec"}
	for name, folders := range functions() {
		for _, folder := range folders {
			t.Run(name+"/"+folder, func(t *testing.T) {
				path := filepath.Join("../../examples", name, folder)
				if name != "kustomize-generator" {
					runExample(t, append([]string{"validate", path}, flags...)...)
				}
				strictDecode(t, runExample(t, append([]string{"build", path}, flags...)...))
			})
		}
	}
}

// runExample runs a command that has to succeed, and build has to without a word on
// standard error. It gives what is printed.
func runExample(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errOut bytes.Buffer
	code := cli.Main(t.Context(), args, nil, &out, &errOut)
	if code != 0 || (args[0] == "build" && errOut.Len() > 0) {
		t.Fatalf("%q: exit code %d: %s", args, code, errOut.String())
	}
	return out.Bytes()
}
