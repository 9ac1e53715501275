package program

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// Peer is a program to compare with.
type Peer struct {
	// Name is that of the folder and of the program.
	Name string
	// Version is that of the module which holds the program, such as "v3.22.0".
	Version string
	// Package is the import path of the program.
	Package string
	// Module is the path of the module that holds it.
	Module string

	dir string
}

// LoadPeer reads go.mod in dir, which has to name one tool.
func LoadPeer(dir string) (Peer, error) {
	path := filepath.Join(dir, "go.mod")
	data, err := os.ReadFile(path)
	if err != nil {
		return Peer{}, fmt.Errorf("peer %s: %w", filepath.Base(dir), err)
	}
	file, err := modfile.Parse(path, data, nil)
	if err != nil {
		return Peer{}, fmt.Errorf("peer %s: %w", filepath.Base(dir), err)
	}
	if len(file.Tool) != 1 {
		return Peer{}, fmt.Errorf("peer %s: go.mod names %d tools, want one", filepath.Base(dir), len(file.Tool))
	}
	p := Peer{Name: filepath.Base(dir), Package: file.Tool[0].Path, dir: dir}
	p.Module, p.Version = moduleOf(file, p.Package)
	if p.Module == "" {
		return Peer{}, fmt.Errorf("peer %s: go.mod requires no module that holds %s", p.Name, p.Package)
	}
	return p, nil
}

// moduleOf is the module that holds pkg, and its version: of those that are
// required, the one with the longest path that pkg begins with.
func moduleOf(file *modfile.File, pkg string) (path, version string) {
	for _, r := range file.Require {
		holds := pkg == r.Mod.Path || strings.HasPrefix(pkg, r.Mod.Path+"/")
		if holds && len(r.Mod.Path) > len(path) {
			path, version = r.Mod.Path, r.Mod.Version
		}
	}
	return path, version
}

// Source is the folder of the peer's module, which is fetched if need be: some peers
// come with files that they need in a cluster.
func (p Peer) Source(ctx context.Context) (string, error) {
	out, err := goCommand(ctx, p.dir, "mod", "download", "-json", p.Module).Output()
	var info struct{ Dir, Error string }
	if failed := json.Unmarshal(out, &info); failed == nil && info.Error != "" {
		err = errors.New(info.Error)
	}
	if err != nil {
		return "", fmt.Errorf("peer %s: source of %s: %w", p.Name, p.Module, err)
	}
	return info.Dir, nil
}

// Build gives the path of the peer's binary in the folder cache, and builds it
// first unless this version, built with this toolchain, is there.
func (p Peer) Build(ctx context.Context, cache string, progress io.Writer) (string, error) {
	key, err := p.key(ctx)
	if err != nil {
		return "", fmt.Errorf("peer %s: %w", p.Name, err)
	}
	path := filepath.Join(cache, p.Name+"-"+p.Version+"-"+key)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("peer %s: %w", p.Name, err)
	}
	// Built beside its place and renamed: a run that is interrupted leaves no half
	// a program there, and two runs at once do not disturb each other.
	temp, err := os.MkdirTemp(cache, ".building-")
	if err != nil {
		return "", fmt.Errorf("peer %s: %w", p.Name, err)
	}
	defer os.RemoveAll(temp)
	fmt.Fprintf(progress, "building %s %s, once; it takes minutes and is kept in %s\n", p.Name, p.Version, cache)
	built := filepath.Join(temp, p.Name)
	if err := Build(ctx, p.dir, p.Package, built, progress); err != nil {
		return "", fmt.Errorf("peer %s: %w", p.Name, err)
	}
	if err := os.Rename(built, path); err != nil {
		return "", fmt.Errorf("peer %s: %w", p.Name, err)
	}
	return path, nil
}

// key is a short hash of what the binary is made from, its own version aside: the
// versions of what it requires, the toolchain and the flags.
func (p Peer) key(ctx context.Context) (string, error) {
	hash := sha256.New()
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s %d\n%s", name, len(data), data)
	}
	toolchain, err := Toolchain(ctx, p.dir)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(hash, "%s%q", toolchain, buildFlags())
	return fmt.Sprintf("%x", hash.Sum(nil)[:6]), nil
}
