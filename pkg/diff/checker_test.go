package diff

import "testing"

// TestChangedAllocatesNothing holds what the controller's steady state rests on.
func TestChangedAllocatesNothing(t *testing.T) {
	desired := parse(t, typicalDeployment)
	live := applied(t, "ours", desired)
	checker := NewChecker("ours")
	if checker.Changed(desired, live) {
		t.Fatal("an object that was just applied is said to differ")
	}
	if n := testing.AllocsPerRun(100, func() { checker.Changed(desired, live) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
