package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
kustomization of their own. Where YAML is broken the text decides, so that a broken
file is still built, and its fault shown.`

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
	files, _, err := manifestFiles(name, "")
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
var kindOfAppService = regexp.MustCompile(`(?m)^[^#\n]*\bkind["']?\s*:\s*["']?AppService(List)?["']?\s*($|[,}#\r])`)

// discoverFile says whether there is an AppService in a file. Of a document that
// cannot be read, the text decides.
func discoverFile(fsys fs.FS, name string) (bool, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	r := manifest.NewReader(name, file)
	for {
		doc, err := r.Next()
		var fault *manifest.Fault
		switch {
		case err == io.EOF:
			return false, nil
		case errors.As(err, &fault):
			return false, nil // too large: for build to say, if there is another reason to build
		case err != nil:
			return false, err
		case !bytes.Contains(doc.Text, []byte(v1alpha1.Group+"/")) || !bytes.Contains(doc.Text, []byte(v1alpha1.Kind)):
			continue
		}
		objects, _, faults := manifest.Objects(doc)
		if len(faults) > 0 && kindOfAppService.Match(doc.Text) {
			return true, nil
		}
		for _, o := range objects {
			if o.Group == v1alpha1.Group && o.Kind == v1alpha1.Kind {
				return true, nil
			}
		}
	}
}
