package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"kudevops.io/appsvc/test/controlplane/binaries"
)

// adminUser is the user of Config, and adminKubeconfig the file in the cluster's
// folder that has the same.
const (
	adminUser       = "admin"
	adminKubeconfig = "kubeconfig"
)

// makeClients makes the clients that the cluster itself uses.
func (c *Cluster) makeClients() (err error) {
	if c.admin, err = c.User(adminUser, "system:masters"); err != nil {
		return err
	}
	if c.client, err = kubernetes.NewForConfig(c.admin); err != nil {
		return err
	}
	if c.dynamic, err = dynamic.NewForConfig(c.admin); err != nil {
		return err
	}
	c.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.client.Discovery()))
	return WriteKubeconfig(c.admin, c.Kubeconfig())
}

// Config is the access of "admin", who may do everything. It is the caller's own.
// As in all of the cluster's configurations, the client limits no rate.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.admin) }

// Kubeconfig is a file with the access of Config.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.Dir, adminKubeconfig) }

// Client is a client of Config.
func (c *Cluster) Client() kubernetes.Interface { return c.client }

// Dynamic is a client of Config.
func (c *Cluster) Dynamic() dynamic.Interface { return c.dynamic }

// User is the access of a user in groups, who proves who he is by a certificate:
// nothing is impersonated. What he may do is up to RBAC; the group system:masters
// may do everything.
func (c *Cluster) User(name string, groups ...string) (*rest.Config, error) {
	pair, err := c.pki.clients.issue(name, groups...)
	if err != nil {
		return nil, err
	}
	config := c.anonymous()
	config.CertData, config.KeyData = pair.cert, pair.key
	return config, nil
}

// anonymous is an access that names no user.
func (c *Cluster) anonymous() *rest.Config {
	return &rest.Config{
		Host:            "https://" + address(c.ports.apiServer),
		TLSClientConfig: rest.TLSClientConfig{CAData: c.pki.clients.certPEM},
		QPS:             -1,
	}
}

// Impersonate is the access of admin on behalf of a user in groups.
func (c *Cluster) Impersonate(name string, groups ...string) *rest.Config {
	config := c.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: groups}
	return config
}

// ServiceAccount is the access of a ServiceAccount, by a token that is good for an
// hour. The ServiceAccount is created if need be, and objects, such as the
// roles and bindings that say what it may do, are applied first.
func (c *Cluster) ServiceAccount(ctx context.Context, namespace, name string, objects ...runtime.Object) (*rest.Config, error) {
	if err := c.Apply(ctx, objects...); err != nil {
		return nil, err
	}
	accounts := c.client.CoreV1().ServiceAccounts(namespace)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	if _, err := accounts.Create(ctx, account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("create ServiceAccount %s/%s: %w", namespace, name, err)
	}
	token, err := accounts.CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("create a token for ServiceAccount %s/%s: %w", namespace, name, err)
	}
	config := c.anonymous()
	config.BearerToken = token.Status.Token
	return config, nil
}

// WriteKubeconfig writes an access to a file, which kubectl and every other
// client understands.
func WriteKubeconfig(config *rest.Config, path string) error {
	const name = "controlplane"
	kubeconfig := clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {
			Server:                   config.Host,
			CertificateAuthorityData: config.CAData,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			ClientCertificateData: config.CertData,
			ClientKeyData:         config.KeyData,
			Token:                 config.BearerToken,
			Impersonate:           config.Impersonate.UserName,
			ImpersonateGroups:     config.Impersonate.Groups,
		}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}
	return clientcmd.WriteToFile(kubeconfig, path)
}

// Kubectl is a command that runs the cluster's own kubectl as admin, in the
// current folder, and never touches the user's settings and caches. Another access
// goes by the flag --kubeconfig (see WriteKubeconfig).
func (c *Cluster) Kubectl(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.paths[binaries.Kubectl], args...)
	cmd.Env = append(os.Environ(),
		"KUBECONFIG="+c.Kubeconfig(),
		"KUBECACHEDIR="+filepath.Join(c.Dir, "kubectl-cache"),
		"KUBERC=off",
	)
	return cmd
}
