package controller

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"kudevops.io/appsvc/api/v1alpha1"
)

// kinds are those of children. Those that every cluster serves are watched from the start;
// HTTPRoute and ServiceMonitor from the first AppService on that has one, if the cluster
// serves them then.
type kinds struct {
	cache  cache.Cache
	client client.Client
	// start begins to watch a kind.
	start func(source.Source) error

	mu      sync.Mutex
	watched map[schema.GroupVersionKind]bool
}

func newKinds(c cache.Cache, cl client.Client, ctl controller.Controller) *kinds {
	return &kinds{cache: c, client: cl, start: ctl.Watch, watched: make(map[schema.GroupVersionKind]bool)}
}

// watch begins to watch the kinds of objects, as far as the cluster serves them. A kind
// that it does not serve is for pkg/apply to complain of, which asks each time: it may be
// installed at any moment.
func (k *kinds) watch(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if err := k.add(ctx, object.GroupVersionKind()); err != nil {
			return err
		}
	}
	return nil
}

func (k *kinds) add(ctx context.Context, gvk schema.GroupVersionKind) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.watched[gvk] {
		return nil
	}
	object, err := k.object(gvk)
	if err != nil {
		return err
	}
	if _, err := k.client.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version); err != nil {
		if meta.IsNoMatchError(err) {
			return nil
		}
		return fmt.Errorf("look for kind %s: %w", gvk.Kind, err)
	}
	if err := k.cache.IndexField(ctx, object, ownerIndex, controllerUID); err != nil {
		return fmt.Errorf("index %s: %w", gvk.Kind, err)
	}
	owner := handler.EnqueueRequestForOwner(k.client.Scheme(), k.client.RESTMapper(), &v1alpha1.AppService{}, handler.OnlyControllerOwner())
	if err := k.start(source.Kind(k.cache, object, owner)); err != nil {
		return fmt.Errorf("watch %s: %w", gvk.Kind, err)
	}
	k.watched[gvk] = true
	return nil
}

// object gives an empty object of a kind.
func (k *kinds) object(gvk schema.GroupVersionKind) (client.Object, error) {
	if !k.client.Scheme().Recognizes(gvk) {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		return u, nil
	}
	made, err := k.client.Scheme().New(gvk)
	if err != nil {
		return nil, err
	}
	object, ok := made.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%s is no object", gvk.Kind)
	}
	return object, nil
}

// served are the kinds that are watched, in a fixed order: what there can be to prune.
func (k *kinds) served() []schema.GroupVersionKind {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make([]schema.GroupVersionKind, 0, len(k.watched))
	for gvk := range k.watched {
		out = append(out, gvk)
	}
	slices.SortFunc(out, func(a, b schema.GroupVersionKind) int {
		return slices.Compare([]string{a.Kind, a.Group}, []string{b.Kind, b.Group})
	})
	return out
}
