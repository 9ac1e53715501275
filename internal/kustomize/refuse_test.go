package kustomize

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// trap notices what a build must not do.
type trap struct {
	url      string
	requests atomic.Int32
	marks    string
}

// setTrap starts a server that counts requests and fills PATH with nothing but
// programs that leave a mark. A test that uses it cannot be parallel: the
// environment is the process's.
func setTrap(t *testing.T) *trap {
	t.Helper()
	tr := &trap{marks: filepath.Join(t.TempDir(), "marks")}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		tr.requests.Add(1)
		fmt.Fprintln(w, "{apiVersion: v1, kind: ConfigMap, metadata: {name: remote}}")
	}))
	t.Cleanup(server.Close)
	tr.url = server.URL
	bin := t.TempDir()
	for _, program := range []string{"git", "helm", "docker", "appsvc-render"} {
		script := fmt.Sprintf("#!/bin/sh\necho %s \"$@\" >> '%s'\nexit 1\n", program, tr.marks)
		if err := os.WriteFile(filepath.Join(bin, program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	t.Setenv("TMPDIR", t.TempDir())
	return tr
}

// sprung gives what the trap has noticed since it was asked last.
func (tr *trap) sprung(t *testing.T) string {
	t.Helper()
	var noticed []string
	if tr.requests.Swap(0) > 0 {
		noticed = append(noticed, "request")
	}
	if marks, err := os.ReadFile(tr.marks); err == nil {
		noticed = append(noticed, "process "+strings.Fields(string(marks))[0])
		if err := os.Remove(tr.marks); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(noticed, ", ")
}

func TestBuildRefuses(t *testing.T) {
	tr := setTrap(t)
	const (
		remote   = `is remote, and this build fetches nothing: keep a copy in the repository and refer to that`
		function = "is a function, and functions are not run without the flags --enable-alpha-plugins and --enable-exec"
		plugin   = "is not one of kustomize's own plugins, and others are not run without the flags --enable-alpha-plugins and --enable-exec"
		helm     = "helm is not run by this build: write the output of `helm template` to a file and list that under resources"
	)
	for _, tt := range []struct {
		name, reason string
		files        string // URL stands for the address of the server
		want         string
		// plain is what kustomize does when it is left to itself.
		plain string
	}{
		{
			name: "file by HTTP", reason: "kustomize would fetch it",
			files: "-- kustomization.yaml --\nresources:\n- URL/a.yaml\n",
			want:  `kustomization.yaml:2: resources[0]: "URL/a.yaml" ` + remote,
			plain: "request",
		},
		{
			name: "upper case", reason: "a scheme has no case, and a field of a kustomization has none either",
			files: "-- kustomization.yaml --\nReSources:\n- {URL}/a.yaml\n",
			want:  `kustomization.yaml:2: resources[0]: "{URL}/a.yaml" ` + remote,
			plain: "request",
		},
		{
			name: "alias", reason: "the file is read as YAML, not as text",
			files: "-- kustomization.yaml --\nmetadata: {labels: {a: &a URL/a.yaml}}\nresources:\n- *a\n",
			want:  `kustomization.yaml:3: resources[0]: "URL/a.yaml" ` + remote,
			plain: "request",
		},
		{
			name: "repository by HTTP", reason: "kustomize would ask for it, then clone it",
			files: "-- kustomization.yaml --\nresources: [\"URL/a/b//c?ref=main\"]\n",
			want:  `kustomization.yaml:1: resources[0]: "URL/a/b//c?ref=main" ` + remote,
			plain: "request",
		},
		{
			name: "credentials", reason: "messages end up in logs",
			files: "-- kustomization.yaml --\nresources: [\"ssh://user:token@127.0.0.1/a/b\"]\n",
			want:  `kustomization.yaml:1: resources[0]: "ssh://***@127.0.0.1/a/b" ` + remote,
			plain: "process git",
		},
		{
			name: "github", reason: "kustomize would clone it",
			files: "-- kustomization.yaml --\nresources: [github.com/a/b]\n",
			want:  `kustomization.yaml:1: resources[0]: "github.com/a/b" ` + remote,
			plain: "process git",
		},
		{
			name: "local folder called github.com", reason: "kustomize would clone it all the same, so the user is told how to name it",
			files: "-- kustomization.yaml --\nresources: [github.com/a/b]\n-- github.com/a/b/kustomization.yaml --\nresources: []\n",
			want:  `kustomization.yaml:1: resources[0]: "github.com/a/b" ` + remote + ` (a local path like this is written "./github.com/a/b")`,
			plain: "process git",
		},
		{
			name: "scp", reason: "kustomize would clone it",
			files: "-- kustomization.yaml --\nresources: [\"git@127.0.0.1:a/b.git\"]\n",
			want:  `kustomization.yaml:1: resources[0]: "git@127.0.0.1:a/b.git" ` + remote,
			plain: "process git",
		},
		{
			name: "ssh", reason: "kustomize would clone it",
			files: "-- kustomization.yaml --\nresources: [\"ssh://127.0.0.1/a/b.git\"]\n",
			want:  `kustomization.yaml:1: resources[0]: "ssh://127.0.0.1/a/b.git" ` + remote,
			plain: "process git",
		},
		{
			name: "file scheme", reason: "kustomize would clone it",
			files: "-- kustomization.yaml --\nresources: [\"file:///nowhere/a.git\"]\n",
			want:  `kustomization.yaml:1: resources[0]: "file:///nowhere/a.git" ` + remote,
			plain: "process git",
		},
		{
			name: "git prefix", reason: "kustomize would clone it",
			files: "-- kustomization.yaml --\nresources: [\"git::URL/a/b.git\"]\n",
			want:  `kustomization.yaml:1: resources[0]: "git::URL/a/b.git" ` + remote,
			plain: "process git",
		},
		{
			name: "base", reason: "the field that resources took over from",
			files: "-- kustomization.yaml --\nbases: [github.com/a/b]\n",
			want:  `kustomization.yaml:1: bases[0]: "github.com/a/b" ` + remote,
			plain: "process git",
		},
		{
			name: "component", reason: "a component is a base of a sort",
			files: "-- kustomization.yaml --\ncomponents: [github.com/a/b]\n",
			want:  `kustomization.yaml:1: components[0]: "github.com/a/b" ` + remote,
			plain: "process git",
		},
		{
			name: "layer below", reason: "every kustomization of the build is checked",
			files: "-- kustomization.yaml --\nresources: [a]\n-- a/kustomization.yaml --\ncomponents: [b]\n" +
				"-- a/b/kustomization.yaml --\nkind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nresources: [URL/x]\n",
			want:  `a/b/kustomization.yaml:3: resources[0]: "URL/x" ` + remote,
			plain: "request",
		},
		{
			name: "patches", reason: "all of the three kinds are read from files",
			files: `
-- kustomization.yaml --
patches: [{path: URL/a}]
patchesStrategicMerge: [URL/b]
patchesJson6902: [{path: URL/c, target: {kind: A, name: a}}]
`,
			want: `kustomization.yaml:1: patches[0].path: "URL/a" ` + remote + `
kustomization.yaml:2: patchesStrategicMerge[0]: "URL/b" ` + remote + `
kustomization.yaml:3: patchesJson6902[0].path: "URL/c" ` + remote,
			plain: "request",
		},
		{
			name: "configuration", reason: "it is read from a file",
			files: "-- kustomization.yaml --\nconfigurations: [URL/a]\n",
			want:  `kustomization.yaml:1: configurations[0]: "URL/a" ` + remote,
			plain: "request",
		},
		{
			name: "crd", reason: "it is read from a file",
			files: "-- kustomization.yaml --\ncrds: [URL/a]\n",
			want:  `kustomization.yaml:1: crds[0]: "URL/a" ` + remote,
			plain: "request",
		},
		{
			name: "schema", reason: "it is read from a file",
			files: "-- kustomization.yaml --\nopenapi:\n  path: URL/a\n",
			want:  `kustomization.yaml:2: openapi.path: "URL/a" ` + remote,
			plain: "request",
		},
		{
			name: "replacement", reason: "it is read from a file",
			files: "-- kustomization.yaml --\nreplacements: [{path: URL/a}]\n",
			want:  `kustomization.yaml:1: replacements[0].path: "URL/a" ` + remote,
			plain: "request",
		},
		{
			name: "generators of maps", reason: "all of their sources are files, and a key may stand before the path",
			files: `
-- kustomization.yaml --
configMapGenerator:
- name: a
  files: [URL/a, key=URL/b]
  envs: [URL/c]
  env: URL/d
secretGenerator:
- name: b
  files: [key=URL/e]
`,
			want: `kustomization.yaml:3: configMapGenerator[0].files[0]: "URL/a" ` + remote + `
kustomization.yaml:3: configMapGenerator[0].files[1]: "key=URL/b" ` + remote + `
kustomization.yaml:4: configMapGenerator[0].envs[0]: "URL/c" ` + remote + `
kustomization.yaml:5: configMapGenerator[0].env: "URL/d" ` + remote + `
kustomization.yaml:8: secretGenerator[0].files[0]: "key=URL/e" ` + remote,
			plain: "request",
		},
		{
			name: "remote plugins", reason: "their configurations are files or bases",
			files: "-- kustomization.yaml --\ngenerators: [URL/a]\ntransformers: [github.com/a/b]\nvalidators: [URL/c]\n",
			want: `kustomization.yaml:1: generators[0]: "URL/a" ` + remote + `
kustomization.yaml:2: transformers[0]: "github.com/a/b" ` + remote + `
kustomization.yaml:3: validators[0]: "URL/c" ` + remote,
			plain: "request",
		},
		{
			name: "charts", reason: "kustomize says only that a flag is missing",
			files: "-- kustomization.yaml --\nhelmCharts: [{name: redis}]\nhelmChartInflationGenerator: [{chartName: mysql}]\n",
			want: `kustomization.yaml:1: helmCharts[0]: chart "redis": ` + helm + `
kustomization.yaml:2: helmChartInflationGenerator[0]: chart "mysql": ` + helm,
		},
		{
			name: "chart plugin", reason: "the same by another way",
			files: "-- kustomization.yaml --\ngenerators: [chart.yaml]\n-- chart.yaml --\napiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: redis}\n",
			want:  `kustomization.yaml:1: generators[0]: "chart.yaml": HelmChartInflationGenerator redis: ` + helm,
		},
		{
			name: "functions", reason: "inline, from a file and from a folder",
			files: `
-- kustomization.yaml --
transformers:
- fn.yaml
- |-
  apiVersion: apps.kudevops.io/v1alpha1
  kind: RenderConfig
  metadata:
    name: inline
    annotations:
      config.kubernetes.io/function: |
        exec: {path: appsvc-render}
generators: [dir]
validators: [dir]
-- fn.yaml --
apiVersion: apps.kudevops.io/v1alpha1
kind: RenderConfig
metadata:
  name: render
  annotations:
    config.kubernetes.io/function: |
      exec: {path: appsvc-render}
-- dir/kustomization.yaml --
resources: [app.yaml]
-- dir/app.yaml --
apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata:
  name: web
  annotations:
    config.k8s.io/function: |
      container: {image: appsvc-render}
`,
			want: `dir/kustomization.yaml:1: resources[0]: "app.yaml": AppService web ` + function + `
kustomization.yaml:2: transformers[0]: "fn.yaml": RenderConfig render ` + function + `
kustomization.yaml:3: transformers[1]: RenderConfig inline ` + function,
		},
		{
			name: "external plugins", reason: "what is not builtin is not hidden by a list, nor by a kind that sounds like one",
			files: `
-- kustomization.yaml --
generators:
- "{apiVersion: example.com/v1, kind: Generator, metadata: {name: a}}"
- "{apiVersion: builtin, kind: FooList, metadata: {name: b}, items: [{apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: c}, files: [URL/a]}]}"
- list.yaml
-- list.yaml --
apiVersion: v1
kind: List
items:
- {apiVersion: builtin, kind: NoGenerator, metadata: {name: d}}
- {apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: e}, files: [URL/b]}
`,
			want: `kustomization.yaml:2: generators[0]: Generator a ` + plugin + `
kustomization.yaml:3: generators[1]: FooList b ` + plugin + `
kustomization.yaml:4: generators[2]: "list.yaml": NoGenerator d ` + plugin + `
kustomization.yaml:4: generators[2]: "list.yaml": ConfigMapGenerator e: "URL/b" ` + remote,
		},
		{
			name: "builtin plugins that load files", reason: "a field is found in any case, as kustomize finds it",
			files: `
-- kustomization.yaml --
transformers:
- "{apiVersion: builtin, kind: PatchTransformer, metadata: {name: a}, Path: URL/a}"
- "{apiVersion: builtin, kind: PatchStrategicMergeTransformer, metadata: {name: b}, pathſ: [URL/b]}"
- "{apiVersion: builtin, kind: PatchJson6902Transformer, metadata: {name: c}, target: {kind: A, name: a}, path: URL/c}"
- "{apiVersion: builtin, kind: ReplacementTransformer, metadata: {name: d}, replacements: [{path: URL/d}]}"
- "{apiVersion: builtin, kind: ValueAddTransformer, metadata: {name: e}, value: v, targetfilepath: URL/e}"
generators:
- "{apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: f}, name: f, files: [key=URL/f], envs: [URL/g]}"
- "{apiVersion: builtin, kind: SecretGenerator, metadata: {name: h}, name: h, files: [URL/h]}"
`,
			want: `kustomization.yaml:2: transformers[0]: PatchTransformer a: "URL/a" ` + remote + `
kustomization.yaml:3: transformers[1]: PatchStrategicMergeTransformer b: "URL/b" ` + remote + `
kustomization.yaml:4: transformers[2]: PatchJson6902Transformer c: "URL/c" ` + remote + `
kustomization.yaml:5: transformers[3]: ReplacementTransformer d: "URL/d" ` + remote + `
kustomization.yaml:6: transformers[4]: ValueAddTransformer e: "URL/e" ` + remote + `
kustomization.yaml:8: generators[0]: ConfigMapGenerator f: "URL/g" ` + remote + `
kustomization.yaml:8: generators[0]: ConfigMapGenerator f: "key=URL/f" ` + remote + `
kustomization.yaml:9: generators[1]: SecretGenerator h: "URL/h" ` + remote,
			plain: "request",
		},
		{
			name: "folder of plugins that is transformed", reason: "what its plugins come to is not known before kustomize runs them",
			files: `
-- kustomization.yaml --
transformers: [dir]
-- dir/kustomization.yaml --
resources: [patch.yaml]
patches:
- target: {kind: PatchTransformer}
  patch: |-
    - {op: replace, path: /path, value: "URL/a"}
-- dir/patch.yaml --
{apiVersion: builtin, kind: PatchTransformer, metadata: {name: a}, path: local.yaml}
`,
			want:  "dir/kustomization.yaml: a folder of plugin configurations may do nothing but list resources, so that each of them can be checked, unless everything is run: --enable-alpha-plugins and --enable-exec",
			plain: "request",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			upper := strings.Replace(tr.url, "http:", "HTTP:", 1)
			address := strings.NewReplacer("{URL}", upper, "URL", tr.url)
			root := plant(t, address.Replace(tt.files))
			_, err := Build(root, Options{})
			var faults Faults
			if !errors.As(err, &faults) {
				t.Fatalf("Build: %v, want Faults: %s", err, tt.reason)
			}
			if diff := cmp.Diff(address.Replace(tt.want), strings.ReplaceAll(faults.Error(), root+"/", "")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if got := tr.sprung(t); got != "" {
				t.Errorf("Build caused a %s", got)
			}
			// The trap has to be one.
			if err := runPlain(root); err == nil && tt.plain == "" {
				t.Error("kustomize alone builds it")
			}
			if got := tr.sprung(t); got != tt.plain && !strings.HasPrefix(got, tt.plain+",") {
				t.Errorf("kustomize alone caused %q, want %q", got, tt.plain)
			}
		})
	}
}

func TestBuildIsNotTempted(t *testing.T) {
	tr := setTrap(t)
	root := plant(t, strings.ReplaceAll(`
-- kustomization.yaml --
resources:
- me@home.yaml
- ./github.com/a/b
- http.yaml
configMapGenerator:
- name: links
  literals: [home=URL/a, repo=git@github.com:a/b.git]
  files: [user@host/sub/file.txt]
commonAnnotations: {docs: "URL/docs"}
images: [{name: nginx, newName: "github.com/a/nginx"}]
patches:
- target: {kind: ConfigMap}
  patch: '[{"op": "add", "path": "/data/url", "value": "URL/b"}]'
-- me@home.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {}}
-- github.com/a/b/kustomization.yaml --
resources: [b.yaml]
-- github.com/a/b/b.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {url: URL/b}}
-- http.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {}}
-- user@host/sub/file.txt --
URL/c
`, "URL", tr.url))
	got, err := Build(root, Options{})
	if err != nil {
		t.Errorf("Build refused what is local: %v", err)
	}
	if len(got) != 4 {
		t.Errorf("Build gave %d objects, want 4", len(got))
	}
	if noticed := tr.sprung(t); noticed != "" {
		t.Errorf("Build caused a %s", noticed)
	}
}
