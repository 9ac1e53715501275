package controlplane

import (
	"context"
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudevops.io/appsvc/test/controlplane/binaries"
)

// podAddresses is the range that kwok gives pods their addresses from.
const podAddresses = "10.128.0.0/9"

// controllerManager runs Kubernetes' own controllers.
func (c *Cluster) controllerManager(opts Options) (*Process, error) {
	kubeconfig, err := c.kubeconfigOf(binaries.ControllerManager)
	if err != nil {
		return nil, err
	}
	return c.process(binaries.ControllerManager, opts, func(int) []string {
		return []string{
			"--kubeconfig=" + kubeconfig,
			"--leader-elect=false",
			"--secure-port=0",
			"--root-ca-file=" + c.pki.file("ca.crt"),
			"--service-account-private-key-file=" + c.pki.file("service-accounts"),
			// One identity, so that what it does can be told apart in the audit log.
			"--use-service-account-credentials=false",
			"--kube-api-qps=500", "--kube-api-burst=1000",
		}
	}, c.controllersWork), nil
}

// controllersWork asks for the first thing that the controllers make.
func (c *Cluster) controllersWork(ctx context.Context) error {
	_, err := c.client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
	return err
}

// scheduler gives pods their nodes.
func (c *Cluster) scheduler(opts Options) (*Process, error) {
	kubeconfig, err := c.kubeconfigOf(binaries.Scheduler)
	if err != nil {
		return nil, err
	}
	return c.process(binaries.Scheduler, opts, func(int) []string {
		return []string{
			"--kubeconfig=" + kubeconfig,
			"--leader-elect=false",
			"--secure-port=0",
			"--kube-api-qps=500", "--kube-api-burst=1000",
		}
	}, func(context.Context) error { return nil }), nil
}

// kwok plays the kubelets. What it does, and how fast, is in stages, of which we
// take the module's own "fast" ones: ready at once, gone at once.
func (c *Cluster) kwok(ctx context.Context, opts Options) (*Process, error) {
	kubeconfig, err := c.kubeconfigOf(binaries.Kwok)
	if err != nil {
		return nil, err
	}
	files, err := stages(ctx)
	if err != nil {
		return nil, err
	}
	return c.process(binaries.Kwok, opts, func(int) []string {
		args := []string{
			"--kubeconfig=" + kubeconfig,
			"--manage-all-nodes=true",
			"--cidr=" + podAddresses,
		}
		for _, file := range files {
			args = append(args, "--config="+file)
		}
		return args
	}, c.nodesReady), nil
}

// kubeconfigOf writes the kubeconfig of one of the cluster's processes, which may
// do everything and has its program's name in the audit log.
func (c *Cluster) kubeconfigOf(name binaries.Name) (string, error) {
	config, err := c.User("system:"+string(name), "system:masters")
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.Dir, string(name)+".kubeconfig")
	return path, WriteKubeconfig(config, path)
}

// createNodes creates nodes, which kwok then calls ready.
func (c *Cluster) createNodes(ctx context.Context, count int) error {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("1000"),
		corev1.ResourceMemory: resource.MustParse("1Ti"),
		corev1.ResourcePods:   resource.MustParse("100k"),
	}
	for i := range count {
		name := fmt.Sprintf("node-%d", i+1)
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{
				Name:        name,
				Labels:      map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux"},
				Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
			},
			Status: corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
		}
		if _, err := c.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create Node %s: %w", name, err)
		}
	}
	return nil
}

// nodesReady says which node is not ready yet.
func (c *Cluster) nodesReady(ctx context.Context) error {
	nodes, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, node := range nodes.Items {
		if !nodeReady(node) {
			return fmt.Errorf("node %q is not ready", node.Name)
		}
	}
	return nil
}

func nodeReady(node corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			// Nobody schedules to a node that still has the taint of a new one.
			return len(node.Spec.Taints) == 0
		}
	}
	return false
}

// stages are the files that kwok's kustomize/stage/fast consists of, in its module.
func stages(ctx context.Context) ([]string, error) {
	module, err := binaries.ModuleDir(ctx, binaries.Kwok)
	if err != nil {
		return nil, fmt.Errorf("find the stages of kwok: %w", err)
	}
	var files []string
	for _, name := range []string{
		"node/fast/node-initialize.yaml",
		"node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
		"pod/fast/pod-ready.yaml",
		"pod/fast/pod-complete.yaml",
		"pod/fast/pod-delete.yaml",
	} {
		files = append(files, filepath.Join(module, "kustomize", "stage", filepath.FromSlash(name)))
	}
	return files, nil
}
