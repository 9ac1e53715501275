package controlplane_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"kudevops.io/appsvc/test/controlplane"
	"kudevops.io/appsvc/test/controlplane/binaries"
	"kudevops.io/appsvc/test/controlplane/internal/proctest"
)

// shared is the cluster of all tests that leave its processes alone.
var shared = controlplane.NewShared(controlplane.Options{
	Nodes: 2,
	CRDs:  []controlplane.CRDs{controlplane.GatewayAPICRDs, controlplane.ServiceMonitorCRDs},
})

func TestMain(m *testing.M) {
	if proctest.Role() != "" {
		child()
	}
	os.Exit(shared.Run(m))
}

// eventually waits until check has no complaint; it gives up when something that
// takes a second on an idle machine has not happened after two minutes.
func eventually(t *testing.T, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// clientOf makes a client.
func clientOf(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// configMap is an object that nothing acts on.
func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"a": "b"}}
}

// deployment has two pods.
func deployment(name string) *appsv1.Deployment {
	replicas, labels := int32(2), map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "nginx:1.27"}}},
			},
		},
	}
}

// waitAvailable waits until a Deployment is 2/2.
func waitAvailable(t *testing.T, client kubernetes.Interface, namespace, name string) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		d, err := client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && (d.Status.ReadyReplicas != 2 || d.Status.AvailableReplicas != 2) {
			err = fmt.Errorf("Deployment is not 2/2: %+v", d.Status)
		}
		return err
	})
}

func TestDeploymentBecomesAvailable(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	namespace, client := cluster.Namespace(t), cluster.Client()
	if _, err := client.AppsV1().Deployments(namespace).Create(t.Context(), deployment("web"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	waitAvailable(t, client, namespace, "web")
	pods, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]bool{}
	for _, pod := range pods.Items {
		nodes[pod.Spec.NodeName] = true
		if pod.Status.Phase != corev1.PodRunning || pod.Status.PodIP == "" {
			t.Errorf("Pod %s is %s at %q, want it running at an address", pod.Name, pod.Status.Phase, pod.Status.PodIP)
		}
	}
	if len(pods.Items) != 2 || len(nodes) != 2 {
		t.Errorf("there are %d pods on nodes %v, want two on two", len(pods.Items), nodes)
	}
}

func TestGarbageCollection(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	namespace, client := cluster.Namespace(t), cluster.Client()
	maps := client.CoreV1().ConfigMaps(namespace)
	owner, err := maps.Create(t.Context(), configMap("owner"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dependant := configMap("dependant")
	dependant.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID}}
	for _, object := range []*corev1.ConfigMap{dependant, configMap("bystander")} {
		if _, err := maps.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := maps.Delete(t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		if _, err := maps.Get(ctx, "dependant", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the dependant outlives its owner: %v", err)
		}
		return nil
	})
	if _, err := maps.Get(t.Context(), "bystander", metav1.GetOptions{}); err != nil {
		t.Errorf("an object without an owner: %v", err)
	}
}

func TestServiceRangeIsWide(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	namespace, client := cluster.Namespace(t), cluster.Client()
	// 10.99.255.1 is far outside the first 254 addresses, and the last but 253.
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "far"},
		Spec:       corev1.ServiceSpec{ClusterIP: "10.99.255.1", Ports: []corev1.ServicePort{{Port: 80}}},
	}
	services := client.CoreV1().Services(namespace)
	if _, err := services.Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The address is to be free before the namespace is gone.
	if err := services.Delete(t.Context(), "far", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

func TestCRDsOfOthersAreServed(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	for group, want := range map[string]string{
		"gateway.networking.k8s.io/v1": "httproutes",
		"monitoring.coreos.com/v1":     "servicemonitors",
	} {
		resources, err := cluster.Client().Discovery().ServerResourcesForGroupVersion(group)
		if err != nil {
			t.Errorf("%s: %v", group, err)
			continue
		}
		if !slices.ContainsFunc(resources.APIResources, func(r metav1.APIResource) bool { return r.Name == want }) {
			t.Errorf("%s is not served: %v", want, resources)
		}
	}
}

func TestTwoClustersAtOnce(t *testing.T) {
	t.Parallel()
	clusters, errs := make([]*controlplane.Cluster, 2), make([]error, 2)
	done := make(chan struct{})
	for i := range clusters {
		go func() {
			defer func() { done <- struct{}{} }()
			clusters[i], errs[i] = controlplane.Start(t.Context(), controlplane.Options{})
		}()
	}
	for range clusters {
		<-done
	}
	for i, cluster := range clusters {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		t.Cleanup(func() {
			if err := cluster.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	for i, cluster := range clusters {
		namespace := cluster.Namespace(t)
		if _, err := cluster.Client().AppsV1().Deployments(namespace).Create(t.Context(), deployment("web"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		waitAvailable(t, cluster.Client(), namespace, "web")
		other := clusters[1-i].Client()
		if _, err := other.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("the namespace of one cluster is in the other: %v", err)
		}
	}
	// A certificate of one cluster is worth nothing in the other.
	stranger := clusters[0].Config()
	stranger.Host, stranger.CAData = clusters[1].Config().Host, clusters[1].Config().CAData
	if _, err := clientOf(t, stranger).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("with the other cluster's certificate: %v, want Unauthorized", err)
	}
}

func TestListensOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/net/tcp"); err != nil {
		t.Skip("only Linux tells which process listens where in a file: ", err)
	}
	cluster := shared.Cluster(t)
	sockets := map[string]string{}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			const local, state, inode, listening = 1, 3, 9, "0A"
			if fields := strings.Fields(line); fields[state] == listening {
				sockets["socket:["+fields[inode]+"]"] = fields[local]
			}
		}
	}
	listeners := 0
	for _, pid := range pidsOf(t, cluster) {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			target, _ := os.Readlink(file) // it may be closed by now
			address, ok := sockets[target]
			if !ok {
				continue
			}
			listeners++
			if !strings.HasPrefix(address, "0100007F:") { // 127.0.0.1, as the file has it
				t.Errorf("process %d listens on %s", pid, address)
			}
		}
	}
	if listeners != 3 {
		t.Errorf("the cluster listens on %d ports, want 3: two of etcd and one of the API server", listeners)
	}
}

