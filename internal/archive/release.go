package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// checksums is the file that `sha256sum --check` reads.
const checksums = "SHA256SUMS"

// release is what all archives of a version have in common.
type release struct {
	version  string
	modified time.Time
	// extras are files that go into each archive.
	extras []string
}

// entry is a file of an archive.
type entry struct {
	name string
	mode int64
	data []byte
}

// write packs programs, each named OS/ARCH/PROGRAM below the folder build, into the
// folder out.
func (r release) write(out, build string, programs []string) error {
	if out == "" || build == "" || r.version == "" || len(programs) == 0 {
		return errors.New("-out, -build, -version and at least one OS/ARCH/PROGRAM are needed")
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	var sums []string
	for _, program := range programs {
		name, data, err := r.archive(build, program)
		if err != nil {
			return fmt.Errorf("%s: %w", program, err)
		}
		if err := os.WriteFile(filepath.Join(out, name), data, 0o666); err != nil {
			return err
		}
		sums = append(sums, fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name))
	}
	// In the order of the names, which come after sums of one length.
	slices.SortFunc(sums, func(a, b string) int { return strings.Compare(a[2*sha256.Size:], b[2*sha256.Size:]) })
	return os.WriteFile(filepath.Join(out, checksums), []byte(strings.Join(sums, "")), 0o666)
}

// archive gives name and content of the archive of one program: zip for Windows, a
// compressed tar file for the others.
func (r release) archive(build, program string) (string, []byte, error) {
	parts := strings.Split(program, "/")
	if len(parts) != 3 {
		return "", nil, errors.New("not of the form OS/ARCH/PROGRAM")
	}
	system, architecture, file := parts[0], parts[1], parts[2]
	folder := strings.Join([]string{strings.TrimSuffix(file, ".exe"), r.version, system, architecture}, "_")

	data, err := os.ReadFile(filepath.Join(build, filepath.FromSlash(program)))
	if err != nil {
		return "", nil, err
	}
	entries := []entry{{name: path.Join(folder, file), mode: 0o755, data: data}}
	for _, extra := range r.extras {
		data, err := os.ReadFile(extra)
		if err != nil {
			return "", nil, err
		}
		entries = append(entries, entry{name: path.Join(folder, filepath.Base(extra)), mode: 0o644, data: data})
	}
	if system == "windows" {
		data, err = r.zip(entries)
		return folder + ".zip", data, err
	}
	data, err = r.tarGz(entries)
	return folder + ".tar.gz", data, err
}

func (r release) tarGz(entries []entry) ([]byte, error) {
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(compressed)
	for _, e := range entries {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: r.modified}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	err = errors.Join(w.Close(), compressed.Close())
	return out.Bytes(), err
}

func (r release) zip(entries []entry) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: r.modified}
		header.SetMode(os.FileMode(e.mode))
		file, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
