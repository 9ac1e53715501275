package trial

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestDefinitionIsThePair: what kro is told to make is what an AppService renders to.
func TestDefinitionIsThePair(t *testing.T) {
	t.Parallel()
	const index = 7
	var graph struct {
		Spec struct {
			Resources []struct {
				Template map[string]any `json:"template"`
			} `json:"resources"`
		} `json:"spec"`
	}
	text := strings.NewReplacer(
		"${schema.metadata.name}", name(index), "${schema.spec.image}", image(index), "${schema.spec.replicas}", "0", "${schema.spec.port}", "80",
	).Replace(string(definition))
	if err := yaml.Unmarshal([]byte(text), &graph); err != nil {
		t.Fatal(err)
	}
	objects, err := rendered(index)
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != len(graph.Spec.Resources) {
		t.Fatalf("%d objects are rendered, %d defined", len(objects), len(graph.Spec.Resources))
	}
	for i, want := range objects {
		want = plain(t, want)
		got := plain(t, &unstructured.Unstructured{Object: graph.Spec.Resources[i].Template})
		got.SetNamespace(namespace)
		if err := holds(want, got); err != nil {
			t.Errorf("it lacks something: %v", err)
		}
		if err := holds(got, want); err != nil {
			t.Errorf("it has more: %v", err)
		}
	}
}

// plain is an object with the types that a decoder gives it.
func plain(t *testing.T, u *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	text, err := u.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	out := &unstructured.Unstructured{}
	if err := out.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestIncludes(t *testing.T) {
	t.Parallel()
	live := map[string]any{"replicas": int64(0), "ports": []any{map[string]any{"port": int64(80), "nodePort": int64(30080)}}}
	tests := []struct {
		name   string
		reason string
		want   any
		result bool
	}{
		{"less", "defaults and what others add do not count", map[string]any{"ports": []any{map[string]any{"port": int64(80)}}}, true},
		{"another value", "it is other work", map[string]any{"replicas": int64(1)}, false},
		{"another type", "a string is no number", map[string]any{"replicas": "0"}, false},
		{"not there", "a null is not what was meant", map[string]any{"image": "x"}, false},
		{"an item more", "a list is wanted whole", map[string]any{"ports": []any{}}, false},
		{"a map for a value", "no panic", map[string]any{"replicas": map[string]any{"a": "b"}}, false},
		{"a value for a map", "no panic either", map[string]any{"ports": "none"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := includes(live, tt.want); got != tt.result {
				t.Errorf("%v, want %v: %s", got, tt.result, tt.reason)
			}
		})
	}
}

func TestIsReady(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		reason string
		status map[string]any
		want   bool
	}{
		{"no status", "nobody has looked at it", nil, false},
		{"true", "of several conditions", map[string]any{"conditions": []any{
			map[string]any{"type": "Reconciling", "status": "False"}, map[string]any{"type": "Ready", "status": "True"},
		}}, true},
		{"false", "it is still at work", map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False"}}}, false},
		{"another one", "only Ready counts", map[string]any{"conditions": []any{map[string]any{"type": "Stalled", "status": "True"}}}, false},
		{"no list", "no panic", map[string]any{"conditions": "none"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := isReady(&unstructured.Unstructured{Object: map[string]any{"status": tt.status}}); got != tt.want {
				t.Errorf("%v, want %v: %s", got, tt.want, tt.reason)
			}
		})
	}
}
