package binaries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"kudevops.io/appsvc/test/controlplane/internal/gocmd"
	"kudevops.io/appsvc/test/controlplane/internal/guard"
)

// builder builds targets into the cache.
type builder struct {
	gocmd    *gocmd.Go
	cacheDir string
	progress io.Writer
	// space says which disk a folder is on, and how many bytes are free there.
	space func(path string) (device, free uint64, err error)
}

// build builds the targets that are missing, one after the other: they share most
// of their packages, and linking two at once takes twice the memory.
func (b *builder) build(ctx context.Context, targets []target) (err error) {
	if err := os.MkdirAll(b.cacheDir, 0o755); err != nil {
		return fmt.Errorf("make the folder for the control plane's programs (%s moves it): %w", CacheVariable, err)
	}
	unlock, err := b.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	// Whoever held the lock before may have built them.
	todo := missing(targets)
	if len(todo) == 0 {
		return nil
	}
	if err := b.checkDisk(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(b.cacheDir, "building-")
	if err != nil {
		return err
	}
	group, err := guard.New(dir)
	if err != nil {
		return errors.Join(err, os.Remove(dir))
	}
	defer func() { err = errors.Join(err, group.Close()) }()
	b.report("building %d programs into %s, once: about a quarter of an hour on two cores that do nothing else", len(todo), b.cacheDir)
	for i, t := range todo {
		step := fmt.Sprintf("[%d/%d] %s %s", i+1, len(todo), t.name, t.version)
		if err := b.buildOne(ctx, step, t, dir, group); err != nil {
			return fmt.Errorf("build %s %s: %w", t.name, t.version, err)
		}
	}
	return nil
}

// buildOne builds t in dir and moves it to its place in one step, so that nobody
// ever sees half of it.
func (b *builder) buildOne(ctx context.Context, step string, t target, dir string, group *guard.Guard) error {
	file := filepath.Join(dir, string(t.name))
	args := append([]string{"build", "-v", "-o", file}, t.buildFlags()...)
	cmd := b.gocmd.Command(ctx, t.dir, append(args, t.pkg)...)
	cmd.Env = append(cmd.Env, "GOTMPDIR="+dir)
	cmd.SysProcAttr = group.Attr()
	// The compilers that a cancelled go command leaves behind hold its output open
	// until the group is closed.
	cmd.WaitDelay = time.Second
	log := &buildLog{}
	cmd.Stdout, cmd.Stderr = log, log
	done := b.watch(step, log)
	err := cmd.Run()
	done(err)
	if err != nil {
		return b.explain(err, log.tail())
	}
	if err := os.MkdirAll(filepath.Dir(t.path), 0o755); err != nil {
		return err
	}
	return os.Rename(file, t.path)
}

// explain puts what is known about a failure before the go command's last lines.
func (b *builder) explain(err error, tail string) error {
	for _, cause := range []struct {
		meaning string
		signs   []string
	}{
		{
			"the disk is full: free some space, or move the folders with GOCACHE, GOMODCACHE and " + CacheVariable,
			[]string{"no space left on device", "disk quota exceeded"},
		},
		{
			"the sources could not be downloaded (GOPROXY=" + b.gocmd.Proxy + "): the first build needs the network",
			[]string{"disabled by GOPROXY=off", "dial tcp", "no such host", "i/o timeout", "connection refused", "proxyconnect", "TLS handshake"},
		},
	} {
		for _, sign := range cause.signs {
			if strings.Contains(tail, sign) {
				return fmt.Errorf("%s: %w\n%s", cause.meaning, err, tail)
			}
		}
	}
	return fmt.Errorf("%w\n%s", err, tail)
}

// lock waits until no other process builds into the cache. The operating system
// gives the lock back when the process ends, however that happens.
func (b *builder) lock(ctx context.Context) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(b.cacheDir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for waited := false; ; waited = true {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			file.Close()
			return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
		}
		if !waited {
			b.report("another process is building into %s: waiting for it", b.cacheDir)
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, fmt.Errorf("wait for the lock %s: %w", file.Name(), context.Cause(ctx))
		case <-time.After(200 * time.Millisecond):
		}
	}
}
