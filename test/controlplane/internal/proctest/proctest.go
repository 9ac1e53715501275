// Package proctest is for tests of what becomes of processes: it runs the test
// binary again as a child, which can be killed, and sees who is still alive.
package proctest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is how long things may take that take milliseconds on an idle machine.
const patience = time.Minute

// roleVariable tells a child what it is to do.
const roleVariable = "APPSVC_CONTROLPLANE_TEST_ROLE"

// Role is the role that Child gave to this process, or "". TestMain asks for it.
func Role() string { return os.Getenv(roleVariable) }

// Child is the test binary, run again.
type Child struct {
	tb     testing.TB
	cmd    *exec.Cmd
	output *bufio.Scanner
}

// Start starts a child in a role, with further environment variables. Its standard
// error goes to the test's log. If it still runs when the test ends, it is killed.
func Start(tb testing.TB, role string, environ ...string) *Child {
	tb.Helper()
	executable, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(executable)
	cmd.Env = append(append(os.Environ(), environ...), roleVariable+"="+role)
	cmd.Stderr = tb.Output()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	return &Child{tb, cmd, bufio.NewScanner(stdout)}
}

// Line waits for the next line that the child prints.
func (c *Child) Line() string {
	c.tb.Helper()
	if !c.output.Scan() {
		c.tb.Fatalf("the child ended: %v", errors.Join(c.output.Err(), c.cmd.Wait()))
	}
	return c.output.Text()
}

// Kill kills the child (SIGKILL) and waits until it has ended.
func (c *Child) Kill() {
	c.tb.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		c.tb.Fatal(err)
	}
	_ = c.cmd.Wait() // it was killed, so this is always an error
}

// Wait waits until the child has ended by itself.
func (c *Child) Wait() error {
	_, err := io.Copy(io.Discard, c.cmd.Stdout.(io.Reader))
	return errors.Join(err, c.cmd.Wait())
}

// WaitGone waits until no process has one of the numbers.
func WaitGone(tb testing.TB, pids ...int) {
	tb.Helper()
	eventually(tb, func() error {
		for _, pid := range pids {
			if alive, err := alive(pid); alive || err != nil {
				return fmt.Errorf("process %d is still alive (%v)", pid, err)
			}
		}
		return nil
	})
}

// WaitProcessOf waits until a process has text in its arguments.
func WaitProcessOf(tb testing.TB, text string) {
	tb.Helper()
	eventually(tb, func() error {
		found, err := processOf(text)
		if found == "" && err == nil {
			err = fmt.Errorf("no process has %q in its arguments", text)
		}
		return err
	})
}

// WaitNoProcessOf waits until no process has text in its arguments.
func WaitNoProcessOf(tb testing.TB, text string) {
	tb.Helper()
	eventually(tb, func() error {
		found, err := processOf(text)
		if found != "" {
			err = fmt.Errorf("still alive: %s", found)
		}
		return err
	})
}

// processOf is the command line of a process that has text in it, or "".
func processOf(text string) (string, error) {
	out, err := exec.CommandContext(context.Background(), "ps", "-A", "-ww", "-o", "args").Output()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, text) {
			return line, nil
		}
	}
	return "", err
}

// WaitNoFile waits until no file has a path that pattern matches.
func WaitNoFile(tb testing.TB, pattern string) {
	tb.Helper()
	eventually(tb, func() error {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) > 0 {
			return fmt.Errorf("still there: %q, %v", files, err)
		}
		return nil
	})
}

// alive says whether a process runs. One that has ended and whose parent has not
// noticed (in a container, nobody may) does not.
func alive(pid int) (bool, error) {
	out, err := exec.CommandContext(context.Background(), "ps", "-o", "stat=", "-p", fmt.Sprint(pid)).Output()
	if errors.As(err, new(*exec.ExitError)) {
		return false, nil // no such process
	}
	return !strings.HasPrefix(strings.TrimSpace(string(out)), "Z"), err
}

// eventually waits until check has no complaint.
func eventually(tb testing.TB, check func() error) {
	tb.Helper()
	deadline := time.Now().Add(patience)
	for err := check(); err != nil; err = check() {
		if time.Now().After(deadline) {
			tb.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
