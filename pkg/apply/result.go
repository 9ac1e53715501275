package apply

import (
	"kudevops.io/appsvc/pkg/diff"
)

// Action says what was done with an object.
type Action string

const (
	// Created: it was not there.
	Created Action = "created"
	// Configured: it was changed. Without Fields only the ownership of fields was.
	Configured Action = "configured"
	// Adopted: it was there, made by somebody else or in another way, and is ours now.
	Adopted Action = "adopted"
	// Recreated: it was deleted and made anew, since a field could not be changed.
	Recreated Action = "recreated"
	// Unchanged: it was as desired.
	Unchanged Action = "unchanged"
	// Drifted: it differs, and Set.DriftOnly says to leave it. Missing objects have no
	// Fields.
	Drifted Action = "drifted"
	// Contested: somebody else keeps changing Fields back, and was left to it; or the API
	// server, or a webhook in it, stores other values than those that are applied.
	Contested Action = "contested"
	// Pruned: it was no longer desired, and is deleted.
	Pruned Action = "pruned"
	// Kept: it is no longer desired, and stays: see Note.
	Kept Action = "kept"
	// Refused: nothing was done, and nothing will be until a person acts: see the error.
	Refused Action = "refused"
	// Pending: it could not be done yet, and is worth repeating: see the error.
	Pending Action = "pending"
)

// Result says what became of each object: the desired ones in their order, then what is
// no longer desired, by kind and name.
type Result struct {
	Objects []ObjectResult
	// Writes is how many requests that write were sent, whatever their answer.
	Writes int
}

// ObjectResult says what became of one object. It holds no values of fields.
type ObjectResult struct {
	Object diff.ObjectRef
	Action Action
	// Fields are the paths of what was changed or differs, at most maxFields of them, and
	// More how many others there are. Empty for an object that was created.
	Fields []string
	More   int
	// Effect is the gravest effect of the change.
	Effect diff.Effect
	// Managers are the other field managers that own Fields of a Contested or Drifted
	// object, as far as that is known; sorted.
	Managers []string
	// Rewritten are paths that the API server, or a webhook in it, gave another value
	// than the one that was applied; at most maxFields of them.
	Rewritten []string
	// Generation is that of the object as it was last seen, which may be ahead of a cache.
	// Zero for kinds without one, and where there is no object.
	Generation int64
	// Note says in words why an object is kept.
	Note string
	// Err is set for Refused and Pending. Apply returns it too.
	Err *Error
}

// Wrote reports whether the object is another one than before.
func (r ObjectResult) Wrote() bool {
	switch r.Action {
	case Created, Configured, Adopted, Recreated, Pruned:
		return true
	}
	return false
}

// maxFields bounds the paths in a result: it ends up in events and conditions.
const maxFields = 10

// describe notes what a change is about.
func (r *ObjectResult) describe(change *diff.ObjectChange) {
	if change == nil {
		return
	}
	paths := pathsOf(change)
	r.Fields, r.More = bounded(paths)
	r.Effect = change.Effect
}

func bounded(paths []string) ([]string, int) {
	n := min(len(paths), maxFields)
	return paths[:n:n], len(paths) - n
}

func pathsOf(change *diff.ObjectChange) []string {
	paths := make([]string, len(change.Fields))
	for i := range change.Fields {
		paths[i] = change.Fields[i].Path.String()
	}
	return paths
}

// contestRewritten calls an object contested that is not as desired although nothing was
// left to write: the API server, or a webhook in it, wants it otherwise.
func (r *ObjectResult) contestRewritten() {
	if r.Action == Unchanged && len(r.Rewritten) > 0 {
		r.Action, r.Fields = Contested, r.Rewritten
	}
}

// failed is the result of an object that could not be applied.
func failed(err *Error) ObjectResult {
	action := Pending
	if err.Terminal {
		action = Refused
	}
	return ObjectResult{Object: err.Object, Action: action, Err: err}
}
