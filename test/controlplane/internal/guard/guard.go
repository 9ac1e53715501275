// Package guard ties a group of processes and a folder to the life of this
// process: when it ends, in whatever way (a panic, a test's timeout, kill -9),
// the processes are killed and the folder is removed.
//
// Two small processes do it, each of them waiting for the end of a pipe that only
// this process holds open:
//
//	anchor   cat, the leader of the process group that Attr puts processes in
//	cleaner  sh, in a group of its own: kills the anchor's group, removes the folder
//
// Linux's parent-death signal was not chosen: it knows nothing of folders, exists
// on no other system, and fires when the operating system's thread that started
// the child ends, which in Go is not the process's end.
// The cleaner is in no group that a terminal's Ctrl-C or a kill of this process's
// group reaches. Linux and macOS; what kills whole containers needs no cleaner.
package guard

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// cleanUp is what the cleaner runs, with the process group and the folder (which
// may be empty) as arguments. A process that is being killed can still create a
// file, hence the second attempt at the folder.
const cleanUp = `cat >/dev/null
kill -s KILL -- "-$1" 2>/dev/null
[ -z "$2" ] || rm -rf -- "$2" 2>/dev/null || { sleep 1; rm -rf -- "$2"; }`

// Guard is a group of processes and a folder that end with this process.
type Guard struct {
	group   int
	anchor  *exec.Cmd
	cleaner *exec.Cmd
	pipes   []io.Closer
}

// New starts a guard. It removes dir at the end; an empty dir means no folder.
func New(dir string) (*Guard, error) {
	g := &Guard{anchor: exec.Command("cat")}
	if err := g.start(g.anchor); err != nil {
		return nil, fmt.Errorf("start the anchor of a process group: %w", err)
	}
	g.group = g.anchor.Process.Pid
	g.cleaner = exec.Command("/bin/sh", "-c", cleanUp, "sh", fmt.Sprint(g.group), dir)
	if err := g.start(g.cleaner); err != nil {
		g.pipes[0].Close()
		return nil, errors.Join(fmt.Errorf("start the cleaner of a process group: %w", err), g.anchor.Wait())
	}
	return g, nil
}

// start starts cmd in a group of its own, with a pipe as its standard input.
func (g *Guard) start(cmd *exec.Cmd) error {
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	g.pipes = append(g.pipes, pipe)
	return nil
}

// Attr puts a process in the group: exec.Cmd's SysProcAttr.
func (g *Guard) Attr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: g.group}
}

// Close kills the group and removes the folder. Whoever started the processes
// still has to wait for them.
func (g *Guard) Close() error {
	// The cleaner first: the group must still have its anchor then, so that its
	// number cannot belong to anybody else.
	g.pipes[1].Close()
	cleaned := g.cleaner.Wait()
	g.pipes[0].Close()
	g.anchor.Wait() //nolint:errcheck // it was killed, so this is always an error
	if cleaned != nil {
		return fmt.Errorf("kill a group of processes and remove its folder: %w", cleaned)
	}
	return nil
}
