package argocd_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/reposerver/apiclient"
	reposerver "github.com/argoproj/argo-cd/v3/reposerver/repository"
	"github.com/argoproj/argo-cd/v3/util/git"
	utilio "github.com/argoproj/argo-cd/v3/util/io"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// application is the example, which has no field that Argo CD does not know.
func application(t *testing.T) *v1alpha1.Application {
	t.Helper()
	var app v1alpha1.Application
	if err := yaml.UnmarshalStrict([]byte(readFile(t, filepath.Join(repository, "config/argocd/application.yaml"))), &app); err != nil {
		t.Fatal(err)
	}
	return &app
}

// manifests does what the repo-server does for an Application: it finds out who is to
// build the folder, puts together the environment and sends the repository.
func manifests(ctx context.Context, t *testing.T, repo string, app *v1alpha1.Application, cluster v1alpha1.ClusterInfo) (*apiclient.ManifestResponse, error) {
	t.Helper()
	// The request comes from another process, and the protocol between the two
	// makes null of a list that is empty.
	sent := &apiclient.ManifestRequest{
		Repo:              &v1alpha1.Repository{Repo: app.Spec.Source.RepoURL},
		AppName:           app.Name,
		AppLabelKey:       "app.kubernetes.io/instance",
		Namespace:         app.Spec.Destination.Namespace,
		ApplicationSource: app.Spec.Source,
		KubeVersion:       cluster.ServerVersion,
		ApiVersions:       cluster.APIVersions,
		TrackingMethod:    string(v1alpha1.TrackingMethodAnnotation),
	}
	wire, err := sent.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var received apiclient.ManifestRequest
	if err := received.Unmarshal(wire); err != nil {
		t.Fatal(err)
	}
	return reposerver.GenerateManifests(ctx, filepath.Join(repo, app.Spec.Source.Path), repo, "0123456789abcdef", &received,
		false, git.NoopCredsStore{}, resource.MustParse("10M"), utilio.NewRandomizedTempPaths(t.TempDir()))
}

// newCluster is the destination, as Argo CD knows it.
func newCluster() v1alpha1.ClusterInfo {
	return v1alpha1.ClusterInfo{
		ServerVersion: "1.34+",
		APIVersions:   []string{"apps/v1", "apps/v1/Deployment", "apps/v1/ReplicaSet", "v1", "v1/ConfigMap", "v1/Service"},
	}
}

// TestApplication: the example brings what build prints, marked by Argo CD as its own.
func TestApplication(t *testing.T) {
	t.Parallel()
	app := application(t)
	files := map[string]string{
		"base/web.yaml":                              web,
		"base/kustomization.yaml":                    "resources: [web.yaml]\n",
		app.Spec.Source.Path + "/kustomization.yaml": "resources: [../../base]\nnameSuffix: -production\n",
	}
	r := newRequest(t, app.Spec.Source.Path, files)
	response, err := manifests(t.Context(), t, r.repo, app, newCluster())
	if err != nil {
		t.Fatal(err)
	}
	if response.SourceType != string(v1alpha1.ApplicationSourceTypePlugin) {
		t.Errorf("it was built as %s", response.SourceType)
	}
	got := decode(t, response.Manifests)
	for _, o := range got {
		metadata := o.(map[string]any)["metadata"].(map[string]any)
		annotations, _ := metadata["annotations"].(map[string]any)
		id, _ := annotations["argocd.argoproj.io/tracking-id"].(string)
		if !strings.HasPrefix(id, "shop:") || !strings.HasSuffix(id, ":shop/web-production") {
			t.Errorf("the tracking id is %q", id)
		}
		delete(metadata, "annotations")
	}
	if diff := cmp.Diff(built(t, r.path(), "--namespace", "shop"), got); diff != "" {
		t.Errorf("-build +Argo CD:\n%s", diff)
	}
}

