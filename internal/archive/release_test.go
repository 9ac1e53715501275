package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRelease(t *testing.T) {
	t.Parallel()
	build := t.TempDir()
	programs := []string{"windows/amd64/web.exe", "linux/arm64/web", "darwin/arm64/web"}
	for _, program := range programs {
		writeFile(t, filepath.Join(build, program), "program of "+program)
	}
	license := filepath.Join(t.TempDir(), "LICENSE")
	writeFile(t, license, "terms")
	r := release{version: "v1.2.3", modified: time.Unix(1_700_000_000, 0).UTC(), extras: []string{license}}

	out, again := t.TempDir(), t.TempDir()
	for _, dir := range []string{out, again} {
		if err := r.write(dir, build, programs); err != nil {
			t.Fatal(err)
		}
	}

	want := map[string]map[string]string{
		"web_v1.2.3_darwin_arm64.tar.gz": {
			"web_v1.2.3_darwin_arm64/web":     "-rwxr-xr-x program of darwin/arm64/web",
			"web_v1.2.3_darwin_arm64/LICENSE": "-rw-r--r-- terms",
		},
		"web_v1.2.3_linux_arm64.tar.gz": {
			"web_v1.2.3_linux_arm64/web":     "-rwxr-xr-x program of linux/arm64/web",
			"web_v1.2.3_linux_arm64/LICENSE": "-rw-r--r-- terms",
		},
		"web_v1.2.3_windows_amd64.zip": {
			"web_v1.2.3_windows_amd64/web.exe": "-rwxr-xr-x program of windows/amd64/web.exe",
			"web_v1.2.3_windows_amd64/LICENSE": "-rw-r--r-- terms",
		},
	}
	got := map[string]map[string]string{}
	sums := ""
	files, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data := readFile(t, filepath.Join(out, file.Name()))
		if !bytes.Equal(data, readFile(t, filepath.Join(again, file.Name()))) {
			t.Errorf("%s is another one the second time", file.Name())
		}
		switch {
		case file.Name() == checksums:
			continue
		case strings.HasSuffix(file.Name(), ".zip"):
			got[file.Name()] = zipEntries(t, data, r.modified)
		default:
			got[file.Name()] = tarEntries(t, data, r.modified)
		}
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256(data), file.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("archives, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(sums, string(readFile(t, filepath.Join(out, checksums)))); diff != "" {
		t.Errorf("checksums, -want +got:\n%s", diff)
	}
}

func TestReleaseErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, reason string
		version      string
		programs     []string
		want         string
	}{
		{
			name: "no version", reason: "the names of the archives have it",
			programs: []string{"linux/amd64/web"},
			want:     "-version",
		},
		{
			name: "no program", reason: "a release of nothing is a mistake",
			version: "v1", want: "at least one",
		},
		{
			name: "no platform", reason: "the name of the archive has it",
			version: "v1", programs: []string{"web"},
			want: "web: not of the form OS/ARCH/PROGRAM",
		},
		{
			name: "not built", reason: "the error names the program",
			version: "v1", programs: []string{"linux/amd64/web"},
			want: "linux/amd64/web: ",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := release{version: test.version}.write(t.TempDir(), t.TempDir(), test.programs)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want one with %q: %s", err, test.want, test.reason)
			}
		})
	}
}

// tarEntries gives mode and content by name.
func tarEntries(t *testing.T, data []byte, modified time.Time) map[string]string {
	t.Helper()
	uncompressed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string]string{}
	for r := tar.NewReader(uncompressed); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return entries
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if !header.ModTime.Equal(modified) {
			t.Errorf("%s is of %s", header.Name, header.ModTime)
		}
		entries[header.Name] = header.FileInfo().Mode().String() + " " + string(text)
	}
}

func zipEntries(t *testing.T, data []byte, modified time.Time) map[string]string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string]string{}
	for _, file := range r.File {
		in, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err := errors.Join(err, in.Close()); err != nil {
			t.Fatal(err)
		}
		if !file.Modified.Equal(modified) {
			t.Errorf("%s is of %s", file.Name, file.Modified)
		}
		entries[file.Name] = file.Mode().String() + " " + string(text)
	}
	return entries
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
