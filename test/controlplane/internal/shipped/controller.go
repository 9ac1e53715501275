package shipped

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Controller is a process of appsvc-controller. It can be started again after its end.
// Its methods may be called by several goroutines at once.
type Controller struct {
	// Program is the file of the program, and Args its arguments.
	Program string
	Args    []string
	// Attr ties the process to the life of this one: see internal/guard.
	Attr func() *syscall.SysProcAttr

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{}
	logs  logs
}

// logs are what the controller has written. They may be read while it writes.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write is io.Writer's.
func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// Logs are what the controller has written since its first start.
func (c *Controller) Logs() string {
	c.logs.mu.Lock()
	defer c.logs.mu.Unlock()
	return c.logs.text.String()
}

// Start starts the program, and does not wait for it to be of use.
func (c *Controller) Start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running() {
		return errors.New("appsvc-controller runs already")
	}
	cmd := exec.Command(c.Program, c.Args...)
	cmd.Stderr = &c.logs
	cmd.SysProcAttr = c.Attr()
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	c.cmd, c.ended = cmd, ended
	go func() {
		cmd.Wait() //nolint:errcheck // it is killed, mostly; Running and the logs tell
		close(ended)
	}()
	return nil
}

// Running says whether the program runs.
func (c *Controller) Running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running()
}

// PID is the number of the process of the last start, or 0 before the first and after the
// end.
func (c *Controller) PID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running() {
		return 0
	}
	return c.cmd.Process.Pid
}

func (c *Controller) running() bool {
	if c.cmd == nil {
		return false
	}
	select {
	case <-c.ended:
		return false
	default:
		return true
	}
}

// Kill ends the program as a machine that loses power does.
func (c *Controller) Kill() error { return c.end(syscall.SIGKILL) }

// Stop asks the program to end, as a kubelet does, and waits for it.
func (c *Controller) Stop() error { return c.end(syscall.SIGTERM) }

// Pause has the program stand still, and Resume go on.
func (c *Controller) Pause() error { return c.signal(syscall.SIGSTOP) }

// Resume ends a Pause.
func (c *Controller) Resume() error { return c.signal(syscall.SIGCONT) }

func (c *Controller) signal(signal os.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running() {
		return errors.New("appsvc-controller does not run")
	}
	return c.cmd.Process.Signal(signal)
}

// end ends the program; one that has ended by itself is an error.
func (c *Controller) end(signal os.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd == nil {
		return nil
	}
	if !c.running() {
		c.cmd = nil
		return errors.New("appsvc-controller has ended by itself")
	}
	if err := c.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	// What is under way is given half a minute.
	const patience = time.Minute
	select {
	case <-c.ended:
	case <-time.After(patience):
		return errors.New("appsvc-controller does not end")
	}
	c.cmd = nil
	return nil
}
