package gitops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pkg plants a kpt package.
func pkg(tb testing.TB, files string) string {
	tb.Helper()
	dir := plant(tb, files)
	if err := os.RemoveAll(filepath.Join(dir, "config")); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// rendered renders a package in place and gives its files.
func rendered(tb testing.TB, dir string) string {
	tb.Helper()
	if r := render(tb, dir); r.code != 0 {
		tb.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	return tree(tb, dir)
}

func TestKptRenderTwice(t *testing.T) {
	t.Parallel()
	dir := pkg(t, apps+kptfile)
	first := rendered(t, dir)
	golden(t, "kpt/twice.txtar", first)
	if diff := cmp.Diff(first, rendered(t, dir)); diff != "" {
		t.Errorf("a second run changes the package (-first +second):\n%s", diff)
	}
}

func TestKptFollowsTheAppServices(t *testing.T) {
	t.Parallel()
	const (
		web     = "apiVersion: apps.kudevops.io/v1alpha1\nkind: AppService\nmetadata:\n  name: web\nspec:\n  image: nginx:1.27\n  ports:\n  - port: 80\n"
		service = "apps/service_web.yaml"
		deploy  = "apps/deployment_web.yaml"
	)
	tests := []struct {
		name, reason string
		// between happens to the package between two runs.
		between func(t *testing.T, dir string)
		// there and gone are files after the second run.
		there, gone []string
	}{
		{
			name: "nothing happens", reason: "each child has a file of its own, beside its AppService",
			between: func(*testing.T, string) {},
			there:   []string{service, deploy, "apps/web.yaml", "apps/other.yaml"},
		},
		{
			name: "the AppService is removed", reason: "and with it what it rendered to, but nothing else",
			between: func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "apps", "web.yaml")) },
			there:   []string{"apps/other.yaml", "apps/kustomization.yaml", "Kptfile"},
			gone:    []string{service, deploy},
		},
		{
			name: "its ports are removed", reason: "and with them the Service",
			between: func(t *testing.T, dir string) {
				write(t, filepath.Join(dir, "apps", "web.yaml"), strings.Replace(web, "  ports:\n  - port: 80\n", "", 1))
			},
			there: []string{deploy},
			gone:  []string{service},
		},
		{
			name: "the files of children are moved", reason: "they stay where people put them",
			between: func(t *testing.T, dir string) {
				write(t, filepath.Join(dir, "rendered", "all.yaml"), read(t, filepath.Join(dir, deploy))+"---\n"+read(t, filepath.Join(dir, service)))
				remove(t, filepath.Join(dir, deploy))
				remove(t, filepath.Join(dir, service))
			},
			there: []string{"rendered/all.yaml"},
			gone:  []string{service, deploy},
		},
		{
			name: "a child is edited by hand", reason: "what is rendered is written again",
			between: func(t *testing.T, dir string) {
				path := filepath.Join(dir, deploy)
				write(t, path, strings.Replace(read(t, path), "image: nginx:1.27", "image: nginx:9", 1))
			},
			there: []string{deploy},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := pkg(t, apps+kptfile)
			write(t, filepath.Join(dir, "apps", "web.yaml"), web)
			rendered(t, dir)
			tt.between(t, dir)
			got := rendered(t, dir)
			for _, file := range tt.there {
				if !strings.Contains(got, "-- "+file+" --\n") {
					t.Errorf("%s: %s is not there:\n%s", tt.reason, file, got)
				}
			}
			for _, file := range tt.gone {
				if strings.Contains(got, "-- "+file+" --\n") {
					t.Errorf("%s: %s is there:\n%s", tt.reason, file, got)
				}
			}
			if strings.Contains(got, "nginx:9") {
				t.Errorf("%s: what was edited is there:\n%s", tt.reason, got)
			}
			if n := strings.Count(got, "kind: Deployment\n"); n > 1 {
				t.Errorf("%s: there are %d Deployments:\n%s", tt.reason, n, got)
			}
			if diff := cmp.Diff(got, rendered(t, dir)); diff != "" {
				t.Errorf("one more run changes the package (-before +after):\n%s", diff)
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
