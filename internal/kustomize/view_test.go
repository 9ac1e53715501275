package kustomize

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/resid"
)

func TestExtendChangesNothingElse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, reason, text string }{
		{"block", "the usual style", "resources:\n- a.yaml # here\nconfigurations:\n- k.yaml\nnamePrefix: p-\n"},
		{"flow", "JSON is YAML", `{"resources": ["a.yaml"], "configurations": ["k.yaml"]}`},
		{"document markers", "an editor may have put them there", "---\nresources: [a.yaml]\n...\n"},
		{"case", "kustomize finds a field in any case", "Resources: [a.yaml]\nConfigurations: [k.yaml]\nBUILDMETADATA: [managedByLabel]\n"},
		{"twice", "of two spellings one wins", "configurations: [k.yaml]\nConfigurations: [l.yaml]\nresources: [a.yaml]\n"},
		{"letters", "kustomize takes the long s of old prints for an s", "configurationſ: [k.yaml]\nresources: [a.yaml]\n"},
		{"aliases", "what they stand for is the same", "resources: &r [a.yaml]\nconfigurations: *r\n"},
		{"strings that look like something else", "they stay strings", "commonAnnotations: {a: 'yes', b: '012', c: '1e3', d: '2001-01-01', e: '<&>', f: \"\\u2028\\n\\t\", g: '', h: '~'}\n"},
		{"numbers", "they stay numbers", "replicas: [{name: a, count: 9007199254740993}]\n"},
		{"long text", "a patch keeps its lines", "patches:\n- patch: |\n    - op: add\n      path: /a\n\n      value: \"x\"\n  target: {kind: A, labelSelector: a=b}\n  options: {allowNameChange: true}\n"},
		{"many fields", "structs inside structs", `
kind: Component
apiVersion: kustomize.config.k8s.io/v1alpha1
metadata: {name: a}
openapi: {version: v1.20.4}
labels: [{pairs: {a: b}, includeSelectors: true, fields: [{path: a/b, create: true, kind: K}]}]
replacements: [{source: {kind: A, name: a, fieldPath: b}, targets: [{select: {kind: B}, fieldPaths: [c], options: {create: true}}]}, {path: r.yaml}]
configMapGenerator: [{name: a, literals: [a=b], options: {immutable: true}}]
generatorOptions: {disableNameSuffixHash: true}
vars: [{name: A, objref: {kind: A, name: a, apiVersion: v1}, fieldref: {fieldpath: b}}]
sortOptions: {order: legacy, legacySortOptions: {orderFirst: [A]}}
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var want, got types.Kustomization
			if err := want.Unmarshal([]byte(tt.text)); err != nil {
				t.Fatal(err)
			}
			text, err := extend([]byte(tt.text), map[string]any{"configurations": []string{"ours.yaml"}, "buildMetadata": []string{"m"}})
			if err != nil {
				t.Fatal(err)
			}
			if err := got.Unmarshal(text); err != nil {
				t.Fatal(err)
			}
			want.Configurations, want.BuildMetadata = []string{"ours.yaml"}, []string{"m"}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(resid.Gvk{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestViewAvoidsNames(t *testing.T) {
	t.Parallel()
	root := plant(t, `
-- base/kustomization.yaml --
resources: [appsvc-configuration-images.yaml]
namePrefix: b-
-- base/appsvc-configuration-images.yaml --
{apiVersion: apps.kudevops.io/v1alpha1, kind: AppService, metadata: {name: web}, spec: {image: "nginx:1"}}
-- top/kustomization.yaml --
resources: [../base, appsvc-keep-local.yaml]
images: [{name: nginx, newTag: "2"}]
-- top/appsvc-keep-local.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
-- top/appsvc-keep-local-1.yaml --
`)
	got, err := Build(filepath.Join(root, "top"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 {
		t.Fatalf("Build gave %d objects, want those of the files that have our names: 2", len(got))
	}
	if diff := cmp.Diff(map[string]any{"image": "nginx:2"}, got[1].Value["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

func TestViewShowsWhatWasRead(t *testing.T) {
	t.Parallel()
	root := plant(t, base+"-- late/app.yaml --\n")
	tree, err := readTree(filepath.Join(root, "base"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := newView(tree)
	if err != nil {
		t.Fatal(err)
	}
	app := filepath.Join(root, "base", "app.yaml")
	was, err := os.ReadFile(app)
	if err != nil {
		t.Fatal(err)
	}
	// Somebody changes the files between the check and the build.
	write(t, app, []byte("changed"))
	write(t, filepath.Join(root, "base", "kustomization.yaml"), []byte("resources: [github.com/a/b]"))
	late := filepath.Join(root, "late", "kustomization.yaml")
	write(t, late, []byte("resources: [github.com/a/b]"))

	if got, err := v.ReadFile(app); err != nil || string(got) != string(was) {
		t.Errorf("ReadFile of a resource = %q, %v; want what was checked", got, err)
	}
	got, err := v.ReadFile(filepath.Join(root, "base", "kustomization.yaml"))
	if err != nil || strings.Contains(string(got), "github.com") {
		t.Errorf("ReadFile of a kustomization = %q, %v; want what was checked", got, err)
	}
	if got, err := v.ReadFile(late); err == nil {
		t.Errorf("ReadFile of a kustomization that was not checked = %q, want an error", got)
	}
}

func TestViewIsReadOnly(t *testing.T) {
	t.Parallel()
	root := plant(t, base)
	tree, err := readTree(filepath.Join(root, "base"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := newView(tree)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "base", "new")
	for name, call := range map[string]func(filesys.FileSystem) error{
		"Create": func(f filesys.FileSystem) error { _, err := f.Create(path); return err },
		"Open": func(f filesys.FileSystem) error {
			_, err := f.Open(filepath.Join(root, "base", "app.yaml"))
			return err
		},
		"Mkdir":     func(f filesys.FileSystem) error { return f.Mkdir(path) },
		"MkdirAll":  func(f filesys.FileSystem) error { return f.MkdirAll(path) },
		"WriteFile": func(f filesys.FileSystem) error { return f.WriteFile(path, nil) },
		"RemoveAll": func(f filesys.FileSystem) error { return f.RemoveAll(root) },
	} {
		if err := call(v); err != errReadOnly {
			t.Errorf("%s: %v, want %v", name, err, errReadOnly)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "base", "app.yaml")); err != nil {
		t.Error(err)
	}
}
