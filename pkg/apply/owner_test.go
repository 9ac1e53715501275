package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"kudevops.io/appsvc/api/v1alpha1"
)

func webOwner() Owner {
	app := &v1alpha1.AppService{}
	app.Name, app.Namespace, app.UID = "web", "shop", "1"
	return OwnerOf(app)
}

func TestClaimOn(t *testing.T) {
	t.Parallel()
	reference := func(apiVersion, kind, name string, uid types.UID, controller bool) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: &controller}
	}
	const group = v1alpha1.Group
	for _, test := range []struct {
		name, reason string
		references   []metav1.OwnerReference
		want         claim
	}{
		{name: "none", reason: "nobody's", want: unclaimed},
		{name: "ours", reason: "the UID is the owner's", references: []metav1.OwnerReference{reference(group+"/v1alpha1", "AppService", "web", "1", true)}, want: ours},
		{name: "owner only", reason: "to own is not to control", references: []metav1.OwnerReference{reference(group+"/v1alpha1", "AppService", "web", "1", false)}, want: unclaimed},
		{name: "predecessor", reason: "the name was used before", references: []metav1.OwnerReference{reference(group+"/v1alpha1", "AppService", "web", "0", true)}, want: predecessors},
		{name: "other version", reason: "the version of an API says nothing of whose it is", references: []metav1.OwnerReference{reference(group+"/v2", "AppService", "web", "0", true)}, want: predecessors},
		{name: "sibling", reason: "another AppService", references: []metav1.OwnerReference{reference(group+"/v1alpha1", "AppService", "api", "2", true)}, want: others},
		{name: "other group", reason: "somebody else's AppService", references: []metav1.OwnerReference{reference("example.com/v1", "AppService", "web", "0", true)}, want: others},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			object := &unstructured.Unstructured{Object: map[string]any{}}
			object.SetOwnerReferences(test.references)
			if got := webOwner().claimOn(object); got != test.want {
				t.Errorf("claim %d, want %d: %s", got, test.want, test.reason)
			}
		})
	}
}

func TestOwnedIsACopy(t *testing.T) {
	t.Parallel()
	desired := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "web", "ownerReferences": []any{map[string]any{"uid": "patched"}}},
		"data":     map[string]any{"a": "b"},
	}}
	before := runtime.DeepCopyJSON(desired.Object)
	owned := webOwner().owned(desired)
	if d := cmp.Diff(before, desired.Object); d != "" {
		t.Errorf("what was given is changed (-before +after):\n%s", d)
	}
	want := map[string]any{
		"name": "web", "namespace": "shop",
		"ownerReferences": []any{
			map[string]any{"uid": "patched"},
			map[string]any{"apiVersion": "apps.kudevops.io/v1alpha1", "kind": "AppService", "name": "web", "uid": "1", "controller": true, "blockOwnerDeletion": true},
		},
	}
	if d := cmp.Diff(want, owned.Object["metadata"]); d != "" {
		t.Errorf("metadata (-want +got):\n%s", d)
	}
	owner := webOwner()
	owner.UID = ""
	if got := owner.owned(&unstructured.Unstructured{Object: map[string]any{}}).GetOwnerReferences(); len(got) != 0 {
		t.Errorf("an owner that is not in the cluster is referred to: %v", got)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	object := func(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
		o.SetName(name)
		if namespace != "" {
			o.SetNamespace(namespace)
		}
		return o
	}
	for _, test := range []struct {
		name, want string
		set        Set
	}{
		{name: "fine", set: Set{Owner: webOwner(), Objects: []*unstructured.Unstructured{object("v1", "Service", "shop", "web"), object("apps/v1", "Deployment", "", "web")}}},
		{name: "no UID", set: Set{Owner: Owner{APIVersion: "v1", Kind: "AppService", Namespace: "shop", Name: "web"}}, want: "AppService shop/web: the owner needs a name, a namespace and a UID"},
		{name: "Secret", set: Set{Owner: webOwner(), Objects: []*unstructured.Unstructured{object("v1", "Secret", "", "web")}}, want: "Secret shop/web: appsvc never writes a Secret"},
		{name: "no name", set: Set{Owner: webOwner(), Objects: []*unstructured.Unstructured{object("v1", "Service", "shop", "")}}, want: "Service shop/: an object needs an apiVersion, a kind and a name"},
		{name: "another namespace", set: Set{Owner: webOwner(), Objects: []*unstructured.Unstructured{object("v1", "Service", "other", "web")}}, want: "Service other/web: must be in the namespace of its owner, shop"},
		{
			name: "twice, once without a namespace", set: Set{Owner: webOwner(), Objects: []*unstructured.Unstructured{object("v1", "Service", "", "web"), object("v1", "Service", "shop", "web")}},
			want: "Service shop/web: is there twice",
		},
		{
			name: "twice", set: Set{Owner: webOwner(), Objects: []*unstructured.Unstructured{object("autoscaling/v1", "HorizontalPodAutoscaler", "shop", "web"), object("autoscaling/v2", "HorizontalPodAutoscaler", "shop", "web")}},
			want: "HorizontalPodAutoscaler shop/web: is there twice",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if errs := test.set.check(); len(errs) > 0 {
				got = errs.Error()
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestMentions(t *testing.T) {
	t.Parallel()
	template := map[string]any{"volumes": []any{map[string]any{"configMap": map[string]any{"name": "web-1"}}}}
	if !mentions(template, "web-1") || mentions(template, "web") || mentions(nil, "web") {
		t.Error("a name is a whole text anywhere in the template")
	}
}
