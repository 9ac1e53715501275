package kustomize

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBuildErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, reason, archive, dir string
		want                       string
	}{
		{
			name: "no folder", reason: "the folder is named, once",
			archive: base, dir: "nope",
			want: "nope: no such file or directory",
		},
		{
			name: "a file", reason: "a kustomization is named by its folder",
			archive: base, dir: "base/kustomization.yaml",
			want: "base/kustomization.yaml is a file, not a folder",
		},
		{
			name: "no kustomization", reason: "the names that would do are told",
			archive: "-- top/app.yaml --\n", dir: "top",
			want: "top: holds no kustomization file: kustomization.yaml, kustomization.yml, Kustomization",
		},
		{
			name: "two kustomizations", reason: "kustomize refuses the choice",
			archive: "-- top/kustomization.yaml --\n-- top/Kustomization --\n", dir: "top",
			want: "top: holds more than one kustomization file: kustomization.yaml, Kustomization",
		},
		{
			name: "empty", reason: "what we add does not make an empty kustomization a full one",
			archive: "-- top/kustomization.yaml --\nkind: Kustomization\n", dir: "top",
			want: "top: kustomize: kustomization.yaml is empty",
		},
		{
			name: "kustomize's own, in a base", reason: "folders are called as the user would call them, and what kustomize says of every base is left out",
			archive: "-- base/kustomization.yaml --\nresources: [a.yaml, b.yaml]\n" +
				"-- base/a.yaml --\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n" +
				"-- base/b.yaml --\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n" +
				"-- top/kustomization.yaml --\nresources: [../base]\n",
			dir:  "top",
			want: "top: kustomize: accumulating resources: recursed accumulation of path 'base': accumulating resources: merging resources from 'b.yaml': may not add resource with an already registered id: ConfigMap.v1.[noGrp]/a.[noNs]",
		},
		{
			name: "cycle", reason: "reading the tree first ends all the same",
			archive: "-- a/kustomization.yaml --\nresources: [../b]\n-- b/kustomization.yaml --\nresources: [../a]\n",
			dir:     "a",
			want:    "a: kustomize: accumulating resources: recursed accumulation of path 'b': accumulating resources: cycle detected: candidate root 'a' contains visited root 'a'",
		},
		{
			name: "YAML", reason: "kustomize names the file and the line",
			archive: "-- top/kustomization.yaml --\nresources: [bad.yaml]\n-- top/bad.yaml --\na: [\nb: c\n", dir: "top",
			want: "top: kustomize: accumulating resources: accumulating resources from 'bad.yaml': MalformedYAMLError: yaml: line 2: did not find expected ',' or ']' in File: bad.yaml",
		},
		{
			name: "schema", reason: "kyaml panics on a schema of this sort",
			archive: base + "-- top/kustomization.yaml --\nresources: [../base]\nopenapi: {path: s.json}\n" +
				"patches: [{patch: '{apiVersion: apps.kudevops.io/v1alpha1, kind: AppService, metadata: {name: web}}'}]\n" +
				`-- top/s.json --
{"definitions": {"x": {"x-kubernetes-group-version-kind": [{"group": 1}]}}}
`,
			dir:  "top",
			want: "top: kustomize: panic: interface conversion: interface {} is nil, not string",
		},
		{
			name: "unknown field", reason: "the file and line of a kustomization that kustomize cannot read",
			archive: "-- base/kustomization.yaml --\n\nresource: [a.yaml]\n-- top/kustomization.yaml --\nresources: [../base]\n", dir: "top",
			want: `base/kustomization.yaml:2: resource: unknown field "resource"`,
		},
		{
			name: "mistyped field", reason: "y is a boolean in a kustomization, which is read as YAML 1.1",
			archive: "-- top/kustomization.yaml --\nresources: []\ncommonAnnotations: {note: y}\n", dir: "top",
			want: "top/kustomization.yaml:2: commonAnnotations: cannot unmarshal bool into Go struct field Kustomization.commonAnnotations of type string",
		},
		{
			name: "data", reason: "the text of a kustomization as kustomize sees it is not what the user has written",
			archive: "-- top/kustomization.yaml --\nconfigMapGenerator: [{name: a, files: [kustomization.yaml]}]\n", dir: "top",
			want: "top/kustomization.yaml: is both a kustomization of this build and read by one as a file",
		},
		{
			name: "everything at once", reason: "nobody wants to hear of the faults one by one",
			archive: `
-- top/kustomization.yaml --
resources:
- ../base
- missing.yaml
- ../base/app.yaml
- empty
Components: [file.yaml, ../nope]
patches:
- path: folder
-- top/file.yaml --
-- top/folder/x --
-- top/empty/x --
-- base/kustomization.yaml --
resources: [nope.yaml]
-- base/app.yaml --
`,
			dir: "top",
			want: `base/kustomization.yaml:1: resources[0]: "nope.yaml": no such file or directory
top/kustomization.yaml:3: resources[1]: "missing.yaml": no such file or directory
top/kustomization.yaml:4: resources[2]: "../base/app.yaml" is outside of the folder of this kustomization, where kustomize reads no files: put it into a folder with a kustomization file and list the folder under resources, or give --load-restrictor LoadRestrictionsNone
top/kustomization.yaml:5: resources[3]: "empty" holds no kustomization file: kustomization.yaml, kustomization.yml, Kustomization
top/kustomization.yaml:6: components[0]: "file.yaml" is a file: a component is a folder with a kustomization file
top/kustomization.yaml:6: components[1]: "../nope": no such file or directory
top/kustomization.yaml:8: patches[0].path: "folder" is a folder, not a file`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := plant(t, tt.archive)
			got, err := Build(filepath.Join(root, tt.dir), Options{})
			if err == nil {
				t.Fatalf("Build gave %v, want an error: %s", got, tt.reason)
			}
			// What the user calls the folder is absolute here.
			text := strings.ReplaceAll(err.Error(), root+"/", "")
			if diff := cmp.Diff(tt.want, text); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestBuildShowsPathsAsTheUserDoes(t *testing.T) {
	archive := `
-- shop/base/kustomization.yaml --
resources: [nope.yaml]
-- shop/prod/kustomization.yaml --
resources: [../base]
-- dup/base/kustomization.yaml --
resources: [a.yaml, a.yaml]
-- dup/base/a.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
-- dup/prod/kustomization.yaml --
resources: [../base]
`
	root := plant(t, archive)
	if err := os.Symlink("prod", filepath.Join(root, "shop", "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(root) // which is why this test is not parallel
	for _, tt := range []struct{ reason, cwd, dir, want string }{
		{"a relative folder", ".", "shop/prod", `shop/base/kustomization.yaml:1: resources[0]: "nope.yaml": no such file or directory`},
		{"the working directory", "shop/prod", ".", `../base/kustomization.yaml:1: resources[0]: "nope.yaml": no such file or directory`},
		{"a symlink elsewhere: a path from there would lead nowhere", ".", "shop/link", root + `/shop/base/kustomization.yaml:1: resources[0]: "nope.yaml": no such file or directory`},
		{"in kustomize's own words", ".", "dup/prod", "dup/prod: kustomize: accumulating resources: recursed accumulation of path 'dup/base': accumulating resources: merging resources from 'a.yaml': may not add resource with an already registered id: ConfigMap.v1.[noGrp]/a.[noNs]"},
	} {
		t.Chdir(filepath.Join(root, tt.cwd))
		if _, err := Build(tt.dir, Options{}); err == nil || err.Error() != tt.want {
			t.Errorf("Build(%q) in %s: %v\nwant %s: %s", tt.dir, tt.cwd, err, tt.want, tt.reason)
		}
	}
}
