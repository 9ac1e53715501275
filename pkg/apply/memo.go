package apply

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kudevops.io/appsvc/pkg/diff"
)

// digest stands for all that decides what is done with a live object: what is desired of
// it, the ignore rules, and whether it is to be corrected.
type digest [sha256.Size]byte

func digestOf(desired *unstructured.Unstructured, rules []diff.IgnoreRule, driftOnly bool) (digest, error) {
	written, err := json.Marshal(desired.Object) // keys come sorted
	if err != nil {
		return digest{}, err
	}
	hash := sha256.New()
	hash.Write(written)
	fmt.Fprintf(hash, "%t", driftOnly)
	for i := range rules {
		fmt.Fprintf(hash, "%+v", rules[i])
	}
	return digest(hash.Sum(nil)), nil
}

// version is a state of a live object.
type version struct {
	uid             types.UID
	resourceVersion string
}

// memory is what is remembered of objects between two calls of Apply. It may be used by
// several goroutines at once. All of it can be lost at any time: that costs requests, and
// counting anew who changes what back.
//
// It is bounded by the number of objects; when there is no room, owners are forgotten,
// whichever come first.
type memory struct {
	limit int

	mu     sync.Mutex
	owners map[types.NamespacedName]map[diff.ObjectRef]*record
	size   int
}

// record is what is remembered of an object.
type record struct {
	// verdict holds for live objects of this version.
	seen    version
	digest  digest
	verdict ObjectResult

	history history
}

func newMemory(limit int) *memory {
	return &memory{limit: limit, owners: make(map[types.NamespacedName]map[diff.ObjectRef]*record)}
}

// verdict gives what was found out earlier about exactly this.
func (m *memory) verdict(owner types.NamespacedName, ref diff.ObjectRef, seen version, d digest) (ObjectResult, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.owners[owner][ref]
	if !ok || r.seen != seen || r.digest != d {
		return ObjectResult{}, false
	}
	return r.verdict, true
}

// remember keeps a verdict. It holds until the object has another resource version or
// something else is desired.
func (m *memory) remember(owner types.NamespacedName, ref diff.ObjectRef, seen version, d digest, verdict ObjectResult) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.record(owner, ref)
	r.seen, r.digest, r.verdict = seen, d, verdict
}

// record gives the record of an object, and makes room for a new one.
func (m *memory) record(owner types.NamespacedName, ref diff.ObjectRef) *record {
	if r, ok := m.owners[owner][ref]; ok {
		return r
	}
	for other := range m.owners {
		if m.size < m.limit {
			break
		}
		if other != owner {
			m.size -= len(m.owners[other])
			delete(m.owners, other)
		}
	}
	if m.owners[owner] == nil {
		m.owners[owner] = make(map[diff.ObjectRef]*record)
	}
	r := &record{}
	m.owners[owner][ref] = r
	m.size++
	return r
}

// drop forgets an object.
func (m *memory) drop(owner types.NamespacedName, ref diff.ObjectRef) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.owners[owner][ref]; ok {
		delete(m.owners[owner], ref)
		m.size--
	}
}

// forget forgets an owner.
func (m *memory) forget(owner types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.size -= len(m.owners[owner])
	delete(m.owners, owner)
}

// withHistory calls f with the history of an object, under the lock. A history begins
// anew when the key or what is desired is another.
func (m *memory) withHistory(owner types.NamespacedName, ref diff.ObjectRef, key historyKey, f func(*history)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.record(owner, ref)
	if r.history.key != key {
		r.history = history{key: key}
	}
	f(&r.history)
}

// historyKey is what makes a history begin anew.
type historyKey struct {
	key    string
	digest digest
}

// A field is contested when it had to be applied this often within this time, with
// nothing new in what is desired.
const (
	contestedAfter  = 5
	contestedWithin = 10 * time.Minute
	// maxPaths bounds the fields of one object that are counted.
	maxPaths = 64
)

// history counts how often fields of an object were applied.
type history struct {
	key       historyKey
	applied   map[string][]time.Time
	contested map[string]bool
	recreated bool
}

// apply notes that fields were applied. The path "" stands for an apply that was to
// change no value, only whose it is.
func (h *history) apply(paths []string, now time.Time) {
	if h.applied == nil {
		h.applied = make(map[string][]time.Time)
	}
	for _, path := range orWhole(paths) {
		if _, known := h.applied[path]; !known && len(h.applied) >= maxPaths {
			continue
		}
		times := append(h.applied[path], now)
		h.applied[path] = times[max(0, len(times)-contestedAfter):]
	}
}

// gaveUp reports whether all of the fields that differ are contested: once one is, it
// stays so.
func (h *history) gaveUp(paths []string, now time.Time) bool {
	all := true
	for _, path := range orWhole(paths) {
		times := h.applied[path]
		if len(times) >= contestedAfter && now.Sub(times[0]) <= contestedWithin {
			if h.contested == nil {
				h.contested = make(map[string]bool)
			}
			h.contested[path] = true
		}
		all = all && h.contested[path]
	}
	return all
}

// settle notes that the object is as desired: whoever contested a field gave in.
func (h *history) settle() { h.contested = nil }

func orWhole(paths []string) []string {
	if len(paths) == 0 {
		return []string{""}
	}
	return paths
}
