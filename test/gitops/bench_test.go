package gitops

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkComponent builds 500 AppServices with the Component, and measures beside it
// the function by itself on what kustomize sends it, start and end included. It reports
// processor time, which other work on the machine changes less than the time on the
// clock, and the share that the function has in the whole.
func BenchmarkComponent(b *testing.B) {
	const count = 500
	p := programs(b)
	dir := plant(b, "-- prod/kustomization.yaml --\nresources: [../apps]\ncomponents: [../config/kustomize/component]\n"+
		"namePrefix: prod-\nnamespace: shop\nimages: [{name: nginx, newTag: \"1.28\"}]\n-- apps/kustomization.yaml --\nresources: [apps.yaml]\n")
	var stream strings.Builder
	for i := range count {
		fmt.Fprintf(&stream, "---\napiVersion: apps.kudevops.io/v1alpha1\nkind: AppService\nmetadata:\n  name: app-%03d\nspec:\n  image: nginx:1.27\n  replicas: 2\n  ports:\n  - {name: http, port: 80}\n", i)
	}
	write(b, filepath.Join(dir, "apps", "apps.yaml"), stream.String())

	// What kustomize sends, kept by a program in the place of the function.
	bin, sent := b.TempDir(), filepath.Join(b.TempDir(), "stdin")
	if err := os.WriteFile(filepath.Join(bin, "appsvc-render"), []byte("#!/bin/sh\nexec tee '"+sent+"'\n"), 0o755); err != nil {
		b.Fatal(err)
	}
	if r := commandWith(b, bin, "", p.kustomize, "build", "--enable-alpha-plugins", "--enable-exec", filepath.Join(dir, "prod")); r.code != 0 {
		b.Fatal(r.stderr)
	}

	var whole, own time.Duration
	for b.Loop() {
		r := kustomize(b, filepath.Join(dir, "prod"))
		out := r.ok(b)
		whole += r.cpu
		if got := strings.Count(out, "kind: Deployment\n"); got != count {
			b.Fatalf("%d Deployments, want %d", got, count)
		}
		own += alone(b, p.appsvc, sent)
	}
	b.ReportMetric(float64(whole.Milliseconds())/float64(b.N), "kustomize-cpu-ms/op")
	b.ReportMetric(float64(own.Milliseconds())/float64(b.N), "function-cpu-ms/op")
	b.ReportMetric(100*float64(own)/float64(whole), "%share")
}

// alone runs the function on a file and gives its processor time.
func alone(b *testing.B, program, input string) time.Duration {
	b.Helper()
	stdin, err := os.Open(input)
	if err != nil {
		b.Fatal(err)
	}
	defer stdin.Close()
	cmd := exec.CommandContext(b.Context(), program)
	cmd.Stdin = stdin
	out, err := cmd.Output()
	if err != nil || len(out) == 0 {
		b.Fatalf("%v, %d bytes", err, len(out))
	}
	return cpu(cmd)
}
