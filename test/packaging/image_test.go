package packaging

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// imageConfig is what the tests read of an image's configuration.
type imageConfig struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
	Created      string `json:"created"`
	Config       struct {
		User       string
		Entrypoint []string
		Cmd        []string
		Env        []string
		WorkingDir string
		Labels     map[string]string
	} `json:"config"`
}

// descriptor, manifest and index are those of the OCI image specification.
type descriptor struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Platform  struct {
		OS           string `json:"os"`
		Architecture string `json:"architecture"`
	} `json:"platform"`
}

type manifest struct {
	Config descriptor   `json:"config"`
	Layers []descriptor `json:"layers"`
}

type index struct {
	MediaType string       `json:"mediaType"`
	Manifests []descriptor `json:"manifests"`
}

// descriptions are the labels that the images differ by.
func descriptions() map[string]string {
	return map[string]string{
		"appsvc-controller": "Keeps what AppServices stand for in a Kubernetes cluster",
		"appsvc-render":     "Renders AppServices to Kubernetes manifests",
	}
}

// TestImages builds both images with make, pushes them to a registry with make, and reads
// them back from there: who the user is, what runs, what the labels say, and that there is
// nothing in them but one static program.
func TestImages(t *testing.T) {
	t.Parallel()
	registry := startRegistry(t)
	dist := filepath.Join(t.TempDir(), "dist")
	image := func(name string) string { return registry + "/" + name + ":" + version }
	runMake(t, "image-push", "DIST="+dist, "IMAGE_PLATFORMS=linux/amd64", "REVISION=0123456789abcdef",
		"IMG="+image("appsvc-controller"), "RENDER_IMG="+image("appsvc-render"))
	crane := filepath.Join(bin(), "crane")

	for name, description := range descriptions() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want, got imageConfig
			want.OS, want.Architecture, want.Created = "linux", "amd64", "2023-11-14T22:13:20Z"
			want.Config.User = "65532:65532"
			want.Config.Entrypoint = []string{"/usr/local/bin/" + name}
			want.Config.Env = []string{"PATH=/usr/local/bin"}
			want.Config.WorkingDir = "/"
			want.Config.Labels = map[string]string{
				"org.opencontainers.image.title":       name,
				"org.opencontainers.image.description": description,
				"org.opencontainers.image.version":     version,
				"org.opencontainers.image.revision":    "0123456789abcdef",
				"org.opencontainers.image.created":     want.Created,
				"org.opencontainers.image.licenses":    "Apache-2.0",
				"org.opencontainers.image.source":      "https://kudevops.io/appsvc",
			}
			decodeJSON(t, run(t, "", crane, "config", image(name)), &got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}

			// What crane exports is the file system of a container.
			files := tarFiles(t, []byte(run(t, "", crane, "export", image(name), "-")))
			program := files["usr/local/bin/"+name]
			for path, file := range files {
				if file.header.Uid != 0 || file.header.Gid != 0 || file.header.Mode != 0o755 {
					t.Errorf("%s belongs to %d:%d and has mode %o", path, file.header.Uid, file.header.Gid, file.header.Mode)
				}
			}
			if len(files) != 4 || program.header == nil {
				t.Fatalf("files of the image: %v", keys(files))
			}
			settings := checkProgram(t, program.data)
			if _, err := os.Stat(filepath.Join(root, ".git")); err == nil && settings["vcs.revision"] == "" {
				t.Errorf("the commit is missing: %v", settings)
			}

			// The archive itself: what `docker load` looks for leads to the same image.
			blobs := tarFiles(t, readFile(t, filepath.Join(dist, name+"-image.tar")))
			var docker []struct {
				Config   string
				RepoTags []string
				Layers   []string
			}
			decodeJSON(t, string(blobs["manifest.json"].data), &docker)
			if diff := cmp.Diff([]string{image(name)}, docker[0].RepoTags); diff != "" {
				t.Errorf("names, -want +got:\n%s", diff)
			}
			got = imageConfig{}
			decodeJSON(t, string(blobs[docker[0].Config].data), &got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("by manifest.json, -want +got:\n%s", diff)
			}
			layer, err := gzip.NewReader(bytes.NewReader(blobs[docker[0].Layers[0]].data))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(layer)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(tarFiles(t, text)["usr/local/bin/"+name].data, program.data) {
				t.Error("manifest.json leads to another program")
			}
		})
	}
}

