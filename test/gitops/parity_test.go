package gitops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParity renders the same AppServices by each way there is, and demands the same
// objects of all.
func TestParity(t *testing.T) {
	t.Parallel()
	programs(t)
	// Cases of testdata that are AppServices only. Each stands for what could get lost
	// on the way through a tool.
	cases := []struct{ name, reason string }{
		{"sample", "the sample that people know"},
		{"field-env-order", "the order of lists"},
		{"b2-26-zero-values", "zero is not absent"},
		{"field-env-sources", "references of every kind"},
		{"field-resources", "quantities"},
		{"files", "text of several lines, and a name with a hash"},
		{"patch-strategic-merge", "patches are text within the AppService"},
		{"pod-volumes", "emptyDir: {} has a meaning"},
		{"pod-placement", "nested lists"},
		{"autoscaling", "no replicas"},
		{"ingress", "backends by name"},
		{"route", "an empty group has a meaning"},
		{"network-policy-closed", "podSelector and empty rules have a meaning"},
		{"monitoring", "a custom resource"},
		{"security-restricted", "booleans"},
		{"service-options", "an address that is None"},
		{"one-name-in-two-namespaces", "two AppServices of one name"},
		{"labels-of-tools", "labels and annotations of tools, which stay behind"},
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			input, err := os.ReadFile(filepath.Join(root, "testdata", tt.name, "input.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			dir := plant(t, parityFolders)
			for _, folder := range []string{"component", "generator/appservices", "kpt"} {
				write(t, filepath.Join(dir, folder, "input.yaml"), string(input))
			}
			want := byID(t, objects(t, appsvc(t, filepath.Join(root, "testdata", tt.name, "input.yaml")).ok(t)))
			if r := render(t, filepath.Join(dir, "kpt")); r.code != 0 {
				t.Fatalf("kpt: exit code %d: %s", r.code, r.stderr)
			}
			for way, stream := range map[string]string{
				"component": kustomize(t, filepath.Join(dir, "component")).ok(t),
				"generator": kustomize(t, filepath.Join(dir, "generator")).ok(t),
				"kpt":       manifests(t, filepath.Join(dir, "kpt")),
				"build of the component": appsvc(t, "--enable-alpha-plugins", "--enable-exec",
					filepath.Join(dir, "component")).ok(t),
			} {
				if diff := cmp.Diff(want, byID(t, objects(t, stream))); diff != "" {
					t.Errorf("%s: %s (-build +%[1]s):\n%s", way, tt.reason, diff)
				}
			}
		})
	}
}

const parityFolders = `
-- component/kustomization.yaml --
resources: [input.yaml]
components: [../config/kustomize/component]
-- generator/kustomization.yaml --
generators: [appservices]
-- generator/appservices/kustomization.yaml --
resources: [input.yaml]
components: [../../config/kustomize/generator]
-- kpt/Kptfile --
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: package
pipeline:
  mutators:
  - exec: appsvc-render
`

// manifests gives the objects of a kpt package that are meant for the cluster.
func manifests(tb testing.TB, dir string) string {
	tb.Helper()
	var stream strings.Builder
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, file := range files {
		if filepath.Base(file) == "input.yaml" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		stream.Write(data)
		stream.WriteString("---\n")
	}
	return stream.String()
}
