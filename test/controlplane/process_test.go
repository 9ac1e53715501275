package controlplane_test

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudevops.io/appsvc/test/controlplane"
	"kudevops.io/appsvc/test/controlplane/binaries"
)

func TestRestartKeepsData(t *testing.T) {
	t.Parallel()
	cluster := controlplane.StartForTest(t, controlplane.Options{APIServerOnly: true})
	namespace := cluster.Namespace(t)
	maps := cluster.Client().CoreV1().ConfigMaps(namespace)
	before, err := maps.Create(t.Context(), configMap("kept"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	server, etcd := cluster.Process(binaries.APIServer), cluster.Process(binaries.Etcd)
	for _, test := range []struct {
		name, reason string
		restart      func(context.Context) error
	}{
		{"API server restarted", "as in an upgrade", server.Restart},
		{"API server killed", "as when its machine is lost", func(ctx context.Context) error {
			return errors.Join(server.Kill(), server.Start(ctx))
		}},
		{"etcd killed", "it has not waited for the disk, and has told the system all the same", func(ctx context.Context) error {
			return errors.Join(etcd.Kill(), server.Kill(), etcd.Start(ctx), server.Start(ctx))
		}},
	} {
		// One after the other: they are steps in the life of one cluster.
		pid := server.PID()
		if err := test.restart(t.Context()); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if server.PID() == pid {
			t.Errorf("%s: the process is the same", test.name)
		}
		after, err := maps.Get(t.Context(), "kept", metav1.GetOptions{})
		if err != nil || after.UID != before.UID || after.ResourceVersion != before.ResourceVersion {
			t.Errorf("%s (%s): the object is %+v, %v; want %+v", test.name, test.reason, after, err, before)
		}
	}
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	cluster := controlplane.StartForTest(t, controlplane.Options{APIServerOnly: true})
	server, maps := cluster.Process(binaries.APIServer), cluster.Client().CoreV1().ConfigMaps(metav1.NamespaceDefault)
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	if !server.Running() {
		t.Error("a process that is paused runs still")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := maps.List(ctx, metav1.ListOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a request to an API server that is paused: %v, want no answer at all", err)
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	if _, err := maps.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("a request after the pause: %v", err)
	}
}

func TestEachProcessCanBeKilledAndStarted(t *testing.T) {
	t.Parallel()
	cluster := controlplane.StartForTest(t, controlplane.Options{})
	namespace, client := cluster.Namespace(t), cluster.Client()
	for _, name := range []binaries.Name{binaries.Etcd, binaries.APIServer, binaries.ControllerManager, binaries.Scheduler, binaries.Kwok} {
		process := cluster.Process(name)
		// Paused, it could not see a polite request.
		if err := errors.Join(process.Pause(), process.Kill()); err != nil {
			t.Fatal(err)
		}
		if process.Running() {
			t.Errorf("%s runs after having been killed", name)
		}
		if err := process.Pause(); err == nil {
			t.Errorf("%s does not run and was paused", name)
		}
		if err := process.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := process.Start(t.Context()); err == nil {
			t.Errorf("%s was started twice", name)
		}
		// When etcd was away, the API server needs a moment to see that it is back.
		eventually(t, func(ctx context.Context) error {
			_, err := client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
			return err
		})
		// All that a Deployment needs of every process still works.
		if _, err := client.AppsV1().Deployments(namespace).Create(t.Context(), deployment("after-"+string(name)), metav1.CreateOptions{}); err != nil {
			t.Fatalf("after %s was killed: %v", name, err)
		}
		waitAvailable(t, client, namespace, "after-"+string(name))
	}
}

func TestShutdownOfPausedProcess(t *testing.T) {
	t.Parallel()
	cluster := controlplane.StartForTest(t, controlplane.Options{APIServerOnly: true})
	server := cluster.Process(binaries.APIServer)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := errors.Join(server.Pause(), server.Shutdown(ctx)); err != nil {
		t.Fatal(err)
	}
	if server.Running() {
		t.Error("the process runs after having been shut down")
	}
}