// TestImageOfPlatforms: one name for two platforms, each with its own program; the same
// bytes each time.
func TestImageOfPlatforms(t *testing.T) {
	t.Parallel()
	programs(t)
	registry := startRegistry(t)
	dir := t.TempDir()
	name := registry + "/web:v1"
	for _, out := range []string{"a.tar", "b.tar"} {
		args := []string{"-out", filepath.Join(dir, out), "-name", name, "-title", "web", "-version", "v1", "-created", "1700000000"}
		for _, arch := range []string{"amd64", "arm64"} {
			program := filepath.Join(dir, arch)
			writeFile(t, program, "program for "+arch)
			args = append(args, "linux/"+arch+"="+program)
		}
		run(t, "", filepath.Join(bin(), "image"), args...)
	}
	if !bytes.Equal(readFile(t, filepath.Join(dir, "a.tar")), readFile(t, filepath.Join(dir, "b.tar"))) {
		t.Error("the second archive is another one")
	}

	layout := filepath.Join(dir, "layout")
	for path, file := range tarFiles(t, readFile(t, filepath.Join(dir, "a.tar"))) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(layout, path)), 0o777); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(layout, path), string(file.data))
	}
	crane := filepath.Join(bin(), "crane")
	run(t, "", crane, "push", layout, name)
	var pushed index
	decodeJSON(t, run(t, "", crane, "manifest", name), &pushed)
	if pushed.MediaType != "application/vnd.oci.image.index.v1+json" || len(pushed.Manifests) != 2 {
		t.Fatalf("the index: %+v", pushed)
	}
	for _, d := range pushed.Manifests {
		arch := d.Platform.Architecture
		platform := "linux/" + arch
		files := tarFiles(t, []byte(run(t, "", crane, "export", "--platform", platform, name, "-")))
		if got := string(files["usr/local/bin/web"].data); got != "program for "+arch {
			t.Errorf("the program for %s is %q", platform, got)
		}
		var config imageConfig
		decodeJSON(t, run(t, "", crane, "config", "--platform", platform, name), &config)
		if config.OS != "linux" || config.Architecture != arch {
			t.Errorf("the configuration for %s is of %s/%s", platform, config.OS, config.Architecture)
		}
		var m manifest
		decodeJSON(t, run(t, "", crane, "manifest", "--platform", platform, name), &m)
		for _, part := range append(m.Layers, m.Config) {
			if !strings.HasPrefix(part.MediaType, "application/vnd.oci.image.") {
				t.Errorf("%s is of type %s", part.Digest, part.MediaType)
			}
		}
	}
}

// TestImageErrors: what is wrong is said, and nothing is written.
func TestImageErrors(t *testing.T) {
	t.Parallel()
	programs(t)
	for _, test := range []struct {
		name, reason string
		args         []string
		want         string
	}{
		{
			name: "no platform", reason: "an image of nothing is a mistake",
			args: []string{"-name", "web:v1", "-title", "web"},
			want: "at least one OS/ARCH=FILE",
		},
		{
			name: "no file", reason: "the argument has two parts",
			args: []string{"-name", "web:v1", "-title", "web", "linux/amd64"},
			want: "linux/amd64: not of the form OS/ARCH=FILE",
		},
		{
			name: "not built", reason: "the error names the file",
			args: []string{"-name", "web:v1", "-title", "web", "linux/amd64=absent"},
			want: "open absent",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "image.tar")
			said, err := exec.CommandContext(t.Context(), filepath.Join(bin(), "image"), append([]string{"-out", out}, test.args...)...).CombinedOutput()
			if err == nil || !strings.Contains(string(said), test.want) {
				t.Errorf("%v: %s; want %q: %s", err, said, test.want, test.reason)
			}
			if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a file was written: %v", err)
			}
		})
	}
}

// checkProgram: static, and without paths of the machine that built it. It gives the
// settings of the build.
func checkProgram(t *testing.T, program []byte) map[string]string {
	t.Helper()
	file, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	if libraries, err := file.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("libraries: %v, %v", libraries, err)
	}
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the program needs a loader")
		}
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["CGO_ENABLED"] != "0" || settings["-trimpath"] != "true" {
		t.Errorf("settings: %v", settings)
	}
	return settings
}

// startRegistry gives the address of a registry that ends with the test.
func startRegistry(t *testing.T) string {
	t.Helper()
	programs(t)
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin(), "crane"), "registry", "serve", "--address", "127.0.0.1:0")
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill() // it may have ended with the test's context
		cmd.Wait()         // killed, as it should be
		in.Close()         // a pipe in memory
	})
	lines := bufio.NewScanner(out)
	port := regexp.MustCompile(`port (\d+)`)
	for lines.Scan() {
		if found := port.FindStringSubmatch(lines.Text()); found != nil {
			go io.Copy(io.Discard, out) // what the registry says of each request
			return "127.0.0.1:" + found[1]
		}
	}
	t.Fatal("the registry does not say where it listens")
	return ""
}

type tarFile struct {
	header *tar.Header
	data   []byte
}

// tarFiles gives the entries of an archive by their names.
func tarFiles(t *testing.T, data []byte) map[string]tarFile {
	t.Helper()
	files := map[string]tarFile{}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimSuffix(header.Name, "/")] = tarFile{header: header, data: text}
	}
}

func keys(files map[string]tarFile) []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	return names
}

func decodeJSON(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}
