package same_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudevops.io/appsvc/test/peers/internal/same"
)

func TestRead(t *testing.T) {
	t.Parallel()
	service := map[string]any{
		"kind":     "Service",
		"metadata": map[string]any{"name": "web", "namespace": "shop"},
	}
	tests := []struct {
		name   string
		reason string
		stream string
		want   same.Objects
		err    string
	}{
		{
			name:   "block and flow style",
			reason: "how an object is written makes no difference",
			stream: "kind: Service\nmetadata:\n  name: web\n  namespace: shop\n---\nkind: Service\nmetadata: {name: db}\n",
			want: same.Objects{
				"Service shop/web": service,
				"Service db":       {"kind": "Service", "metadata": map[string]any{"name": "db"}},
			},
		},
		{
			name:   "as helm writes",
			reason: "a separator comes first, comments follow it, and documents may be empty",
			stream: "---\n# Source: a.yaml\nkind: Service\nmetadata: {name: web, namespace: shop}\n---\n---\n# nothing\n",
			want:   same.Objects{"Service shop/web": service},
		},
		{
			name:   "content after the separator",
			reason: "YAML allows it, and an object must not be lost",
			stream: "--- {kind: Service, metadata: {name: web, namespace: shop}}\n--- {kind: Job, metadata: {name: db}}",
			want: same.Objects{
				"Service shop/web": service,
				"Job db":           {"kind": "Job", "metadata": map[string]any{"name": "db"}},
			},
		},
		{
			name:   "dashes that separate nothing",
			reason: "a longer word, and an indented line, are content",
			stream: "kind: Service\nmetadata: {name: web, namespace: shop, text: 'a\n  ---\n  b'}\n----: x\n",
			want: same.Objects{"Service shop/web": {
				"kind":     "Service",
				"metadata": map[string]any{"name": "web", "namespace": "shop", "text": "a --- b"},
				"----":     "x",
			}},
		},
		{name: "nothing", reason: "an empty stream has no objects", stream: "", want: same.Objects{}},
		{
			name:   "twice",
			reason: "the second would hide the first",
			stream: "kind: A\nmetadata: {name: x}\n---\nkind: A\nmetadata: {name: x}\n",
			err:    "document 2: A x is there twice",
		},
		{name: "no name", reason: "it cannot be compared", stream: "kind: A\n", err: "document 1: an object without kind or name"},
		{name: "a list", reason: "no object", stream: "[1, 2]\n", err: "document 1: "},
		{name: "duplicate key", reason: "one of the values would be lost", stream: "kind: A\nkind: B\n", err: "document 1: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := same.Read([]byte(tt.stream))
			if tt.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
					t.Fatalf("error %v, want one that begins with %q (%s)", err, tt.err, tt.reason)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	read := func(stream string) same.Objects {
		objects, err := same.Read([]byte(stream))
		if err != nil {
			t.Fatal(err)
		}
		return objects
	}
	const web = "kind: A\nmetadata: {name: web}\nspec: {replicas: 3, ports: [80, 90]}\n"
	tests := []struct {
		name         string
		reason       string
		ours, theirs string
		want         []string
	}{
		{
			name: "same", reason: "neither order of objects nor of keys matters",
			ours:   web + "---\nkind: B\nmetadata: {name: x}\n",
			theirs: "kind: B\nmetadata: {name: x}\n---\nspec:\n  ports: [80, 90]\n  replicas: 3\nmetadata:\n  name: web\nkind: A\n",
		},
		{
			name: "a value", reason: "a string is no number",
			ours: web, theirs: strings.Replace(web, "replicas: 3", "replicas: '3'", 1),
			want: []string{"1 of 1 objects differ", "A web:", `"replicas"`},
		},
		{
			name: "order of a list", reason: "Kubernetes sees a change in it",
			ours: web, theirs: strings.Replace(web, "[80, 90]", "[90, 80]", 1),
			want: []string{"1 of 1 objects differ", "A web:"},
		},
		{
			name: "a field more", reason: "an empty field is a field",
			ours: web, theirs: web + "status: {}\n",
			want: []string{"1 of 1 objects differ", `"status"`},
		},
		{
			name: "only one has it", reason: "an object is not to be lost on either side",
			ours:   web + "---\nkind: B\nmetadata: {name: x}\n",
			theirs: web + "---\nkind: C\nmetadata: {name: x}\n",
			want:   []string{"2 of 3 objects differ", "B x: only ours", "C x: only theirs"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := same.Compare(read(tt.ours), read(tt.theirs))
			if len(tt.want) == 0 && got != "" {
				t.Errorf("%s, got:\n%s", tt.reason, got)
			}
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q (%s) in:\n%s", want, tt.reason, got)
				}
			}
		})
	}
}

func TestCompareShowsFew(t *testing.T) {
	t.Parallel()
	ours, theirs := same.Objects{}, same.Objects{}
	for _, id := range []string{"A a", "A b", "A c", "A d", "A e"} {
		ours[id], theirs[id] = map[string]any{"x": 1.0}, map[string]any{"x": 2.0}
	}
	got := same.Compare(ours, theirs)
	if !strings.Contains(got, "5 of 5 objects differ") || !strings.Contains(got, "A c:") || strings.Contains(got, "A d:") {
		t.Errorf("want all five counted and the first three shown, got:\n%s", got)
	}
}
