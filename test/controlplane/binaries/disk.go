package binaries

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// What a build of everything from nothing leaves in each folder, in bytes, with
// some air: measured with Kubernetes 1.37.
const (
	spaceForPrograms = 700 << 20
	spaceForBuilds   = 4500 << 20
	spaceForModules  = 1300 << 20
)

// checkDisk refuses to begin a build that the disk has no room for.
func (b *builder) checkDisk() error {
	type filesystem struct {
		folders string
		needed  uint64
		free    uint64
	}
	found := map[uint64]*filesystem{}
	for _, folder := range []struct {
		path   string
		needed uint64
	}{
		{b.cacheDir, spaceForPrograms},
		{b.gocmd.BuildCache, spaceForBuilds},
		{b.gocmd.ModuleCache, spaceForModules},
	} {
		device, free, err := b.space(folder.path)
		if err != nil {
			return fmt.Errorf("free space for %s: %w", folder.path, err)
		}
		fs := found[device]
		if fs == nil {
			fs = &filesystem{free: free}
			found[device] = fs
		}
		fs.folders += " " + folder.path
		fs.needed += folder.needed
	}
	for _, fs := range found {
		if fs.free < fs.needed {
			return fmt.Errorf("building the control plane takes up to %d MiB, and %d MiB are free on the disk of%s: free some space, or move the folders with GOCACHE, GOMODCACHE and %s",
				fs.needed>>20, fs.free>>20, fs.folders, CacheVariable)
		}
	}
	return nil
}

// freeSpace is what this user may still write to the disk that path, or the
// nearest of its parents that exists, is on.
func freeSpace(path string) (device, free uint64, err error) {
	info, err := os.Stat(path)
	for os.IsNotExist(err) && path != filepath.Dir(path) {
		path = filepath.Dir(path)
		info, err = os.Stat(path)
	}
	if err != nil {
		return 0, 0, err
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil {
		return 0, 0, err
	}
	// The types of these fields differ between operating systems.
	return uint64(info.Sys().(*syscall.Stat_t).Dev), uint64(fs.Bavail) * uint64(fs.Bsize), nil
}
