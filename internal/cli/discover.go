package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/kustomize"
	"kudevops.io/appsvc/internal/manifest"
)

const discoverLong = `Discover prints one line when there are AppServices in the path, and nothing
otherwise. Both end with exit code 0, as Argo CD wants of a plugin.

Of a folder with a kustomization it looks into what that refers to on disk; of any
other folder, into what build would read, less what lies in folders with a
kustomization of their own. It looks at the text and not at the YAML, so that a
broken file is still built, and its fault shown.`

func newDiscover(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "discover [PATH]",
		Short: "Say whether there are AppServices (Argo CD)",
		Long:  discoverLong,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path := "."
			if len(args) > 0 {
				path = args[0]
			}
			return runDiscover(s, path)
		},
	}
}

func runDiscover(s streams, name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return &manifest.Fault{File: name, Message: readError(err)}
	}
	if !info.IsDir() {
		return discoverIn(s, os.DirFS(filepath.Dir(name)), filepath.Dir(name), []string{filepath.Base(name)})
	}
	if isRoot(name) {
		for _, file := range kustomize.LocalFiles(name) {
			if found, err := discoverFile(os.DirFS(filepath.Dir(file)), filepath.Base(file)); err == nil && found {
				_, err := fmt.Fprintf(s.out, "%s: %s\n", file, v1alpha1.Kind)
				return err
			}
		}
		return nil
	}
	files, _, err := manifestFiles(name)
	if err != nil {
		return &manifest.Fault{File: name, Message: err.Error()}
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return &manifest.Fault{File: name, Message: readError(err)}
	}
	defer root.Close()
	return discoverIn(s, root.FS(), name, files)
}

func discoverIn(s streams, fsys fs.FS, dir string, files []string) error {
	for _, file := range files {
		found, err := discoverFile(fsys, file)
		if err != nil {
			return &manifest.Fault{File: filepath.Join(dir, file), Message: readError(err)}
		}
		if found {
			_, err := fmt.Fprintf(s.out, "%s: %s\n", filepath.Join(dir, filepath.FromSlash(file)), v1alpha1.Kind)
			return err
		}
	}
	return nil
}

// kindOfAppService is how a line of YAML or JSON says that something is one.
var kindOfAppService = regexp.MustCompile(`(^|[\s{,-])["']?kind["']?\s*:\s*["']?AppService(List)?["']?\s*($|[,}#])`)

// discoverFile says whether a file has the group and the kind of AppService in its
// text, outside comments.
func discoverFile(fsys fs.FS, name string) (bool, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	var group, kind bool
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, manifest.MaxDocument)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if bytes.HasPrefix(line, []byte("#")) {
			continue
		}
		group = group || bytes.Contains(line, []byte(v1alpha1.Group+"/"))
		kind = kind || kindOfAppService.Match(line)
		if group && kind {
			return true, nil
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return false, err
	}
	return false, nil
}
