package argocd_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestCancel: row 20: when a request is cancelled, or its time is over, the process
// ends and nothing of it is left, neither a zombie nor a file.
func TestCancel(t *testing.T) {
	t.Parallel()
	s := newServer(t, serverOptions{})
	r := newRequest(t, ".", nil)
	r.server = s
	// It takes long enough to render that it is still under way when it is seen.
	var apps strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&apps, "---\napiVersion: apps.kudevops.io/v1alpha1\nkind: AppService\nmetadata: {name: web-%d}\nspec: {image: nginx}\n", i)
	}
	writeFile(t, filepath.Join(r.repo, "apps.yaml"), apps.String())

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := r.generate(ctx)
		failed <- err
	}()
	var running []child
	for len(running) == 0 {
		select {
		case err := <-failed:
			t.Fatalf("the request ended before it was cancelled: %v", err)
		default:
			running = s.children(t)
		}
	}
	if c := running[0]; c.command != "appsvc-render build ." || c.group != c.pid {
		t.Errorf("the server runs %q in the group %s, want appsvc-render as the head of a group", c.command, c.group)
	}
	cancel()
	if err := <-failed; status.Code(err) != codes.Canceled {
		t.Errorf("the request ended with %v", err)
	}

	// The server still waits for the process; what it then says is how that ended.
	const said = "`appsvc-render build .` failed signal: "
	waitFor(t, "the end of appsvc-render in the log", func() bool { return strings.Contains(s.log.String(), said) })
	if left := s.children(t); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	waitFor(t, "an empty work folder", func() bool {
		left, err := os.ReadDir(s.work())
		return err == nil && len(left) == 0
	})

	// And the server is well.
	small := newRequest(t, ".", map[string]string{"web.yaml": web})
	small.server = s
	small.objects(t)
}

// waitFor waits until something is so.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(startTimeout); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestTerminate: row 20 (argo-cd#9695): the server sends SIGTERM to the process group,
// and at the same time its Go library kills the process, so that which of the two
// ended it cannot be told there. Here it is SIGTERM alone, and it ends the program at
// once, wherever that waits.
func TestTerminate(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(programs.appsvcRender, "build", "-")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// When as much was taken as a pipe cannot hold, the program is reading.
	if _, err := stdin.Write([]byte(web + "#" + strings.Repeat("-", 1<<20))); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.Sys().(syscall.WaitStatus); !got.Signaled() || got.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v, want SIGTERM", cmd.ProcessState)
	}
}
