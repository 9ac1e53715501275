package kustomize

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLocalFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, reason, archive string
		want                  []string
	}{
		{
			name:   "all",
			reason: "what any layer refers to, and nothing that none does",
			archive: base + `
-- base/other.yaml --
-- part/kustomization.yaml --
kind: Component
apiVersion: kustomize.config.k8s.io/v1alpha1
resources: [../more]
-- more/Kustomization --
configMapGenerator: [{name: a, files: [k=data.txt]}]
-- more/data.txt --
-- top/kustomization.yaml --
bases: [../base]
components: [../part]
transformers: [plugin.yaml]
patches: [{path: patch.yaml}]
-- top/plugin.yaml --
-- top/patch.yaml --
`,
			want: []string{"base/app.yaml", "base/kustomization.yaml", "more/Kustomization", "more/data.txt", "part/kustomization.yaml",
				"top/kustomization.yaml", "top/patch.yaml", "top/plugin.yaml"},
		},
		{
			name:   "faulty",
			reason: "what can be read is read, however broken it is",
			archive: `
-- base/kustomization.yaml --
resource: [app.yaml]
-- top/kustomization.yaml --
resources: [https://example.com/a.yaml, missing.yaml, broken.yaml, ../base]
-- top/broken.yaml --
kind: AppService
  a: [
`,
			want: []string{"base/kustomization.yaml", "top/broken.yaml", "top/kustomization.yaml"},
		},
		{name: "none", reason: "no kustomization, no files", archive: "-- top/app.yaml --\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := plant(t, tt.archive)
			var got []string
			for _, file := range LocalFiles(filepath.Join(root, "top")) {
				got = append(got, strings.TrimPrefix(file, root+"/"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}
