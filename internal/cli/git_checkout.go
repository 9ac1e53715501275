package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"sigs.k8s.io/kustomize/api/konfig"

	"kudevops.io/appsvc/internal/manifest"
)

const (
	// maxCheckoutFiles and maxCheckoutBytes bound what is written of a revision.
	maxCheckoutFiles = 200_000
	maxCheckoutBytes = 1 << 30
	// maxLinks is how many symbolic links may be on the way to a path.
	maxLinks = 40
)

// checkout is a folder with files of a revision, as they were committed: no line ends
// are converted and no filters run.
type checkout struct {
	scratch *scratch
	root    *os.Root
	bytes   int64    // written so far
	links   []string // the symbolic links among what was written
}

// revision is what a revision holds.
type revision struct {
	repository *repository
	entries    []gitEntry
}

func (r *repository) open(ctx context.Context, rev string) (*revision, error) {
	tree, err := r.tree(ctx, rev)
	if err != nil {
		return nil, err
	}
	entries, err := r.list(ctx, tree)
	if err != nil {
		return nil, err
	}
	return &revision{repository: r, entries: entries}, nil
}

// find gives the entry of a name, or says that it is a folder.
func (v *revision) find(name string) (entry gitEntry, isFolder, ok bool) {
	if name == "" {
		return gitEntry{}, true, true
	}
	i, exact := slices.BinarySearchFunc(v.entries, name, func(e gitEntry, name string) int { return strings.Compare(e.name, name) })
	if exact {
		return v.entries[i], false, true
	}
	below := name + "/"
	i, _ = slices.BinarySearchFunc(v.entries, below, func(e gitEntry, name string) int { return strings.Compare(e.name, name) })
	return gitEntry{}, true, i < len(v.entries) && strings.HasPrefix(v.entries[i].name, below)
}

// errNotInRevision says that a revision lacks a path.
var errNotInRevision = errors.New("there is no such path")

// locate follows the symbolic links on the way to a path.
func (v *revision) locate(ctx context.Context, name string) (string, error) {
	at, rest := "", name
	for links := 0; rest != ""; {
		var step string
		step, rest, _ = strings.Cut(rest, "/")
		next := path.Join(at, step)
		entry, isFolder, ok := v.find(next)
		switch {
		case !ok:
			return "", errNotInRevision
		case isFolder:
			at = next
		case entry.isSubmodule():
			return "", fmt.Errorf("%s is a submodule, of which the repository holds nothing: name a revision of the submodule's own repository", next)
		case entry.isLink():
			if links++; links > maxLinks {
				return "", fmt.Errorf("%s: too many symbolic links", name)
			}
			target, err := v.link(ctx, entry)
			if err != nil {
				return "", err
			}
			if path.IsAbs(target) {
				return "", fmt.Errorf("%s is a symbolic link that leads out of the repository", next)
			}
			rest = path.Join(at, target, rest)
			if rest == ".." || strings.HasPrefix(rest, "../") {
				return "", fmt.Errorf("%s is a symbolic link that leads out of the repository", next)
			}
			if rest == "." {
				rest = ""
			}
			at = ""
		case rest != "":
			return "", errNotInRevision
		default:
			return next, nil
		}
	}
	return at, nil
}

func (v *revision) link(ctx context.Context, e gitEntry) (target string, err error) {
	err = v.repository.blobs(ctx, []gitEntry{e}, func(_ gitEntry, _ int64, content io.Reader) error {
		text, err := io.ReadAll(io.LimitReader(content, maxLinkTarget))
		target = string(text)
		return err
	})
	return target, err
}

const maxLinkTarget = 4 << 10

// needed are the entries that a build of a path reads. A kustomization may refer to any
// file of the repository.
func (v *revision) needed(name string) []gitEntry {
	entry, isFolder, _ := v.find(name)
	if !isFolder {
		return []gitEntry{entry}
	}
	for _, file := range konfig.RecognizedKustomizationFileNames() {
		if _, isFolder, ok := v.find(path.Join(name, file)); ok && !isFolder {
			return v.entries
		}
	}
	var below []gitEntry
	for _, e := range v.entries {
		if name == "" || strings.HasPrefix(e.name, name+"/") {
			below = append(below, e)
		}
	}
	if slices.ContainsFunc(below, gitEntry.isLink) {
		return below // a link may lead to a file of any name
	}
	return slices.DeleteFunc(below, func(e gitEntry) bool { return !isManifest(e.name) && !isKustomization(e.name) })
}

