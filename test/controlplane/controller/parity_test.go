package controller_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/diff"
	"kudevops.io/appsvc/pkg/golden"
	"kudevops.io/appsvc/pkg/render"
	"kudevops.io/appsvc/test/controlplane"
)

// children are all kinds that AppServices have.
var children = map[schema.GroupKind]schema.GroupVersionResource{
	{Kind: "ConfigMap"}:                                      {Version: "v1", Resource: "configmaps"},
	{Kind: "Service"}:                                        services,
	{Kind: "ServiceAccount"}:                                 {Version: "v1", Resource: "serviceaccounts"},
	{Group: "apps", Kind: "Deployment"}:                      deployments,
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:  {Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
	{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"}:  {Group: "gateway.networking.k8s.io", Version: "v1", Resource: "httproutes"},
	{Group: "monitoring.coreos.com", Kind: "ServiceMonitor"}: {Group: "monitoring.coreos.com", Version: "v1", Resource: "servicemonitors"},
	{Group: "networking.k8s.io", Kind: "Ingress"}:            {Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"},
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:      {Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	{Group: "policy", Kind: "PodDisruptionBudget"}:           {Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
}

// TestParity: what the controller applied is what `appsvc-render build` prints: every
// field is live, nothing else is, and the digest is the same.
func TestParity(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"examples/complete/shop.yaml",
		"examples/podinfo/podinfo.yaml",
		"testdata/anchors-and-merge-keys/input.yaml",
		"testdata/autoscaling/input.yaml",
		"testdata/b2-24-one-number-two-protocols/input.yaml",
		"testdata/b2-25-two-ports-one-target/input.yaml",
		"testdata/b4-51-port-name-no-container-port-name/input.yaml",
		"testdata/field-env-sources/input.yaml",
		"testdata/field-resources/input.yaml",
		"testdata/files/input.yaml",
		"testdata/list-of-app-services/input.yaml",
		"testdata/patch-json-6902/input.yaml",
		"testdata/patch-strategic-merge/input.yaml",
		"testdata/pod-init-containers-and-sidecars/input.yaml",
		"testdata/pod-placement/input.yaml",
		"testdata/pod-volumes/input.yaml",
		"testdata/route/input.yaml",
		"testdata/security-restricted/input.yaml",
		"testdata/strings-that-look-like-something-else/input.yaml",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			k := inShared(t)
			path := filepath.Join(repository, filepath.FromSlash(file))
			k.create(path)
			k.parity(path)
		})
	}
}

// create creates the AppServices of a file in the namespace, whatever namespace they name.
func (k kubectl) create(path string) {
	k.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		k.t.Fatal(err)
	}
	objects, err := controlplane.ReadObjects(bytes.NewReader(text))
	if err != nil {
		k.t.Fatal(err)
	}
	for _, object := range objects {
		u := object.(*unstructured.Unstructured)
		list, err := u.ToList()
		if !u.IsList() || err != nil {
			list = &unstructured.UnstructuredList{Items: []unstructured.Unstructured{*u}}
		}
		for i := range list.Items {
			item := &list.Items[i]
			item.SetAPIVersion(v1alpha1.GroupVersion.String()) // a list's items need not say
			item.SetKind("AppService")
			item.SetNamespace(k.namespace)
			if _, err := k.cluster.Dynamic().Resource(appServices).Namespace(k.namespace).Create(k.t.Context(), item, metav1.CreateOptions{}); err != nil {
				k.t.Fatal(err)
			}
		}
	}
}

// parity waits until the children in the namespace are what a file renders to by the way
// that the command line takes, and holds the digests to it.
func (k kubectl) parity(path string) {
	k.t.Helper()
	rendered, err := golden.Render(path)
	if err != nil {
		k.t.Fatal(err)
	}
	eventually(k.t, func(ctx context.Context) error { return k.sameAs(ctx, rendered) })
	byOwner := map[string][]*unstructured.Unstructured{}
	for _, object := range rendered {
		owner := object.GetLabels()[v1alpha1.InstanceLabel]
		byOwner[owner] = append(byOwner[owner], object)
	}
	for name, objects := range byOwner {
		want := render.Digest(objects)
		eventually(k.t, func(context.Context) error { return wants(k.app(name).Status.RenderDigest, want) })
	}
}

// sameAs says how the children in the namespace differ from rendered objects. Differences
// that make no other object, such as fields that have yet to become ours, count too.
func (k kubectl) sameAs(ctx context.Context, rendered []*unstructured.Unstructured) error {
	live, err := k.children(ctx)
	if err != nil {
		return err
	}
	desired := make([]*unstructured.Unstructured, len(rendered))
	for i, object := range rendered {
		desired[i] = object.DeepCopy()
		desired[i].SetNamespace(k.namespace)
		// What only the cluster knows: the owner's UID.
		for _, is := range live {
			if is.GetKind() == object.GetKind() && is.GetName() == object.GetName() {
				desired[i].SetOwnerReferences(is.GetOwnerReferences())
			}
		}
	}
	changes, err := diff.Diff(live, desired, diff.Options{Manager: v1alpha1.FieldManager, Namespace: k.namespace})
	if err != nil {
		return err
	}
	for i := range changes.Objects {
		c := &changes.Objects[i]
		if c.Action == diff.Delete && c.Object.Kind == "ConfigMap" {
			needed, err := k.needed(ctx, c.Object.Name)
			if err != nil {
				return err
			}
			if needed {
				continue
			}
		}
		if c.Changed() || len(c.Adopted)+len(c.Kept) > 0 {
			return fmt.Errorf("%s: %s %v, to be made ours: %v, kept: %v", c.Object, c.Action, c.Fields, c.Adopted, c.Kept)
		}
	}
	return nil
}

// needed reports whether a ReplicaSet of an earlier revision refers to a ConfigMap, which
// then stays: a roll-back may start it again.
func (k kubectl) needed(ctx context.Context, name string) (bool, error) {
	list, err := k.cluster.Dynamic().Resource(deployments.GroupVersion().WithResource("replicasets")).Namespace(k.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	text, err := list.MarshalJSON()
	return bytes.Contains(text, []byte(`"name":"`+name+`"`)), err
}

// children are the objects in the namespace that AppServices control.
func (k kubectl) children(ctx context.Context) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, resource := range children {
		list, err := k.cluster.Dynamic().Resource(resource).Namespace(k.namespace).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue // the cluster does not serve the kind
		}
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			if c := metav1.GetControllerOf(&list.Items[i]); c != nil && c.Kind == "AppService" {
				out = append(out, &list.Items[i])
			}
		}
	}
	return out, nil
}
