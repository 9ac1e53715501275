package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"kudevops.io/appsvc/test/controlplane/internal/proctest"
)

func TestBuildPrintsWherePrograms(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"build"}, &stdout, io.MultiWriter(&stderr, os.Stderr)); code != 0 {
		t.Fatalf("the exit code is %d:\n%s", code, stderr.String())
	}
	var names []string
	for line := range strings.Lines(stdout.String()) {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			t.Fatalf("the line %q has no name and file", line)
		}
		names = append(names, fields[0])
		if info, err := os.Stat(fields[1]); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s is no program: %v", fields[1], err)
		}
	}
	if got, want := strings.Join(names, " "), "etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kwok"; got != want {
		t.Errorf("the programs are %s, want %s", got, want)
	}
}

func TestUpRunsUntilInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	reader, stdout := io.Pipe()
	ended := make(chan int)
	go func() {
		ended <- run(ctx, []string{"up", "--nodes=3"}, stdout, os.Stderr)
		stdout.Close()
	}()
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, ok := strings.CutPrefix(strings.TrimSpace(line), "export KUBECONFIG=")
	if !ok {
		t.Fatalf("the line %q sets no kubeconfig", line)
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 3 {
		t.Errorf("there are %d nodes, %v, want 3", len(nodes.Items), err)
	}
	if _, err := client.Discovery().ServerResourcesForGroupVersion("apps.kudevops.io/v1alpha1"); err != nil {
		t.Errorf("our CRD is not served: %v", err)
	}
	interrupt()
	if code := <-ended; code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	proctest.WaitNoFile(t, kubeconfig)
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, reason string
		args         []string
		code         int
		want         string
	}{
		{"none", "there is no default", nil, 2, "usage: controlplane build"},
		{"unknown", "a typing error", []string{"biuld"}, 2, "usage: controlplane build"},
		{"too many", "it would seem to build just those", []string{"build", "etcd"}, 1, `build takes no arguments: ["etcd"]`},
		{"flag", "a typing error", []string{"up", "--nodse=3"}, 1, "flag provided but not defined: -nodse"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), test.args, &stdout, &stderr)
			if code != test.code || !strings.Contains(stderr.String(), test.want) || stdout.Len() > 0 {
				t.Errorf("%s: the exit code is %d, want %d; it said:\n%s%s", test.reason, code, test.code, stdout.String(), stderr.String())
			}
		})
	}
}
