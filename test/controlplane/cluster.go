package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"kudevops.io/appsvc/test/controlplane/binaries"
	"kudevops.io/appsvc/test/controlplane/internal/guard"
)

// KeepVariable is the environment variable that, when it is not empty, keeps the
// folder of each cluster: the logs, the audit log, the data of etcd, a kubeconfig.
// Where it is, is said on the standard error.
const KeepVariable = "APPSVC_CONTROLPLANE_KEEP"

// startTimeout is how long a cluster, or a process that is started again, may take
// until it answers. On a machine with two cores that does nothing else it is 5
// seconds.
const startTimeout = 3 * time.Minute

// Options for Start. The zero value is a cluster with one node and no CRDs.
type Options struct {
	// APIServerOnly leaves out all but etcd and the API server: objects are stored
	// and admitted, and nothing acts on them. No nodes then.
	APIServerOnly bool
	// Nodes is the number of nodes, whose pods become Ready at once. Zero means one.
	Nodes int
	// CRDs are installed before any controller starts. (The garbage collector takes
	// up to 30 seconds to notice a kind that comes later.)
	CRDs []CRDs
	// ExtraArgs are further arguments for a process. They come last, and so win.
	ExtraArgs map[binaries.Name][]string
	// Progress is told what is being built. Nil means the standard error.
	Progress io.Writer
	// Keep keeps the cluster's folder after Stop, as KeepVariable does.
	Keep bool
}

// Cluster is a running Kubernetes. All methods may be called at the same time.
type Cluster struct {
	// Dir is the folder of the cluster. Each process logs to NAME.log in it.
	Dir string

	paths     binaries.Paths
	keep      bool
	guard     *guard.Guard
	pki       *pki
	ports     ports
	processes map[binaries.Name]*Process
	order     []binaries.Name
	admin     *rest.Config
	client    kubernetes.Interface
	dynamic   dynamic.Interface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	audit     *auditLog

	mu      sync.Mutex
	closers []func()
}

// Start builds what is not built yet, starts a cluster and waits until it answers,
// its CRDs are established and its nodes are ready. ctx bounds the start alone;
// the cluster runs until Stop.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	paths, err := binaries.Ensure(ctx, binaries.Options{Progress: opts.Progress})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not ready after %s", startTimeout))
	defer cancel()
	// A port that was free a moment ago may not be so any more.
	const attempts = 3
	for attempt := 1; ; attempt++ {
		c, err := start(ctx, paths, opts)
		if err == nil {
			return c, nil
		}
		if attempt == attempts || !strings.Contains(err.Error(), "address already in use") {
			return nil, fmt.Errorf("start a cluster: %w", err)
		}
	}
}

// start is one attempt at Start. It leaves nothing running when it fails.
func start(ctx context.Context, paths binaries.Paths, opts Options) (_ *Cluster, err error) {
	c := &Cluster{paths: paths, keep: opts.Keep || os.Getenv(KeepVariable) != "", processes: map[binaries.Name]*Process{}}
	if c.Dir, err = os.MkdirTemp("", "appsvc-controlplane-"); err != nil {
		return nil, err
	}
	remove := c.Dir
	if c.keep {
		remove = ""
		fmt.Fprintln(os.Stderr, "controlplane: the cluster's folder will be kept:", c.Dir)
	}
	if c.guard, err = guard.New(remove); err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.Dir))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.shutdown())
		}
	}()
	if err := c.prepare(); err != nil {
		return nil, err
	}
	if err := c.run(ctx, c.etcd(opts)); err != nil {
		return nil, err
	}
	if err := c.run(ctx, c.apiServer(opts)); err != nil {
		return nil, err
	}
	if err := c.InstallCRDs(ctx, opts.CRDs...); err != nil {
		return nil, err
	}
	if opts.APIServerOnly {
		return c, nil
	}
	return c, c.startControllers(ctx, opts)
}

// prepare makes what the processes have in common: ports, keys, clients.
func (c *Cluster) prepare() (err error) {
	if c.ports, err = choosePorts(); err != nil {
		return err
	}
	if c.pki, err = newPKI(filepath.Join(c.Dir, "pki")); err != nil {
		return fmt.Errorf("make certificates: %w", err)
	}
	c.audit = &auditLog{dir: c.Dir}
	if err := os.WriteFile(filepath.Join(c.Dir, auditPolicyFile), []byte(auditPolicy), 0o644); err != nil {
		return err
	}
	return c.makeClients()
}

// startControllers starts what acts on objects, and the nodes.
func (c *Cluster) startControllers(ctx context.Context, opts Options) error {
	manager, err := c.controllerManager(opts)
	if err != nil {
		return err
	}
	scheduler, err := c.scheduler(opts)
	if err != nil {
		return err
	}
	kwok, err := c.kwok(ctx, opts)
	if err != nil {
		return err
	}
	for _, p := range []*Process{manager, scheduler, kwok} {
		if err := c.launch(p); err != nil {
			return err
		}
	}
	if err := c.createNodes(ctx, max(1, opts.Nodes)); err != nil {
		return err
	}
	for _, p := range []*Process{manager, scheduler, kwok} {
		if err := p.waitReady(ctx); err != nil {
			return err
		}
	}
	return nil
}

// run launches a process and waits until it is ready.
func (c *Cluster) run(ctx context.Context, p *Process) error {
	if err := c.launch(p); err != nil {
		return err
	}
	return p.waitReady(ctx)
}

// launch starts a process that from then on belongs to the cluster.
func (c *Cluster) launch(p *Process) error {
	c.processes[p.name] = p
	c.order = append(c.order, p.name)
	return p.launch()
}

// Process is one of the cluster's processes, or nil if the cluster has none of
// that name.
func (c *Cluster) Process(name binaries.Name) *Process { return c.processes[name] }

// onStop has f called when the cluster is stopped.
func (c *Cluster) onStop(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closers = append(c.closers, f)
}

// Stop ends all processes and removes the folder. The error names the processes
// that had ended by themselves before. A second call does nothing.
func (c *Cluster) Stop() error {
	var errs []error
	for _, name := range c.order {
		errs = append(errs, c.processes[name].crashed())
	}
	return errors.Join(append(errs, c.shutdown())...)
}

// shutdown is Stop without looking for what had ended before.
func (c *Cluster) shutdown() error {
	c.mu.Lock()
	closers, group := c.closers, c.guard
	c.closers, c.guard = nil, nil
	c.mu.Unlock()
	if group == nil {
		return nil
	}
	for _, f := range closers {
		f()
	}
	for _, p := range c.processes {
		p.expectEnd()
	}
	err := group.Close()
	for _, p := range c.processes {
		p.wait()
	}
	return err
}
