package apply

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kudevops.io/appsvc/pkg/diff"
)

func ownerNamed(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: name}
}

func service(name string) diff.ObjectRef {
	return diff.ObjectRef{APIVersion: "v1", Kind: "Service", Namespace: "shop", Name: name}
}

func TestVerdictHoldsForExactlyWhatItWasAbout(t *testing.T) {
	t.Parallel()
	m := newMemory(10)
	web, seen, d := ownerNamed("web"), version{uid: "u", resourceVersion: "1"}, digest{1}
	m.remember(web, service("web"), seen, d, ObjectResult{Action: Unchanged})
	for _, test := range []struct {
		name, reason string
		owner        types.NamespacedName
		ref          diff.ObjectRef
		seen         version
		digest       digest
		want         bool
	}{
		{name: "same", reason: "nothing is different", owner: web, ref: service("web"), seen: seen, digest: d, want: true},
		{name: "another owner", reason: "the reference to the owner is part of the object", owner: ownerNamed("b"), ref: service("web"), seen: seen, digest: d},
		{name: "another object", reason: "a verdict is about one", owner: web, ref: service("b"), seen: seen, digest: d},
		{name: "another UID", reason: "it was deleted and made anew", owner: web, ref: service("web"), seen: version{uid: "v", resourceVersion: "1"}, digest: d},
		{name: "another resource version", reason: "somebody wrote it", owner: web, ref: service("web"), seen: version{uid: "u", resourceVersion: "2"}, digest: d},
		{name: "another digest", reason: "something else is desired", owner: web, ref: service("web"), seen: seen, digest: digest{2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, got := m.verdict(test.owner, test.ref, test.seen, test.digest); got != test.want {
				t.Errorf("known: %t, want %t: %s", got, test.want, test.reason)
			}
		})
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	const limit = 10
	m := newMemory(limit)
	for i := range 100 {
		for _, name := range []string{"a", "b", "c"} {
			m.remember(ownerNamed(fmt.Sprint(i)), service(name), version{}, digest{}, ObjectResult{})
		}
		if m.size > limit {
			t.Fatalf("%d objects are remembered, want at most %d", m.size, limit)
		}
	}
	if _, ok := m.verdict(ownerNamed("99"), service("c"), version{}, digest{}); !ok {
		t.Error("the last one is forgotten")
	}
	left := 0
	for owner, records := range m.owners {
		left += len(records)
		for ref := range records {
			m.drop(owner, ref)
		}
		m.forget(owner)
	}
	if left == 0 || m.size != 0 || len(m.owners) != 0 {
		t.Errorf("%d were left; after all were forgotten, %d objects of %d owners are", left, m.size, len(m.owners))
	}
}

// TestMemoryOfManyGoroutines is for the race detector.
func TestMemoryOfManyGoroutines(t *testing.T) {
	t.Parallel()
	m := newMemory(20)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			owner := ownerNamed(fmt.Sprint(i % 4))
			for j := range 200 {
				ref := service(fmt.Sprint(j % 7))
				m.remember(owner, ref, version{resourceVersion: fmt.Sprint(j)}, digest{}, ObjectResult{Fields: []string{"a"}})
				m.verdict(owner, ref, version{resourceVersion: fmt.Sprint(j)}, digest{})
				m.withHistory(owner, ref, historyKey{key: fmt.Sprint(j % 3)}, func(h *history) {
					h.apply([]string{"a"}, time.Unix(int64(j), 0))
					h.gaveUp([]string{"a"}, time.Unix(int64(j), 0))
				})
				if j%50 == 0 {
					m.forget(owner)
				}
				m.drop(owner, ref)
			}
		})
	}
	group.Wait()
	if m.size < 0 || m.size > 20 {
		t.Errorf("%d objects are remembered", m.size)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	minute := func(n int) time.Time { return time.Date(2030, 1, 1, 0, n, 0, 0, time.UTC) }
	for _, test := range []struct {
		name, reason string
		do           func(*history)
		differ       []string
		at           int
		want         bool
	}{
		{name: "first", reason: "nothing was applied yet", do: func(*history) {}, differ: []string{"a"}},
		{name: "fifth", reason: "four were changed back", do: applies(4, "a"), differ: []string{"a"}, at: 4},
		{name: "sixth", reason: "five were changed back", do: applies(5, "a"), differ: []string{"a"}, at: 5, want: true},
		{name: "slow", reason: "the first of five was more than ten minutes ago", do: applies(5, "a"), differ: []string{"a"}, at: 11},
		{name: "another field", reason: "only one is contested", do: applies(5, "a"), differ: []string{"a", "b"}, at: 5},
		{name: "both fields", reason: "all are contested", do: applies(5, "a", "b"), differ: []string{"b", "a"}, at: 5, want: true},
		{name: "ownership", reason: "an apply that changes no value counts too", do: applies(5), at: 5, want: true},
		{
			name: "later", reason: "once contested, it stays so", do: func(h *history) {
				applies(5, "a")(h)
				h.gaveUp([]string{"a"}, minute(5))
			}, differ: []string{"a"}, at: 60, want: true,
		},
		{
			name: "settled", reason: "it was as desired in between, and long ago", do: func(h *history) {
				applies(5, "a")(h)
				h.gaveUp([]string{"a"}, minute(5))
				h.settle()
			}, differ: []string{"a"}, at: 60,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var h history
			test.do(&h)
			if got := h.gaveUp(test.differ, minute(test.at)); got != test.want {
				t.Errorf("gave up: %t, want %t: %s", got, test.want, test.reason)
			}
		})
	}
}

