package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
)

// The benchmarks ask about one typical Deployment, with the same image and with another
// one, of us and of what else could be asked.

func deployments(b *testing.B) (same, other, live *unstructured.Unstructured) {
	b.Helper()
	same = parse(b, typicalDeployment)
	live = applied(b, "ours", same)
	other = same.DeepCopy()
	containers, _, _ := unstructured.NestedSlice(other.Object, "spec", "template", "spec", "containers")
	containers[0].(map[string]any)["image"] = "registry.example.com/shop/web:1.4.3"
	if err := unstructured.SetNestedSlice(other.Object, containers, "spec", "template", "spec", "containers"); err != nil {
		b.Fatal(err)
	}
	return same, other, live
}

func BenchmarkChanged(b *testing.B) {
	same, other, live := deployments(b)
	checker := NewChecker("ours")
	b.Run("same", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if checker.Changed(same, live) {
				b.Fatal("differs")
			}
		}
	})
	b.Run("other", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !checker.Changed(other, live) {
				b.Fatal("does not differ")
			}
		}
	})
}

func BenchmarkDiff(b *testing.B) {
	same, other, live := deployments(b)
	for _, bench := range []struct {
		name     string
		from, to *unstructured.Unstructured
		opts     Options
		want     Action
	}{
		{"trees/same", same, same.DeepCopy(), Options{}, Unchanged},
		{"trees/other", same, other, Options{}, Update},
		{"live/same", live, same, Options{Manager: "ours"}, Unchanged},
		{"live/other", live, other, Options{Manager: "ours"}, Update},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				set, err := Diff([]*unstructured.Unstructured{bench.from}, []*unstructured.Unstructured{bench.to}, bench.opts)
				if err != nil || set.Objects[0].Action != bench.want {
					b.Fatal(set, err)
				}
			}
		})
	}
}

// BenchmarkStructuredMergeDiff compares as the API server does.
func BenchmarkStructuredMergeDiff(b *testing.B) {
	same, _, live := deployments(b)
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	live.SetManagedFields(nil)
	b.ReportAllocs()
	for b.Loop() {
		compareTyped(b, converter, same, live)
	}
}

func compareTyped(b *testing.B, converter managedfields.TypeConverter, a, c *unstructured.Unstructured) {
	b.Helper()
	ta, err := converter.ObjectToTyped(a)
	if err != nil {
		b.Fatal(err)
	}
	tc, err := converter.ObjectToTyped(c)
	if err != nil {
		b.Fatal(err)
	}
	comparison, err := ta.Compare(tc)
	if err != nil {
		b.Fatal(err)
	}
	_ = comparison
}

func BenchmarkGoCmp(b *testing.B) {
	same, other, _ := deployments(b)
	b.Run("Equal", func(b *testing.B) {
		b.ReportAllocs()
		twin := same.DeepCopy()
		for b.Loop() {
			if !cmp.Equal(same.Object, twin.Object) {
				b.Fatal("differs")
			}
		}
	})
	b.Run("Diff", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if cmp.Diff(same.Object, other.Object) == "" {
				b.Fatal("does not differ")
			}
		}
	})
}
