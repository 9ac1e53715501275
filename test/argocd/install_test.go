package argocd_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// TestInstall: the component goes into Argo CD's own manifests, in each of the forms
// that they are published in, whether they name a namespace already or not.
func TestInstall(t *testing.T) {
	t.Parallel()
	dir, err := goCommand(".", "list", "-m", "-f", "{{.Dir}}", "github.com/argoproj/argo-cd/v3")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"install.yaml", "namespace-install.yaml", "core-install.yaml", "ha/install.yaml"} {
		for _, namespaced := range []bool{false, true} {
			title := name
			if namespaced {
				title += " with a namespace"
			}
			t.Run(title, func(t *testing.T) {
				t.Parallel()
				root := t.TempDir()
				writeFile(t, filepath.Join(root, "base/argocd.yaml"), readFile(t, filepath.Join(strings.TrimSpace(dir), "manifests", name)))
				base := "resources: [argocd.yaml]\n"
				if namespaced {
					base += "namespace: argocd\n"
				}
				writeFile(t, filepath.Join(root, "base/kustomization.yaml"), base)
				if err := os.CopyFS(filepath.Join(root, "appsvc"), os.DirFS(filepath.Join(repository, "config/argocd"))); err != nil {
					t.Fatal(err)
				}
				writeFile(t, filepath.Join(root, "kustomization.yaml"), "namespace: argocd\nresources: [base]\n")
				before := kustomize(t, root)
				writeFile(t, filepath.Join(root, "kustomization.yaml"), "namespace: argocd\nresources: [base]\ncomponents: [appsvc]\n"+
					"images: [{name: appsvc-argocd, newName: registry.example.com/appsvc-argocd, newTag: v0.1.0}]\n")
				after := kustomize(t, root)

				changed := slices.Sorted(maps.Keys(after))
				changed = slices.DeleteFunc(changed, func(id string) bool { return bytes.Equal(before[id], after[id]) })
				if diff := cmp.Diff([]string{"ConfigMap argocd-cm", "Deployment argocd-repo-server"}, changed); diff != "" || len(before) != len(after) {
					t.Fatalf("%d objects before, %d after; changed -want +got:\n%s", len(before), len(after), diff)
				}
				checkConfigMap(t, before["ConfigMap argocd-cm"], after["ConfigMap argocd-cm"])
				checkRepoServer(t, before["Deployment argocd-repo-server"], after["Deployment argocd-repo-server"])
			})
		}
	}
}

// kustomize builds a folder and gives its objects, by kind and name.
func kustomize(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string][]byte{}
	for _, r := range built.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		objects[r.GetKind()+" "+r.GetName()] = text
	}
	return objects
}

// checkConfigMap demands that keys were added and that none was changed.
func checkConfigMap(t *testing.T, before, after []byte) {
	t.Helper()
	var old, got, patch corev1.ConfigMap
	unmarshal(t, before, &old)
	unmarshal(t, after, &got)
	unmarshal(t, []byte(readFile(t, filepath.Join(repository, "config/argocd/argocd-cm.yaml"))), &patch)
	want := maps.Clone(patch.Data)
	for key, value := range old.Data {
		if _, taken := want[key]; taken {
			t.Errorf("the key %s replaces one of Argo CD's", key)
		}
		want[key] = value
	}
	if diff := cmp.Diff(want, got.Data); diff != "" {
		t.Errorf("argocd-cm -want +got:\n%s", diff)
	}
}

// checkRepoServer demands that a container and a volume were added, and what a cluster
// with the restricted Pod Security Standard demands.
func checkRepoServer(t *testing.T, before, after []byte) {
	t.Helper()
	var old, got appsv1.Deployment
	unmarshal(t, before, &old)
	unmarshal(t, after, &got)
	pod := &got.Spec.Template.Spec
	i := slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == "appsvc-render" })
	if i < 0 {
		t.Fatal("argocd-repo-server has no container appsvc-render")
	}
	sidecar := pod.Containers[i]
	volumes := map[string]bool{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
	}
	for _, m := range sidecar.VolumeMounts {
		if !volumes[m.Name] {
			t.Errorf("Argo CD has no volume %s", m.Name)
		}
	}
	if sidecar.Image != "registry.example.com/appsvc-argocd:v0.1.0" {
		t.Errorf("the image is %s", sidecar.Image)
	}
	no, yes, user := false, true, int64(999)
	want := &corev1.SecurityContext{
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		RunAsUser:                &user,
		RunAsGroup:               &user,
		RunAsNonRoot:             &yes,
		ReadOnlyRootFilesystem:   &yes,
		AllowPrivilegeEscalation: &no,
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if diff := cmp.Diff(want, sidecar.SecurityContext); diff != "" {
		t.Errorf("securityContext -want +got:\n%s", diff)
	}
	// The rest is what it was.
	pod.Containers = slices.Delete(pod.Containers, i, i+1)
	pod.Volumes = slices.DeleteFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == "appsvc-render-tmp" })
	if diff := cmp.Diff(old, got); diff != "" {
		t.Errorf("beside the sidecar, -before +after:\n%s", diff)
	}
}

func unmarshal(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatal(err)
	}
}
