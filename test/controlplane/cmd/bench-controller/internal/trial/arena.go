package trial

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"kudevops.io/appsvc/test/controlplane"
	"kudevops.io/appsvc/test/controlplane/internal/guard"
)

// arena is where one run takes place: a new cluster and a folder.
type arena struct {
	cluster *controlplane.Cluster
	dir     string
	guard   *guard.Guard
	steady  time.Duration
}

func (a *arena) createNamespace(ctx context.Context) error {
	_, err := a.cluster.Client().CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	return err
}

// kubeconfig writes an access to a file.
func (a *arena) kubeconfig(access *rest.Config) (string, error) {
	path := filepath.Join(a.dir, "kubeconfig")
	return path, controlplane.WriteKubeconfig(access, path)
}

// writes are those of a user in the namespace of the pairs. What is set up once, such as
// CRDs, is in none.
func (a *arena) writes(ctx context.Context, user string) (int, error) {
	requests, err := a.cluster.Requests(ctx)
	if err != nil {
		return 0, err
	}
	return requests.By(user).In(namespace).Writes().Total(), nil
}

// idle waits until a user has written nothing for four seconds (kro looks again after
// three), or for a minute if that does not happen, and returns the writes until then.
func (a *arena) idle(ctx context.Context, user string) (int, error) {
	const quiet, longest = 4 * time.Second, time.Minute
	start := time.Now()
	last, since := -1, start
	for {
		now, err := a.writes(ctx, user)
		switch {
		case err != nil:
			return 0, err
		case now != last:
			last, since = now, time.Now()
		case time.Since(since) >= quiet, time.Since(start) >= longest:
			return now, nil
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return 0, err
		}
	}
}

// check says whether the pairs are there, and whether the first is what its AppService
// renders to; what others add to it does not count.
func (a *arena) check(ctx context.Context, apps int) error {
	objects, err := rendered(0)
	if err != nil {
		return err
	}
	for _, want := range objects {
		resource, err := resourceOf(want)
		if err != nil {
			return err
		}
		// The API server lists by name, and says how many it left out.
		list, err := a.cluster.Dynamic().Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return err
		}
		count := len(list.Items)
		if more := list.GetRemainingItemCount(); more != nil {
			count += int(*more)
		}
		if count != apps {
			return fmt.Errorf("%d %s, want %d", count, resource.Resource, apps)
		}
		if err := holds(want, &list.Items[0]); err != nil {
			return err
		}
	}
	return nil
}

// holds says whether live has the spec that is wanted.
func holds(want, live *unstructured.Unstructured) error {
	if want.GetName() != live.GetName() || !includes(live.Object["spec"], want.Object["spec"]) {
		return fmt.Errorf("%s %s/%s is not as it should be: %v, want %v", live.GetKind(), live.GetNamespace(), live.GetName(), live.Object["spec"], want.Object["spec"])
	}
	return nil
}

// includes says whether live has all that is wanted.
func includes(live, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		for key, value := range want {
			ok = ok && includes(l[key], value)
		}
		return ok
	case []any:
		l, ok := live.([]any)
		ok = ok && len(l) == len(want)
		for i, value := range want {
			ok = ok && includes(l[i], value)
		}
		return ok
	}
	return live == want
}

// poll calls f until it does not complain, or ctx is done.
func poll(ctx context.Context, f func(context.Context) error) error {
	for {
		err := f(ctx)
		if err == nil {
			return nil
		}
		if end := sleep(ctx, 20*time.Millisecond); end != nil {
			return errors.Join(end, err)
		}
	}
}

// sleep waits, and says so when ctx was done before.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
