package kustomize

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withSchema is a tree with an OpenAPI schema by which a list of a Thing is merged
// by name. It takes the place of the one that comes with kustomize, so a list of a
// Deployment is replaced.
const withSchema = `
-- kustomization.yaml --
resources: [deployment.yaml, thing.yaml]
openapi: {path: schema.json}
patches: [{path: deployment-patch.yaml}, {path: thing-patch.yaml}]
-- thing.yaml --
apiVersion: example.com/v1
kind: Thing
metadata: {name: a}
spec: {parts: [{name: a, size: 1}, {name: b, size: 1}]}
-- thing-patch.yaml --
apiVersion: example.com/v1
kind: Thing
metadata: {name: a}
spec: {parts: [{name: b, size: 2}]}
-- deployment.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec: {template: {spec: {containers: [{name: a, image: a}, {name: b, image: b}]}}}
-- deployment-patch.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec: {template: {spec: {containers: [{name: b, image: c}]}}}
-- schema.json --
{"definitions": {"v1.Thing": {
  "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Thing"}],
  "properties": {"spec": {"properties": {"parts": {"type": "array", "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge",
    "items": {"type": "object"}}}}}}}}
`

// withDeployment is a tree that is built right only by the schema that comes with
// kustomize.
const withDeployment = `
-- kustomization.yaml --
resources: [deployment.yaml]
patches: [{path: patch.yaml}]
-- deployment.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec: {template: {spec: {containers: [{name: a, image: a}, {name: b, image: b}]}}}
-- patch.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec: {template: {spec: {containers: [{name: b, image: c}]}}}
`

func TestBuildConcurrently(t *testing.T) {
	t.Parallel()
	roots := []string{plant(t, withSchema), plant(t, withDeployment)}
	for _, tt := range buildCases {
		roots = append(roots, filepath.Join(plantLinks(t, tt.archive), tt.dir))
	}
	want := make([][]Object, len(roots))
	for i, root := range roots {
		var err error
		if want[i], err = Build(root, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	var wait sync.WaitGroup
	for range 3 {
		for i, root := range roots {
			wait.Go(func() {
				got, err := Build(root, Options{})
				if err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(want[i], got); diff != "" {
					t.Errorf("built beside others (-alone +beside):\n%s", diff)
				}
			})
		}
	}
	wait.Wait()
}

func TestBuildKeepsSchemasApart(t *testing.T) {
	t.Parallel()
	// Other tests may run between these builds, which is all the better.
	thing, deployment := plant(t, withSchema), plant(t, withDeployment)
	a := map[string]any{"name": "a", "image": "a"}
	b := map[string]any{"name": "b", "image": "c"}
	for range 2 {
		got, err := Build(thing, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"parts": []any{
			map[string]any{"name": "b", "size": int64(2)},
			map[string]any{"name": "a", "size": int64(1)},
		}}
		if diff := cmp.Diff(want, got[1].Value["spec"]); diff != "" {
			t.Errorf("Thing with a schema of the user's (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]any{b}, containers(got[0])); diff != "" {
			t.Errorf("Deployment with a schema of the user's (-want +got):\n%s", diff)
		}
		if got, err = Build(deployment, Options{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{b, a}, containers(got[0])); diff != "" {
			t.Errorf("Deployment after a build with a schema of the user's (-want +got):\n%s", diff)
		}
	}
}

func containers(deployment Object) any {
	value := any(deployment.Value)
	for _, field := range []string{"spec", "template", "spec", "containers"} {
		value = value.(map[string]any)[field]
	}
	return value
}
