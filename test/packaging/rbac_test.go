package packaging

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"

	"kudevops.io/appsvc/pkg/render"
)

// grant is one verb on one resource.
type grant struct{ resource, verb string }

func grantsOf(rules []rbacv1.PolicyRule) sets.Set[grant] {
	all := sets.New[grant]()
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					all.Insert(grant{resource: strings.TrimPrefix(group+"/"+resource, "/"), verb: verb})
				}
			}
		}
	}
	return all
}

// TestManagerRole: the controller may do what it needs with each kind that an AppService
// can render to, and nothing else at all.
func TestManagerRole(t *testing.T) {
	t.Parallel()
	want := sets.New[grant]()
	allow := func(resource string, verbs ...string) {
		for _, verb := range verbs {
			want.Insert(grant{resource: resource, verb: verb})
		}
	}
	for _, gvk := range render.Kinds() {
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		allow(strings.TrimPrefix(plural.Group+"/"+plural.Resource, "/"), "get", "list", "watch", "create", "patch", "delete")
	}
	allow("apps.kudevops.io/appservices", "get", "list", "watch")
	allow("apps.kudevops.io/appservices/status", "get", "patch")
	// Row 7: for blockOwnerDeletion where OwnerReferencesPermissionEnforcement is on.
	allow("apps.kudevops.io/appservices/finalizers", "update")
	allow("apps/replicasets", "list")
	// Row 6: the recorder's group is not the core group.
	allow("events.k8s.io/events", "create", "patch")

	role := roles(t, "config/rbac")["manager-role"]
	compareGrants(t, want, grantsOf(role))
}

// TestNamespacedRole: the same rules, in one namespace.
func TestNamespacedRole(t *testing.T) {
	t.Parallel()
	cluster, namespaced := roles(t, "config/rbac")["manager-role"], roles(t, "config/namespaced")["appsvc-manager-role"]
	if diff := cmp.Diff(cluster, namespaced); diff != "" || len(cluster) == 0 {
		t.Errorf("-cluster +namespaced:\n%s", diff)
	}
}

// TestOtherRoles pins what the other roles allow.
func TestOtherRoles(t *testing.T) {
	t.Parallel()
	want := map[string][]grant{
		"leader-election-role": {
			{"coordination.k8s.io/leases", "create"}, {"coordination.k8s.io/leases", "get"}, {"coordination.k8s.io/leases", "update"},
			{"events", "create"}, {"events", "patch"},
		},
		"metrics-auth-role": {
			{"authentication.k8s.io/tokenreviews", "create"}, {"authorization.k8s.io/subjectaccessreviews", "create"},
		},
		"metrics-reader": {},
		"appservice-viewer-role": {
			{"apps.kudevops.io/appservices", "get"}, {"apps.kudevops.io/appservices", "list"}, {"apps.kudevops.io/appservices", "watch"},
			{"apps.kudevops.io/appservices/scale", "get"}, {"apps.kudevops.io/appservices/status", "get"},
		},
		"appservice-editor-role": {
			{"apps.kudevops.io/appservices", "create"}, {"apps.kudevops.io/appservices", "delete"},
			{"apps.kudevops.io/appservices", "deletecollection"}, {"apps.kudevops.io/appservices", "get"},
			{"apps.kudevops.io/appservices", "list"}, {"apps.kudevops.io/appservices", "patch"},
			{"apps.kudevops.io/appservices", "update"}, {"apps.kudevops.io/appservices", "watch"},
			{"apps.kudevops.io/appservices/scale", "get"}, {"apps.kudevops.io/appservices/scale", "patch"},
			{"apps.kudevops.io/appservices/scale", "update"}, {"apps.kudevops.io/appservices/status", "get"},
		},
	}
	got := roles(t, "config/rbac")
	for name, rules := range got {
		if name == "manager-role" {
			continue
		}
		if _, known := want[name]; !known {
			t.Errorf("role %s is not known here", name)
			continue
		}
		compareGrants(t, sets.New(want[name]...), grantsOf(rules))
	}
	if len(got) != len(want)+1 {
		t.Errorf("%d roles, want %d", len(got), len(want)+1)
	}
	if diff := cmp.Diff([]rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}, got["metrics-reader"]); diff != "" {
		t.Errorf("metrics-reader, -want +got:\n%s", diff)
	}
}

// TestNoRoleIsWide: no wildcard, nothing about Secrets, no way to more rights, in any role
// that any kustomization brings.
func TestNoRoleIsWide(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"config/rbac", "config/default", "config/namespaced", "config/prometheus", "config/network-policy"} {
		for name, rules := range roles(t, dir) {
			for _, rule := range rules {
				words := slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs, rule.NonResourceURLs)
				for _, word := range words {
					if strings.Contains(word, "*") {
						t.Errorf("%s: %s has a wildcard: %q", dir, name, word)
					}
				}
				for _, resource := range rule.Resources {
					if slices.Contains([]string{"secrets", "pods/exec", "roles", "clusterroles", "serviceaccounts/token", "users", "groups", "nodes"}, resource) {
						t.Errorf("%s: %s has %s", dir, name, resource)
					}
				}
				for _, verb := range rule.Verbs {
					if slices.Contains([]string{"escalate", "bind", "impersonate"}, verb) {
						t.Errorf("%s: %s has %s", dir, name, verb)
					}
				}
			}
		}
	}
}

// TestAggregation: who may view, edit or administer a namespace may do so with its
// AppServices.
func TestAggregation(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"appservice-viewer-role": {"admin", "edit", "view"},
		"appservice-editor-role": {"admin", "edit"},
	}
	got := map[string][]string{}
	for _, o := range build(t, "config/rbac") {
		for key, value := range o.GetLabels() {
			if role, ok := strings.CutPrefix(key, "rbac.authorization.k8s.io/aggregate-to-"); ok && value == "true" {
				got[o.GetName()] = append(got[o.GetName()], role)
				slices.Sort(got[o.GetName()])
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func compareGrants(t *testing.T, want, got sets.Set[grant]) {
	t.Helper()
	for g := range want.Difference(got) {
		t.Errorf("missing: %s %s", g.verb, g.resource)
	}
	for g := range got.Difference(want) {
		t.Errorf("too much: %s %s", g.verb, g.resource)
	}
}

// roles gives the rules of all roles of a kustomization, by name.
func roles(t *testing.T, dir string) map[string][]rbacv1.PolicyRule {
	t.Helper()
	found := map[string][]rbacv1.PolicyRule{}
	for _, o := range build(t, dir) {
		switch o.GetKind() {
		case "ClusterRole", "Role":
			var role rbacv1.ClusterRole
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role); err != nil {
				t.Fatal(err)
			}
			found[role.Name] = role.Rules
		}
	}
	return found
}
