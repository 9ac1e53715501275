package kustomize

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// base is a tree with a base that most tests build on.
const base = `
-- base/kustomization.yaml --
resources: [app.yaml]
-- base/app.yaml --
apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata:
  name: web
spec:
  image: nginx:1
  ports:
  - port: 80
`

// buildCase is a tree, the folder of it that is built, and what comes out: a YAML
// list of objects with their origin.
type buildCase struct {
	name, reason string
	archive, dir string
	want         string
}

var buildCases = []buildCase{
	{
		name:   "overlay",
		reason: "every feature of an overlay that people use reaches the AppService, without configurations of theirs",
		archive: base + `
-- prod/kustomization.yaml --
resources: [../base]
namePrefix: p-
nameSuffix: -s
namespace: shop
images:
- name: nginx
  newName: registry.example.com/nginx
  newTag: "7"
replicas:
- name: web
  count: 4
labels:
- pairs: {env: prod}
commonAnnotations:
  note: "yes"
patches:
- path: smp.yaml
- target: {kind: AppService, name: web}
  patch: |-
    - op: replace
      path: /spec/ports/0/port
      value: 8080
-- prod/smp.yaml --
apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata:
  name: web
spec:
  service:
    type: LoadBalancer
`,
		dir: "prod",
		want: `
- origin: ../base/app.yaml
  value:
    apiVersion: apps.kudevops.io/v1alpha1
    kind: AppService
    metadata:
      name: p-web-s
      namespace: shop
      labels: {env: prod}
      annotations: {note: "yes"}
    spec:
      image: registry.example.com/nginx:7
      replicas: 4
      service: {type: LoadBalancer}
      ports:
      - port: 8080
`,
	},
	{
		name:   "references of an AppService",
		reason: "the names of objects that get a prefix or a hash are followed, wherever an AppService has such a name",
		archive: `
-- kustomization.yaml --
resources: [app.yaml, account.yaml]
namePrefix: p-
configMapGenerator:
- name: cfg
  literals: [A=1]
secretGenerator:
- name: key
  literals: [B=2]
-- account.yaml --
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot}
-- app.yaml --
apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata:
  name: web
spec:
  image: nginx
  serviceAccountName: robot
  imagePullSecrets:
  - name: key
  envFrom:
  - configMapRef: {name: cfg}
  - secretRef: {name: key}
  - configMapRef: {name: elsewhere}
  env:
  - name: A
    valueFrom: {configMapKeyRef: {name: cfg, key: A}}
  - name: B
    valueFrom: {secretKeyRef: {name: key, key: B}}
`,
		dir: ".",
		want: `
- origin: account.yaml
  value: {apiVersion: v1, kind: ServiceAccount, metadata: {name: p-robot}}
- origin: kustomization.yaml
  value: {apiVersion: v1, kind: ConfigMap, metadata: {name: p-cfg-89g4tffbfk}, data: {A: "1"}}
- origin: kustomization.yaml
  value: {apiVersion: v1, kind: Secret, type: Opaque, metadata: {name: p-key-ht9m5h8ht7}, data: {B: Mg==}}
- origin: app.yaml
  value:
    apiVersion: apps.kudevops.io/v1alpha1
    kind: AppService
    metadata: {name: p-web}
    spec:
      image: nginx
      serviceAccountName: p-robot
      imagePullSecrets:
      - name: p-key-ht9m5h8ht7
      envFrom:
      - configMapRef: {name: p-cfg-89g4tffbfk}
      - secretRef: {name: p-key-ht9m5h8ht7}
      - configMapRef: {name: elsewhere}
      env:
      - name: A
        valueFrom: {configMapKeyRef: {name: p-cfg-89g4tffbfk, key: A}}
      - name: B
        valueFrom: {secretKeyRef: {name: p-key-ht9m5h8ht7, key: B}}
`,
	},
	{
		name:   "references to an AppService",
		reason: "what names the Deployment or the Service that comes of an AppService follows the AppService",
		archive: base + `
-- prod/kustomization.yaml --
resources: [../base, others.yaml]
namePrefix: p-
-- prod/others.yaml --
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  defaultBackend: {service: {name: web, port: {number: 80}}}
  rules:
  - http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
      - {path: /x, pathType: Prefix, backend: {service: {name: other, port: {number: 80}}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec:
  rules:
  - backendRefs: [{name: web, port: 80}]
`,
		dir: "prod",
		want: `
- origin: ../base/app.yaml
  value:
    apiVersion: apps.kudevops.io/v1alpha1
    kind: AppService
    metadata: {name: p-web}
    spec: {image: "nginx:1", ports: [{port: 80}]}
- origin: others.yaml
  value:
    apiVersion: autoscaling/v2
    kind: HorizontalPodAutoscaler
    metadata: {name: p-web}
    spec:
      scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: p-web}
- origin: others.yaml
  value:
    apiVersion: gateway.networking.k8s.io/v1
    kind: HTTPRoute
    metadata: {name: p-web}
    spec:
      rules:
      - backendRefs: [{name: p-web, port: 80}]
- origin: others.yaml
  value:
    apiVersion: networking.k8s.io/v1
    kind: Ingress
    metadata: {name: p-web}
    spec:
      defaultBackend: {service: {name: p-web, port: {number: 80}}}
      rules:
      - http:
          paths:
          - {path: /, pathType: Prefix, backend: {service: {name: p-web, port: {number: 80}}}}
          - {path: /x, pathType: Prefix, backend: {service: {name: other, port: {number: 80}}}}
`,
	},
	{
		name:   "layers",
		reason: "the configurations reach each layer, not the top one alone, and merge with themselves on the way up",
		archive: base + `
-- stage/kustomization.yml --
resources: [../base]
namePrefix: s-
images: [{name: nginx, newTag: "2"}]
replicas: [{name: web, count: 2}]
configMapGenerator: [{name: cfg, literals: [A=1]}]
patches:
- target: {kind: AppService}
  patch: |-
    - op: add
      path: /spec/envFrom
      value: [{configMapRef: {name: cfg}}]
-- prod/Kustomization --
resources: [../stage]
namePrefix: p-
images: [{name: nginx, newName: caddy}]
`,
		dir: "prod",
		want: `
- origin: ../stage/kustomization.yml
  value: {apiVersion: v1, kind: ConfigMap, metadata: {name: p-s-cfg-89g4tffbfk}, data: {A: "1"}}
- origin: ../base/app.yaml
  value:
    apiVersion: apps.kudevops.io/v1alpha1
    kind: AppService
    metadata: {name: p-s-web}
    spec:
      image: caddy:2
      replicas: 2
      ports: [{port: 80}]
      envFrom: [{configMapRef: {name: p-s-cfg-89g4tffbfk}}]
`,
	},
	{
		name:   "component",
		reason: "a Component transforms what its parent has gathered, by its own images and replicas",
		archive: base + `
-- many/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources: [more.yaml]
images: [{name: nginx, newTag: "3"}]
replicas: [{name: web, count: 9}]
-- many/more.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: more}
-- prod/kustomization.yaml --
resources: [../base]
components: [../many]
namePrefix: p-
`,
		dir: "prod",
		want: `
- origin: ../many/more.yaml
  value: {apiVersion: v1, kind: ConfigMap, metadata: {name: p-more}}
- origin: ../base/app.yaml
  value:
    apiVersion: apps.kudevops.io/v1alpha1
    kind: AppService
    metadata: {name: p-web}
    spec: {image: "nginx:3", replicas: 9, ports: [{port: 80}]}
`,
	},
	{
		name:   "numbers",
		reason: "an integer that no float64 holds comes out as it went in, and one that is written as a float keeps its value",
		archive: `
-- kustomization.yaml --
resources: [any.yaml]
namePrefix: p-
-- any.yaml --
apiVersion: example.com/v1
kind: Any
metadata: {name: any}
spec: {big: 9007199254740993, negative: -9007199254740993, half: 0.5, octal: 0o17, yes: true, none: null, text: "017"}
`,
		dir: ".",
		want: `
- origin: any.yaml
  value:
    apiVersion: example.com/v1
    kind: Any
    metadata: {name: p-any}
    spec: {big: 9007199254740993, negative: -9007199254740993, half: 0.5, octal: 15, "yes": true, none: null, text: "017"}
`,
	},
	{
		name:   "order",
		reason: "objects come in the order of the command line tool, which is not that of the files",
		archive: `
-- kustomization.yaml --
resources: [all.yaml]
-- all.yaml --
{apiVersion: v1, kind: Service, metadata: {name: b}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: z}}
`,
		dir: ".",
		want: `
- {origin: all.yaml, value: {apiVersion: v1, kind: Namespace, metadata: {name: z}}}
- {origin: all.yaml, value: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}
- {origin: all.yaml, value: {apiVersion: v1, kind: Service, metadata: {name: b}}}
`,
	},
	{
		name:   "sortOptions",
		reason: "an order that the user asks for wins",
		archive: `
-- kustomization.yaml --
resources: [all.yaml]
sortOptions: {order: fifo}
-- all.yaml --
{apiVersion: v1, kind: Service, metadata: {name: b}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
`,
		dir: ".",
		want: `
- {origin: all.yaml, value: {apiVersion: v1, kind: Service, metadata: {name: b}}}
- {origin: all.yaml, value: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}
`,
	},
	{
		name:   "asked metadata",
		reason: "annotations that the user asked for stay, and name nothing that the user does not know",
		archive: base + `
-- prod/kustomization.yaml --
resources: [../base]
buildMetadata: [originAnnotations, transformerAnnotations]
transformers:
- |-
  apiVersion: builtin
  kind: PrefixTransformer
  metadata: {name: prefix}
  prefix: p-
  fieldSpecs: [{path: metadata/name}]
`,
		dir: "prod",
		want: `
- origin: ../base/app.yaml
  value:
    apiVersion: apps.kudevops.io/v1alpha1
    kind: AppService
    metadata:
      name: p-web
      annotations:
        config.kubernetes.io/origin: |
          path: ../base/app.yaml
        alpha.config.kubernetes.io/transformations: |
          - configuredIn: kustomization.yaml
            configuredBy:
              apiVersion: builtin
              kind: PrefixTransformer
              name: prefix
    spec: {image: "nginx:1", ports: [{port: 80}]}
`,
	},
	{
		name:   "builtin plugins",
		reason: "plugins that are part of kustomize run, inline, from a file and from a folder",
		archive: base + `
-- labels/kustomization.yaml --
resources: [labels.yaml]
-- labels/labels.yaml --
apiVersion: builtin
kind: LabelTransformer
metadata: {name: labels}
labels: {team: shop}
fieldSpecs: [{path: metadata/labels, create: true}]
-- prod/kustomization.yaml --
resources: [../base]
generators: [map.yaml]
transformers:
- ../labels
- |-
  apiVersion: builtin
  kind: NamespaceTransformer
  metadata: {name: namespace, namespace: shop}
-- prod/map.yaml --
apiVersion: builtin
kind: ConfigMapGenerator
metadata: {name: map}
name: map
files: [url=value.txt]
literals: [home=https://example.com]
options: {disableNameSuffixHash: true}
-- prod/value.txt --
https://example.com
`,
		dir: "prod",
		want: `
- origin: map.yaml
  value:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: map, namespace: shop, labels: {team: shop}}
    data: {url: "https://example.com\n", home: "https://example.com"}
- origin: ../base/app.yaml
  value:
    apiVersion: apps.kudevops.io/v1alpha1
    kind: AppService
    metadata: {name: web, namespace: shop, labels: {team: shop}}
    spec: {image: "nginx:1", ports: [{port: 80}]}
`,
	},
	{
		name:   "list and symlink",
		reason: "a List is unpacked, and a symlink inside the root is followed",
		archive: `
-- kustomization.yaml --
resources: [list.yaml, sub]
-- list.yaml --
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
-- sub/kustomization.yaml --
resources: [link.yaml]
-- sub/link.yaml.symlink --
real.yaml
-- sub/real.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
`,
		dir: ".",
		want: `
- {origin: list.yaml, value: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}
- {origin: list.yaml, value: {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}}
- {origin: sub/link.yaml, value: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}}
`,
	},
}

func TestBuild(t *testing.T) {
	t.Parallel()
	for _, tt := range buildCases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := plantLinks(t, tt.archive)
			got, err := Build(filepath.Join(root, tt.dir), Options{})
			if err != nil {
				t.Fatalf("Build: %v: %s", err, tt.reason)
			}
			if diff := cmp.Diff(objects(t, tt.want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// plantLinks is plant where "x.symlink" holds what the symlink x points to.
func plantLinks(t *testing.T, archive string) string {
	t.Helper()
	root := plant(t, archive)
	links, err := filepath.Glob(filepath.Join(root, "*", "*.symlink"))
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		target, err := os.ReadFile(link)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(strings.TrimSpace(string(target)), strings.TrimSuffix(link, ".symlink")); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// objects reads the expectation of a buildCase.
func objects(t *testing.T, text string) []Object {
	t.Helper()
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Value  map[string]any `json:"value"`
		Origin string         `json:"origin"`
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(data, &list); err != nil {
		t.Fatal(err)
	}
	want := make([]Object, len(list))
	for i, object := range list {
		want[i] = Object(object)
	}
	return want
}
