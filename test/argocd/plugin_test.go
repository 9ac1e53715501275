package argocd_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	repository_apiclient "github.com/argoproj/argo-cd/v3/reposerver/apiclient"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

const (
	web = `apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata:
  name: web
spec:
  image: nginx:1.29
  ports:
  - port: 80
`
	broken = `apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata:
  name: broken
spec:
  image: nginx:1.29
  ports:
  - port: 80
  - port: 81
`
	configMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  answer: "yes"
`
)

// overlay is a repository with a base and an overlay.
func overlay() map[string]string {
	return map[string]string{
		"base/web.yaml":                    web,
		"base/kustomization.yaml":          "resources: [web.yaml]\n",
		"overlays/prod/kustomization.yaml": "resources: [../../base]\nnamePrefix: prod-\nnamespace: prod\nimages: [{name: nginx, newTag: 1.29.1}]\nreplicas: [{name: web, count: 5}]\n",
	}
}

func TestCheckPluginConfiguration(t *testing.T) {
	t.Parallel()
	got, err := plugin.client.CheckPluginConfiguration(t.Context(), &emptypb.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	if !got.IsDiscoveryConfigured {
		t.Error("the plugin does not say for itself which folders it is for")
	}
	if got.ProvideGitCreds {
		t.Error("the plugin asks for the credentials of the repository, which it has no use for")
	}
}

// TestMatchRepository: row 18 (argo-cd#11812, #19832): nothing of Argo CD's
// environment is needed. Row 19 (argo-cd#11978, #11752, argocd-vault-plugin#601,
// travisghansen/argo-cd-helmfile#38): what is not ours is left to others, without an
// error.
func TestMatchRepository(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, reason string
		app          string
		files        map[string]string
		want         bool
	}{
		{"plain folder", "an AppService beside other objects", ".", map[string]string{"web.yaml": web, "map.yaml": configMap}, true},
		{"folder below the root", "the folder of the Application counts", "apps", map[string]string{"apps/deep/web.yml": web}, true},
		{"overlay", "the AppService stands in a base outside of the folder", "overlays/prod", overlay(), true},
		{"broken AppService", "the user has to see the fault, not raw manifests", ".", map[string]string{"web.yaml": web + "   x: ["}, true},
		{"invalid AppService", "the same", ".", map[string]string{"web.yaml": broken}, true},
		{"nothing of ours", "Argo CD applies it as it is", ".", map[string]string{"map.yaml": configMap}, false},
		{"beside the folder", "another Application's", "apps/b", map[string]string{"apps/a/web.yaml": web, "apps/b/map.yaml": configMap}, false},
		{"below, with a kustomization", "an Application of its own", ".", map[string]string{"map.yaml": configMap, "sub/web.yaml": web, "sub/kustomization.yaml": "resources: [web.yaml]\n"}, false},
		{"kustomization without any", "kustomize builds it", "overlays/prod", map[string]string{
			"base/map.yaml": configMap, "base/kustomization.yaml": "resources: [map.yaml]\n",
			"overlays/prod/kustomization.yaml": "resources: [../../base]\n",
		}, false},
		{"Helm chart", "templates are no YAML", ".", map[string]string{
			"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n", "values.yaml": "kind: {}\n",
			"templates/web.yaml": "{{- if .Values.on }}\nkind: {{ .Values.kind }}\n{{- end }}\n",
		}, false},
		{"the CRD", "it speaks of AppServices and is none", ".", map[string]string{"crd.yaml": readFile(t, filepath.Join(repository, "config/crd/bases/apps.kudevops.io_appservices.yaml"))}, false},
		{"no manifest at all", "text is text", ".", map[string]string{"README.md": web}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := newRequest(t, tt.app, tt.files).match(t.Context())
			if err != nil {
				t.Fatalf("%v (%s)", err, tt.reason)
			}
			if !got.IsDiscoveryEnabled || got.IsSupported != tt.want {
				t.Errorf("enabled %t, supported %t, want supported %t: %s", got.IsDiscoveryEnabled, got.IsSupported, tt.want, tt.reason)
			}
		})
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestGetParametersAnnouncement: row 18: for parameters Argo CD gives fewer variables
// than for manifests, here none.
func TestGetParametersAnnouncement(t *testing.T) {
	t.Parallel()
	got, err := newRequest(t, ".", map[string]string{"web.yaml": web}).announce(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []*repository_apiclient.ParameterAnnouncement{
		{Name: "namespace", CollectionType: "string"},
		{Name: "kube-version", CollectionType: "string"},
		{Name: "api-versions", CollectionType: "array"},
	}
	// The words are for people.
	words := cmpopts.IgnoreFields(repository_apiclient.ParameterAnnouncement{}, "Title", "Tooltip")
	if diff := cmp.Diff(want, got.ParameterAnnouncements, words); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, p := range got.ParameterAnnouncements {
		if p.Title == "" || p.Tooltip == "" {
			t.Errorf("parameter %s has no title or no tooltip", p.Name)
		}
	}
}

// TestGenerateManifest: what Argo CD gets is what build prints.
func TestGenerateManifest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, reason string
		app          string
		files        map[string]string
		kinds        []string
	}{
		{"plain folder", "other objects stay where they are", "apps",
			map[string]string{"apps/a.yaml": configMap, "apps/web.yaml": web, "other/web.yaml": broken},
			[]string{"ConfigMap", "Service", "Deployment"}},
		{"overlay", "../base is there, and the overlay acts on the AppService", "overlays/prod", overlay(),
			[]string{"Service", "Deployment"}},
		{"no AppService", "named by an Application, the plugin passes objects through", ".",
			map[string]string{"map.yaml": configMap}, []string{"ConfigMap"}},
		{"JSON before YAML", "Argo CD guesses the format from how the output begins", ".",
			map[string]string{"a.json": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`, "b.yaml": configMap, "web.yaml": web},
			[]string{"ConfigMap", "ConfigMap", "Service", "Deployment"}},
		{"several documents and a List", "every object is one manifest", ".",
			map[string]string{"all.yaml": configMap + "---\n---\n# nothing here\n---\napiVersion: v1\nkind: List\nitems:\n- " + indent(configMap) + "\n---\n" + web},
			[]string{"ConfigMap", "ConfigMap", "Service", "Deployment"}},
		{"row 16: argo-cd#11238", "files that hold no object would be: Object 'Kind' is missing", ".",
			map[string]string{"values.yaml": "replicaCount: 3\n", "list.json": "[1, 2]", "empty.yaml": "", "web.yaml": web},
			[]string{"Service", "Deployment"}},
		{"row 17: argo-cd#18528, #23272", "files of a repository arrive without their mode, and none of them is run", ".",
			map[string]string{"appsvc-render": "#!/bin/sh\necho kind: Wrong\n", "web.yaml": web},
			[]string{"Service", "Deployment"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRequest(t, tt.app, tt.files)
			if script := filepath.Join(r.path(), "appsvc-render"); tt.files["appsvc-render"] != "" {
				if err := os.Chmod(script, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			got := r.objects(t)
			if diff := cmp.Diff(built(t, r.path()), got); diff != "" {
				t.Errorf("%s: -build +Argo CD:\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(tt.kinds, kinds(got)); diff != "" {
				t.Errorf("%s: kinds -want +got:\n%s", tt.reason, diff)
			}
		})
	}
}

func indent(text string) string {
	return strings.TrimRight(strings.ReplaceAll(text, "\n", "\n  "), " ")
}

func kinds(objects []any) []string {
	var names []string
	for _, o := range objects {
		name, _ := o.(map[string]any)["kind"].(string)
		names = append(names, name)
	}
	return names
}

// TestGoldenCases: what build prints of each golden case is what Argo CD gets of it,
// and what it says of a fault is what the user of Argo CD gets to see.
func TestGoldenCases(t *testing.T) {
	t.Parallel()
	inputs, err := filepath.Glob(filepath.Join(repository, "testdata/*/input.yaml"))
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no golden case: %v", err)
	}
	for _, input := range inputs {
		text := readFile(t, input)
		if strings.Contains(text, "\nkind: ResourceList\n") {
			continue // the input of a KRM function
		}
		t.Run(filepath.Base(filepath.Dir(input)), func(t *testing.T) {
			t.Parallel()
			r := newRequest(t, ".", map[string]string{"input.yaml": text})
			want, faults := build(t, r.path())
			response, err := r.generate(t.Context())
			if faults != "" {
				if diff := cmp.Diff(failure(faults), status.Convert(err).Message()); diff != "" {
					t.Errorf("the error is -want +got:\n%s", diff)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, decode(t, response.Manifests)); diff != "" {
				t.Errorf("-build +Argo CD:\n%s", diff)
			}
		})
	}
}

// failure is the error of a request of which appsvc-render wrote this to standard
// error.
func failure(stderr string) string {
	return "error generating manifests: `appsvc-render build .` failed exit status 1: " + strings.TrimSpace(stderr)
}

func TestGenerateManifestFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, reason string
		app          string
		files        map[string]string
		env          []string
		want         string
	}{
		{"invalid AppService", "file, line and field reach the user", "apps", map[string]string{"apps/shop/broken.yaml": broken}, nil,
			"shop/broken.yaml:8: AppService broken: spec.ports[0].name: Required value: each of several ports needs a name\n" +
				"shop/broken.yaml:9: AppService broken: spec.ports[1].name: Required value: each of several ports needs a name"},
		{"broken YAML", "the same", ".", map[string]string{"web.yaml": web + "   x: [\n"}, nil, "web.yaml:9: "},
		{"a fault in one of many", "nothing of the rest is applied, and pruned", ".", map[string]string{"broken.yaml": broken, "web.yaml": web}, nil, "broken.yaml:8: AppService broken: "},
		{"a fault in a base", "kustomize keeps no lines", "overlays/prod", map[string]string{
			"base/broken.yaml": broken, "base/kustomization.yaml": "resources: [broken.yaml]\n",
			"overlays/prod/kustomization.yaml": "resources: [../../base]\n",
		}, nil, ". (from ../../base/broken.yaml): AppService broken: spec.ports[0].name: Required value"},
		{"row 21: an empty folder", "an empty output with exit code 0 deletes everything", "apps", map[string]string{"README.md": "nothing\n"}, nil,
			"there is nothing to build"},
		{"row 21: only files that hold no object", "the same", ".", map[string]string{"values.yaml": "a: b\n", "empty.yaml": ""}, nil,
			"there is nothing to build"},
		{"row 21: a kustomization that builds nothing", "the same", ".", map[string]string{"kustomization.yaml": "resources: []\nnamePrefix: a-\n"}, nil, ""},
		{"a kustomization below a plain folder", "its objects would be pruned", ".", map[string]string{
			"map.yaml": configMap, "sub/web.yaml": web, "sub/kustomization.yaml": "resources: [web.yaml]\n",
		}, nil, "holds folders that kustomize has to build"},
		{"a version that Argo CD gives", "what the cluster does not serve is refused here", ".", map[string]string{"web.yaml": web},
			[]string{"ARGOCD_APP_NAME=web", "KUBE_VERSION=1.8.0"}, "web.yaml:5: AppService web: spec: Forbidden: renders to a Deployment (apps/v1), which the target cluster does not serve: it came with 1.9, the target is 1.8.0"},
		{"kinds that Argo CD gives", "the same", ".", map[string]string{"web.yaml": web},
			[]string{"ARGOCD_APP_NAME=web", "KUBE_API_VERSIONS=apps/v1,apps/v1/StatefulSet,v1,v1/Service"}, "renders to a Deployment (apps/v1), which the target cluster does not serve: it is not among the 4 API versions given"},
		{"an unknown parameter", "a misspelt one must not be ignored", ".", map[string]string{"web.yaml": web},
			[]string{`ARGOCD_APP_PARAMETERS=[{"name":"name_space","string":"a"}]`}, `appsvc-render: ARGOCD_APP_PARAMETERS: parameter "name_space": there is none of this name`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRequest(t, tt.app, tt.files)
			r.env = tt.env
			got, err := r.generate(t.Context())
			if err == nil {
				t.Fatalf("no error but %d manifests: %s", len(got.Manifests), tt.reason)
			}
			message := status.Convert(err).Message()
			if !strings.HasPrefix(message, failure("")) || !strings.Contains(message, tt.want) {
				t.Errorf("%s: the error is %q, want one that has %q", tt.reason, message, tt.want)
			}
		})
	}
}

