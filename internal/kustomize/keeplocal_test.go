package kustomize

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBuildKeepsLocalAppServices(t *testing.T) {
	t.Parallel()
	const app = `
apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata:
  name: web
  annotations:
    note: hello
    config.kubernetes.io/local-config: "VALUE"
spec: {big: 9007199254740993}
`
	marked := map[string]any{"note": "hello", "config.kubernetes.io/local-config": "true"}
	for _, tt := range []struct {
		name, reason, archive string
		want                  []any // annotations of the AppServices
	}{
		{
			name:    "file",
			reason:  "the usual way to keep an AppService from being applied",
			archive: "-- kustomization.yaml --\nresources: [app.yaml]\n-- app.yaml --" + strings.ReplaceAll(app, "VALUE", "true"),
			want:    []any{marked},
		},
		{
			name:    "other value",
			reason:  "kustomize drops whatever is not false",
			archive: "-- kustomization.yaml --\nresources: [app.yaml]\n-- app.yaml --" + strings.ReplaceAll(app, "VALUE", ""),
			want:    []any{marked},
		},
		{
			name:    "false",
			reason:  "what is not dropped is not touched",
			archive: "-- kustomization.yaml --\nresources: [app.yaml]\n-- app.yaml --" + strings.ReplaceAll(app, "VALUE", "false"),
			want:    []any{map[string]any{"note": "hello", "config.kubernetes.io/local-config": "false"}},
		},
		{
			name:   "common annotation",
			reason: "the mark comes when kustomize has read all files",
			archive: "-- kustomization.yaml --\nresources: [app.yaml]\ncommonAnnotations: {config.kubernetes.io/local-config: 'true'}\n" +
				"-- app.yaml --" + strings.ReplaceAll(app, "VALUE", "false"),
			want: []any{marked},
		},
		{
			name:   "patch of an overlay of an overlay",
			reason: "the mark is looked for at the end",
			archive: "-- kustomization.yaml --\nresources: [sub]\n" +
				"-- sub/kustomization.yaml --\nresources: [app.yaml]\nnamePrefix: s-\n" +
				"patches: [{target: {kind: AppService}, patch: '[{\"op\": \"remove\", \"path\": \"/metadata/annotations/note\"}]'}]\n" +
				"-- sub/app.yaml --" + strings.ReplaceAll(app, "VALUE", "true"),
			want: []any{map[string]any{"config.kubernetes.io/local-config": "true"}},
		},
		{
			name:   "other kinds",
			reason: "everything else that is local is kustomize's to drop, an AppService of another group too",
			archive: "-- kustomization.yaml --\nresources: [app.yaml]\n-- app.yaml --" +
				strings.ReplaceAll(strings.ReplaceAll(app, "VALUE", "true"), "apps.kudevops.io", "example.com") + "---" +
				strings.ReplaceAll(strings.ReplaceAll(app, "VALUE", "true"), "kind: AppService", "kind: Other") + "---" +
				strings.ReplaceAll(app, "VALUE", "true"),
			want: []any{marked},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			built, err := Build(plant(t, tt.archive), Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []any
			for _, object := range built {
				got = append(got, object.Value["metadata"].(map[string]any)["annotations"])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("annotations: %s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestBuildKeepsNumbersOfLocalAppServices(t *testing.T) {
	t.Parallel()
	got, err := Build(plant(t, `
-- kustomization.yaml --
resources: [app.yaml]
-- app.yaml --
apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata:
  name: web
  annotations: {config.kubernetes.io/local-config: "true"}
spec: {big: 9007199254740993}
`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"big": int64(9007199254740993)}, got[0].Value["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}
