package gitops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// layout is a way to have AppServices in a kustomize build.
type layout struct {
	name, reason string
	dir          string // within examples
}

func layouts() []layout {
	return []layout{
		{"component", "renders before the overlay's own images, replicas, names, labels and patches", "kustomize-component/prod"},
		{"component-canary", "a second overlay of the same AppServices in the same namespace", "kustomize-component/canary"},
		{"base", "the base renders, overlays see a Deployment and a Service", "kustomize-base/prod"},
		{"two-stages", "an overlay acts on the AppService, and a kustomization above it renders", "kustomize-two-stages/prod"},
		{"generator", "each AppService is the configuration of a generator", "kustomize-generator/prod"},
	}
}

// TestLayouts builds each layout of examples with kustomize, and compares with a
// golden file and with what `appsvc-render build` makes of the folder by the same
// flags.
func TestLayouts(t *testing.T) {
	t.Parallel()
	programs(t)
	var files []string
	t.Cleanup(func() { noStrays(t, "layouts", files) })
	for _, tt := range layouts() {
		files = append(files, tt.name+".yaml")
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(root, "examples", tt.dir)
			want := kustomize(t, dir).ok(t)
			golden(t, "layouts/"+tt.name+".yaml", want)
			got := appsvc(t, "--enable-alpha-plugins", "--enable-exec", dir).ok(t)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("appsvc-render build of the same folder (-kustomize +build):\n%s", diff)
			}
		})
	}
}

// TestEveryLayoutIsTested: a folder of examples for kustomize is in the table.
func TestEveryLayoutIsTested(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob(filepath.Join(root, "examples", "kustomize-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		tested := false
		for _, l := range layouts() {
			tested = tested || strings.HasPrefix(l.dir, filepath.Base(folder)+"/")
		}
		if !tested {
			t.Errorf("%s is not in the table of layouts", folder)
		}
	}
	if len(folders) < 4 {
		t.Errorf("%d folders of examples for kustomize, want one for each of four layouts", len(folders))
	}
}

// TestKptExample renders the package of examples and compares all its files.
func TestKptExample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "examples", "kpt"))); err != nil {
		t.Fatal(err)
	}
	if r := render(t, dir); r.code != 0 {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	golden(t, "kpt/example.txtar", tree(t, dir))
}

// TestShippedConfigurations: what config/kustomize ships for layers that act on
// AppServices is what `build` adds to every layer by itself.
func TestShippedConfigurations(t *testing.T) {
	t.Parallel()
	own, err := filepath.Glob(filepath.Join(root, "internal", "kustomize", "configurations", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(own) == 0 {
		t.Fatal("no configurations in internal/kustomize")
	}
	for _, file := range own {
		if filepath.Base(file) == "selectors.yaml" {
			continue // for builds that do not render
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(root, "config", "kustomize", "appservice", filepath.Base(file)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("config/kustomize/appservice/%s (-internal/kustomize +config):\n%s", filepath.Base(file), diff)
		}
	}
}
