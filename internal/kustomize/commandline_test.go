package kustomize

import (
	"bytes"
	"io"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	goyaml "go.yaml.in/yaml/v3"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// TestBuildIsThatOfTheCommandLine compares with the kustomize command line, for
// which our configurations are files that each kustomization lists.
func TestBuildIsThatOfTheCommandLine(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the kustomize command line, which takes a minute when nothing is cached")
	}
	bin := filepath.Join(t.TempDir(), "kustomize")
	build := exec.Command("go", "build", "-o", bin, "sigs.k8s.io/kustomize/kustomize/v5")
	build.Dir = filepath.Join("..", "..", "tools")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cases := append([]buildCase{
		{name: "schema of the user's", archive: withSchema, dir: "."},
		{name: "strategic merge", archive: withDeployment, dir: "."},
		{
			name: "odds and ends", dir: "top",
			archive: base + `
-- top/kustomization.yaml --
resources: [../base, all.yaml]
namespace: shop
nameSuffix: -x
commonLabels: {tier: front}
labels: [{pairs: {a: b}, includeSelectors: true}]
images: [{name: nginx, digest: "sha256:0123"}]
replicas: [{name: web, count: 0}, {name: api, count: 3}]
vars:
- {name: NAME, objref: {apiVersion: v1, kind: Service, name: api}}
replacements:
- source: {kind: Service, name: api, fieldPath: spec.ports.0.port}
  targets: [{select: {kind: AppService}, fieldPaths: [spec.ports.0.port]}]
crds: [crd.json]
-- top/crd.json --
{"io.example.v1.Thing": {"Schema": {"properties": {"apiVersion": {}, "kind": {}, "metadata": {}}}}}
-- top/all.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, annotations: {}}
spec:
  replicas: 1
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      containers:
      - {name: a, image: nginx, args: ['$(NAME)'], resources: {limits: {cpu: 1, memory: 1e3}}}
---
apiVersion: v1
kind: Service
metadata: {name: api}
spec: {ports: [{port: 8080}], selector: {app: api}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: local, annotations: {config.kubernetes.io/local-config: "true"}}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: thing}
spec:
  date: 2001-01-01
  octal: 012
  float: 1.0
  exponent: 1e3
  hexadecimal: 0x1F
  long: 123456789012345678901234567890
  yes: on
  tilde: ~
  text: |2
     a
    b
`,
		},
	}, buildCases...)
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := plantLinks(t, tt.archive)
			built, err := Build(filepath.Join(root, tt.dir), Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := make([]map[string]any, len(built))
			for i, object := range built {
				got[i] = object.Value
			}
			writeConfigurations(t, root)
			var stderr bytes.Buffer
			command := exec.Command(bin, "build", filepath.Join(root, tt.dir))
			command.Stderr = &stderr
			out, err := command.Output()
			if err != nil {
				t.Fatalf("kustomize build: %v\n%s", err, stderr.Bytes())
			}
			if diff := cmp.Diff(documents(t, out), got); diff != "" {
				t.Errorf("objects (-command line +Build):\n%s", diff)
			}
		})
	}
}

// documents reads a stream of objects.
func documents(t *testing.T, stream []byte) []map[string]any {
	t.Helper()
	list := []map[string]any{}
	for decoder := goyaml.NewDecoder(bytes.NewReader(stream)); ; {
		var node goyaml.Node
		if err := decoder.Decode(&node); err == io.EOF {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		text, err := goyaml.Marshal(&node)
		if err != nil {
			t.Fatal(err)
		}
		data, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any
		if err := json.UnmarshalCaseSensitivePreserveInts(data, &object); err != nil {
			t.Fatal(err)
		}
		list = append(list, object)
	}
}