// applies applies fields n times, a minute apart.
func applies(n int, paths ...string) func(*history) {
	return func(h *history) {
		for i := range n {
			h.apply(paths, time.Date(2030, 1, 1, 0, i, 0, 0, time.UTC))
		}
	}
}

func TestHistoryBeginsAnew(t *testing.T) {
	t.Parallel()
	m := newMemory(10)
	count := func(key historyKey) int {
		n := 0
		m.withHistory(ownerNamed("web"), service("web"), key, func(h *history) {
			h.apply([]string{"a"}, time.Unix(0, 0))
			n = len(h.applied["a"])
		})
		return n
	}
	key := historyKey{key: "1", digest: digest{1}}
	got := []int{count(key), count(key), count(historyKey{key: "2", digest: digest{1}}), count(historyKey{key: "2", digest: digest{2}})}
	if d := cmp.Diff([]int{1, 2, 1, 1}, got); d != "" {
		t.Errorf("applies counted for one key, the same, another, another digest (-want +got):\n%s", d)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	var h history
	for i := range 10 * maxPaths {
		for range 2 * contestedAfter {
			h.apply([]string{fmt.Sprint(i)}, time.Unix(0, 0))
		}
	}
	if len(h.applied) != maxPaths || len(h.applied["0"]) != contestedAfter {
		t.Errorf("%d fields are counted, %d times; want %d, %d", len(h.applied), len(h.applied["0"]), maxPaths, contestedAfter)
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	object := func(replicas int64) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": replicas, "a": "b", "c": []any{"d"}}}}
	}
	sum := func(o *unstructured.Unstructured, driftOnly bool, rules ...diff.IgnoreRule) digest {
		d, err := digestOf(o, rules, driftOnly)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	base := sum(object(1), false)
	if base != sum(object(1), false) {
		t.Error("the same has two digests")
	}
	for name, other := range map[string]digest{
		"another value":   sum(object(2), false),
		"drift only":      sum(object(1), true),
		"an ignore rule":  sum(object(1), false, diff.IgnoreRule{Kind: "Service"}),
		"another of them": sum(object(1), false, diff.IgnoreRule{Kind: "Deployment"}),
	} {
		if other == base {
			t.Errorf("%s has the same digest", name)
		}
	}
	if sum(object(1), false, diff.IgnoreRule{Kind: "Service"}) == sum(object(1), false, diff.IgnoreRule{Kind: "Deployment"}) {
		t.Error("two rules have the same digest")
	}
}
