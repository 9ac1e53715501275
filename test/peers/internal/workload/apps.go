package workload

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Namespace is that of all AppServices, and of all that the chart renders.
const Namespace = "bench"

// name of the AppService with this index. All have the same length, so that the
// work grows with their number only.
func name(index int) string { return fmt.Sprintf("app-%06d", index) }

// state is what differs between two versions of an AppService.
type state struct {
	minor       int // of the image's tag
	metricsPort int
}

// original is what all but changed files hold. A new image changes the Deployment
// alone, and a new port the Service too.
func original() state { return state{minor: 4, metricsPort: 9090} }

// spec is what an AppService and an entry in the chart's values have in common,
// indented by two.
func spec(index int, s state) string {
	return fmt.Sprintf(`  replicas: %d
  image: registry.example.com/%s:1.%d.%d
  ports:
  - name: http
    port: 80
    targetPort: 8080
  - name: metrics
    port: %d
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
`, 1+index%5, name(index), s.minor, index%10, s.metricsPort)
}

func appService(index int, s state) string {
	return fmt.Sprintf(`apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata:
  name: %s
  namespace: %s
spec:
%s`, name(index), Namespace, spec(index, s))
}

// WriteAppServices writes n AppServices of about 450 bytes each as the documents
// of one stream.
func WriteAppServices(w io.Writer, n int) error {
	return writeStream(w, n, func(int) state { return original() })
}

// writeStream writes n AppServices in the states that they are said to be in.
func writeStream(w io.Writer, n int, stateOf func(index int) state) error {
	for i := range n {
		if i > 0 {
			if _, err := io.WriteString(w, "---\n"); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(w, appService(i, stateOf(i))); err != nil {
			return err
		}
	}
	return nil
}

// WriteAppServiceFile makes the file path with n AppServices.
func WriteAppServiceFile(path string, n int) error {
	return writeFile(path, func(w io.Writer) error { return WriteAppServices(w, n) })
}

// WriteOneChanged makes the file path with the n AppServices, of which one has
// another image: one object differs.
func WriteOneChanged(path string, n int) error {
	return writeFile(path, func(w io.Writer) error {
		return writeStream(w, n, func(index int) state {
			s := original()
			if index == n/2 {
				s.minor++
			}
			return s
		})
	})
}

// WriteAllChanged makes the file path with the n AppServices, each with another image
// and another port: every Deployment and every Service differs.
func WriteAllChanged(path string, n int) error {
	return writeFile(path, func(w io.Writer) error {
		return writeStream(w, n, func(int) state {
			s := original()
			s.minor++
			s.metricsPort++
			return s
		})
	})
}

// WriteResourceList makes the file path with what a KRM function reads: a
// ResourceList with one AppService.
func WriteResourceList(path string) error {
	item := strings.ReplaceAll(strings.TrimSuffix(appService(0, original()), "\n"), "\n", "\n  ")
	return writeFile(path, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- %s\n", item)
		return err
	})
}

// WriteKustomization makes the folder dir with a kustomization of the file resources,
// which is to be in the same folder.
func WriteKustomization(dir, resources string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte("resources:\n- "+resources+"\n"), 0o644)
}

// WriteAppServiceFolder makes the folder dir with the same n AppServices, each in
// a file of its own.
func WriteAppServiceFolder(dir string, n int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, name(i)+".yaml"), []byte(appService(i, original())), 0o644); err != nil {
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
