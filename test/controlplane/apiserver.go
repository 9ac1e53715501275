package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	"kudevops.io/appsvc/test/controlplane/binaries"
)

// process describes one of the cluster's processes. ready says why it is not
// ready yet.
func (c *Cluster) process(name binaries.Name, opts Options, args func(n int) []string, ready func(context.Context) error) *Process {
	extra := opts.ExtraArgs[name]
	group := c.guard
	return &Process{
		name:  name,
		path:  c.paths[name],
		args:  func(n int) []string { return append(args(n), extra...) },
		dir:   c.Dir,
		attr:  group.Attr,
		ready: ready,
	}
}

// etcd keeps its data in the cluster's folder, and does not wait for the disk: the
// data need not outlive the machine.
func (c *Cluster) etcd(opts Options) *Process {
	clients, peers := "https://"+address(c.ports.etcd), "https://"+address(c.ports.etcdPeer)
	ca, cert, key := c.pki.file("ca.crt"), c.pki.file("server.crt"), c.pki.file("server.key")
	return c.process(binaries.Etcd, opts, func(int) []string {
		return []string{
			"--data-dir=" + filepath.Join(c.Dir, "etcd"),
			"--unsafe-no-fsync",
			"--listen-client-urls=" + clients,
			"--advertise-client-urls=" + clients,
			"--listen-peer-urls=" + peers,
			"--initial-advertise-peer-urls=" + peers,
			"--initial-cluster=default=" + peers,
			"--client-cert-auth", "--trusted-ca-file=" + ca, "--cert-file=" + cert, "--key-file=" + key,
			"--peer-client-cert-auth", "--peer-trusted-ca-file=" + ca, "--peer-cert-file=" + cert, "--peer-key-file=" + key,
		}
	}, func(ctx context.Context) error { return c.get(ctx, clients+"/health") })
}

// apiServer is the API server, with what tests need beyond a production one: room
// for 262,142 Services (the default is 254 in envtest), and the audit log.
func (c *Cluster) apiServer(opts Options) *Process {
	url := "https://" + address(c.ports.apiServer)
	return c.process(binaries.APIServer, opts, func(n int) []string {
		return []string{
			"--etcd-servers=https://" + address(c.ports.etcd),
			"--etcd-cafile=" + c.pki.file("ca.crt"),
			"--etcd-certfile=" + c.pki.file("server.crt"),
			"--etcd-keyfile=" + c.pki.file("server.key"),
			"--bind-address=" + loopback,
			// Otherwise it looks for a default route, which an offline machine lacks.
			"--advertise-address=" + loopback,
			fmt.Sprintf("--secure-port=%d", c.ports.apiServer),
			"--tls-cert-file=" + c.pki.file("server.crt"),
			"--tls-private-key-file=" + c.pki.file("server.key"),
			"--client-ca-file=" + c.pki.file("ca.crt"),
			"--requestheader-client-ca-file=" + c.pki.file("front-proxy.crt"),
			"--requestheader-allowed-names=" + frontProxyName,
			"--requestheader-username-headers=" + userHeader,
			"--requestheader-group-headers=" + groupHeader,
			"--requestheader-extra-headers-prefix=" + extraHeaderPrefix,
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + c.pki.file("service-accounts"),
			"--service-account-signing-key-file=" + c.pki.file("service-accounts"),
			"--authorization-mode=RBAC",
			"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
			"--allow-privileged=true",
			"--service-cluster-ip-range=10.96.0.0/14",
			// The endpoints of the Service "kubernetes" cannot be a loopback address.
			"--endpoint-reconciler-type=none",
			"--audit-policy-file=" + filepath.Join(c.Dir, auditPolicyFile),
			"--audit-log-path=" + c.audit.file(n),
			"--audit-log-mode=blocking",
			"--audit-log-maxsize=0",
		}
	}, func(ctx context.Context) error { return c.get(ctx, url+"/readyz") })
}

// get asks url, as the cluster's own server, and wants status 200. Another
// cluster's process that has taken the port has no certificate of ours.
func (c *Cluster) get(ctx context.Context, url string) error {
	cert, err := tls.LoadX509KeyPair(c.pki.file("server.crt"), c.pki.file("server.key"))
	if err != nil {
		return err
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: c.pki.clients.pool()}}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, Timeout: 5 * time.Second}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s: %s", url, response.Status, body)
	}
	return nil
}

// pool is the authority alone.
func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}
