package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kudevops.io/appsvc/api/v1alpha1"
)

// TestSlim: our own managed fields stay whole, those of others keep their names alone, and
// what others have is not changed behind their back.
func TestSlim(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	fields := metav1.NewFieldsV1
	entries := []metav1.ManagedFieldsEntry{
		{Manager: v1alpha1.FieldManager, Operation: "Apply", APIVersion: "apps/v1", Time: &now, FieldsType: "FieldsV1", FieldsV1: fields(`{"f:spec":{}}`)},
		{Manager: "kube-controller-manager", Operation: "Update", Subresource: "status", Time: &now, FieldsType: "FieldsV1", FieldsV1: fields(`{"f:status":{}}`)},
	}
	meta := metav1.ObjectMeta{
		Name: "web", ManagedFields: entries,
		Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: "{...}", "kept": "1"},
	}
	out, err := slim(&appsv1.Deployment{ObjectMeta: *meta.DeepCopy()})
	if err != nil {
		t.Fatal(err)
	}
	got := out.(*appsv1.Deployment)
	want := []metav1.ManagedFieldsEntry{
		{Manager: v1alpha1.FieldManager, Operation: "Apply", APIVersion: "apps/v1", FieldsType: "FieldsV1", FieldsV1: fields(`{"f:spec":{}}`)},
		{Manager: "kube-controller-manager", Operation: "Update", Subresource: "status", FieldsType: "FieldsV1"},
	}
	if d := cmp.Diff(want, got.ManagedFields); d != "" {
		t.Errorf("managed fields (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]string{"kept": "1"}, got.Annotations); d != "" {
		t.Errorf("annotations (-want +got):\n%s", d)
	}

	// An AppService's annotations are passed on to its children: pkg/render says which.
	out, err = slim(&v1alpha1.AppService{ObjectMeta: *meta.DeepCopy()})
	if err != nil {
		t.Fatal(err)
	}
	app := out.(*v1alpha1.AppService)
	if len(app.ManagedFields) != 0 || len(app.Annotations) != 2 {
		t.Errorf("an AppService: %v, %v", app.ManagedFields, app.Annotations)
	}

	u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "web"}}}
	u.SetManagedFields(entries)
	if out, err = slim(u); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, out.(*unstructured.Unstructured).GetManagedFields()); d != "" {
		t.Errorf("managed fields of an unstructured object (-want +got):\n%s", d)
	}

	tombstone := toolscache.DeletedFinalStateUnknown{Key: "web"}
	if out, err := slim(tombstone); err != nil || out != any(tombstone) {
		t.Errorf("a tombstone: %v, %v", out, err)
	}
}

// TestControllerUID: what is indexed are the children of AppServices.
func TestControllerUID(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		owner metav1.OwnerReference
		want  []string
	}{
		{"of an AppService", metav1.OwnerReference{Kind: "AppService", UID: "1", Controller: new(true)}, []string{"1"}},
		{"of something else", metav1.OwnerReference{Kind: "ReplicaSet", UID: "1", Controller: new(true)}, nil},
		{"an owner that is no controller", metav1.OwnerReference{Kind: "AppService", UID: "1"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			object := client.Object(&corev1.Service{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{test.owner}}})
			if d := cmp.Diff(test.want, controllerUID(object)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
