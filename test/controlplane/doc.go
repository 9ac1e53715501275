// Package controlplane runs a real Kubernetes for tests, benchmarks and the demo:
// etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok, which
// plays the nodes. It needs no container engine and starts within seconds.
//
//	binaries.Ensure -> etcd -> kube-apiserver -> CRDs -> the others -> nodes ready
//
// It promises that
//
//  1. all listens on the loopback address alone, on ports of its own, and wants a
//     certificate or a token; any number of clusters run side by side;
//  2. nothing is left behind, neither a process nor a file, after Stop and after
//     the end of the test process in whatever way (see internal/guard);
//  3. what is not mentioned in Options is as in a production cluster: RBAC, the
//     default admission plugins with ServiceAccount, priority and fairness, the
//     controllers. OwnerReferencesPermissionEnforcement is on, as on OpenShift;
//  4. an error names the process and ends with the last lines of its log.
//
// It never touches the user's kubeconfig, kubectl cache or any other cluster.
// Linux and macOS.
//
// Many tests share a cluster in namespaces of their own:
//
//	var shared = controlplane.NewShared(controlplane.Options{})
//
//	func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }
//
//	func TestSomething(t *testing.T) {
//		t.Parallel()
//		cluster := shared.Cluster(t)
//		namespace := cluster.Namespace(t)
//		...
//	}
//
// A test that pauses, kills or restarts a process, or that counts what it cannot
// tell from other tests' requests, has a cluster of its own: StartForTest.
//
// Why not controller-runtime's envtest: it starts etcd and the API server alone,
// gives no hold of the processes (to pause, kill and restart one at the same
// address), takes etcd's client port without any authentication, and leaves both
// running when the test process is killed. What is left to do without it is the
// certificates and the flags, about two hundred lines here.
package controlplane
