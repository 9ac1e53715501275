package diffcases

import (
	"encoding/json"
	"testing"
)

// TestAll: each case can be read, says why it is there, and has a name of its own.
func TestAll(t *testing.T) {
	t.Parallel()
	cases, err := All()
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[[2]string]bool)
	for _, c := range cases {
		key := [2]string{c.ID, c.Name}
		if c.ID == "" || c.Reason == "" || seen[key] {
			t.Errorf("case %q: it needs a reason (%q) and a name of its own", key, c.Reason)
		}
		seen[key] = true
		from, to, err := c.Objects("shop")
		if err != nil {
			t.Errorf("case %q: %v", key, err)
			continue
		}
		if from.GetName() == "" || to.GetName() == "" {
			t.Errorf("case %q: it has an object without a name", key)
		}
	}
}

// TestIntegers: integers are read as such, whatever their size.
func TestIntegers(t *testing.T) {
	t.Parallel()
	cases, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.ID != "N17" {
			continue
		}
		if got, ok := c.From["terminationGracePeriodSeconds"].(int64); !ok || got != 9007199254740993 {
			written, _ := json.Marshal(c.From)
			t.Errorf("case N17 %s was read as %s", c.Name, written)
		}
	}
}