// TestHugeRepository: row 20 (argo-cd#16012, #25511, #9695, #23977, #17775, #29309):
// requests about a small folder of a huge repository do not depend on the rest of it,
// which holds faults that would show if it were looked at.
func TestHugeRepository(t *testing.T) {
	t.Parallel()
	files := overlay()
	for i := range 100 {
		for j := range 40 {
			files[fmt.Sprintf("other/%03d/%03d/broken.yaml", i, j)] = broken + "---\nkind: [\n"
		}
		files[fmt.Sprintf("other/%03d/kustomization.yaml", i)] = "resources: [not-there]\n"
	}
	// A whole folder of AppServices, too.
	const apps = 2000
	for i := range apps {
		files[fmt.Sprintf("many/team-%02d/app-%04d.yaml", i%50, i)] = strings.ReplaceAll(web, "name: web", fmt.Sprintf("name: web-%04d", i))
	}
	small := newRequest(t, "overlays/prod", files)
	many := small
	many.app = "many"
	for _, r := range []request{small, many} {
		t.Run(r.app, func(t *testing.T) {
			t.Parallel()
			// What Argo CD gives a request, unless it is told otherwise.
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			match, err := r.match(ctx)
			if err != nil || !match.IsSupported {
				t.Fatalf("match: %v, %v", match, err)
			}
			response, err := r.generate(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(built(t, r.path()), decode(t, response.Manifests)); diff != "" {
				t.Errorf("-build +Argo CD:\n%s", diff)
			}
		})
	}
}

// TestOutputIsForArgoCD: AppServices and annotations of tools stay out of it.
func TestOutputIsForArgoCD(t *testing.T) {
	t.Parallel()
	annotated := strings.Replace(web, "  name: web\n", `  name: web
  annotations:
    argocd.argoproj.io/tracking-id: shop:apps.kudevops.io/AppService:shop/web
    config.kubernetes.io/local-config: "true"
    internal.config.kubernetes.io/path: web.yaml
    example.com/kept: "yes"
  labels:
    app.kubernetes.io/instance: shop
`, 1)
	got := newRequest(t, ".", map[string]string{"web.yaml": annotated}).objects(t)
	if diff := cmp.Diff([]string{"Service", "Deployment"}, kinds(got)); diff != "" {
		t.Errorf("kinds -want +got:\n%s", diff)
	}
	for _, o := range got {
		metadata := o.(map[string]any)["metadata"].(map[string]any)
		if diff := cmp.Diff(map[string]any{"example.com/kept": "yes"}, metadata["annotations"]); diff != "" {
			t.Errorf("annotations -want +got:\n%s", diff)
		}
		if _, there := metadata["namespace"]; there {
			t.Error("a namespace was made up; Argo CD puts in that of the destination")
		}
		// Argo CD marks what it owns with this label, where it is set to do so; the
		// value of the AppService's own would say that these are the AppService.
		labels, _ := json.Marshal(metadata["labels"])
		if strings.Contains(string(labels), `"app.kubernetes.io/instance":"shop"`) {
			t.Errorf("the labels are those of Argo CD's: %s", labels)
		}
	}
}
