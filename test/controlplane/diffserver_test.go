package controlplane_test

import (
	"context"
	"encoding/base64"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"kudevops.io/appsvc/pkg/diff"
	"kudevops.io/appsvc/test/controlplane"
)

// TestDiff puts what pkg/diff says to a real API server. No controller runs beside it:
// what is live is what the test has made.
func TestDiff(t *testing.T) {
	t.Parallel()
	cluster := controlplane.StartForTest(t, controlplane.Options{APIServerOnly: true, CRDs: []controlplane.CRDs{controlplane.GatewayAPICRDs}})
	crd, err := controlplane.ReadObjects(strings.NewReader(gadgets))
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Apply(t.Context(), crd...); err != nil {
		t.Fatal(err)
	}
	served := schema.GroupVersionResource{Group: "test.kudevops.io", Version: "v1", Resource: "gadgets"}
	eventually(t, func(ctx context.Context) error {
		_, err := cluster.Dynamic().Resource(served).List(ctx, metav1.ListOptions{})
		return err
	})
	s := &diffServer{
		cluster: cluster,
		mapper:  restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(cluster.Client().Discovery())),
	}
	t.Run("pairs", func(t *testing.T) { testDiffPairs(t, s) })
	t.Run("cases", func(t *testing.T) { testDiffCases(t, s) })
	t.Run("effects", func(t *testing.T) { testDiffEffects(t, s) })
	t.Run("defaults", func(t *testing.T) { testDiffDefaults(t, s) })
	t.Run("rendered", func(t *testing.T) { testDiffRendered(t, s) })
}

// diffServer is the API server that pkg/diff is compared with.
type diffServer struct {
	cluster *controlplane.Cluster
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

func (s *diffServer) clientFor(t *testing.T, object *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	client := s.cluster.Dynamic().Resource(s.mapping(t, object).Resource)
	if object.GetNamespace() != "" {
		return client.Namespace(object.GetNamespace())
	}
	return client
}

func (s *diffServer) mapping(t *testing.T, object *unstructured.Unstructured) *meta.RESTMapping {
	t.Helper()
	kind := object.GroupVersionKind()
	mapping, err := s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		t.Fatal(err)
	}
	return mapping
}

// namespaced reports whether objects of the kind are in a namespace.
func (s *diffServer) namespaced(t *testing.T, object *unstructured.Unstructured) bool {
	t.Helper()
	return s.mapping(t, object).Scope.Name() == meta.RESTScopeNameNamespace
}

// apply applies an object with force.
func (s *diffServer) apply(t *testing.T, manager string, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	live, err := s.clientFor(t, object).Apply(t.Context(), object.GetName(), object.DeepCopy(), metav1.ApplyOptions{FieldManager: manager, Force: true})
	if err != nil {
		t.Fatalf("apply as %s: %v", manager, err)
	}
	return live
}

// tryApply is apply without effect.
func (s *diffServer) tryApply(t *testing.T, manager string, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	t.Helper()
	return s.clientFor(t, object).Apply(t.Context(), object.GetName(), object.DeepCopy(),
		metav1.ApplyOptions{FieldManager: manager, Force: true, DryRun: []string{metav1.DryRunAll}})
}

