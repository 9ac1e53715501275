package controller_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// endpoint is where a controller listens.
type endpoint struct{ metrics, probes string }

// listens gives the flags for an endpoint of its own, without TLS.
func listens(t *testing.T) (endpoint, []string) {
	t.Helper()
	e := endpoint{freeAddress(t), freeAddress(t)}
	return e, []string{"--metrics-bind-address=" + e.metrics, "--metrics-secure=false", "--health-probe-bind-address=" + e.probes}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// value adds up the series of a metric whose labels hold some text.
func (e endpoint) value(ctx context.Context, metric, labels string) (float64, error) {
	code, body, err := get(ctx, "http://"+e.metrics+"/metrics", "")
	if err != nil || code != http.StatusOK {
		return 0, errors.Join(err, fmt.Errorf("status %d", code))
	}
	sum := 0.0
	for line := range strings.Lines(body) {
		name, number, ok := strings.Cut(strings.TrimSpace(line), " ")
		if base, _, _ := strings.Cut(name, "{"); !ok || base != metric || !strings.Contains(name, labels) {
			continue
		}
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

// isReady says why a controller is not ready.
func (e endpoint) isReady(ctx context.Context) error {
	code, body, err := get(ctx, "http://"+e.probes+"/readyz", "")
	if err == nil && code != http.StatusOK {
		err = fmt.Errorf("not ready: %d %s", code, body)
	}
	return err
}

func get(ctx context.Context, url, token string) (int, string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	// The certificate is the controller's own, made when it starts.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// TestMetricsAreForThoseWhoMayReadThem: who asks has to prove who they are, and be
// allowed to.
func TestMetricsAreForThoseWhoMayReadThem(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	k, m := own(t, "--metrics-bind-address="+address)
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	k.apply(appServiceOf("web", "replicas: 0, ports: [{port: 80}]"))
	k.ready()
	reader, err := k.cluster.ServiceAccount(t.Context(), k.namespace, "reader", &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: k.namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "appsvc-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: k.namespace, Name: "reader"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	nobody, err := k.cluster.ServiceAccount(t.Context(), k.namespace, "nobody")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		token string
		want  int
	}{
		{"without a token", "", http.StatusUnauthorized},
		{"who may not", nobody.BearerToken, http.StatusForbidden},
		{"who may", reader.BearerToken, http.StatusOK},
	} {
		eventually(t, func(ctx context.Context) error {
			code, body, err := get(ctx, "https://"+address+"/metrics", test.token)
			switch {
			case err != nil:
				return err
			case code != test.want:
				return fmt.Errorf("%s: %d, want %d: %s", test.name, code, test.want, body)
			case code == http.StatusOK && !strings.Contains(body, `appsvc_applied_objects_total{result="created"} 2`):
				return fmt.Errorf("%s: the objects that were created are not counted:\n%s", test.name, body)
			}
			return nil
		})
	}
}

// TestProbes: a controller is alive at once, and ready when its caches are filled.
func TestProbes(t *testing.T) {
	t.Parallel()
	e, flags := listens(t)
	k, m := own(t, flags...)
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		code, _, err := get(ctx, "http://"+e.probes+"/healthz", "")
		if err == nil && code != http.StatusOK {
			err = fmt.Errorf("status %d", code)
		}
		return err
	})
	eventually(t, e.isReady)
	// Profiles are not served unless that is asked for.
	if code, _, err := get(t.Context(), "http://"+e.probes+"/debug/pprof/", ""); err != nil || code != http.StatusNotFound {
		t.Errorf("profiles: %d, %v", code, err)
	}
	k.apply(appServiceOf("broken", `env: [{name: "A=B", value: x}]`))
	eventually(t, func(ctx context.Context) error {
		n, err := e.value(ctx, "appsvc_appservices", `ready="false"`)
		if err == nil && n != 1 {
			err = fmt.Errorf("%v AppServices are not Ready, want 1", n)
		}
		return err
	})
	k.run("delete", "appservice", "broken")
	eventually(t, func(ctx context.Context) error {
		n, err := e.value(ctx, "appsvc_appservices", "")
		if err == nil && n != 0 {
			err = fmt.Errorf("%v AppServices are counted, want none", n)
		}
		return err
	})
}
