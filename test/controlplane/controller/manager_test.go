package controller_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"kudevops.io/appsvc/test/controlplane"
	"kudevops.io/appsvc/test/controlplane/binaries"
	"kudevops.io/appsvc/test/controlplane/internal/guard"
	"kudevops.io/appsvc/test/controlplane/internal/shipped"
)

const user = shipped.User

// repository is its root.
var repository = filepath.Join("..", "..", "..")

// shared is the cluster of all tests that neither stop the controller nor disturb the
// cluster: started gives it, with a controller that handles all of it.
var shared = controlplane.NewShared(options())

var (
	sharedOnce    sync.Once
	sharedManager *shipped.Controller
	sharedFailure error
)

// bare is the cluster of the tests that have controllers of their own, each for its own
// namespace: see own.
var bare struct {
	once    sync.Once
	cluster *controlplane.Cluster
	access  *rest.Config
	err     error
}

func options() controlplane.Options {
	return controlplane.Options{
		CRDs:      []controlplane.CRDs{controlplane.AppServiceCRDs, controlplane.GatewayAPICRDs, controlplane.ServiceMonitorCRDs},
		ExtraArgs: patient(),
	}
}

// patient: on a machine that is busy, the heartbeats of a node may be late by more than the
// forty seconds that are the default. Its pods would then be made not Ready, and kwok never
// makes them Ready again, as a kubelet does.
func patient() map[binaries.Name][]string {
	return map[binaries.Name][]string{binaries.ControllerManager: {"--node-monitor-grace-period=1h"}}
}

// program is appsvc-controller, and what all its processes end with.
var program struct {
	dir   string
	path  string
	guard *guard.Guard
}

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if program.dir, err = os.MkdirTemp("", "appsvc-controller-"); err != nil {
		return 1, err
	}
	if program.guard, err = guard.New(program.dir); err != nil {
		return 1, errors.Join(err, os.RemoveAll(program.dir))
	}
	defer func() { err = errors.Join(err, program.guard.Close()) }()
	// Before the tests, whose -timeout does not count that.
	if program.path, err = shipped.Build(context.Background(), program.dir, "appsvc-controller"); err != nil {
		return 1, err
	}
	code = shared.Run(m)
	if bare.cluster != nil {
		err = bare.cluster.Stop()
	}
	return code, err
}

// started gives the shared cluster with a controller in it.
func started(t *testing.T) *controlplane.Cluster {
	t.Helper()
	cluster := shared.Cluster(t)
	sharedOnce.Do(func() {
		if sharedManager, sharedFailure = newManager(context.Background(), cluster); sharedFailure == nil {
			sharedFailure = sharedManager.Start()
		}
	})
	if sharedFailure != nil {
		t.Fatal(sharedFailure)
	}
	return cluster
}

// own gives the bare cluster, a namespace in it and a controller for that alone, which is
// yet to be started. It ends with the test.
func own(t *testing.T, args ...string) (kubectl, *shipped.Controller) {
	t.Helper()
	cluster := bareCluster(t)
	k := kubectl{t: t, cluster: cluster, namespace: cluster.Namespace(t)}
	return k, k.manager(append([]string{"--namespaces=" + k.namespace}, args...)...)
}

func bareCluster(t *testing.T) *controlplane.Cluster {
	t.Helper()
	bare.once.Do(func() {
		// Not the context of the test that happens to be the first.
		ctx := context.Background()
		if bare.cluster, bare.err = controlplane.Start(ctx, options()); bare.err == nil {
			bare.access, bare.err = shipped.Install(ctx, bare.cluster)
		}
	})
	if bare.err != nil {
		t.Fatal(bare.err)
	}
	return bare.cluster
}

// manager gives a controller in the bare cluster, which ends with the test.
func (k kubectl) manager(args ...string) *shipped.Controller {
	k.t.Helper()
	return ends(k.t, bare.access, args...)
}

// ends gives a controller that ends with the test, and then shows what it wrote if the
// test failed.
func ends(t *testing.T, access *rest.Config, args ...string) *shipped.Controller {
	t.Helper()
	m, err := managerAs(access, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Kill(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(m.Logs())
		}
	})
	return m
}

// about are the lines of a controller's log that are about a namespace.
func about(logs, namespace string) string {
	var out strings.Builder
	for line := range strings.Lines(logs) {
		if strings.Contains(line, namespace) {
			out.WriteString(line)
		}
	}
	return out.String()
}

// newManager installs what the controller needs, and gives a controller that is yet to be
// started.
func newManager(ctx context.Context, cluster *controlplane.Cluster) (*shipped.Controller, error) {
	config, err := shipped.Install(ctx, cluster)
	if err != nil {
		return nil, err
	}
	return managerAs(config)
}

// managerAs gives a controller with some access.
func managerAs(config *rest.Config, args ...string) (*shipped.Controller, error) {
	file, err := os.CreateTemp(program.dir, "kubeconfig-")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(file.Close(), controlplane.WriteKubeconfig(config, file.Name())); err != nil {
		return nil, err
	}
	return &shipped.Controller{
		Program: program.path,
		Args:    append([]string{"--kubeconfig", file.Name(), "--metrics-bind-address=0", "--health-probe-bind-address=0"}, args...),
		Attr:    program.guard.Attr,
	}, nil
}
