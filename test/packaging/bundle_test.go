package packaging

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"
)

// clusterServiceVersion is what the test reads of one.
type clusterServiceVersion struct {
	Kind     string
	Metadata struct {
		Name        string
		Annotations map[string]string
	}
	Spec struct {
		Version      string
		InstallModes []struct {
			Type      string
			Supported bool
		}
		CustomResourceDefinitions struct {
			Owned []struct{ Name, Version, Kind, DisplayName, Description string }
		}
		Install struct {
			Strategy string
			Spec     struct {
				Deployments []struct {
					Name  string
					Label map[string]string
					Spec  appsv1.DeploymentSpec
				}
				ClusterPermissions, Permissions []permission
			}
		}
	}
}

type permission struct {
	ServiceAccountName string
	Rules              []rbacv1.PolicyRule
}

// TestBundle: OLM's validators have nothing to say of the bundle, and it installs what
// `make deploy` does.
func TestBundle(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bundle")
	dist := t.TempDir()
	const image = "registry.example.com/appsvc-controller:" + version
	runMake(t, "bundle", "build-installer", "BUNDLE="+dir, "DIST="+dist, "IMG="+image)
	if out := run(t, "", referee(t), "bundle", dir); out != "" {
		t.Errorf("findings:\n%s", out)
	}

	want := sets.New(
		"bundle.Dockerfile", "metadata/annotations.yaml", "manifests/appsvc.clusterserviceversion.yaml",
		"manifests/apps.kudevops.io_appservices.yaml", "manifests/appsvc-metrics-reader_clusterrole.yaml",
		"manifests/appsvc-appservice-editor-role_clusterrole.yaml", "manifests/appsvc-appservice-viewer-role_clusterrole.yaml",
		"manifests/appsvc-controller-metrics_service.yaml", "manifests/appsvc-controller_poddisruptionbudget.yaml",
	)
	if diff := cmp.Diff(sets.List(want), sets.List(bundleFiles(t, dir))); diff != "" {
		t.Errorf("files, -want +got:\n%s", diff)
	}

	installed := parse(t, readFile(t, filepath.Join(dist, "install.yaml")))
	var csv clusterServiceVersion
	decodeYAML(t, filepath.Join(dir, "manifests/appsvc.clusterserviceversion.yaml"), &csv)
	if csv.Metadata.Name != "appsvc."+version || "v"+csv.Spec.Version != version {
		t.Errorf("the bundle is called %s, of version %s", csv.Metadata.Name, csv.Spec.Version)
	}
	var sample any
	decodeYAML(t, filepath.Join(root, "config/samples/apps_v1alpha1_appservice.yaml"), &sample)
	var examples []any
	if err := json.Unmarshal([]byte(csv.Metadata.Annotations["alm-examples"]), &examples); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]any{sample}, examples); diff != "" {
		t.Errorf("examples, -want +got:\n%s", diff)
	}
	for _, mode := range csv.Spec.InstallModes {
		if mode.Supported != (mode.Type == "AllNamespaces") {
			t.Errorf("install mode %s: %t; the Deployment looks after every namespace", mode.Type, mode.Supported)
		}
	}

	deployment := deploymentOf(t, installed)
	if got := deployment.Spec.Template.Spec.Containers[0].Image; got != image {
		t.Errorf("make build-installer has image %s", got)
	}
	deployments := csv.Spec.Install.Spec.Deployments
	if len(deployments) != 1 || deployments[0].Name != deployment.Name || csv.Spec.Install.Strategy != "deployment" {
		t.Fatalf("deployments: %+v", deployments)
	}
	if diff := cmp.Diff(deployment.Spec, deployments[0].Spec); diff != "" {
		t.Errorf("the Deployment, -make deploy +bundle:\n%s", diff)
	}
	checkPermissions(t, installed, csv, deployment.Spec.Template.Spec.ServiceAccountName)

	owned := csv.Spec.CustomResourceDefinitions.Owned
	for _, o := range installed {
		if o.GetKind() != "CustomResourceDefinition" {
			continue
		}
		if len(owned) != 1 || owned[0].Name != o.GetName() || owned[0].Kind != "AppService" || owned[0].Version != "v1alpha1" {
			t.Errorf("owned: %+v", owned)
		}
		crd := parse(t, readFile(t, filepath.Join(dir, "manifests/apps.kudevops.io_appservices.yaml")))
		if diff := cmp.Diff(o, crd[0]); diff != "" {
			t.Errorf("the CRD, -make deploy +bundle:\n%s", diff)
		}
	}

	labels := map[string]string{}
	for line := range strings.Lines(string(readFile(t, filepath.Join(dir, "bundle.Dockerfile")))) {
		if label, ok := strings.CutPrefix(strings.TrimSpace(line), "LABEL "); ok {
			key, value, _ := strings.Cut(label, "=")
			labels[key] = value
		}
	}
	var notes struct{ Annotations map[string]string }
	decodeYAML(t, filepath.Join(dir, "metadata/annotations.yaml"), &notes)
	if diff := cmp.Diff(notes.Annotations, labels); diff != "" || len(labels) != 6 {
		t.Errorf("-annotations.yaml +Dockerfile:\n%s", diff)
	}
}

// checkPermissions: the account may in a bundle what it may by bindings.
func checkPermissions(t *testing.T, installed []*unstructured.Unstructured, csv clusterServiceVersion, account string) {
	t.Helper()
	rules := map[string][]rbacv1.PolicyRule{}
	for _, o := range installed {
		switch role := decode(t, o).(type) {
		case *rbacv1.ClusterRole:
			rules[role.Name] = role.Rules
		case *rbacv1.Role:
			rules[role.Name] = role.Rules
		}
	}
	spec := csv.Spec.Install.Spec
	if len(spec.ClusterPermissions) != 1 || len(spec.Permissions) != 1 ||
		spec.ClusterPermissions[0].ServiceAccountName != account || spec.Permissions[0].ServiceAccountName != account {
		t.Fatalf("permissions are not those of %s: %+v", account, spec)
	}
	compareGrants(t, grantsOf(rules["appsvc-manager-role"]).Union(grantsOf(rules["appsvc-metrics-auth-role"])), grantsOf(spec.ClusterPermissions[0].Rules))
	compareGrants(t, grantsOf(rules["appsvc-leader-election-role"]), grantsOf(spec.Permissions[0].Rules))
}

// TestBundleErrors: what is not a version is refused, and a folder that is no bundle is
// not emptied.
func TestBundleErrors(t *testing.T) {
	t.Parallel()
	programs(t)
	full := t.TempDir()
	writeFile(t, filepath.Join(full, "precious"), "")
	for _, test := range []struct {
		name, reason string
		args         []string
		want         string
	}{
		{
			name: "version", reason: "OLM orders bundles by semantic versions",
			args: []string{"VERSION=latest", "BUNDLE=" + filepath.Join(t.TempDir(), "bundle")},
			want: `version "latest"`,
		},
		{
			name: "folder", reason: "somebody may have mistyped it",
			args: []string{"BUNDLE=" + full},
			want: full + " holds something else than a bundle",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, err := tryMake(t.Context(), append([]string{"bundle"}, test.args...)...); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q: %s", err, test.want, test.reason)
			}
		})
	}
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(full, "precious")); err != nil {
			t.Error(err)
		}
	})
}

func bundleFiles(t *testing.T, dir string) sets.Set[string] {
	t.Helper()
	found := sets.New[string]()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found.Insert(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func decodeYAML(t *testing.T, path string, into any) {
	t.Helper()
	if err := yaml.Unmarshal(readFile(t, path), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
