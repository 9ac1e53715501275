package packaging

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"
)

// TestClusterTargets: what make tells kubectl. In place of kubectl is a script that writes
// down its arguments and what it is sent.
func TestClusterTargets(t *testing.T) {
	t.Parallel()
	const image = "registry.example.com:5000/team/appsvc-controller:v9"
	controllerKinds := []string{
		"ClusterRole", "ClusterRoleBinding", "Deployment", "Namespace", "PodDisruptionBudget", "Role", "RoleBinding", "Service", "ServiceAccount",
	}
	for _, test := range []struct {
		target, reason string
		call           string
		kinds          []string
	}{
		{
			target: "install", reason: "by server-side apply: the CRD is close to the limit of an annotation",
			call: "apply --server-side -f -", kinds: []string{"CustomResourceDefinition"},
		},
		{
			target: "uninstall", reason: "the second time is no error",
			call: "delete --ignore-not-found -f -", kinds: []string{"CustomResourceDefinition"},
		},
		{
			target: "deploy", reason: "all of config/default, with the image that was named",
			call: "apply --server-side -f -", kinds: append([]string{"CustomResourceDefinition"}, controllerKinds...),
		},
		{
			target: "undeploy", reason: "without the CRD, since with it all AppServices and their pods would go",
			call: "delete --ignore-not-found -f -", kinds: controllerKinds,
		},
	} {
		t.Run(test.target, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			kubectl := filepath.Join(dir, "kubectl")
			writeFile(t, kubectl, "#!/bin/sh\nprintf '%s' \"$*\" > "+dir+"/args\nexec cat > "+dir+"/stdin\n")
			runMake(t, test.target, "KUBECTL="+kubectl, "IMG="+image)
			if got := string(readFile(t, filepath.Join(dir, "args"))); got != test.call {
				t.Errorf("kubectl %s, want %s: %s", got, test.call, test.reason)
			}
			kinds := sets.New[string]()
			objects := parse(t, readFile(t, filepath.Join(dir, "stdin")))
			for _, o := range objects {
				kinds.Insert(o.GetKind())
			}
			if diff := cmp.Diff(sets.List(sets.New(test.kinds...)), sets.List(kinds)); diff != "" {
				t.Errorf("kinds, -want +got: %s\n%s", test.reason, diff)
			}
			if test.target == "deploy" {
				if got := deploymentOf(t, objects).Spec.Template.Spec.Containers[0].Image; got != image {
					t.Errorf("the image is %s", got)
				}
			}
		})
	}
}

// TestHelp: make help shows what there is for users.
func TestHelp(t *testing.T) {
	t.Parallel()
	help := runMake(t, "help")
	for _, target := range []string{
		"install", "uninstall", "run", "deploy", "undeploy", "bundle", "image", "image-push", "docker-build", "dist", "build-installer", "clean",
	} {
		if !strings.Contains(help, "\n  "+target+" ") {
			t.Errorf("make help does not show %s", target)
		}
	}
}

// TestClean: what is built here is removed, and nothing else.
func TestClean(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"bin/web", "dist/web", "bundle/web", "other/web"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, name), "")
	}
	// The last of two assignments of a variable counts.
	runMake(t, "clean", "BIN="+filepath.Join(dir, "bin"), "DIST="+filepath.Join(dir, "dist"), "BUNDLE="+filepath.Join(dir, "bundle"))
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Name() != "other" {
		t.Errorf("left: %v", left)
	}
}
