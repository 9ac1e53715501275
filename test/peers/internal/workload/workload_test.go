package workload_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"kudevops.io/appsvc/test/peers/internal/workload"
)

// documents of the stream that WriteAppServices writes for n.
func documents(t *testing.T, n int) []string {
	t.Helper()
	var stream bytes.Buffer
	if err := workload.WriteAppServices(&stream, n); err != nil {
		t.Fatal(err)
	}
	return strings.Split(stream.String(), "---\n")
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := yaml.UnmarshalStrict([]byte(text), &object); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return object
}

func TestAppServices(t *testing.T) {
	t.Parallel()
	const n = 30
	all := documents(t, n)
	if len(all) != n {
		t.Fatalf("%d documents, want %d", len(all), n)
	}
	names := map[string]bool{}
	for _, text := range all {
		if len(text) < 440 || len(text) > 460 {
			t.Errorf("%d bytes, want about 450:\n%s", len(text), text)
		}
		if len(text) != len(all[0]) {
			t.Errorf("%d bytes, the first has %d: all have to be the same work", len(text), len(all[0]))
		}
		app := decode(t, text)
		names[app["metadata"].(map[string]any)["name"].(string)] = true
	}
	if len(names) != n {
		t.Errorf("%d names, want %d", len(names), n)
	}
	want := map[string]any{
		"apiVersion": "apps.kudevops.io/v1alpha1",
		"kind":       "AppService",
		"metadata":   map[string]any{"name": "app-000012", "namespace": "bench"},
		"spec": map[string]any{
			"replicas": 3.0,
			"image":    "registry.example.com/app-000012:1.4.2",
			"ports": []any{
				map[string]any{"name": "http", "port": 80.0, "targetPort": 8080.0},
				map[string]any{"name": "metrics", "port": 9090.0},
			},
			"env": []any{
				map[string]any{"name": "LOG_LEVEL", "value": "info"},
				map[string]any{"name": "GREETING", "value": "hello from app-000012"},
			},
			"resources": map[string]any{
				"requests": map[string]any{"cpu": "100m", "memory": "128Mi"},
				"limits":   map[string]any{"memory": "256Mi"},
			},
		},
	}
	if diff := cmp.Diff(want, decode(t, all[12])); diff != "" {
		t.Errorf("the thirteenth (-want +got):\n%s", diff)
	}
}

func TestChanged(t *testing.T) {
	t.Parallel()
	const n = 5
	tests := []struct {
		name   string
		reason string
		write  func(path string, n int) error
		want   []string
	}{
		{name: "one", reason: "an image of one changes one Deployment", write: workload.WriteOneChanged, want: []string{"", "", "image", "", ""}},
		{
			name: "all", reason: "an image and a port change a Deployment and a Service", write: workload.WriteAllChanged,
			want: []string{"image ports", "image ports", "image ports", "image ports", "image ports"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "changed.yaml")
			if err := tt.write(path, n); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Split(string(text), "---\n")
			var got []string
			for i, before := range documents(t, n) {
				got = append(got, strings.Join(differing(decode(t, before), decode(t, changed[i])), " "))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s; fields of the spec that differ (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// differing are the fields of the spec that two AppServices have different values of.
func differing(a, b map[string]any) []string {
	var fields []string
	for _, field := range []string{"replicas", "image", "ports", "env", "resources"} {
		if !cmp.Equal(a["spec"].(map[string]any)[field], b["spec"].(map[string]any)[field]) {
			fields = append(fields, field)
		}
	}
	return fields
}

func TestResourceList(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "list.yaml")
	if err := workload.WriteResourceList(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList",
		"items": []any{decode(t, documents(t, 1)[0])},
	}
	if diff := cmp.Diff(want, decode(t, string(text))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFileAndFolderHoldTheSame(t *testing.T) {
	t.Parallel()
	const n = 12
	file, folder := filepath.Join(t.TempDir(), "apps.yaml"), filepath.Join(t.TempDir(), "apps")
	if err := workload.WriteAppServiceFile(file, n); err != nil {
		t.Fatal(err)
	}
	if err := workload.WriteAppServiceFolder(folder, n); err != nil {
		t.Fatal(err)
	}
	stream, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(text))
	}
	if diff := cmp.Diff(strings.Split(string(stream), "---\n"), got); diff != "" {
		t.Errorf("file and folder differ (-file +folder):\n%s", diff)
	}
}

func TestChart(t *testing.T) {
	t.Parallel()
	const n = 12
	dir := filepath.Join(t.TempDir(), "chart")
	if err := workload.WriteChart(dir, n); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}

	if got := decode(t, read("Chart.yaml"))["apiVersion"]; got != "v2" {
		t.Errorf("apiVersion of the chart is %v, want v2", got)
	}
	if text := read("templates/apps.yaml"); !strings.Contains(text, "range .Values.apps") {
		t.Error("the template does not range over the values")
	}
	// The values have to be what the AppServices say, or helm would have other work.
	var want []any
	for _, text := range documents(t, n) {
		app := decode(t, text)
		entry := app["spec"].(map[string]any)
		entry["name"] = app["metadata"].(map[string]any)["name"]
		want = append(want, entry)
	}
	if diff := cmp.Diff(map[string]any{"apps": want}, decode(t, read("values.yaml"))); diff != "" {
		t.Errorf("values (-AppServices +values):\n%s", diff)
	}
}
