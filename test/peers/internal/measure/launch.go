package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"kudevops.io/appsvc/test/peers/internal/program"
)

// LaunchArg, as the first of two arguments, makes a program that passes the other
// one to Launch a launcher.
const LaunchArg = "launch-and-measure"

// Command is a process to measure.
type Command struct {
	// Path of the program.
	Path string `json:"path"`
	// Args are the arguments after the program's name.
	Args []string `json:"args,omitempty"`
	// Env is added to the environment, as KEY=value.
	Env []string `json:"env,omitempty"`
	// Stdin is the file that the input comes from. Empty means that there is none.
	Stdin string `json:"stdin,omitempty"`
	// Stdout is the file that the output goes to, and replaces.
	Stdout string `json:"stdout"`
	// Status is the exit status that means success: 1 for a program that says by it
	// that it found differences.
	Status int `json:"status,omitempty"`
}

// Sample is what one process took.
type Sample struct {
	// Wall is the time from start to end.
	Wall time.Duration `json:"wall"`
	// CPU is processor time, user and system, of all threads.
	CPU time.Duration `json:"cpu"`
	// PeakMemory is the largest resident set, in bytes.
	PeakMemory int64 `json:"peakMemory"`
}

// Launcher starts processes from a process of its own: the program at Path, which
// has to call Launch when its first argument is LaunchArg.
//
// On Linux, the peak that a process reports is not below that of the process that
// started it (the kernel's exec_mmap carries it over), so that a program which
// has grown cannot measure the memory of a small one. The launcher is small.
type Launcher struct {
	// Path of the launcher program.
	Path string
}

// outcome is what a launcher says on its standard output.
type outcome struct {
	Sample Sample `json:"sample"`
	Error  string `json:"error,omitempty"`
}

// Run runs one process to its end. An exit status other than the command's is an
// error, which quotes the last line of its standard error.
func (l Launcher) Run(ctx context.Context, c Command) (Sample, error) {
	arg, err := json.Marshal(c)
	if err != nil {
		return Sample{}, err
	}
	cmd := exec.CommandContext(ctx, l.Path, LaunchArg, string(arg))
	cmd.Stderr = os.Stderr
	// The launcher has to end the process before itself.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return Sample{}, ctx.Err()
	}
	if err != nil {
		return Sample{}, fmt.Errorf("launcher: %w", err)
	}
	var o outcome
	if err := json.Unmarshal(out, &o); err != nil {
		return Sample{}, fmt.Errorf("launcher: %w", err)
	}
	if o.Error != "" {
		return Sample{}, errors.New(o.Error)
	}
	return o.Sample, nil
}

// Launch runs the process that arg describes, as Launcher.Run wrote it, reports to
// stdout, and gives the exit status for the launcher: 0 also when the process
// failed, which is part of the report.
func Launch(ctx context.Context, arg string, stdout io.Writer) int {
	var o outcome
	var c Command
	err := json.Unmarshal([]byte(arg), &c)
	if err == nil {
		o.Sample, err = run(ctx, c)
	}
	if err != nil {
		o.Error = err.Error()
	}
	if err := json.NewEncoder(stdout).Encode(o); err != nil {
		return 1
	}
	return 0
}

func run(ctx context.Context, c Command) (Sample, error) {
	out, err := os.Create(c.Stdout)
	if err != nil {
		return Sample{}, err
	}
	defer out.Close()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Stdout = out
	cmd.Stderr = &said
	if c.Stdin != "" {
		in, err := os.Open(c.Stdin)
		if err != nil {
			return Sample{}, err
		}
		defer in.Close()
		cmd.Stdin = in
	}

	start := time.Now()
	err = cmd.Run()
	wall := time.Since(start)
	if err := judge(err, c.Status); err != nil {
		return Sample{}, fmt.Errorf("%w%s", err, program.Complaint(said.String()))
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return Sample{}, fmt.Errorf("no resource usage on %s", runtime.GOOS)
	}
	return Sample{
		Wall:       wall,
		CPU:        cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		PeakMemory: peakBytes(usage),
	}, nil
}

// judge says whether a process that ended with err has the exit status that is
// wanted.
func judge(err error, want int) error {
	var exit *exec.ExitError
	switch {
	case err == nil && want != 0:
		return fmt.Errorf("exit status 0, want %d", want)
	case want != 0 && errors.As(err, &exit) && exit.ExitCode() == want:
		return nil
	}
	return err
}

// peakBytes: getrusage(2) counts in KiB, on macOS in bytes.
func peakBytes(usage *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) * 1024
}
