package controlplane

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"kudevops.io/appsvc/test/controlplane/binaries"
)

// StartForTest starts a cluster that ends with the test. The test fails if the
// cluster does not start, or if one of its processes ends by itself.
func StartForTest(tb testing.TB, opts Options) *Cluster {
	tb.Helper()
	cluster, err := Start(tb.Context(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return cluster
}

// Shared is a cluster that the tests of a package share. Make one with NewShared.
type Shared struct {
	opts    Options
	once    sync.Once
	cluster *Cluster
	err     error
}

// NewShared describes a cluster to share. It starts when the first test asks for it.
func NewShared(opts Options) *Shared { return &Shared{opts: opts} }

// Run runs the tests of a package and then stops the cluster, if there was need of
// one. It is for TestMain, and returns the exit code. What is not built yet is
// built before the tests, whose -timeout does not count that.
func (s *Shared) Run(m *testing.M) int {
	if _, err := binaries.Ensure(context.Background(), binaries.Options{Progress: s.opts.Progress}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	s.once.Do(func() { s.err = context.Canceled }) // too late to start it now
	if s.cluster == nil {
		return code
	}
	if err := s.cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// Cluster returns the cluster, started if need be. The test fails if it does not
// start.
func (s *Shared) Cluster(tb testing.TB) *Cluster {
	tb.Helper()
	s.once.Do(func() {
		// Not the context of the test that happens to be the first.
		s.cluster, s.err = Start(context.Background(), s.opts)
	})
	if s.err != nil {
		tb.Fatal(s.err)
	}
	return s.cluster
}

// notInNames are runs of what a namespace's name cannot have.
var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// Namespace creates a namespace for the test, whose name has the test's in it. It
// is deleted in the background when the test ends.
func (c *Cluster) Namespace(tb testing.TB) string {
	tb.Helper()
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(tb.Name()), "-"), "-")
	namespace, err := c.client.CoreV1().Namespaces().Create(tb.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: name[:min(len(name), 40)] + "-"},
	}, metav1.CreateOptions{})
	if err != nil {
		tb.Fatalf("create a namespace: %v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := c.client.CoreV1().Namespaces().Delete(ctx, namespace.Name, metav1.DeleteOptions{}); err != nil {
			tb.Logf("namespace %q is left in the cluster: %v", namespace.Name, err)
		}
	})
	if c.Process(binaries.ControllerManager) != nil {
		c.waitUsable(tb, namespace.Name)
	}
	return namespace.Name
}

// waitUsable waits until a namespace has what the controllers give it: before
// that, the API server refuses pods.
func (c *Cluster) waitUsable(tb testing.TB, namespace string) {
	tb.Helper()
	accounts := c.client.CoreV1().ServiceAccounts(namespace)
	err := wait.PollUntilContextTimeout(tb.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := accounts.Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		tb.Fatalf("wait for ServiceAccount %s/default: %v", namespace, err)
	}
}
