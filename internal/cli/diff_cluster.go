package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/manifest"
	"kudevops.io/appsvc/pkg/apply"
	"kudevops.io/appsvc/pkg/render"
)

// clusterOptions say which cluster diff --live compares with.
type clusterOptions struct {
	live, serverSide    bool
	kubeconfig, context string
}

// cluster reads live objects. It needs the rights to get and to list, and no other.
type cluster struct {
	client   client.Client
	progress *progress
}

// connect finds the cluster as kubectl does: by a flag, by $KUBECONFIG, by
// ~/.kube/config, or as a pod in it.
func (o clusterOptions) connect(progress *progress) (*cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	config.QPS = -1 // the API server knows better how much it can take
	config.UserAgent = "appsvc-render"
	cl, err := client.New(config, client.Options{Scheme: runtime.NewScheme()})
	if err != nil {
		return nil, fmt.Errorf("reach the cluster: %w", err)
	}
	return &cluster{client: cl, progress: progress}, nil
}

// task is an AppService with what it renders to, or one other object.
type task struct {
	app     *sideApp
	objects []*sideObject
}

func tasks(desired *treeSide, yield func(task) bool) {
	apps := make(map[*manifest.Object]*sideApp, len(desired.apps))
	for i := range desired.apps {
		apps[desired.apps[i].source] = &desired.apps[i]
	}
	for i := 0; i < len(desired.objects); {
		t := task{app: apps[desired.objects[i].app]}
		for ; i < len(desired.objects) && (len(t.objects) == 0 || t.app != nil && desired.objects[i].app == t.app.source); i++ {
			t.objects = append(t.objects, &desired.objects[i])
		}
		if !yield(t) {
			return
		}
	}
}

// answer is what came of a task.
type answer struct {
	objects []*unstructured.Unstructured
	uid     types.UID
	app     *sideApp
	faults  []*manifest.Fault
}

// read is part of liveSource.
func (c *cluster) read(ctx context.Context, desired *treeSide) (live, []*manifest.Fault, error) {
	found := live{owners: make(map[manifest.ID]string)}
	var faults []*manifest.Fault
	reader := &listOnce{Reader: c.client}
	err := inOrder(ctx,
		func(yield func(task) bool) { tasks(desired, yield) },
		func(t task) answer { return c.task(ctx, reader, t) },
		func(a answer) error {
			found.objects = append(found.objects, a.objects...)
			if a.uid != "" {
				found.owners[a.app.id] = string(a.uid)
			}
			faults = append(faults, a.faults...)
			return nil
		})
	return found, faults, err
}

func (c *cluster) task(ctx context.Context, reader client.Reader, t task) answer {
	defer c.progress.count.Add(int64(len(t.objects)))
	if t.app == nil {
		return c.plain(ctx, reader, t.objects[0])
	}
	return c.app(ctx, reader, t)
}

// plain reads an object that is no AppService's.
func (c *cluster) plain(ctx context.Context, reader client.Reader, o *sideObject) answer {
	u, err := c.get(ctx, reader, o.apiVersion, o.id)
	switch {
	case err != nil:
		return answer{faults: []*manifest.Fault{o.fault("", unreadable(err))}}
	case u == nil:
		return answer{}
	}
	return answer{objects: []*unstructured.Unstructured{u}}
}

// get gives nil for what is not there, or of a kind that the cluster does not serve.
func (c *cluster) get(ctx context.Context, reader client.Reader, apiVersion string, id manifest.ID) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, id.Kind))
	err := reader.Get(ctx, types.NamespacedName{Namespace: id.Namespace, Name: id.Name}, u)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return u, nil
}

// app reads what the controller would meet.
func (c *cluster) app(ctx context.Context, reader client.Reader, t task) answer {
	a := answer{app: t.app}
	fault := func(message string, warning bool) {
		f := t.app.source.Fault("", message)
		f.Warning = warning
		a.faults = append(a.faults, f)
	}
	typed, faults := t.app.source.AppService()
	if len(faults) > 0 {
		a.faults = faults
		return a
	}
	typed.Namespace = t.app.id.Namespace
	stored, err := c.get(ctx, reader, v1alpha1.GroupVersion.String(), t.app.id)
	if err != nil {
		fault(unreadable(err), false)
		return a
	}
	if stored != nil {
		typed.UID, a.uid = stored.GetUID(), stored.GetUID()
	}
	set := apply.Set{
		Owner:         apply.OwnerOf(typed),
		Kinds:         render.Kinds(),
		ContentHashed: []schema.GroupVersionKind{{Version: "v1", Kind: "ConfigMap"}},
		Selector:      render.Selector(typed),
		Adopt:         typed.Annotations[v1alpha1.AdoptAnnotation] == "true",
	}
	for _, o := range t.objects {
		set.Objects = append(set.Objects, &unstructured.Unstructured{Object: o.value})
	}
	read, err := apply.Read(ctx, reader, set, apply.ReadOptions{})
	var errs apply.Errors
	if errors.As(err, &errs) {
		for _, e := range errs {
			// What the controller would be refused is no fault of the comparison.
			fault(e.Error(), e.Reason != apply.ReasonForbidden && e.Reason != apply.ReasonUnavailable)
		}
	} else if err != nil {
		fault(err.Error(), false)
	}
	for _, o := range read.Objects {
		if o.Live != nil {
			a.objects = append(a.objects, o.Live)
		}
	}
	a.objects = append(a.objects, read.Prune...)
	for _, kept := range read.Kept {
		fault(fmt.Sprintf("%s is no longer desired, and stays: %s", kept.Object, kept.Note), true)
	}
	return a
}

// unreadable words the error of a request that reads.
func unreadable(err error) string {
	if apierrors.IsForbidden(err) {
		return fmt.Sprintf("may not be read (the rights to get and to list are enough): %v", err)
	}
	return fmt.Sprintf("cannot be read: %v", err)
}

// listOnce remembers lists: those of one kind in one namespace are the same for all its
// AppServices.
type listOnce struct {
	client.Reader
	lists sync.Map // by kind and namespace
}

type listed struct {
	once sync.Once
	list *unstructured.UnstructuredList
	err  error
}

// List is part of client.Reader. The options are the same for all lists of a kind and a
// namespace.
func (r *listOnce) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	out, ok := into.(*unstructured.UnstructuredList)
	if !ok {
		return r.Reader.List(ctx, into, opts...)
	}
	var o client.ListOptions
	o.ApplyOptions(opts)
	selector := ""
	if o.LabelSelector != nil {
		selector = o.LabelSelector.String()
	}
	key := fmt.Sprintf("%s %s %s", out.GroupVersionKind(), o.Namespace, selector)
	stored, _ := r.lists.LoadOrStore(key, &listed{})
	l, _ := stored.(*listed)
	l.once.Do(func() {
		l.list = &unstructured.UnstructuredList{}
		l.list.SetGroupVersionKind(out.GroupVersionKind())
		l.err = r.Reader.List(ctx, l.list, opts...)
	})
	if l.err != nil {
		return l.err
	}
	out.Items = l.list.Items
	return nil
}
