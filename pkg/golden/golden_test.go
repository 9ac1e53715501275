package golden_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudevops.io/appsvc/pkg/golden"
)

const app = `apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata: {name: web, namespace: shop}
spec: {replicas: 3, image: 'example/web:1', resources: {requests: {cpu: 100m}}}
---
apiVersion: v1
kind: Secret
metadata: {name: token, namespace: shop}
stringData: {token: very-secret}
`

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// recorder is a testing.TB that notes failures.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Errorf(format string, args ...any) { r.said = format }

func TestCheck(t *testing.T) {
	t.Parallel()
	objects, err := golden.Render(file(t, "app.yaml", app))
	if err != nil {
		t.Fatal(err)
	}
	reviewed := filepath.Join(t.TempDir(), "folder", "reviewed.yaml")
	golden.Check(t, objects, reviewed, true)
	golden.Check(t, objects, reviewed, false)

	text, err := os.ReadFile(reviewed)
	if err != nil {
		t.Fatal(err)
	}
	// Another spelling of the same is no difference.
	same := strings.Replace(string(text), "cpu: 100m", `cpu: "0.1"`, 1)
	if same == string(text) {
		t.Fatalf("no cpu in\n%s", text)
	}
	golden.Check(t, objects, file(t, "same.yaml", same), false)

	r := &recorder{TB: t}
	golden.Check(r, objects, file(t, "other.yaml", strings.Replace(string(text), "example/web:1", "example/web:0", 1)), false)
	if r.said == "" {
		t.Error("another image is no failure")
	}
}

func TestCompareMasksSecrets(t *testing.T) {
	t.Parallel()
	objects, err := golden.Render(file(t, "app.yaml", app))
	if err != nil {
		t.Fatal(err)
	}
	report, err := golden.Compare(file(t, "reviewed.yaml", strings.ReplaceAll(app[strings.Index(app, "---"):], "very-secret", "old-secret")), objects)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(report, "Secret shop/token") || strings.Contains(report, "-secret") {
		t.Errorf("report:\n%s", report)
	}
}

func TestRenderFaults(t *testing.T) {
	t.Parallel()
	broken := file(t, "broken.yaml", strings.Replace(app, "image: 'example/web:1'", "image: '', imge: x", 1))
	_, err := golden.Render(broken)
	if err == nil || !strings.Contains(err.Error(), "broken.yaml:4") {
		t.Errorf("error: %v", err)
	}
	if _, err := golden.Compare(filepath.Join(t.TempDir(), "none.yaml"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
