package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kudevops.io/appsvc/internal/manifest"
)

// marker is the first line of each file that build writes into a folder. A file
// that does not begin with it is somebody else's and never touched.
const marker = "# Rendered by appsvc-render: edits are lost.\n"

// folder writes each object into a file of its own: [namespace/]kind_name.yaml.
// Nothing is touched until every object was rendered and every file name found to
// be free.
type folder struct {
	spool   *spool
	dir     string
	entries []entry
}

// entry is an object in the spool.
type entry struct {
	id           manifest.ID
	offset, size int64
}

func (f *folder) add(out output) error {
	f.entries = append(f.entries, entry{out.id, f.spool.size, int64(len(out.text))})
	_, err := f.spool.Write(out.text)
	return err
}

// finish brings the folder up to date: files that changed are replaced, those that
// are not rendered any more removed.
func (f *folder) finish(io.Writer) error {
	names, err := fileNames(f.entries)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o777); err != nil {
		return fmt.Errorf("output-dir: %w", err)
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return fmt.Errorf("output-dir: %w", err)
	}
	defer root.Close()

	stale, err := f.check(root, names)
	if err != nil {
		return err
	}
	for i, name := range names {
		if err := f.write(root, name, f.entries[i]); err != nil {
			return fmt.Errorf("output-dir: %s is not up to date any more, run build again: %w", f.dir, err)
		}
	}
	for _, name := range stale {
		if err := root.Remove(name); err != nil {
			return fmt.Errorf("output-dir: removing %s: %w", filepath.Join(f.dir, name), err)
		}
		// The folder of a namespace goes with its last file.
		if dir := path.Dir(name); dir != "." {
			_ = root.Remove(dir)
		}
	}
	return nil
}

// check finds the files of earlier runs that are not rendered any more, and
// refuses to go on when a file that has to be written is not one of ours.
func (f *folder) check(root *os.Root, names []string) (stale []string, err error) {
	wanted := make(map[string]bool, len(names))
	var errs []error
	for _, name := range names {
		wanted[name] = true
		ours, err := isOurs(root, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			errs = append(errs, fmt.Errorf("output-dir: %s: %s", filepath.Join(f.dir, name), readError(err)))
		case !ours:
			errs = append(errs, fmt.Errorf("output-dir: %s exists and was not written by appsvc-render: it has to be moved away first", filepath.Join(f.dir, name)))
		}
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") || strings.Contains(name, "/")) {
				return fs.SkipDir
			}
			return nil
		}
		if wanted[name] || path.Ext(name) != ".yaml" || !d.Type().IsRegular() {
			return nil
		}
		ours, err := isOurs(root, name)
		if ours {
			stale = append(stale, name)
		}
		return err
	})
	return stale, errors.Join(append(errs, err)...)
}

// isOurs says whether a file begins with the marker.
func isOurs(root *os.Root, name string) (bool, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, nil
	}
	file, err := root.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	first := make([]byte, len(marker))
	if _, err := io.ReadFull(file, first); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return false, nil
		}
		return false, err
	}
	return string(first) == marker, nil
}

// write replaces a file in one step, unless it holds what it should already.
func (f *folder) write(root *os.Root, name string, e entry) error {
	text := make([]byte, len(marker)+int(e.size))
	copy(text, marker)
	if _, err := f.spool.ReadAt(text[len(marker):], e.offset); err != nil && err != io.EOF {
		return err
	}
	if old, err := root.ReadFile(name); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if dir := path.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	// Hidden, so that a reader of the folder does not meet it.
	temporary := path.Join(path.Dir(name), "."+path.Base(name)+".tmp")
	if err := root.WriteFile(temporary, text, 0o666); err != nil {
		return err
	}
	return root.Rename(temporary, name)
}

// fileNames gives each object a file, as a slash-separated path in the folder. Of
// objects of one kind and name in several API groups, those outside the groups of
// Kubernetes have their group in the name.
func fileNames(entries []entry) ([]string, error) {
	names := make([]string, len(entries))
	count := make(map[string]int, len(entries))
	var errs []error
	for i, e := range entries {
		for _, part := range []string{e.id.Namespace, e.id.Kind, e.id.Name} {
			if strings.ContainsAny(part, "/\\\x00") || strings.HasPrefix(part, ".") {
				errs = append(errs, fmt.Errorf("output-dir: %s: %q cannot be part of a file name", e.id, part))
			}
		}
		if e.id.Name == "" {
			errs = append(errs, fmt.Errorf("output-dir: %s: an object without a name has no file", e.id.Kind))
		}
		names[i] = path.Join(e.id.Namespace, strings.ToLower(e.id.Kind)+"_"+e.id.Name+".yaml")
		count[names[i]]++
	}
	for i, e := range entries {
		if count[names[i]] > 1 && strings.Contains(e.id.Group, ".") && !strings.HasSuffix(e.id.Group, ".k8s.io") {
			names[i] = path.Join(e.id.Namespace, strings.ToLower(e.id.Kind)+"."+e.id.Group+"_"+e.id.Name+".yaml")
		}
	}
	for _, name := range slices.Sorted(slices.Values(names)) {
		if count[name] < 0 {
			errs = append(errs, fmt.Errorf("output-dir: two objects would be written to %s", name))
		}
		count[name] = -1
	}
	return names, errors.Join(errs...)
}
