package argocd_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v3/cmpserver/apiclient"
)

// server is a running argocd-cmp-server.
type server struct {
	options serverOptions
	cmd     *exec.Cmd
	stdin   io.Closer
	exited  chan struct{}
	log     logBuffer
	client  apiclient.ConfigManagementPluginServiceClient
	conn    io.Closer
}

// serverOptions say where a server runs. All but dir may be left out.
type serverOptions struct {
	// dir holds its work folder and its socket. It is made; its name has to be
	// short, since that of a socket may have about a hundred letters.
	dir string
	// root, env and attr, together, put the server into a root file system of its
	// own, in which its files have the places that they have in a sidecar.
	root string
	env  []string
	attr *syscall.SysProcAttr
}

// plugins is the folder of the socket.
func (s *server) plugins() string {
	if s.options.root != "" {
		return filepath.Join(s.options.root, "home/argocd/cmp-server/plugins")
	}
	return filepath.Join(s.options.dir, "plugins")
}

// work is the folder that repositories are unpacked in.
func (s *server) work() string {
	if s.options.root != "" {
		return filepath.Join(s.options.root, "tmp/_cmp_server")
	}
	return filepath.Join(s.options.dir, "_cmp_server")
}

// startTimeout is for a machine that is busy with other things; a server is there
// within a tenth of a second.
const startTimeout = time.Minute

// startServer starts a server with config/argocd/plugin.yaml and connects to it.
func startServer(o serverOptions) (*server, error) {
	s := &server{options: o, exited: make(chan struct{})}
	if o.root != "" {
		s.cmd = exec.Command("/var/run/argocd/argocd-cmp-server")
		s.cmd.Dir = "/"
		s.cmd.Env = o.env
		s.cmd.SysProcAttr = o.attr
	} else {
		config, err := filepath.Abs(filepath.Join(repository, "config/argocd"))
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(s.plugins(), 0o755); err != nil {
			return nil, err
		}
		s.cmd = exec.Command(programs.cmpServer, "--config-dir-path", config)
		// As in the sidecar, nothing but appsvc-render can be found.
		s.cmd.Env = []string{
			"PATH=" + filepath.Dir(programs.appsvcRender),
			"TMPDIR=" + o.dir,
			"ARGOCD_CMP_WORKDIR=" + o.dir, // in it, _cmp_server is made
			"ARGOCD_PLUGINSOCKFILEPATH=" + s.plugins(),
		}
	}
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	s.stdin = stdin
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start argocd-cmp-server: %w", err)
	}
	go func() {
		defer close(s.exited)
		_ = s.cmd.Wait() // how it ended is in the log
	}()
	if err := s.connect(); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// connect waits for the socket and opens a connection with Argo CD's own client.
func (s *server) connect() error {
	// The name of the plugin and no version: what Applications name.
	socket := filepath.Join(s.plugins(), "appsvc-render.sock")
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(5 * time.Millisecond) {
		info, err := os.Stat(socket)
		if err == nil && info.Mode()&fs.ModeSocket != 0 {
			break
		}
		select {
		case <-s.exited:
			return fmt.Errorf("argocd-cmp-server ended:\n%s", s.log.String())
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("argocd-cmp-server has no socket %s after %s:\n%s", socket, startTimeout, s.log.String())
		}
	}
	conn, client, err := apiclient.NewConfigManagementPluginClientSet(socket).NewConfigManagementPluginClient()
	if err != nil {
		return fmt.Errorf("connect to argocd-cmp-server: %w", err)
	}
	s.client, s.conn = client, conn
	return nil
}

// stop ends the server and waits for that.
func (s *server) stop() error {
	var err error
	if s.conn != nil {
		err = s.conn.Close()
	}
	err = errors.Join(err, s.stdin.Close())
	<-s.exited
	return err
}

// newServer starts a server of a test's own.
func newServer(t *testing.T, o serverOptions) *server {
	t.Helper()
	if o.dir == "" {
		o.dir = shortTempDir(t)
	}
	s, err := startServer(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// shortTempDir is a folder whose name leaves room for that of a socket.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cmp-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// child is a process that the server started.
type child struct{ pid, group, state, command string }

// children are the processes that the server started and that are not gone, zombies
// included.
func (s *server) children(t *testing.T) []child {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "ppid=,pid=,pgid=,stat=,args=").Output()
	if err != nil {
		t.Fatalf("ps: %v", err)
	}
	var found []child
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) >= 5 && f[0] == fmt.Sprint(s.cmd.Process.Pid) {
			found = append(found, child{f[1], f[2], f[3], strings.Join(f[4:], " ")})
		}
	}
	return found
}

// logBuffer holds what a process says.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write is io.Writer's.
func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String is all that was said so far.
func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
