package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
)

func TestAligned(t *testing.T) {
	t.Parallel()
	items := func(fields ...map[string]any) map[string]any {
		list := []any{}
		for _, f := range fields {
			list = append(list, f)
		}
		return map[string]any{"list": list}
	}
	item := func(name string, more ...any) map[string]any {
		out := map[string]any{"name": name}
		for i := 0; i+1 < len(more); i += 2 {
			out[more[i].(string)] = more[i+1]
		}
		return out
	}
	for _, tc := range []struct {
		name, reason        string
		before, after, want map[string]any
		fields              []FieldChange
	}{
		{
			name: "not reported", reason: "another spelling, a default, an ignored field: as it was",
			before: map[string]any{"a": "1000m", "b": int64(1)}, after: map[string]any{"a": "1", "c": int64(2)},
			want: map[string]any{"a": "1000m", "b": int64(1)},
		},
		{
			name: "reported", reason: "a change is one, whatever stands beside it",
			before: map[string]any{"a": "1", "b": "1", "c": "1"}, after: map[string]any{"a": "2", "b": "2", "d": "2"},
			fields: []FieldChange{{Path: pathOf("a"), Op: Replace}, {Path: pathOf("c"), Op: Remove}, {Path: pathOf("d"), Op: Add}},
			want:   map[string]any{"a": "2", "b": "1", "d": "2"},
		},
		{
			name: "identity", reason: "it is what From says",
			before: map[string]any{"apiVersion": "v1", "kind": "A", "metadata": map[string]any{"name": "a", "uid": "x"}},
			after:  map[string]any{"apiVersion": "v2", "kind": "B", "metadata": map[string]any{"name": "b", "namespace": "n"}},
			want:   map[string]any{"apiVersion": "v2", "kind": "B", "metadata": map[string]any{"name": "b", "namespace": "n", "uid": "x"}},
		},
		{
			name: "items by key", reason: "each as it was but for what is reported",
			before: items(item("a", "x", "1"), item("b", "x", "1", "y", "1"), item("gone"), item("ignored")),
			after:  items(item("new"), item("a", "x", "1.0"), item("b", "x", "1.0", "y", "2"), item("ignored too")),
			fields: []FieldChange{
				{Path: pathOf("list", "name=new"), Op: Add}, {Path: pathOf("list", "name=gone"), Op: Remove}, {Path: pathOf("list", "name=b", "y"), Op: Replace},
			},
			want: items(item("new"), item("a", "x", "1"), item("b", "x", "1", "y", "2"), item("ignored")),
		},
		{
			name: "default in a key", reason: "a port without a protocol is that of TCP",
			before: items(map[string]any{"port": int64(53)}, map[string]any{"port": int64(53), "protocol": "UDP", "name": "x"}),
			after:  items(map[string]any{"port": int64(53), "protocol": "TCP"}, map[string]any{"port": int64(53), "protocol": "UDP", "name": "y"}),
			fields: []FieldChange{{Path: Path{{Field: "list"}, {Key: []KeyValue{{"port", int64(53)}, {"protocol", "UDP"}}}, {Field: "name"}}, Op: Replace}},
			want:   items(map[string]any{"port": int64(53)}, map[string]any{"port": int64(53), "protocol": "UDP", "name": "y"}),
		},
		{
			name: "rename", reason: "an item with another key, and the rest as it was",
			before: items(item("a", "x", "1", "y", "1")), after: items(item("b", "x", "1.0", "y", "2")),
			fields: []FieldChange{{Path: pathOf("list", "name=b"), Op: Rename, Before: "a", After: "b"}, {Path: pathOf("list", "name=b", "y"), Op: Replace}},
			want:   items(item("b", "x", "1", "y", "2")),
		},
		{
			name: "order", reason: "items change their place, and one of them a value",
			before: items(item("a", "x", "1"), item("b", "x", "1")), after: items(item("b", "x", "2"), item("a", "x", "1.0")),
			fields: []FieldChange{{Path: pathOf("list"), Op: Reorder}, {Path: pathOf("list", "name=b", "x"), Op: Replace}},
			want:   items(item("b", "x", "2"), item("a", "x", "1")),
		},
		{
			name: "set", reason: "its items are values",
			before: map[string]any{"list": []any{"a", "b"}}, after: map[string]any{"list": []any{"b", "c"}},
			fields: []FieldChange{{Path: append(pathOf("list"), PathElement{Value: "a"}), Op: Remove}, {Path: append(pathOf("list"), PathElement{Value: "c"}), Op: Add}},
			want:   map[string]any{"list": []any{"b", "c"}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := aligned(&ObjectChange{Before: tc.before, After: tc.after, Fields: tc.fields})
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

// TestAlignedLaws: what is shown as After means what After means, and is Before where
// nothing differs.
func TestAlignedLaws(t *testing.T) {
	t.Parallel()
	base := parse(t, typicalDeployment)
	rapid.Check(t, func(t *rapid.T) {
		a, b := edited(t, base.Object, "a"), edited(t, base.Object, "b")
		change := only(t, a, b)
		for _, f := range change.Fields {
			if last := f.Path[len(f.Path)-1].Field; last == "type" || last == "image" {
				// Other defaults follow from it. One that was left out before and is written out after
				// is not shown, so what is shown would mean another one.
				t.Skip("a default depends on the change")
			}
		}
		shown := aligned(&change)
		if left := only(t, runtime.DeepCopyJSON(shown), b); left.Changed() {
			t.Fatalf("%v: what is shown differs from After: %v", change.Fields, left.Fields)
		}
		if before, after := change.sides(); (before == after) == change.Changed() {
			t.Fatalf("%v: changed is %v\n%s\n%s", change.Fields, change.Changed(), before, after)
		}
	})
}
