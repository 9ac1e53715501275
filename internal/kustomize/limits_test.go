package kustomize

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// bomb is a text of some hundred bytes that expands to 10^levels values.
func bomb(levels int) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\nl0: &l0 x\n")
	for i := 1; i <= levels; i++ {
		alias := fmt.Sprintf("*l%d", i-1)
		fmt.Fprintf(&b, "l%d: &l%d [%s]\n", i, i, strings.Join([]string{alias, alias, alias, alias, alias, alias, alias, alias, alias, alias}, ", "))
	}
	return b.String()
}

const cyclic = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cyclic}\ndata: &d {again: *d}\n"

func TestBuildLimits(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("# this is a comment line of 32 B\n"), maxFile/33+1)
	indent := func(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }
	for _, tt := range []struct {
		name, reason string
		files        map[string]string
		want         string
	}{
		{
			"large resource", "a file larger than any that an API server would take",
			map[string]string{"kustomization.yaml": "resources: [a.yaml]", "a.yaml": string(large)},
			`kustomization.yaml:1: resources[0]: "a.yaml" is larger than 8 MiB`,
		},
		{
			"large kustomization", "it is read before anything else",
			map[string]string{"kustomization.yaml": string(large)},
			"kustomization.yaml: is larger than 8 MiB",
		},
		{
			"large patch", "everything that is read is limited",
			map[string]string{"kustomization.yaml": "patches: [{path: a.yaml}]", "a.yaml": string(large)},
			`kustomization.yaml:1: patches[0].path: "a.yaml" is larger than 8 MiB`,
		},
		{
			"large data of a plugin", "kustomize reads it, not we",
			map[string]string{"kustomization.yaml": "generators: ['{apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: a}, name: a, files: [a.yaml]}']", "a.yaml": string(large)},
			"a.yaml: is larger than 8 MiB",
		},
		{
			"aliases in a resource", "kustomize would need 10^12 values for it",
			map[string]string{"kustomization.yaml": "resources: [a.yaml]", "a.yaml": bomb(12)},
			`kustomization.yaml:1: resources[0]: "a.yaml" expands to more than 1048576 values`,
		},
		{
			"aliases in a second document", "each document has its own",
			map[string]string{"kustomization.yaml": "resources: [a.yaml]", "a.yaml": "a: b\n---\n" + bomb(12)},
			`kustomization.yaml:1: resources[0]: "a.yaml" expands to more than 1048576 values`,
		},
		{
			"aliases in an inline patch", "the text of a kustomization holds other texts",
			map[string]string{"kustomization.yaml": "patches:\n- patch: |\n" + indent(bomb(12))},
			"kustomization.yaml:2: patches[0].patch: expands to more than 1048576 values",
		},
		{
			"aliases in an old inline patch", "it is tried as text first",
			map[string]string{"kustomization.yaml": "patchesStrategicMerge:\n- |\n" + indent(bomb(12))},
			"kustomization.yaml:2: patchesStrategicMerge[0]: expands to more than 1048576 values",
		},
		{
			"aliases in an inline plugin", "it is parsed like a file",
			map[string]string{"kustomization.yaml": "transformers:\n- |\n" + indent(bomb(12))},
			"kustomization.yaml:2: transformers[0]: expands to more than 1048576 values",
		},
		{
			"aliases in a patch of a plugin", "a text inside a text inside a text",
			map[string]string{"kustomization.yaml": "transformers:\n- |\n    apiVersion: builtin\n    kind: PatchTransformer\n    metadata: {name: a}\n    patch: |\n    " + indent(strings.ReplaceAll(bomb(12), "\n", "\n    "))},
			"kustomization.yaml:2: transformers[0]: PatchTransformer a: expands to more than 1048576 values",
		},
		{
			"cycle", "kustomize would end the process by a stack overflow",
			map[string]string{"kustomization.yaml": "resources: [a.yaml]", "a.yaml": cyclic},
			`kustomization.yaml:1: resources[0]: "a.yaml" expands to more than 1048576 values`,
		},
		{
			"aliases in a kustomization", "it is YAML like any other",
			map[string]string{"kustomization.yaml": bomb(12)},
			"kustomization.yaml: expands to more than 1048576 values",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for name, text := range tt.files {
				write(t, filepath.Join(root, name), []byte(text))
			}
			_, err := Build(root, Options{})
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), root+"/", ""), tt.want) {
				t.Errorf("Build: %v\nwant %s: %s", err, tt.want, tt.reason)
			}
		})
	}
}

func TestBuildResolvesAliases(t *testing.T) {
	t.Parallel()
	// Six levels are a million values less what counts them.
	for levels, fits := range map[int]bool{4: true, 5: true, 6: false} {
		err := checkAliases([]byte(bomb(levels)))
		if (err == nil) != fits {
			t.Errorf("10^%d values: %v, want them to fit: %v", levels, err, fits)
		}
	}
	got, err := Build(plant(t, "-- kustomization.yaml --\nresources: [a.yaml]\n-- a.yaml --\n"+
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: &n a}, data: {name: *n}}\n"), Options{})
	if err != nil || got[0].Value["data"].(map[string]any)["name"] != "a" {
		t.Errorf("Build of a modest alias: %v, %v", got, err)
	}
}

func TestBuildReadsNoDevices(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no /dev/zero on Windows")
	}
	root := plant(t, "-- kustomization.yaml --\nresources: [a.yaml]\n")
	if err := os.Symlink("/dev/zero", filepath.Join(root, "a.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(root, Options{}); err == nil || !strings.Contains(err.Error(), "outside of the folder") {
		t.Errorf("Build with a symlink to a device: %v", err)
	}
	if _, err := readFile("/dev/zero"); err != errNotRegular {
		t.Errorf("readFile of a device: %v, want %v", err, errNotRegular)
	}
}