// TestParameters: what an Application says reaches build, and so does what Argo CD
// knows of the destination.
func TestParameters(t *testing.T) {
	t.Parallel()
	old := newCluster()
	old.ServerVersion = "v1.8.15-gke.1"
	lacking := newCluster()
	lacking.APIVersions = []string{"apps/v1", "apps/v1/ReplicaSet", "v1", "v1/Service"}
	tests := []struct {
		name, reason string
		plugin       string
		cluster      v1alpha1.ClusterInfo
		args         []string // of build, that print the same
		err          string
	}{
		{"none", "all of them may be left out", "name: appsvc-render", newCluster(), nil, ""},
		{"an empty list of them", "it arrives as null", "{name: appsvc-render, parameters: []}", newCluster(), nil, ""},
		{"namespace", "in objects that name none", "{name: appsvc-render, parameters: [{name: namespace, string: a}]}", newCluster(), []string{"--namespace", "a"}, ""},
		{"an old cluster", "its version comes from Argo CD", "name: appsvc-render", old, nil, "it came with 1.9, the target is 1.8.15"},
		{"a cluster that lacks a kind", "its kinds come from Argo CD, beside their API versions", "name: appsvc-render", lacking, nil, "not among the 4 API versions given"},
		{"a version for an old cluster", "the parameter has the last word", `{name: appsvc-render, parameters: [{name: kube-version, string: "1.34"}]}`, old, nil, ""},
		{"a version for a new cluster", "the same", `{name: appsvc-render, parameters: [{name: kube-version, string: "1.7"}]}`, newCluster(), nil, "the target is 1.7"},
		{"any version", "an empty one is none", `{name: appsvc-render, parameters: [{name: kube-version, string: ""}]}`, old, nil, ""},
		{"kinds", "the CRD comes with this Application", `{name: appsvc-render, parameters: [{name: api-versions, array: [v1, apps/v1]}]}`, lacking, nil, ""},
		{"any kind", "an empty list, which arrives as null", `{name: appsvc-render, parameters: [{name: api-versions, array: []}]}`, lacking, nil, ""},
		{"a version that is none", "the error names the parameter", `{name: appsvc-render, parameters: [{name: kube-version, string: new}]}`, newCluster(), nil, `parameter "kube-version": kube version "new"`},
		{"a map", "no parameter has this form", `{name: appsvc-render, parameters: [{name: namespace, map: {a: b}}]}`, newCluster(), nil, `parameter "namespace": has no string`},
		{"no such parameter", "it is not ignored", `{name: appsvc-render, parameters: [{name: image, string: a}]}`, newCluster(), nil, `parameter "image": there is none of this name`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			app := application(t)
			app.Spec.Source.Path = "."
			app.Spec.Source.Plugin = nil
			if err := yaml.UnmarshalStrict([]byte(tt.plugin), &app.Spec.Source.Plugin); err != nil {
				t.Fatal(err)
			}
			r := newRequest(t, ".", map[string]string{"web.yaml": web})
			response, err := manifests(t.Context(), t, r.repo, app, tt.cluster)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%s: the error is %v, want %q", tt.reason, err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tt.reason, err)
			}
			want := built(t, r.path(), tt.args...)
			got := decode(t, response.Manifests)
			for _, o := range got {
				delete(o.(map[string]any)["metadata"].(map[string]any), "annotations")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: -build +Argo CD:\n%s", tt.reason, diff)
			}
		})
	}
}

// TestNamedPlugin: row 15 (argo-cd#24004, its PR #29656). When the search for a plugin
// fails, Argo CD takes the folder for plain manifests and applies AppServices as they
// are; with the name it fails, and nothing is applied.
func TestNamedPlugin(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	app := map[string]string{"web.yaml": web}
	named := application(t).Spec.Source.Plugin.Name
	tests := []struct {
		name, reason string
		ctx          context.Context
		plugin       *v1alpha1.ApplicationSourcePlugin
		files        map[string]string
		want         []string // kinds
		err          string
	}{
		{"found", "by what the folder holds", t.Context(), nil, app, []string{"Service", "Deployment"}, ""},
		{"not found", "not ours: Argo CD goes on by itself", t.Context(), nil, map[string]string{"map.yaml": configMap}, []string{"ConfigMap"}, ""},
		{"search fails", "this is the trap: the raw AppService, as a success", over, nil, app, []string{"AppService"}, ""},
		{"named", "the search finds it", t.Context(), &v1alpha1.ApplicationSourcePlugin{Name: named}, app, []string{"Service", "Deployment"}, ""},
		{"named, and the search fails", "an error, and nothing changes", over, &v1alpha1.ApplicationSourcePlugin{Name: named}, app, nil, `could not find cmp-server plugin with name "appsvc-render"`},
		{"named, for a folder without AppServices", "Argo CD asks the plugin all the same", t.Context(), &v1alpha1.ApplicationSourcePlugin{Name: named}, map[string]string{"map.yaml": configMap}, nil, `could not find cmp-server plugin with name "appsvc-render"`},
		{"named with a version", "plugin.yaml has none", t.Context(), &v1alpha1.ApplicationSourcePlugin{Name: "appsvc-render-v1"}, app, nil, `could not find cmp-server plugin with name "appsvc-render-v1"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			app := application(t)
			app.Spec.Source.Path = "."
			app.Spec.Source.Plugin = tt.plugin
			response, err := manifests(tt.ctx, t, newRequest(t, ".", tt.files).repo, app, newCluster())
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%s: the error is %v, want %q", tt.reason, err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tt.reason, err)
			}
			if diff := cmp.Diff(tt.want, kinds(decode(t, response.Manifests))); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tt.reason, diff)
			}
		})
	}
}

// TestControllerApplication: where the controller renders, an Application says that its
// folder is plain manifests, and the plugin keeps out of it.
func TestControllerApplication(t *testing.T) {
	t.Parallel()
	app := application(t)
	app.Spec.Source.Path = "."
	app.Spec.Source.Plugin = nil
	if err := yaml.UnmarshalStrict([]byte("directory: {}"), app.Spec.Source); err != nil {
		t.Fatal(err)
	}
	response, err := manifests(t.Context(), t, newRequest(t, ".", map[string]string{"web.yaml": web}).repo, app, newCluster())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"AppService"}, kinds(decode(t, response.Manifests))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
