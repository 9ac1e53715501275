package diff

import (
	"strings"
)

// Action says what happens to an object.
type Action string

const (
	Create    Action = "create"
	Update    Action = "update"
	Delete    Action = "delete"
	Unchanged Action = "unchanged"
)

// Effect says what a change does to what runs.
type Effect string

const (
	// EffectNone changes nothing that runs, such as another version of the same API.
	EffectNone Effect = "none"
	// EffectMetadata changes labels, annotations or owner references of the object.
	EffectMetadata Effect = "metadata"
	// EffectOrder changes the order of a list, and nothing that runs.
	EffectOrder Effect = "order"
	// EffectInPlace takes effect without a pod being replaced.
	EffectInPlace Effect = "in-place"
	// EffectScale changes how many pods there are.
	EffectScale Effect = "scale"
	// EffectRestart replaces pods.
	EffectRestart Effect = "restart"
	// EffectRecreate is refused by the API server: the object has to be deleted and
	// created anew.
	EffectRecreate Effect = "recreate"
	// EffectAdopt makes a field ours whose value is already as desired.
	EffectAdopt Effect = "adopt"
	// EffectKept leaves a field although it is no longer desired, because another field
	// manager owns it too.
	EffectKept Effect = "kept"
)

// Op says what happens to a field.
type Op string

const (
	// Add gives a field that was not there.
	Add Op = "add"
	// Remove takes a field away.
	Remove Op = "remove"
	// Replace gives a field another value.
	Replace Op = "replace"
	// Reorder gives the items of a list another order. Before and After hold the keys of
	// the items, or the items themselves where they have none.
	Reorder Op = "reorder"
	// Rename gives an item of a keyed list another key, and leaves the rest of it. Path
	// holds the new key, Before the old one and After the new one.
	Rename Op = "rename"
)

// ObjectRef identifies an object. Namespace is empty for what has none.
type ObjectRef struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// String gives "Kind namespace/name", or "Kind name".
func (r ObjectRef) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// Group gives the API group, empty for the core one.
func (r ObjectRef) Group() string {
	group, _, found := strings.Cut(r.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

// ChangeSet is what differs between two sets of objects: every object of either, in
// the order of the second set, those that are only in the first at the end.
type ChangeSet struct {
	Objects []ObjectChange
	// Unmatched are the ignore rules that matched no field of any object.
	Unmatched []IgnoreRule
}

// ObjectChange is what happens to one object.
type ObjectChange struct {
	// Object is what it is called afterwards, or was when it is deleted.
	Object ObjectRef
	// From is what it was called before, nil when that is the same: another version of
	// its API, a group that its kind has moved from, or another content hash in its name.
	From   *ObjectRef
	Action Action
	// Fields are the changes of its content, in the order of their paths. Empty for
	// Create and Delete, where the whole object is the change.
	Fields []FieldChange
	// Adopted and Kept say what becomes of fields whose value stays, in a comparison
	// with a cluster: they make a write necessary, and are no change of the content.
	Adopted []FieldChange
	Kept    []FieldChange
	// Foreign are fields of the live object that others own and that are not desired:
	// they stay, and need no write.
	Foreign []FieldChange
	// Ignored is how many fields would differ but for the ignore rules.
	Ignored int
	// Effect is the gravest one of Fields; EffectNone when there are none.
	Effect Effect
	// Notes say in words what will happen, the gravest first: "rolls 3 pods".
	Notes []string
	// Before and After are the whole objects that were compared: what is there, and what
	// would be. Before is nil for Create, After for Delete. In a comparison with a
	// cluster, After is what the API server would store. They share memory with each
	// other and with what was given to Diff: not to be changed.
	Before, After map[string]any
}

// Changed reports whether the content differs: whether the object is created, updated
// or deleted.
func (c *ObjectChange) Changed() bool { return c.Action != Unchanged }

// FieldChange is what happens to one field.
type FieldChange struct {
	Path Path
	Op   Op
	// Before and After are plain JSON values; nil where there is none.
	Before, After any
	// Default says that After is not written anywhere: it is what the API server falls
	// back to.
	Default bool
	Effect  Effect
	// Owners are the other field managers that own the field, sorted; empty when nobody
	// else does, or when two trees are compared.
	Owners []string
}

// Counts sums up a ChangeSet.
type Counts struct {
	Create    int `json:"create"`
	Update    int `json:"update"`
	Delete    int `json:"delete"`
	Unchanged int `json:"unchanged"`
	// Adopted, Kept and Foreign count objects that have such fields; Ignored counts
	// fields.
	Adopted int `json:"adopted"`
	Kept    int `json:"kept"`
	Foreign int `json:"foreign"`
	Ignored int `json:"ignored"`
}

// Counts sums up c.
func (c *ChangeSet) Counts() Counts {
	var n Counts
	for i := range c.Objects {
		o := &c.Objects[i]
		switch o.Action {
		case Create:
			n.Create++
		case Update:
			n.Update++
		case Delete:
			n.Delete++
		case Unchanged:
			n.Unchanged++
		}
		n.Adopted += min(1, len(o.Adopted))
		n.Kept += min(1, len(o.Kept))
		n.Foreign += min(1, len(o.Foreign))
		n.Ignored += o.Ignored
	}
	return n
}

// Changed reports whether the content of any object differs.
func (c *ChangeSet) Changed() bool {
	for i := range c.Objects {
		if c.Objects[i].Changed() {
			return true
		}
	}
	return false
}
