package workload

import (
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// chart is one chart for any number of apps: chart/templates/apps.yaml ranges
// over the values. Labels and fields of what it renders stand there.
//
//go:embed chart
var chart embed.FS

// WriteValues writes the chart's values for the n apps of WriteAppServices.
func WriteValues(w io.Writer, n int) error {
	if _, err := io.WriteString(w, "apps:\n"); err != nil {
		return err
	}
	for i := range n {
		if _, err := fmt.Fprintf(w, "- name: %s\n%s", name(i), spec(i, original())); err != nil {
			return err
		}
	}
	return nil
}

// WriteChart makes the folder dir with a helm chart that renders, for the
// namespace Namespace, what n AppServices render to.
func WriteChart(dir string, n int) error {
	files, err := fs.Sub(chart, "chart")
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, files); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, "values.yaml"), func(w io.Writer) error { return WriteValues(w, n) })
}