func TestStopLeavesNothing(t *testing.T) {
	t.Parallel()
	cluster, err := controlplane.Start(t.Context(), controlplane.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pids := pidsOf(t, cluster)
	if err := cluster.Process(binaries.Scheduler).Pause(); err != nil {
		t.Error(err)
	}
	if err := cluster.Stop(); err != nil {
		t.Error(err)
	}
	proctest.WaitGone(t, pids...)
	proctest.WaitNoFile(t, cluster.Dir)
	if err := cluster.Stop(); err != nil {
		t.Errorf("a second Stop: %v", err)
	}
}

func TestFailedStartLeavesNothing(t *testing.T) {
	t.Parallel()
	_, err := controlplane.Start(t.Context(), controlplane.Options{
		ExtraArgs: map[binaries.Name][]string{binaries.APIServer: {"--no-such-flag=" + t.Name()}},
	})
	if err == nil {
		t.Fatal("the API server took a flag that there is none of")
	}
	for _, want := range []string{"kube-apiserver ended while it was starting (exit status 1)", "unknown flag: --no-such-flag"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
	proctest.WaitNoProcessOf(t, t.Name())
}

func TestCrashIsReported(t *testing.T) {
	t.Parallel()
	cluster, err := controlplane.Start(t.Context(), controlplane.Options{APIServerOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	server := cluster.Process(binaries.APIServer)
	if err := syscall.Kill(server.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(context.Context) error {
		if server.Running() {
			return fmt.Errorf("the API server still runs")
		}
		return nil
	})
	if err := cluster.Stop(); err == nil || !strings.HasPrefix(err.Error(), "kube-apiserver ended by itself (signal: killed)") {
		t.Errorf("Stop after a crash: %v", err)
	}
}

func TestEndOfTestProcess(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, role, reason string
		end                func(*proctest.Child) error
	}{
		{"killed", "wait", "kill -9 of the test process, as go test does to one that hangs", func(c *proctest.Child) error {
			c.Kill()
			return nil
		}},
		{"panicked", "panic", "a panic in one test ends all, without their clean-up", func(c *proctest.Child) error {
			if err := c.Wait(); err == nil {
				return fmt.Errorf("the child did not panic")
			}
			return nil
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			t.Log(test.reason)
			child := proctest.Start(t, test.role)
			var dir string
			var pids []int
			line := child.Line()
			if _, err := fmt.Sscan(line, &dir); err != nil {
				t.Fatal(line, err)
			}
			for _, field := range strings.Fields(line)[1:] {
				var pid int
				if _, err := fmt.Sscan(field, &pid); err != nil {
					t.Fatal(line, err)
				}
				pids = append(pids, pid)
			}
			if err := test.end(child); err != nil {
				t.Error(err)
			}
			proctest.WaitGone(t, pids...)
			proctest.WaitNoProcessOf(t, dir)
			proctest.WaitNoFile(t, dir)
		})
	}
}

// child runs a cluster, prints its folder and its processes' numbers, and waits to
// be killed, or panics. One process is paused, which is the hardest to end.
func child() {
	cluster, err := controlplane.Start(context.Background(), controlplane.Options{APIServerOnly: true})
	if err != nil {
		panic(err)
	}
	etcd, server := cluster.Process(binaries.Etcd), cluster.Process(binaries.APIServer)
	if err := etcd.Pause(); err != nil {
		panic(err)
	}
	fmt.Println(cluster.Dir, etcd.PID(), server.PID())
	if proctest.Role() == "panic" {
		panic("as told")
	}
	time.Sleep(time.Hour)
}

// pidsOf are the numbers of all of a cluster's processes.
func pidsOf(t *testing.T, cluster *controlplane.Cluster) []int {
	t.Helper()
	var pids []int
	for _, name := range []binaries.Name{binaries.Etcd, binaries.APIServer, binaries.ControllerManager, binaries.Scheduler, binaries.Kwok} {
		process := cluster.Process(name)
		if process == nil || !process.Running() {
			t.Fatalf("%s does not run", name)
		}
		pids = append(pids, process.PID())
	}
	return pids
}

func TestKeptFolder(t *testing.T) {
	t.Parallel()
	cluster, err := controlplane.Start(t.Context(), controlplane.Options{APIServerOnly: true, Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(cluster.Dir); err != nil {
			t.Error(err)
		}
	})
	if err := cluster.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"etcd.log", "kube-apiserver.log", "audit-1.log", "kubeconfig"} {
		if info, err := os.Stat(filepath.Join(cluster.Dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s is not kept: %v", name, err)
		}
	}
}
