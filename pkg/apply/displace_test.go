package apply

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestDisplaced(t *testing.T) {
	t.Parallel()
	const ours = `{"manager": "us", "operation": "Apply", "fieldsV1": {"f:spec": {"f:ports": {"k:{\"port\":80}": {".": {}, "f:port": {}}}}}}`
	for _, test := range []struct {
		name, reason  string
		theirs, paths string
		want          string
	}{
		{
			name: "item of a list", reason: "the list keeps what is not an item", paths: `["spec.ports[0].name"]`,
			theirs: `{"f:spec": {"f:type": {}, "f:ports": {".": {}, "k:{\"port\":81}": {"f:port": {}}}}}`,
			want:   `[{"f:spec": {"f:ports": {"k:{\"port\":80}": {".": {}, "f:port": {}}, "k:{\"port\":81}": {"f:port": {}}}}}, {"f:spec": {"f:type": {}}}]`,
		},
		{
			name: "inner list", reason: "the items of outer lists stay whose they are", paths: `["spec.containers[1].ports[0].name"]`,
			theirs: `{"f:spec": {"f:containers": {"k:{\"name\":\"a\"}": {"f:image": {}, "f:ports": {"k:{\"p\":1}": {}}}}}}`,
			want:   `[{"f:spec": {"f:ports": {"k:{\"port\":80}": {".": {}, "f:port": {}}}, "f:containers": {"k:{\"name\":\"a\"}": {"f:ports": {"k:{\"p\":1}": {}}}}}}, {"f:spec": {"f:containers": {"k:{\"name\":\"a\"}": {"f:image": {}}}}}]`,
		},
		{name: "no list", reason: "a refusal of a field is no matter of items", paths: `["spec.type", ""]`, theirs: `{"f:spec": {"f:type": {}}}`, want: `null`},
		{name: "nothing there", reason: "nobody else has an item", paths: `["spec.ports[0].name"]`, theirs: `{"f:spec": {"f:ports": {}}}`, want: `null`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var live unstructured.Unstructured
			var paths []string
			var want []any
			for text, into := range map[string]any{
				`{"metadata": {"managedFields": [` + ours + `, {"manager": "them", "operation": "Update", "fieldsV1": ` + test.theirs + `}]}}`: &live.Object,
				test.paths: &paths, test.want: &want,
			} {
				if err := json.Unmarshal([]byte(text), into); err != nil {
					t.Fatal(err)
				}
			}
			entries, ok := displaced(&live, "us", paths)
			var got []any
			for _, e := range entries {
				if ok {
					got = append(got, e.(map[string]any)["fieldsV1"])
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, d)
			}
		})
	}
}