func (s *diffServer) get(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	live, err := s.clientFor(t, object).Get(t.Context(), object.GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return live
}

// patch changes an object as a field manager does that knows nothing of applying.
func (s *diffServer) patch(t *testing.T, manager string, kind types.PatchType, object *unstructured.Unstructured, patch string, subresources ...string) {
	t.Helper()
	_, err := s.clientFor(t, object).Patch(t.Context(), object.GetName(), kind, []byte(patch), metav1.PatchOptions{FieldManager: manager}, subresources...)
	if err != nil {
		t.Fatalf("patch as %s: %v", manager, err)
	}
}

// verdict is what pkg/diff says to an apply of ours, and what the API server does.
type verdict struct {
	change  diff.ObjectChange
	changed bool // says the Checker
	writes  bool // does the server
	refused error
}

// verdict asks both, and complains where they disagree.
func (s *diffServer) verdict(t *testing.T, desired *unstructured.Unstructured, opts diff.Options) verdict {
	t.Helper()
	live := s.get(t, desired)
	set, err := diff.Diff([]*unstructured.Unstructured{live}, []*unstructured.Unstructured{desired}, opts)
	if err != nil {
		t.Fatal(err)
	}
	v := verdict{change: set.Objects[0], changed: diff.NewChecker(opts.Manager).Changed(desired, live)}
	sent := sendable(desired)
	answer, err := s.tryApply(t, opts.Manager, sent)
	if err != nil {
		v.refused, v.writes = err, true
		return v
	}
	v.writes = !reflect.DeepEqual(stored(live), stored(answer))
	return v
}

// agree complains where the two verdicts differ on an apply that the server accepts.
func (s *diffServer) agree(t *testing.T, desired *unstructured.Unstructured, opts diff.Options) verdict {
	t.Helper()
	v := s.verdict(t, desired, opts)
	if v.refused != nil {
		t.Errorf("the server refuses it: %v", v.refused)
		return v
	}
	live := s.get(t, desired)
	answer, err := s.tryApply(t, opts.Manager, sendable(desired))
	if err != nil {
		t.Fatal(err)
	}
	if v.changed != v.writes {
		t.Errorf("Changed says %t, and the server writes: %t; what it writes (-live +answer):\n%s", v.changed, v.writes, cmp.Diff(stored(live), stored(answer)))
	}
	contentChanges := !reflect.DeepEqual(contentOf(live), contentOf(answer))
	if reported := len(v.change.Fields) > 0; reported != contentChanges {
		t.Errorf("Diff reports %q, and the server changes content: %t (-live +answer):\n%s", changesIn(v.change.Fields), contentChanges, cmp.Diff(contentOf(live), contentOf(answer)))
	}
	predicted := &unstructured.Unstructured{Object: v.change.After}
	rest, err := diff.Diff([]*unstructured.Unstructured{answer}, []*unstructured.Unstructured{predicted}, diff.Options{})
	if err != nil {
		t.Errorf("what would be stored is refused: %v", err)
	} else if left := changesIn(rest.Objects[0].Fields); len(left) > 0 {
		t.Errorf("what the server stores is not what was foretold: %q\n(-foretold +answer):\n%s", left, cmp.Diff(contentOf(predicted), contentOf(answer)))
	}
	return v
}

// sendable is an object as pkg/apply sends it: Secrets with stringData folded, without
// what only the server says.
func sendable(object *unstructured.Unstructured) *unstructured.Unstructured {
	out := object.DeepCopy()
	for _, name := range []string{"creationTimestamp", "resourceVersion", "uid", "generation", "selfLink"} {
		unstructured.RemoveNestedField(out.Object, "metadata", name)
	}
	if plain, ok, _ := unstructured.NestedStringMap(out.Object, "stringData"); ok {
		delete(out.Object, "stringData")
		for name, value := range plain {
			if err := unstructured.SetNestedField(out.Object, base64.StdEncoding.EncodeToString([]byte(value)), "data", name); err != nil {
				return out // the server says what is wrong with it
			}
		}
	}
	return out
}

// stored is all that makes a write: not when it was, nor its number.
func stored(object *unstructured.Unstructured) map[string]any {
	out := object.DeepCopy()
	fields := out.GetManagedFields()
	for i := range fields {
		fields[i].Time = nil
	}
	out.SetManagedFields(fields)
	unstructured.RemoveNestedField(out.Object, "metadata", "resourceVersion")
	return out.Object
}

// contentOf is what of an object people write.
func contentOf(object *unstructured.Unstructured) map[string]any {
	out := object.DeepCopy()
	for _, name := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"} {
		unstructured.RemoveNestedField(out.Object, "metadata", name)
	}
	delete(out.Object, "status")
	return out.Object
}

// changesIn gives changes as text, nil for none.
func changesIn(fields []diff.FieldChange) []string {
	var out []string
	for _, f := range fields {
		out = append(out, string(f.Op)+" "+f.Path.String())
	}
	return out
}

// pathsIn gives the paths of fields with their owners, nil for none.
func pathsIn(fields []diff.FieldChange) []string {
	var out []string
	for _, f := range fields {
		out = append(out, strings.TrimSpace(f.Path.String()+" "+strings.Join(f.Owners, ",")))
	}
	return out
}

// ours compares with a cluster as the controller does.
var ours = diff.Options{Manager: us}
