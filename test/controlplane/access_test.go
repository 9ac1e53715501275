package controlplane_test

import (
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"kudevops.io/appsvc/test/controlplane"
)

func TestServiceAccountIsLimitedByRBAC(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	namespace, other := cluster.Namespace(t), cluster.Namespace(t)
	config, err := cluster.ServiceAccount(t.Context(), namespace, "robot", editor(namespace, "robot")...)
	if err != nil {
		t.Fatal(err)
	}
	client := clientOf(t, config)
	if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), configMap("a"), metav1.CreateOptions{}); err != nil {
		t.Errorf("what the role allows: %v", err)
	}
	if _, err := client.CoreV1().ConfigMaps(other).Create(t.Context(), configMap("a"), metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("in another namespace: %v, want Forbidden", err)
	}
	if _, err := client.CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("another kind: %v, want Forbidden", err)
	}
}

func TestOwnerReferencesPermissionEnforcement(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	namespace := cluster.Namespace(t)
	config, err := cluster.ServiceAccount(t.Context(), namespace, "robot", editor(namespace, "robot")...)
	if err != nil {
		t.Fatal(err)
	}
	owner, err := cluster.Client().AppsV1().Deployments(namespace).Create(t.Context(), deployment("owner"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The robot may do everything with ConfigMaps and nothing with Deployments.
	block, owned := true, configMap("owned")
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "owner", UID: owner.UID, BlockOwnerDeletion: &block}}
	maps := clientOf(t, config).CoreV1().ConfigMaps(namespace)
	if _, err := maps.Create(t.Context(), owned, metav1.CreateOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "cannot set blockOwnerDeletion") {
		t.Errorf("blocking the deletion of an owner that one may not change: %v", err)
	}
	block = false
	if _, err := maps.Create(t.Context(), owned, metav1.CreateOptions{}); err != nil {
		t.Errorf("without blocking: %v", err)
	}
}

func TestIdentities(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	namespace := cluster.Namespace(t)
	certified, err := cluster.User("jane", "team-a", "team-b")
	if err != nil {
		t.Fatal(err)
	}
	account, err := cluster.ServiceAccount(t.Context(), namespace, "robot")
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := cluster.FaultProxy(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, reason string
		config       *rest.Config
		user, groups string
	}{
		{"admin", "of the group that may do everything", cluster.Config(), "admin", "system:masters"},
		{"certificate", "the name and the groups are in it", certified, "jane", "team-a team-b"},
		{"token", "of a ServiceAccount", account, "system:serviceaccount:" + namespace + ":robot", "system:serviceaccounts system:serviceaccounts:" + namespace},
		{"impersonated", "admin may be anybody", cluster.Impersonate("joe", "team-c"), "joe", "team-c"},
	} {
		for way, config := range map[string]*rest.Config{"directly": test.config, "by proxy": proxy.Config(test.config)} {
			t.Run(test.name+" "+way, func(t *testing.T) {
				t.Parallel()
				review, err := clientOf(t, config).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
				if err != nil {
					t.Fatal(err)
				}
				user := review.Status.UserInfo
				if groups := strings.Join(user.Groups, " "); user.Username != test.user || groups != test.groups+" system:authenticated" {
					t.Errorf("the API server sees %q of %q, want %q of %q: %s", user.Username, groups, test.user, test.groups, test.reason)
				}
			})
		}
	}
}

func TestKubeconfig(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	namespace := cluster.Namespace(t)
	account, err := cluster.ServiceAccount(t.Context(), namespace, "robot")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(account, path); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, want string
		args       []string
	}{
		{"admin", "admin", nil},
		{"ServiceAccount", "system:serviceaccount:" + namespace + ":robot", []string{"--kubeconfig", path}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			args := append(test.args, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
			out, err := cluster.Kubectl(t.Context(), args...).Output()
			if err != nil || string(out) != test.want {
				t.Errorf("kubectl auth whoami: %q, %v, want %q", out, err, test.want)
			}
		})
	}
}
