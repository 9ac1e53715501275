package kustomize

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/yaml"
)

// writeConfigurations does by hand what the view does: every kustomization below
// root lists our configurations, as files that are there.
func writeConfigurations(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains(konfig.RecognizedKustomizationFileNames(), entry.Name()) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var k types.Kustomization
		if err := k.Unmarshal(text); err != nil {
			return err
		}
		files, err := fs.Glob(configurationFiles, "configurations/*.yaml")
		if err != nil {
			return err
		}
		for _, file := range files {
			own, err := configurationFiles.ReadFile(file)
			if err != nil {
				return err
			}
			name := "own-" + filepath.Base(file)
			write(t, filepath.Join(filepath.Dir(path), name), own)
			k.Configurations = append(k.Configurations, name)
		}
		text, err = yaml.Marshal(k)
		if err != nil {
			return err
		}
		return os.WriteFile(path, text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// runPlain runs kustomize on the disk, without a view.
func runPlain(dir string) error {
	running.Lock()
	defer running.Unlock()
	defer openapi.ResetOpenAPI()
	_, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	return err
}

func TestBuildLeavesFieldsToTheUser(t *testing.T) {
	t.Parallel()
	const replicasWithoutCreate = `
replicas:
- {path: spec/replicas, group: apps.kudevops.io, kind: AppService}
`
	for _, tt := range []struct {
		name, reason, archive string
		want                  map[string]any // spec of the AppService
	}{
		{
			name:   "top",
			reason: "the folder that is built declares the field; without create, replicas are not added",
			archive: base + `
-- top/kustomization.yaml --
resources: [../base]
configurations: [k.yaml]
replicas: [{name: web, count: 4}]
images: [{name: nginx, newTag: "2"}]
-- top/k.yaml --
` + replicasWithoutCreate,
			want: map[string]any{"image": "nginx:2"},
		},
		{
			name:   "base",
			reason: "a layer below declares it, and its configuration comes up",
			archive: `
-- base/kustomization.yaml --
resources: [app.yaml]
configurations: [k.yaml]
-- base/app.yaml --
apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata: {name: web}
spec: {image: "nginx:1"}
-- base/k.yaml --
` + replicasWithoutCreate + `
-- top/kustomization.yaml --
resources: [../base]
replicas: [{name: web, count: 4}]
`,
			want: map[string]any{"image": "nginx:1"},
		},
		{
			name:   "beside",
			reason: "a layer that knows nothing of the AppService declares it",
			archive: base + `
-- beside/kustomization.yaml --
resources: [map.yaml]
configurations: [k.yaml]
-- beside/map.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: map}}
-- beside/k.yaml --
` + replicasWithoutCreate + `
-- top/kustomization.yaml --
resources: [../base, ../beside]
images: [{name: nginx, newTag: "2"}]
`,
			want: map[string]any{"image": "nginx:2"},
		},
		{
			name:   "component",
			reason: "a Component declares it",
			archive: base + `
-- part/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
configurations: [k.yaml]
-- part/k.yaml --
` + replicasWithoutCreate + `
-- top/kustomization.yaml --
resources: [../base]
components: [../part]
images: [{name: nginx, newTag: "2"}]
`,
			want: map[string]any{"image": "nginx:2"},
		},
		{
			name:   "wider",
			reason: "a declaration for all kinds counts",
			archive: base + `
-- top/kustomization.yaml --
resources: [../base]
configurations: [k.yaml]
images: [{name: nginx, newTag: "2"}]
-- top/k.yaml --
images: [{path: spec/image, create: true}]
`,
			want: map[string]any{"image": "nginx:2"},
		},
		{
			name:   "narrower",
			reason: "a declaration for one version counts",
			archive: base + `
-- top/kustomization.yaml --
resources: [../base]
configurations: [k.yaml]
replicas: [{name: web, count: 4}]
-- top/k.yaml --
replicas: [{path: spec/replicas, group: apps.kudevops.io, version: v1alpha1, kind: AppService}]
`,
			want: map[string]any{"image": "nginx:1"},
		},
		{
			name:   "name reference",
			reason: "one field of a list is left to the user, and the others stay",
			archive: base + `
-- top/kustomization.yaml --
resources: [../base]
configurations: [k.yaml]
namePrefix: p-
configMapGenerator: [{name: cfg, literals: [A=1]}]
patches:
- target: {kind: AppService}
  patch: |-
    - {op: add, path: /spec/envFrom, value: [{configMapRef: {name: cfg}}]}
    - {op: add, path: /spec/env, value: [{name: A, valueFrom: {configMapKeyRef: {name: cfg, key: A}}}]}
-- top/k.yaml --
nameReference:
- kind: ConfigMap
  version: v1
  fieldSpecs:
  - {path: spec/envFrom/configMapRef/name, kind: AppService, create: true}
`,
			want: map[string]any{
				"image":   "nginx:1",
				"envFrom": []any{map[string]any{"configMapRef": map[string]any{"name": "p-cfg-89g4tffbfk"}}},
				"env": []any{map[string]any{"name": "A", "valueFrom": map[string]any{
					"configMapKeyRef": map[string]any{"name": "p-cfg-89g4tffbfk", "key": "A"}}}},
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			top := filepath.Join(plant(t, tt.archive), "top")
			got, err := Build(top, Options{})
			if err != nil {
				t.Fatalf("Build: %v: %s", err, tt.reason)
			}
			for _, object := range got {
				if object.Value["kind"] != "AppService" {
					continue
				}
				spec := object.Value["spec"].(map[string]any)
				delete(spec, "ports")
				if diff := cmp.Diff(tt.want, spec); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
				}
			}
			// The row would say nothing if kustomize took both declarations.
			writeConfigurations(t, filepath.Dir(top))
			if err := runPlain(top); err == nil || !strings.Contains(err.Error(), "conflicting fieldspecs") {
				t.Errorf("kustomize with all of our configurations: %v; want a conflict", err)
			}
		})
	}
}

func TestBuildWithTheSameConfiguration(t *testing.T) {
	t.Parallel()
	// People who use the Component form have these already, in their own words.
	root := plant(t, base+`
-- top/kustomization.yaml --
resources: [../base]
configurations: [k.yaml]
namePrefix: p-
images: [{name: nginx, newName: nginx-nginx}]
replicas: [{name: web, count: 4}]
configMapGenerator: [{name: cfg, literals: [A=1]}]
patches:
- target: {kind: AppService}
  patch: |-
    - {op: add, path: /spec/envFrom, value: [{configMapRef: {name: cfg}}]}
-- top/k.yaml --
images: [{path: spec/image, kind: AppService}]
replicas: [{path: spec/replicas, kind: AppService, create: true}]
nameReference:
- kind: ConfigMap
  fieldSpecs:
  - {path: spec/envFrom/configMapRef/name, kind: AppService}
`)
	got, err := Build(filepath.Join(root, "top"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"image":    "nginx-nginx:1",
		"replicas": int64(4),
		"ports":    []any{map[string]any{"port": int64(80)}},
		"envFrom":  []any{map[string]any{"configMapRef": map[string]any{"name": "p-cfg-89g4tffbfk"}}},
	}
	if diff := cmp.Diff(want, got[1].Value["spec"]); diff != "" {
		t.Errorf("spec of the AppService (-want +got):\n%s", diff)
	}
}
