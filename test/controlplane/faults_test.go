package controlplane_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"kudevops.io/appsvc/test/controlplane"
)

// throughProxy is a proxy with faults, a client that uses it and a namespace.
func throughProxy(t *testing.T, seed uint64, faults ...controlplane.Fault) (*controlplane.FaultProxy, kubernetes.Interface, string) {
	t.Helper()
	cluster := shared.Cluster(t)
	proxy, err := cluster.FaultProxy(seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := proxy.Set(faults...); err != nil {
		t.Fatal(err)
	}
	return proxy, clientOf(t, proxy.Config(cluster.Config())), cluster.Namespace(t)
}

func TestEachFaultIsSeen(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, reason string
		fault        controlplane.Fault
		// seen says whether an error is what the client is to see.
		seen func(error) bool
		// stored is whether the object is to be there all the same.
		stored bool
	}{
		{"conflict", "for a create, the API server's 409 is this one", controlplane.Fault{Status: http.StatusConflict}, apierrors.IsAlreadyExists, false},
		{"too many requests", "as from priority and fairness", controlplane.Fault{Status: http.StatusTooManyRequests}, apierrors.IsTooManyRequests, false},
		{"internal error", "as from a webhook that fails", controlplane.Fault{Status: http.StatusInternalServerError}, apierrors.IsInternalError, false},
		{"unavailable", "as from a load balancer", controlplane.Fault{Status: http.StatusServiceUnavailable}, apierrors.IsServiceUnavailable, false},
		{"request cut", "the API server never sees it", controlplane.Fault{Cut: controlplane.CutRequest}, isReset, false},
		{"reply cut", "it is done, and the client cannot know", controlplane.Fault{Cut: controlplane.CutReply}, isReset, true},
		{"delay", "late, and otherwise as ever", controlplane.Fault{Delay: 50 * time.Millisecond}, func(err error) bool { return err == nil }, true},
		{"delay, then conflict", "both", controlplane.Fault{Delay: 50 * time.Millisecond, Status: http.StatusConflict}, apierrors.IsAlreadyExists, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.fault.Percent, test.fault.Verbs, test.fault.Resources = 100, []string{"create"}, []string{"configmaps"}
			proxy, client, namespace := throughProxy(t, 1, test.fault)
			start := time.Now()
			if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), configMap("a"), metav1.CreateOptions{}); !test.seen(err) {
				t.Errorf("%s: the client sees %v", test.reason, err)
			}
			if took := time.Since(start); took < test.fault.Delay {
				t.Errorf("it took %s, want at least %s", took, test.fault.Delay)
			}
			if diff := cmp.Diff([]int{1}, proxy.Hits()); diff != "" {
				t.Errorf("hits (-want +got):\n%s", diff)
			}
			// Reading is spared.
			_, err := client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "a", metav1.GetOptions{})
			if stored := err == nil; stored != test.stored || !stored && !apierrors.IsNotFound(err) {
				t.Errorf("%s: the object is there: %t, want %t; %v", test.reason, stored, test.stored, err)
			}
		})
	}
}

// isReset says whether a connection was cut, rather than ended.
func isReset(err error) bool { return errors.Is(err, syscall.ECONNRESET) }

func TestFaultsByShare(t *testing.T) {
	t.Parallel()
	const requests = 100
	outcomes := func(seed uint64) string {
		_, client, namespace := throughProxy(t, seed, controlplane.Fault{Percent: 30, Status: http.StatusConflict, Resources: []string{"secrets"}})
		var hits strings.Builder
		for range requests {
			// Requests for another resource change nothing.
			if _, err := client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{}); err != nil {
				t.Fatal(err)
			}
			_, err := client.CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{})
			hits.WriteString(map[bool]string{true: "x", false: "."}[apierrors.IsConflict(err)])
		}
		return hits.String()
	}
	first, again, other := outcomes(7), outcomes(7), outcomes(8)
	if first != again {
		t.Errorf("one seed has two outcomes:\n%s\n%s", first, again)
	}
	if first == other {
		t.Errorf("two seeds have one outcome: %s", first)
	}
	if hits := strings.Count(first, "x"); hits < 15 || hits > 45 {
		t.Errorf("%d of %d requests were hit, want about 30", hits, requests)
	}
}

func TestFaultsOfSubresourcesAndGroups(t *testing.T) {
	t.Parallel()
	_, client, namespace := throughProxy(t, 1,
		controlplane.Fault{Percent: 100, Status: http.StatusConflict, Resources: []string{"deployments.apps/scale"}},
		controlplane.Fault{Percent: 100, Status: http.StatusInternalServerError, Resources: []string{"deployments.apps/scale", "deployments"}},
	)
	deployments := client.AppsV1().Deployments(namespace)
	if _, err := deployments.Create(t.Context(), deployment("web"), metav1.CreateOptions{}); err != nil {
		t.Errorf("another group's deployments are meant: %v", err)
	}
	if _, err := deployments.GetScale(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("the first fault that hits happens: %v, want a conflict", err)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	proxy, client, namespace := throughProxy(t, 1, controlplane.Fault{Percent: 100, Status: http.StatusTooManyRequests, RetryAfter: time.Second})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error)
	go func() {
		_, err := client.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
		done <- err
	}()
	eventually(t, func(context.Context) error {
		if proxy.Hits()[0] == 0 {
			return errors.New("the request has not come yet")
		}
		return nil
	})
	if err := proxy.Set(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("client-go repeats what it may repeat: %v", err)
	}
}

func TestWatchByProxy(t *testing.T) {
	t.Parallel()
	_, client, namespace := throughProxy(t, 1, controlplane.Fault{Percent: 100, Status: http.StatusConflict, Verbs: []string{"list"}})
	maps := client.CoreV1().ConfigMaps(namespace)
	watch, err := maps.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=seen"})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	if _, err := maps.Create(t.Context(), configMap("seen"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	event := <-watch.ResultChan()
	if object, ok := event.Object.(*corev1.ConfigMap); !ok || object.Name != "seen" {
		t.Errorf("the event is %+v", event)
	}
}

func TestFaultsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	proxy, err := cluster.FaultProxy(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, want string
		fault      controlplane.Fault
	}{
		{"no share", "percent 0 is not from 1 to 100", controlplane.Fault{Status: 500}},
		{"too large a share", "percent 101 is not from 1 to 100", controlplane.Fault{Status: 500, Percent: 101}},
		{"nothing", "nothing is to happen", controlplane.Fault{Percent: 1}},
		{"cut and status", "a connection that is cut has no status", controlplane.Fault{Percent: 1, Cut: controlplane.CutReply, Status: 500}},
		{"cut", `no way to cut a connection is called "x"`, controlplane.Fault{Percent: 1, Cut: "x"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if err := proxy.Set(test.fault); err == nil || err.Error() != "fault 1: "+test.want {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}
