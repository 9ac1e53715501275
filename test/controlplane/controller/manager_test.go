package controller_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"kudevops.io/appsvc/test/controlplane"
)

const (
	// namespace and account are those of config/default.
	namespace = "appsvc-system"
	account   = "appsvc-controller"
	// user is whom the API server takes the controller for.
	user = "system:serviceaccount:" + namespace + ":" + account
)

// repository is its root.
var repository = filepath.Join("..", "..", "..")

// shared is the cluster of all tests that neither stop the controller nor disturb the
// cluster; started gives it, with a controller that runs in it.
var shared = controlplane.NewShared(options())

var (
	sharedOnce    sync.Once
	sharedManager *manager
	sharedFailure error
)

func options() controlplane.Options {
	return controlplane.Options{CRDs: []controlplane.CRDs{
		controlplane.AppServiceCRDs, controlplane.GatewayAPICRDs, controlplane.ServiceMonitorCRDs,
	}}
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "appsvc-controller-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program.dir = dir
	code := shared.Run(m)
	err = os.RemoveAll(dir)
	if sharedManager != nil {
		err = errors.Join(err, sharedManager.kill())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// program is appsvc-controller, built once.
var program struct {
	dir  string
	once sync.Once
	path string
	err  error
}

func build() (string, error) {
	program.once.Do(func() {
		program.path = filepath.Join(program.dir, "appsvc-controller")
		cmd := exec.Command("go", "build", "-o", program.path, "./cmd/appsvc-controller")
		cmd.Dir = repository
		if out, err := cmd.CombinedOutput(); err != nil {
			program.err = fmt.Errorf("build appsvc-controller: %w\n%s", err, out)
		}
	})
	return program.path, program.err
}

// started gives the shared cluster with a controller in it.
func started(t *testing.T) *controlplane.Cluster {
	t.Helper()
	cluster := shared.Cluster(t)
	sharedOnce.Do(func() {
		if sharedManager, sharedFailure = newManager(context.Background(), cluster); sharedFailure == nil {
			sharedFailure = sharedManager.start()
		}
	})
	if sharedFailure != nil {
		t.Fatal(sharedFailure)
	}
	return cluster
}

// logsOnFailure shows what the shared controller has written, if the test failed.
func logsOnFailure(t *testing.T) {
	if t.Failed() {
		t.Log(sharedManager.logs.String())
	}
}

// manager is the controller's process.
type manager struct {
	kubeconfig string
	args       []string
	logs       *logs

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{}
}

// logs are what the controller has written. They may be read while it writes.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// newManager installs what the controller needs, as `make deploy` does it, all but its
// Deployment, and gives a controller that is yet to be started. Its access is that of its
// ServiceAccount, with the roles that are shipped.
func newManager(ctx context.Context, cluster *controlplane.Cluster, args ...string) (*manager, error) {
	manifests, err := cluster.Kubectl(ctx, "kustomize", filepath.Join(repository, "config", "without-crd")).Output()
	if err != nil {
		return nil, fmt.Errorf("build config/without-crd: %w", err)
	}
	objects, err := controlplane.ReadObjects(bytes.NewReader(manifests))
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		if kind := object.GetObjectKind().GroupVersionKind().Kind; kind == "Deployment" || kind == "PodDisruptionBudget" || kind == "Service" {
			continue
		}
		if err := cluster.Apply(ctx, object); err != nil {
			return nil, err
		}
	}
	config, err := cluster.ServiceAccount(ctx, namespace, account)
	if err != nil {
		return nil, err
	}
	return managerAs(config, args...)
}

// managerAs gives a controller with some access.
func managerAs(config *rest.Config, args ...string) (*manager, error) {
	file, err := os.CreateTemp(program.dir, "kubeconfig-")
	if err != nil {
		return nil, err
	}
	file.Close()
	m := &manager{kubeconfig: file.Name(), logs: &logs{}}
	m.args = append([]string{"--kubeconfig", file.Name(), "--metrics-bind-address=0", "--health-probe-bind-address=0"}, args...)
	return m, controlplane.WriteKubeconfig(config, file.Name())
}

// start starts the program.
func (m *manager) start() error {
	path, err := build()
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cmd = exec.Command(path, m.args...)
	m.cmd.Stderr = m.logs
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := m.cmd.Start(); err != nil {
		return err
	}
	m.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		cmd.Wait()
		close(ended)
	}(m.cmd, m.ended)
	return nil
}

// kill ends the program as a machine that loses power does.
func (m *manager) kill() error { return m.end(os.Kill) }

// stop asks the program to end, and waits for it.
func (m *manager) stop() error { return m.end(syscall.SIGTERM) }

func (m *manager) end(signal os.Signal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd == nil {
		return nil
	}
	if err := m.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-m.ended:
	case <-time.After(time.Minute):
		return errors.New("appsvc-controller does not end")
	}
	m.cmd = nil
	return nil
}
