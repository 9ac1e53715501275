package diff

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudevops.io/appsvc/internal/diffcases"
)

// TestCases compares the reported pairs of objects as two trees. What a real API server
// says to them is tested in test/controlplane.
func TestCases(t *testing.T) {
	t.Parallel()
	cases, err := diffcases.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(strings.TrimSpace(c.ID+" "+c.Name), func(t *testing.T) {
			t.Parallel()
			from, to, err := c.Objects("shop")
			if err != nil {
				t.Fatal(err)
			}
			wantChanges(t, c.Reason, from, to, c.Want, c.Fault)
		})
	}
}

// wantChanges compares two objects as trees, both ways and each with itself.
func wantChanges(t *testing.T, reason string, from, to *unstructured.Unstructured, want []string, fault string) {
	t.Helper()
	got, err := changesOf(from, to)
	switch {
	case fault != "":
		var faults Faults
		if !errors.As(err, &faults) || !strings.Contains(err.Error(), fault) {
			t.Errorf("the error is %v, want Faults with %q: %s", err, fault, reason)
		}
		return
	case err != nil:
		t.Fatalf("%v: %s", err, reason)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("changes (-want +got):\n%s%s", d, reason)
	}
	back, err := changesOf(to, from)
	if err != nil {
		t.Fatal(err)
	}
	if (len(back) == 0) != (len(got) == 0) {
		t.Errorf("the other way round it says %q: %s", back, reason)
	}
	for _, object := range []*unstructured.Unstructured{from, to} {
		if same, err := changesOf(object, object); err != nil || len(same) > 0 {
			t.Errorf("an object differs from itself: %q, %v", same, err)
		}
	}
}

// changesOf gives the changes between two objects as text.
func changesOf(from, to *unstructured.Unstructured) ([]string, error) {
	set, err := Diff([]*unstructured.Unstructured{from}, []*unstructured.Unstructured{to}, Options{})
	if err != nil {
		return nil, err
	}
	return written(set), nil
}

// written gives the changes of all objects as text.
func written(set *ChangeSet) []string {
	var out []string
	for _, o := range set.Objects {
		if o.Action == Create || o.Action == Delete {
			out = append(out, string(o.Action)+" "+o.Object.String())
		}
		for _, f := range o.Fields {
			out = append(out, string(f.Op)+" "+f.Path.String())
		}
	}
	return out
}
