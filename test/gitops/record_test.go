package gitops

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudevops.io/appsvc/internal/krm"
)

// recording is a call of the function by a program, seen from between the two.
type recording struct {
	name, reason string
	// call runs the program on the files, with the recorder for appsvc-render.
	call  func(t *testing.T, bin, dir string) run
	files string
}

// TestRecordings runs kustomize and kpt with a recorder in the place of the function,
// and compares what they send, and what it answers, with testdata/stdin and stdout.
func TestRecordings(t *testing.T) {
	t.Parallel()
	if filepath.Separator != '/' {
		t.Skip("the recorder is a shell script")
	}
	programs(t)
	var files []string
	t.Cleanup(func() {
		noStrays(t, "stdin", files)
		noStrays(t, "stdout", files)
	})
	for _, tt := range recordings() {
		file := tt.name + ".yaml"
		files = append(files, file)
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := plant(t, tt.files)
			bin := recorder(t)
			if r := tt.call(t, bin, dir); r.code != 0 {
				t.Fatalf("exit code %d: %s", r.code, r.stderr)
			}
			for _, stream := range []string{"stdin", "stdout"} {
				golden(t, stream+"/"+file, recorded(t, bin, stream, dir))
			}
		})
	}
}

// recorder makes a program called appsvc-render that writes its standard input and
// output to files beside it, and gives the folder.
func recorder(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\ntee '%[1]s/stdin' | '%[2]s' \"$@\" > '%[1]s/stdout' || exit\ncat '%[1]s/stdout'\n", bin, programs(t).appsvc)
	if err := os.WriteFile(filepath.Join(bin, "appsvc-render"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return bin
}

// packagePath is the annotation in which kpt says where the package is on this
// machine.
var packagePath = regexp.MustCompile(`(internal\.config\.kubernetes\.io/package-path: )\S+`)

func recorded(t *testing.T, bin, stream, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(bin, stream))
	if err != nil {
		t.Fatal(err)
	}
	text := packagePath.ReplaceAllString(string(data), "$1'/package'")
	if strings.Contains(text, dir) {
		t.Errorf("%s holds a path of this machine:\n%s", stream, text)
	}
	return text
}

// TestReplay feeds what was recorded to the function in this process, so that it is
// tested where the programs cannot be built too, and runs it on its own answer.
func TestReplay(t *testing.T) {
	t.Parallel()
	if *update {
		t.Skip("what it compares with is being written")
	}
	for _, tt := range recordings() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stdin, err := os.ReadFile(filepath.Join("testdata", "stdin", tt.name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join("testdata", "stdout", tt.name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			got := function(t, stdin)
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s: the answer (-recorded +got):\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(got, function(t, []byte(got))); diff != "" {
				t.Errorf("a second run on its own answer changes it (-first +second):\n%s", diff)
			}
		})
	}
}

// function is the KRM function in this process.
func function(t *testing.T, stdin []byte) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	ok, err := krm.Run(bytes.NewReader(stdin), &stdout, &stderr)
	if err != nil || !ok {
		t.Fatalf("%v %s", err, stderr.String())
	}
	return stdout.String()
}

func recordings() []recording {
	build := func(folder string) func(*testing.T, string, string) run {
		return func(t *testing.T, bin, dir string) run {
			return commandWith(t, bin, dir, programs(t).kustomize, "build", "--enable-alpha-plugins", "--enable-exec", folder)
		}
	}
	fnRender := func(t *testing.T, bin, dir string) run {
		if err := os.RemoveAll(filepath.Join(dir, "config")); err != nil {
			t.Fatal(err)
		}
		return commandWith(t, bin, dir, programs(t).kpt, "fn", "render", "--allow-exec")
	}
	return []recording{
		{
			name: "kustomize-transformer", reason: "all that was accumulated, with kustomize's annotations",
			call:  build("prod"),
			files: apps + component,
		},
		{
			name: "kustomize-transformer-origins", reason: "items say where they come from when the kustomization asks for it",
			call:  build("prod"),
			files: apps + strings.Replace(component, "namePrefix: prod-\n", "namePrefix: prod-\nbuildMetadata: [originAnnotations, transformerAnnotations]\n", 1),
		},
		{
			name: "kustomize-transformer-nothing", reason: "kustomize calls a transformer with no items too",
			call: build("render"),
			files: component + `
-- render/kustomization.yaml --
transformers: [fn.yaml]
`,
		},
		{
			name: "kustomize-generator", reason: "the AppService is the function's config and, once more, the only item",
			call:  build("prod"),
			files: apps + generator,
		},
		{
			name: "kpt", reason: "the Kptfile and the kustomization.yaml are items, with paths and comments",
			call:  fnRender,
			files: apps + kptfile,
		},
		{
			name: "kpt-config-map", reason: "kpt makes a ConfigMap of configMap",
			call:  fnRender,
			files: apps + strings.Replace(kptfile, "- exec: appsvc-render\n", "- exec: appsvc-render\n    configMap: {keepSources: \"true\"}\n", 1),
		},
		{
			name: "kpt-config-path", reason: "the file of the config is an item too",
			call: fnRender,
			files: apps + strings.Replace(kptfile, "- exec: appsvc-render\n", "- exec: appsvc-render\n    configPath: fn.yaml\n", 1) + `
-- fn.yaml --
apiVersion: apps.kudevops.io/v1alpha1
kind: RenderConfig
metadata:
  name: render
  annotations:
    config.kubernetes.io/local-config: "true"
spec:
  keepSources: true
`,
		},
	}
}

// apps is a base with an AppService, comments and all.
const apps = `
-- apps/kustomization.yaml --
# no apiVersion, kind or name: kpt hands it over all the same
resources: [web.yaml, other.yaml]
configMapGenerator:
- name: settings
  literals: [LEVEL=info]
-- apps/web.yaml --
# the shop
apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata:
  name: web # as in the chart
  labels:
    team: "yes"
spec:
  image: nginx:1.27 # keep
  replicas: 2
  ports:
  - name: http
    port: 80
  envFrom:
  - configMapRef: {name: settings}
-- apps/other.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: other
data:
  octal: "012" # quoted for YAML 1.1
  answer: "on"
`

// component is an overlay with the Component, by its own file.
const component = `
-- render/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
transformers: [fn.yaml]
-- render/fn.yaml --
apiVersion: apps.kudevops.io/v1alpha1
kind: RenderConfig
metadata:
  name: render
  annotations:
    config.kubernetes.io/function: |
      exec: {path: appsvc-render}
-- prod/kustomization.yaml --
resources: [../apps]
components: [../render]
namePrefix: prod-
namespace: shop
`

// generator is an overlay whose generators are the AppServices of a folder.
const generator = `
-- apps/kustomization.yaml --
resources: [web.yaml]
-- prod/kustomization.yaml --
generators: [appservices]
-- prod/appservices/kustomization.yaml --
resources: [../../apps]
components: [../../config/kustomize/appservice, ../../config/kustomize/generator]
namePrefix: prod-
namespace: shop
images: [{name: nginx, newTag: "1.28"}]
replicas: [{name: web, count: 4}]
`

// kptfile makes the folder a package.
const kptfile = `
-- Kptfile --
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: shop
pipeline:
  mutators:
  - exec: appsvc-render
`
