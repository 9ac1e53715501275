package argocd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/argoproj/argo-cd/v3/cmpserver/apiclient"
	"github.com/argoproj/argo-cd/v3/util/cmp"
)

// request is about one Application: a folder of a repository, with the environment
// that Argo CD gives.
type request struct {
	server *server
	// repo is the root of the repository, and app the folder in it.
	repo, app string
	env       []string
}

// newRequest is about a folder of a repository with these files, by name.
func newRequest(t *testing.T, app string, files map[string]string) request {
	t.Helper()
	r := request{server: plugin, repo: t.TempDir(), app: app}
	for name, text := range files {
		writeFile(t, filepath.Join(r.repo, name), text)
	}
	if err := os.MkdirAll(r.path(), 0o755); err != nil {
		t.Fatal(err)
	}
	return r
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (r request) path() string { return filepath.Join(r.repo, r.app) }

// send packs and sends the repository as Argo CD does.
func (r request) send(ctx context.Context, stream cmp.StreamSender) error {
	return cmp.SendRepoStream(ctx, r.path(), r.repo, stream, r.env, nil)
}

// match asks whether the plugin is for the folder.
func (r request) match(ctx context.Context) (*apiclient.RepositoryResponse, error) {
	stream, err := r.server.client.MatchRepository(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.send(ctx, stream); err != nil {
		return nil, err
	}
	return stream.CloseAndRecv()
}

// announce asks for the parameters.
func (r request) announce(ctx context.Context) (*apiclient.ParametersAnnouncementResponse, error) {
	stream, err := r.server.client.GetParametersAnnouncement(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.send(ctx, stream); err != nil {
		return nil, err
	}
	return stream.CloseAndRecv()
}

// generate asks for the manifests.
func (r request) generate(ctx context.Context) (*apiclient.ManifestResponse, error) {
	stream, err := r.server.client.GenerateManifest(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.send(ctx, stream); err != nil {
		return nil, err
	}
	return stream.CloseAndRecv()
}

// objects are the manifests that a request brings, decoded.
func (r request) objects(t *testing.T) []any {
	t.Helper()
	response, err := r.generate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, response.Manifests)
}

func decode(t *testing.T, manifests []string) []any {
	t.Helper()
	objects := make([]any, len(manifests))
	for i, m := range manifests {
		if err := json.Unmarshal([]byte(m), &objects[i]); err != nil {
			t.Fatalf("manifest %d: %v\n%s", i, err, m)
		}
	}
	return objects
}

// built are the objects that "appsvc-render build ." prints in a folder.
func built(t *testing.T, dir string, args ...string) []any {
	t.Helper()
	objects, faults := build(t, dir, args...)
	if faults != "" {
		t.Fatalf("appsvc-render build: %s", faults)
	}
	return objects
}

// build runs "appsvc-render build ." in a folder. It gives the objects that are
// printed, or what is said on standard error where that fails.
func build(t *testing.T, dir string, args ...string) (objects []any, faults string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), programs.appsvcRender, append([]string{"build", ".", "-o", "json"}, args...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, stderr.String()
	}
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var o any
		if err := d.Decode(&o); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	return objects, ""
}
