package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"kudevops.io/appsvc/test/controlplane/binaries"
)

// tailLines is how many lines of a process's log come with an error.
const tailLines = 12

// Process is one process of a cluster. It keeps its address, its data and its log
// when it is started again.
type Process struct {
	name binaries.Name
	path string
	// args for the nth start, beginning with 1.
	args func(n int) []string
	dir  string
	attr func() *syscall.SysProcAttr
	// ready says why the process is not ready yet.
	ready func(context.Context) error

	mu       sync.Mutex
	starts   int
	cmd      *exec.Cmd
	ended    chan struct{} // closed when cmd has ended
	endError error         // how cmd ended
	expected bool          // whether cmd was to end
}

// Name is the name of the process's program.
func (p *Process) Name() binaries.Name { return p.name }

// LogFile is the file that holds what the process printed since its first start.
func (p *Process) LogFile() string { return filepath.Join(p.dir, string(p.name)+".log") }

// Running says whether the process runs; one that is paused does.
func (p *Process) Running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running()
}

// PID is the number of the process, which changes when it is started again.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd.Process.Pid
}

func (p *Process) running() bool {
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Pause stops the process from running, as a machine that hangs does: connections
// stay open and nothing answers.
func (p *Process) Pause() error { return p.signal(syscall.SIGSTOP) }

// Resume ends a Pause.
func (p *Process) Resume() error { return p.signal(syscall.SIGCONT) }

// Kill ends the process at once (SIGKILL), paused or not. It stays down until
// Start.
func (p *Process) Kill() error {
	p.expectEnd()
	err := p.signal(syscall.SIGKILL)
	p.wait()
	return err
}

// Shutdown asks the process to end (SIGTERM) and waits until it has; when ctx is
// done before that, the process is killed.
func (p *Process) Shutdown(ctx context.Context) error {
	p.expectEnd()
	// One that is paused would not see the request.
	if err := errors.Join(p.signal(syscall.SIGTERM), p.signal(syscall.SIGCONT)); err != nil {
		return err
	}
	select {
	case <-p.endedChan():
		return nil
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("shut %s down: %w", p.name, context.Cause(ctx)), p.Kill())
	}
}

// Start starts a process that Kill or Shutdown ended and waits until it is ready.
// (The API server, for its part, needs up to a second to notice that etcd is back.)
func (p *Process) Start(ctx context.Context) error {
	// The system may have given the port to somebody's outgoing connection meanwhile,
	// or not have taken it back yet.
	const attempts = 10
	for attempt := 1; ; attempt++ {
		if err := p.launch(); err != nil {
			return err
		}
		err := p.waitReady(ctx)
		if err == nil || attempt == attempts || !strings.Contains(err.Error(), "address already in use") {
			return err
		}
		time.Sleep(time.Second)
	}
}

// Restart is Shutdown and Start.
func (p *Process) Restart(ctx context.Context) error {
	if err := p.Shutdown(ctx); err != nil {
		return err
	}
	return p.Start(ctx)
}

// launch starts the process and does not wait.
func (p *Process) launch() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running() {
		return fmt.Errorf("start %s: it runs already", p.name)
	}
	log, err := os.OpenFile(p.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own
	p.starts++
	cmd := exec.Command(p.path, p.args(p.starts)...)
	cmd.Dir = p.dir
	// Nothing of the user's: no kubeconfig, no ~/.kwok, no proxy.
	cmd.Env = []string{"HOME=" + p.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + p.dir}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = p.attr()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	ended := make(chan struct{})
	p.cmd, p.ended, p.expected, p.endError = cmd, ended, false, nil
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		p.endError = err
		p.mu.Unlock()
		close(ended)
	}()
	return nil
}

// waitReady waits until the process is ready, or has ended.
func (p *Process) waitReady(ctx context.Context) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := p.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-p.endedChan():
			return p.failure("ended while it was starting")
		case <-ctx.Done():
			return fmt.Errorf("%w: %w: %w", p.failure("is not ready"), context.Cause(ctx), err)
		}
	}
}

// crashed is an error if the process ended and nobody had asked it to.
func (p *Process) crashed() error {
	p.mu.Lock()
	crashed := p.cmd != nil && !p.running() && !p.expected
	p.mu.Unlock()
	if !crashed {
		return nil
	}
	return p.failure("ended by itself")
}

// failure is an error that says what is wrong and ends with the process's log.
func (p *Process) failure(what string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.endError != nil {
		what += " (" + p.endError.Error() + ")"
	}
	return fmt.Errorf("%s %s; the end of its log:\n%s", p.name, what, tail(p.LogFile(), tailLines))
}

// expectEnd says that the end of the process will be no crash.
func (p *Process) expectEnd() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = p.expected || p.running()
}

// wait waits until the process, if it ever started, has ended.
func (p *Process) wait() {
	if ended := p.endedChan(); ended != nil {
		<-ended
	}
}

func (p *Process) endedChan() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// signal sends a signal. It holds the lock so that the process, and with it the
// number, is not another one by then.
func (p *Process) signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running() {
		return fmt.Errorf("%s does not run", p.name)
	}
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("send %v to %s: %w", s, p.name, err)
	}
	return nil
}

// tail is the last lines of a file.
func tail(path string, lines int) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
