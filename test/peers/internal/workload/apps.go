package workload

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Namespace is that of all AppServices, and of all that the chart renders.
const Namespace = "bench"

// name of the AppService with this index. All have the same length, so that the
// work grows with their number only.
func name(index int) string { return fmt.Sprintf("app-%06d", index) }

// spec is what an AppService and an entry in the chart's values have in common,
// indented by two.
func spec(index int) string {
	return fmt.Sprintf(`  replicas: %d
  image: registry.example.com/%s:1.4.%d
  ports:
  - name: http
    port: 80
    targetPort: 8080
  - name: metrics
    port: 9090
  env:
  - name: LOG_LEVEL
    value: info
  - name: GREETING
    value: hello from %[2]s
  resources:
    requests:
      cpu: 100m
      memory: 128Mi
    limits:
      memory: 256Mi
`, 1+index%5, name(index), index%10)
}

func appService(index int) string {
	return fmt.Sprintf(`apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata:
  name: %s
  namespace: %s
spec:
%s`, name(index), Namespace, spec(index))
}

// WriteAppServices writes n AppServices of about 450 bytes each as the documents
// of one stream.
func WriteAppServices(w io.Writer, n int) error {
	for i := range n {
		if i > 0 {
			if _, err := io.WriteString(w, "---\n"); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(w, appService(i)); err != nil {
			return err
		}
	}
	return nil
}

// WriteAppServiceFile makes the file path with n AppServices.
func WriteAppServiceFile(path string, n int) error {
	return writeFile(path, func(w io.Writer) error { return WriteAppServices(w, n) })
}

// WriteAppServiceFolder makes the folder dir with the same n AppServices, each in
// a file of its own.
func WriteAppServiceFolder(dir string, n int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, name(i)+".yaml"), []byte(appService(i)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(file)
	if err := write(buffered); err != nil {
		file.Close()
		return err
	}
	if err := buffered.Flush(); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
