package guard_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"kudevops.io/appsvc/test/controlplane/internal/guard"
	"kudevops.io/appsvc/test/controlplane/internal/proctest"
)

const dirVariable = "GUARD_TEST_DIR"

func TestMain(m *testing.M) {
	if proctest.Role() != "" {
		child()
	}
	os.Exit(m.Run())
}

// child starts a guarded process, prints its number, and waits to be killed, or
// panics.
func child() {
	pid, _, err := guarded(os.Getenv(dirVariable))
	if err != nil {
		panic(err)
	}
	fmt.Println(pid)
	if proctest.Role() == "panic" {
		panic("as told")
	}
	time.Sleep(time.Hour)
}

// guarded starts a process, which has a child of its own, with a guard.
func guarded(dir string) (pids string, g *guard.Guard, err error) {
	if g, err = guard.New(dir); err != nil {
		return "", nil, err
	}
	// The second line is there once the grandchild is.
	cmd := exec.Command("/bin/sh", "-c", `sleep 3600 & echo "$$ $!" >"$1"; wait`, "sh", filepath.Join(dir, "pids"))
	cmd.SysProcAttr = g.Attr()
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	go cmd.Wait() //nolint:errcheck // it is killed
	for range 1000 {
		if data, _ := os.ReadFile(filepath.Join(dir, "pids")); len(data) > 0 {
			return strings.TrimSpace(string(data)), g, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return "", nil, fmt.Errorf("the guarded process does nothing")
}

func TestCloseEndsProcessesAndRemovesFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "guarded")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	pids, g, err := guarded(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	proctest.WaitGone(t, numbers(t, pids)...)
	proctest.WaitNoFile(t, dir)
}

func TestCloseWithoutFolder(t *testing.T) {
	t.Parallel()
	g, err := guard.New("")
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

func TestEndOfProcess(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, role, reason string
		end                func(*proctest.Child)
	}{
		{"killed", "wait", "nothing of the process itself runs any more", (*proctest.Child).Kill},
		{"panicked", "panic", "no deferred call of another goroutine runs", func(c *proctest.Child) {
			if err := c.Wait(); err == nil {
				t.Error("the child did not panic")
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			t.Log(test.reason)
			dir := filepath.Join(t.TempDir(), "guarded")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			child := proctest.Start(t, test.role, dirVariable+"="+dir)
			pids := numbers(t, child.Line())
			test.end(child)
			proctest.WaitGone(t, pids...)
			proctest.WaitNoFile(t, dir)
		})
	}
}

func numbers(t *testing.T, text string) []int {
	t.Helper()
	var numbers []int
	for field := range strings.FieldsSeq(text) {
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	return numbers
}