// checkOut writes entries into a new folder.
func (v *revision) checkOut(ctx context.Context, scratch *scratch, entries []gitEntry) (string, error) {
	entries = slices.DeleteFunc(slices.Clone(entries), gitEntry.isSubmodule)
	if len(entries) > maxCheckoutFiles {
		return "", fmt.Errorf("holds more than %d files", maxCheckoutFiles)
	}
	dir, err := scratch.folder()
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("checking out a revision: %w", err)
	}
	defer root.Close()
	c := &checkout{scratch: scratch, root: root}
	if err := v.repository.blobs(ctx, entries, c.write); err != nil {
		return "", err
	}
	return dir, c.seal(dir)
}

func (c *checkout) write(e gitEntry, size int64, content io.Reader) error {
	name := filepath.FromSlash(e.name)
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%s: is no name of a file here", e.name)
	}
	if c.bytes += size; c.bytes > maxCheckoutBytes {
		return fmt.Errorf("holds more than %d MiB", maxCheckoutBytes>>20)
	}
	err := c.scratch.during(func() error {
		if dir := filepath.Dir(name); dir != "." {
			if err := c.root.MkdirAll(dir, 0o700); err != nil {
				return err
			}
		}
		if e.isLink() {
			target, err := io.ReadAll(io.LimitReader(content, maxLinkTarget))
			if err != nil {
				return err
			}
			c.links = append(c.links, name)
			return c.root.Symlink(string(target), name)
		}
		return c.writeFile(name, e.mode == "100755", size, content)
	})
	if err != nil {
		return fmt.Errorf("checking out %s: %w", e.name, err)
	}
	return nil
}

func (c *checkout) writeFile(name string, executable bool, size int64, content io.Reader) error {
	mode := os.FileMode(0o600)
	if executable {
		mode = 0o700
	}
	f, err := c.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if size > manifest.MaxDocument && !isManifest(name) {
		// Nothing that large is read; what tries to will say so.
		c.bytes -= size
		return errors.Join(f.Truncate(size), f.Close())
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

// nowhere is where links are led that would leave the checkout: what is built must not
// depend on the machine.
const nowhere = "/outside-of-the-repository"

// seal leads links that leave the checkout to nowhere.
func (c *checkout) seal(dir string) error {
	for _, link := range c.links {
		target, err := filepath.EvalSymlinks(filepath.Join(dir, link))
		if err != nil {
			continue // it leads to nothing
		}
		rel, err := filepath.Rel(dir, target)
		if err == nil && filepath.IsLocal(rel) {
			continue
		}
		if err := errors.Join(c.root.Remove(link), c.root.Symlink(nowhere, link)); err != nil {
			return fmt.Errorf("checking out %s: %w", link, err)
		}
	}
	return nil
}

// scratch holds temporary folders, and removes them also when the program is ended by a
// signal.
type scratch struct {
	mu      sync.Mutex
	closed  bool
	folders []string
	signals chan os.Signal
	done    chan struct{}
}

var errInterrupted = errors.New("interrupted")

func newScratch() *scratch {
	s := &scratch{signals: make(chan os.Signal, 1), done: make(chan struct{})}
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if !signal.Ignored(sig) { // as it is under nohup
			signal.Notify(s.signals, sig)
		}
	}
	go func() {
		select {
		case sig := <-s.signals:
			s.remove()
			die(sig)
		case <-s.done:
		}
	}()
	return s
}

// die ends the program as the signal would have done.
func die(sig os.Signal) {
	signal.Reset(sig)
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(sig) == nil {
		select {}
	}
	os.Exit(exitFailed)
}

// folder makes a folder, whose path holds no symbolic links.
func (s *scratch) folder() (dir string, err error) {
	err = s.during(func() error {
		dir, err = os.MkdirTemp("", "appsvc-render-")
		if err != nil {
			return err
		}
		s.folders = append(s.folders, dir)
		dir, err = filepath.EvalSymlinks(dir)
		return err
	})
	return dir, err
}

// during does something that must not go on while folders are removed.
func (s *scratch) during(do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errInterrupted
	}
	return do()
}

func (s *scratch) remove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, dir := range s.folders {
		_ = os.RemoveAll(dir) // nothing can be done about it
	}
	s.folders = nil
}

// Close removes the folders.
func (s *scratch) Close() error {
	signal.Stop(s.signals)
	close(s.done)
	s.remove()
	return nil
}
