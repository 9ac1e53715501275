package measure_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kudevops.io/appsvc/test/peers/internal/measure"
)

// actVariable makes this test's own program act as one that is measured.
const actVariable = "MEASURE_TEST_ACT"

// much memory is more than a small process uses, also under the race detector.
const much = 96 << 20

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == measure.LaunchArg {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		code := measure.Launch(ctx, os.Args[2], os.Stdout)
		stop()
		os.Exit(code)
	}
	if act := os.Getenv(actVariable); act != "" {
		os.Exit(perform(act))
	}
	os.Exit(m.Run())
}

func perform(act string) int {
	switch act {
	case "print":
		fmt.Print(strings.Join(os.Args[1:], ","))
	case "copy":
		if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
			return 2
		}
	case "grow":
		fmt.Print(touch(much))
	case "fail":
		fmt.Print("half of the output")
		fmt.Fprintln(os.Stderr, "first line\nError: no such chart")
		return 3
	case "wait":
		time.Sleep(time.Hour)
	}
	return 0
}

const page = 4096

// touch uses memory, every page of it, and gives their number so that it has to.
func touch(size int) int {
	memory := make([]byte, size)
	for i := 0; i < len(memory); i += page {
		memory[i] = 1
	}
	sum := 0
	for i := 0; i < len(memory); i += page {
		sum += int(memory[i])
	}
	return sum
}

func launcher(t *testing.T) measure.Launcher {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return measure.Launcher{Path: self}
}

func command(t *testing.T, act string, args ...string) measure.Command {
	t.Helper()
	return measure.Command{
		Path:   launcher(t).Path,
		Args:   args,
		Env:    []string{actVariable + "=" + act},
		Stdout: filepath.Join(t.TempDir(), "stdout"),
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	c := command(t, "print", "a", "b c")
	if err := os.WriteFile(c.Stdout, []byte("longer output of the run before"), 0o644); err != nil {
		t.Fatal(err)
	}
	sample, err := launcher(t).Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if sample.Wall <= 0 || sample.CPU <= 0 || sample.PeakMemory <= 0 {
		t.Errorf("%+v, want figures above zero", sample)
	}
	out, err := os.ReadFile(c.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	if string(out) != "a,b c" {
		t.Errorf("output %q, want that of this run alone, with its arguments", out)
	}
}

func TestRunReadsItsInput(t *testing.T) {
	t.Parallel()
	in := filepath.Join(t.TempDir(), "stdin")
	if err := os.WriteFile(in, []byte("a text"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, reason, stdin, want string }{
		{name: "a file", reason: "a KRM function reads what it is about", stdin: in, want: "a text"},
		{name: "none", reason: "nobody's terminal is read", want: ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := command(t, "copy")
			c.Stdin = tt.stdin
			if _, err := launcher(t).Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			out, err := os.ReadFile(c.Stdout)
			if err != nil {
				t.Fatal(err)
			}
			if string(out) != tt.want {
				t.Errorf("output %q, want %q (%s)", out, tt.want, tt.reason)
			}
		})
	}
}

func TestRunWithAnExitStatus(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		reason string
		act    string
		status int
		want   string
	}{
		{name: "as wanted", reason: "a diff ends with 1 when it finds some", act: "fail", status: 3},
		{name: "another", reason: "an error is not a difference", act: "fail", status: 1, want: "exit status 3: Error: no such chart"},
		{name: "zero", reason: "it should have found a difference", act: "print", status: 1, want: "exit status 0, want 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := command(t, tt.act)
			c.Status = tt.status
			_, err := launcher(t).Run(t.Context(), c)
			if got := fmt.Sprint(err); (err != nil || tt.want != "") && got != tt.want {
				t.Errorf("error %v, want %q (%s)", err, tt.want, tt.reason)
			}
		})
	}
}

func TestRunMeasuresTheMemoryOfTheProcessAlone(t *testing.T) {
	t.Parallel()
	// This process grows first, as one that generates and compares does.
	if got, want := touch(2*much), 2*much/page; got != want {
		t.Fatalf("touched %d pages, want %d", got, want)
	}
	small, err := launcher(t).Run(t.Context(), command(t, "print"))
	if err != nil {
		t.Fatal(err)
	}
	grown, err := launcher(t).Run(t.Context(), command(t, "grow"))
	if err != nil {
		t.Fatal(err)
	}
	if small.PeakMemory >= much {
		t.Errorf("the small process took %d bytes: that is the peak of this one", small.PeakMemory)
	}
	if grown.PeakMemory < much {
		t.Errorf("the process that uses %d bytes took %d", much, grown.PeakMemory)
	}
}

func TestRunFails(t *testing.T) {
	t.Parallel()
	missing, mute := command(t, "print"), command(t, "print")
	missing.Path = filepath.Join(t.TempDir(), "no-such-program")
	mute.Stdin = filepath.Join(t.TempDir(), "no-such-input")
	tests := []struct {
		name    string
		reason  string
		command measure.Command
		want    string
	}{
		{name: "exit status", reason: "with what the program said last", command: command(t, "fail"), want: "exit status 3: Error: no such chart"},
		{name: "no program", reason: "with its name", command: missing, want: "no-such-program: no such file or directory"},
		{name: "no input", reason: "it would measure other work", command: mute, want: "no-such-input: no such file or directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := launcher(t).Run(t.Context(), tt.command)
			if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("error %v, want one that ends in %q (%s)", err, tt.want, tt.reason)
			}
		})
	}
}

func TestRunEndsTheProcess(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := command(t, "wait")
	go func() {
		// The launcher makes the file right before it starts the process.
		for ctx.Err() == nil {
			if _, err := os.Stat(c.Stdout); err == nil {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	// It returns when the launcher has ended, which waits for the process.
	if _, err := launcher(t).Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}
