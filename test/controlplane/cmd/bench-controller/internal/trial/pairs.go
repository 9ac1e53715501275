package trial

import (
	"context"
	"errors"
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	toolswatch "k8s.io/client-go/tools/watch"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/render"
)

// namespace is that of all pairs.
const namespace = "bench"

// name of the pair with this index.
func name(index int) string { return fmt.Sprintf("app-%06d", index) }

// image of the pair with this index.
func image(index int) string { return fmt.Sprintf("registry.example.com/%s:1.4.2", name(index)) }

// appService is the AppService that stands for a pair.
func appService(index int) *v1alpha1.AppService {
	app := &v1alpha1.AppService{ObjectMeta: metav1.ObjectMeta{Name: name(index), Namespace: namespace}}
	app.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("AppService"))
	app.Spec.Replicas = new(int32(0))
	app.Spec.Image = image(index)
	app.Spec.Ports = []v1alpha1.ServicePort{{Name: "http", Port: 80}}
	app.Spec.Env = []corev1.EnvVar{{Name: "LOG_LEVEL", Value: "info"}}
	return app
}

// rendered is the pair with this index.
func rendered(index int) ([]*unstructured.Unstructured, error) {
	result, errs := render.Render(appService(index), render.Options{})
	return result.Objects, errs.ToAggregate()
}

// resourceOf is the resource of one of a pair.
func resourceOf(object *unstructured.Unstructured) (schema.GroupVersionResource, error) {
	switch object.GetKind() {
	case "Deployment":
		return appsv1.SchemeGroupVersion.WithResource("deployments"), nil
	case "Service":
		return corev1.SchemeGroupVersion.WithResource("services"), nil
	}
	return schema.GroupVersionResource{}, fmt.Errorf("a %s is not expected in a pair", object.GetKind())
}

func toUnstructured(object runtime.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	return &unstructured.Unstructured{Object: content}, err
}

// createAll creates the objects of so many pairs, ten at a time.
func createAll(ctx context.Context, client dynamic.ResourceInterface, apps int, object func(index int) (*unstructured.Unstructured, error)) error {
	const workers = 10
	var group sync.WaitGroup
	errs := make([]error, workers)
	for worker := range workers {
		group.Go(func() {
			for index := worker; index < apps && errs[worker] == nil; index += workers {
				errs[worker] = create(ctx, client, index, object)
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

func create(ctx context.Context, client dynamic.ResourceInterface, index int, object func(int) (*unstructured.Unstructured, error)) error {
	u, err := object(index)
	if err != nil {
		return err
	}
	_, err = client.Create(ctx, u, metav1.CreateOptions{})
	return err
}

// readiness counts the objects that are Ready, by a watch that is there before they are.
type readiness struct {
	watcher watch.Interface
}

func watchReadiness(ctx context.Context, client dynamic.ResourceInterface) (*readiness, error) {
	list, err := client.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(list.Items) > 0 {
		return nil, errors.New("there are objects before the first was created")
	}
	watcher, err := toolswatch.NewRetryWatcherWithContext(ctx, list.GetResourceVersion(), watching{client})
	return &readiness{watcher}, err
}

// watching is what a RetryWatcher needs.
type watching struct{ client dynamic.ResourceInterface }

func (w watching) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return w.client.Watch(ctx, options)
}

// wait waits until so many objects are Ready.
func (r *readiness) wait(ctx context.Context, apps int) error {
	defer r.watcher.Stop()
	names := map[string]bool{}
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; %d of %d are Ready", context.Cause(ctx), len(names), apps)
		case event, open := <-r.watcher.ResultChan():
			u, ok := event.Object.(*unstructured.Unstructured)
			if !open || !ok {
				return fmt.Errorf("the watch of what is Ready ended: %v", event.Object)
			}
			if isReady(u) {
				names[u.GetName()] = true
			}
			if len(names) == apps {
				return nil
			}
		}
	}
}

// isReady says whether the condition Ready is True.
func isReady(u *unstructured.Unstructured) bool {
	conditions, _, err := unstructured.NestedSlice(u.Object, "status", "conditions")
	if err != nil {
		return false
	}
	for _, condition := range conditions {
		if c, ok := condition.(map[string]any); ok && c["type"] == "Ready" {
			return c["status"] == "True"
		}
	}
	return false
}
