package controller_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudevops.io/appsvc/internal/cli"
	"kudevops.io/appsvc/test/controlplane"
)

// reader gives a kubeconfig of somebody who may get and list in the namespace of k, and
// do nothing else.
func (k kubectl) reader() string {
	k.t.Helper()
	const name = "reader"
	subject := rbacv1.Subject{Kind: "ServiceAccount", Name: name, Namespace: k.namespace}
	config, err := k.cluster.ServiceAccount(k.t.Context(), k.namespace, name,
		&rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: k.namespace},
			Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list"}}},
		},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: k.namespace},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects:   []rbacv1.Subject{subject},
		})
	if err != nil {
		k.t.Fatal(err)
	}
	path := filepath.Join(k.t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(config, path); err != nil {
		k.t.Fatal(err)
	}
	return path
}

// diffLive runs appsvc-render diff --live on manifests.
func (k kubectl) diffLive(kubeconfig, manifests string, args ...string) (code int, stdout, stderr string) {
	k.t.Helper()
	path := filepath.Join(k.t.TempDir(), "desired.yaml")
	if err := os.WriteFile(path, []byte(manifests), 0o644); err != nil {
		k.t.Fatal(err)
	}
	args = append([]string{"diff", "--live", "--kubeconfig", kubeconfig, "--namespace", k.namespace, path}, args...)
	var out, errs bytes.Buffer
	code = cli.Main(k.t.Context(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// TestDiffLive: what is shown is what the controller would do, to somebody who may only
// read, and asking writes nothing.
func TestDiffLive(t *testing.T) {
	t.Parallel()
	cluster := started(t)
	k := kubectl{t: t, cluster: cluster, namespace: cluster.Namespace(t)}
	app := func(spec string) string { return appServiceOf("web", spec) }
	applied := "replicas: 0, ports: [{port: 80}], env: [{name: A, value: a}]"
	k.apply(app(applied))
	k.run("wait", "--for=condition=Ready", "appservice/web", "--timeout=90s")
	kubeconfig := k.reader()

	if code, stdout, stderr := k.diffLive(kubeconfig, app(applied)); code != 0 || stderr != "" {
		t.Fatalf("nothing to do: exit code %d\n%s%s", code, stdout, stderr)
	}
	// Suspended, the controller leaves what is edited.
	k.run("patch", "appservice", "web", "--type=merge", "-p", `{"spec": {"suspend": true}}`)
	k.run("label", "deployment", "web", "team=a")
	k.run("set", "image", "deployment/web", "app=other:1")

	tests := []struct {
		name, reason string
		manifests    string
		args         []string
		code         int
		has          []string
	}{
		{
			name: "an edit", reason: "the controller would put it right; the label is none of its business",
			manifests: app(applied), code: 1,
			has: []string{"spec.template.spec.containers[name=app].image: other:1 -> nginx:1", "kubectl-set"},
		},
		{
			name: "prune", reason: "without ports there is no Service",
			manifests: app("replicas: 0, env: [{name: A, value: a}]"), args: []string{"-o", "names"}, code: 1,
			has: []string{"delete Service " + k.namespace + "/web"},
		},
		{
			name: "create", reason: "another AppService is not there yet, and shown whole",
			manifests: app(applied) + "\n---\n" + appServiceOf("api", "replicas: 0"), code: 1,
			has: []string{"Deployment " + k.namespace + "/api", "1 to create"},
		},
		{
			name: "foreign on demand", reason: "--fail-on makes the label count",
			manifests: app(strings.Replace(applied, "replicas: 0", "replicas: 0, suspend: true", 1)), args: []string{"--fail-on", "foreign", "-o", "json"}, code: 1,
			has: []string{`"metadata.labels.team"`},
		},
		{
			name: "replicas handed over", reason: "a number that is no longer given stays; it does not fall to the default",
			manifests: app(strings.Replace(applied, "replicas: 0, ", "", 1)), args: []string{"-o", "json"}, code: 1,
			has: []string{"spec.replicas stays: owned by appsvc-replicas"},
		},
		{
			name: "the right to patch", reason: "a dry run needs it, and the message says so",
			manifests: app(applied), args: []string{"--server-side"}, code: 2,
			has: []string{"--server-side needs the right to patch"},
		},
	}
	check := func(name, reason, text string, has []string) {
		for _, want := range has {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q (%s) in\n%s", name, want, reason, text)
			}
		}
	}
	before := k.requestsOf("system:serviceaccount:" + k.namespace + ":reader")
	for _, tt := range tests {
		code, stdout, stderr := k.diffLive(kubeconfig, tt.manifests, tt.args...)
		if code != tt.code {
			t.Errorf("%s: exit code %d, want %d (%s)\n%s%s", tt.name, code, tt.code, tt.reason, stdout, stderr)
		}
		check(tt.name, tt.reason, stdout+stderr, tt.has)
	}
	refused := k.requestsOf("system:serviceaccount:" + k.namespace + ":reader").Since(before).Writes()
	if refused.Total() != 0 {
		t.Errorf("asking wrote:\n%s", refused)
	}

	_, stdout, stderr := k.diffLive(cluster.Kubeconfig(), app(strings.Replace(applied, "replicas: 0, ", "", 1)), "--server-side", "-o", "json")
	check("replicas, asked of the server", "as above", stdout+stderr, []string{"nginx:1", "spec.replicas stays: owned by appsvc-replicas"})
	code, stdout, stderr := k.diffLive(cluster.Kubeconfig(), app(applied), "--server-side")
	if code != 1 || stderr != "" || !strings.Contains(stdout, "image: other:1 -> nginx:1") {
		t.Errorf("--server-side: exit code %d\n%s%s", code, stdout, stderr)
	}
}

// requestsOf are those of a user in the namespace.
func (k kubectl) requestsOf(user string) controlplane.Requests {
	k.t.Helper()
	requests, err := k.cluster.Requests(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	return requests.By(user).In(k.namespace)
}

// TestDiffLiveWithoutItsNamespace: what is to come can be seen before anything is there.
func TestDiffLiveWithoutItsNamespace(t *testing.T) {
	t.Parallel()
	cluster := started(t)
	k := kubectl{t: t, cluster: cluster, namespace: "not-there"}
	code, stdout, stderr := k.diffLive(cluster.Kubeconfig(), appServiceOf("web", "ports: [{port: 80}]"))
	if code != 1 || stderr != "" || !strings.Contains(stdout, "2 to create") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	code, _, stderr = k.diffLive(cluster.Kubeconfig(), appServiceOf("web", "ports: [{port: 80}]"), "--server-side")
	if code != 1 || !strings.Contains(stderr, `there is no namespace "not-there" yet`) {
		t.Errorf("--server-side: exit code %d\n%s", code, stderr)
	}
}
