package controller

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kudevops.io/appsvc/api/v1alpha1"
)

// ownerIndex finds children by the UID of their controller.
const ownerIndex = "metadata.controller.uid"

// newScheme knows AppServices, and the children of kinds that every cluster serves as
// typed objects, which take a third of the memory of unstructured ones.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		v1alpha1.AddToScheme, appsv1.AddToScheme, autoscalingv2.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// cacheOptions bound what is held in memory: AppServices of the shard, and of all kinds
// else only what has our label, without what nobody here reads. Whether a name is taken
// is never asked of this cache.
func cacheOptions(opts *Options, scheme *runtime.Scheme) (cache.Options, error) {
	out := cache.Options{
		Scheme: scheme,
		// A Get of a kind that nobody watches would start a watch of all of it.
		ReaderFailOnMissingInformer: true,
		DefaultTransform:            slim,
		DefaultLabelSelector:        labels.SelectorFromSet(labels.Set{v1alpha1.ManagedByLabel: v1alpha1.ManagedBy}),
	}
	appServices := cache.ByObject{Label: opts.selector, Transform: slim}
	if appServices.Label == nil {
		appServices.Label = labels.Everything()
	}
	out.ByObject = map[client.Object]cache.ByObject{&v1alpha1.AppService{}: appServices}
	if len(opts.Namespaces) > 0 {
		out.DefaultNamespaces = make(map[string]cache.Config, len(opts.Namespaces))
		for _, namespace := range opts.Namespaces {
			out.DefaultNamespaces[namespace] = cache.Config{}
		}
	}
	return out, nil
}

// slim drops, before an object enters the cache, what is never read: the fields that other
// field managers own, and what kubectl apply last sent. Our own entry stays, as without it
// nobody could say whether an apply would write; and so do the names of the others, and
// what an apply of ours has to make ours first.
func slim(in any) (any, error) {
	object, err := meta.Accessor(in)
	if err != nil {
		return in, nil // a tombstone
	}
	if annotations := object.GetAnnotations(); annotations[corev1.LastAppliedConfigAnnotation] != "" {
		if _, isApp := in.(*v1alpha1.AppService); !isApp {
			delete(annotations, corev1.LastAppliedConfigAnnotation)
			object.SetAnnotations(annotations)
		}
	}
	entries := object.GetManagedFields()
	if len(entries) == 0 {
		return in, nil
	}
	if _, isApp := in.(*v1alpha1.AppService); isApp {
		object.SetManagedFields(nil)
		return in, nil
	}
	entries = slices.Clone(entries)
	for i := range entries {
		if entries[i].Manager != v1alpha1.FieldManager {
			entries[i].FieldsV1 = nil
		}
		entries[i].Time = nil
	}
	object.SetManagedFields(entries)
	return in, nil
}

// controllerUID is what ownerIndex holds of an object.
func controllerUID(object client.Object) []string {
	if c := metav1.GetControllerOfNoCopy(object); c != nil && c.Kind == "AppService" {
		return []string{string(c.UID)}
	}
	return nil
}
