package referee

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Tally counts by name. The zero value is ready; it may be used by several goroutines at
// once.
type Tally struct {
	mu     sync.Mutex
	counts map[string]int
}

// Count adds n.
func (t *Tally) Count(name string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	t.counts[name] += n
}

// Of gives a count.
func (t *Tally) Of(name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts[name]
}

// String gives a line for each name, in order of the names.
func (t *Tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t.counts)) {
		fmt.Fprintf(&b, "%7d  %s\n", t.counts[name], name)
	}
	return b.String()
}
