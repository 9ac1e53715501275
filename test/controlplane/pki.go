package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// frontProxyName is the name that the API server lets say, in headers, on whose
// behalf a request is made. The fault proxy has it.
const frontProxyName = "front-proxy"

// loopback is the address that everything listens on.
const loopback = "127.0.0.1"

// pki is the cluster's keys and certificates, in a folder.
type pki struct {
	dir string
	// clients signs the certificates of servers and of users.
	clients *authority
	// frontProxies signs that of the fault proxy.
	frontProxies *authority
}

// newPKI makes all that the processes are started with.
func newPKI(dir string) (*pki, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	p := &pki{dir: dir}
	var err error
	if p.clients, err = newAuthority("cluster"); err != nil {
		return nil, err
	}
	if p.frontProxies, err = newAuthority("front-proxies"); err != nil {
		return nil, err
	}
	server, err := p.clients.issue("server")
	if err != nil {
		return nil, err
	}
	serviceAccounts, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serviceAccountsKey, err := encodeKey(serviceAccounts)
	if err != nil {
		return nil, err
	}
	for name, data := range map[string][]byte{
		"ca.crt":           p.clients.certPEM,
		"front-proxy.crt":  p.frontProxies.certPEM,
		"server.crt":       server.cert,
		"server.key":       server.key,
		"service-accounts": serviceAccountsKey,
	} {
		if err := os.WriteFile(p.file(name), data, 0o600); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// file is the path of one of the files.
func (p *pki) file(name string) string { return filepath.Join(p.dir, name) }

// authority signs certificates.
type authority struct {
	cert    *x509.Certificate
	key     *ecdsa.PrivateKey
	certPEM []byte
}

// pair is a certificate and its key, in PEM.
type pair struct{ cert, key []byte }

// tls is the pair as crypto/tls wants it.
func (p pair) tls() (tls.Certificate, error) { return tls.X509KeyPair(p.cert, p.key) }

// newAuthority makes an authority that certifies itself.
func newAuthority(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := certificate(pkix.Name{CommonName: name})
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{cert, key, encodeCertificate(der)}, nil
}

// issue certifies a new key for a name and groups, which are what Kubernetes takes
// for the user of a client's certificate. It serves for a server on the loopback
// address too.
func (a *authority) issue(name string, groups ...string) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	template, err := certificate(pkix.Name{CommonName: name, Organization: groups})
	if err != nil {
		return pair{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.DNSNames = []string{"localhost"}
	template.IPAddresses = []net.IP{net.ParseIP(loopback)}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return pair{}, fmt.Errorf("certify %q: %w", name, err)
	}
	keyPEM, err := encodeKey(key)
	return pair{encodeCertificate(der), keyPEM}, err
}

// certificate is what all certificates share. They outlive any test, and begin in
// the past because clocks of a container and its host differ.
func certificate(subject pkix.Name) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{
		SerialNumber:          serial,
		Subject:               subject,
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().AddDate(1, 0, 0),
		BasicConstraintsValid: true,
	}, nil
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), err
}
