package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/diff"
)

// ReplicasManager is the field manager that spec.replicas is handed over to. Like
// [v1alpha1.FieldManager] it is frozen.
const ReplicasManager = "appsvc-replicas"

// DefaultMigrateManagers are the field managers whose fields become ours at the first
// contact, by exact name: what controller-runtime calls a program that is named
// "manager", as every operator of its scaffolding is; kubectl apply on the client's side;
// and what the API server calls what was there before the first server-side apply.
func DefaultMigrateManagers() []string {
	return []string{"manager", "kubectl-client-side-apply", "before-first-apply"}
}

// Options for New.
type Options struct {
	// Client writes, and reads from its cache. For kinds that its scheme knows typed
	// objects are read, for others unstructured ones. Its cache must keep, of
	// metadata.managedFields, at least Manager's entries.
	Client client.Client
	// Live reads past any cache.
	Live client.Reader
	// Manager is the field manager. Empty means v1alpha1.FieldManager.
	Manager string
	// MigrateManagers are field managers whose fields become Manager's at the first
	// contact. Nil means DefaultMigrateManagers.
	MigrateManagers []string
	// OwnerIndex is the name of an index in Client's cache, of all kinds that are pruned,
	// by the UID of the controller (metadata.ownerReferences). Empty means that there is
	// none; objects are then found by label alone.
	OwnerIndex string
	// Now is the clock by which contested fields are told. Nil means time.Now.
	Now func() time.Time
	// Memory is how many objects are remembered at most. Zero means 100,000, which take
	// about 80 MiB.
	Memory int
}

// Applier applies sets of objects. It may be used by several goroutines at once.
type Applier struct {
	client     client.Client
	live       client.Reader
	manager    string
	migrate    []string
	ownerIndex string
	now        func() time.Time
	checker    *diff.Checker
	memory     *memory
}

// New gives an Applier.
func New(opts Options) (*Applier, error) {
	if opts.Client == nil || opts.Live == nil {
		return nil, errors.New("an applier needs a client and a reader that is not cached")
	}
	a := &Applier{
		client: opts.Client, live: opts.Live, manager: opts.Manager, migrate: opts.MigrateManagers,
		ownerIndex: opts.OwnerIndex, now: opts.Now,
	}
	if a.manager == "" {
		a.manager = v1alpha1.FieldManager
	}
	if a.migrate == nil {
		a.migrate = DefaultMigrateManagers()
	}
	if a.now == nil {
		a.now = time.Now
	}
	const defaultMemory = 100_000
	if opts.Memory <= 0 {
		opts.Memory = defaultMemory
	}
	a.checker, a.memory = diff.NewChecker(a.manager), newMemory(opts.Memory)
	return a, nil
}

// Set is what an owner is to have.
type Set struct {
	Owner Owner
	// Objects are the desired ones, in the order in which they are applied, as plain JSON
	// values. Their namespace is the owner's or none. They are not changed, and must not
	// be while Apply runs.
	Objects []*unstructured.Unstructured

	// Kinds are all kinds that objects of an owner can have: what is looked through for
	// objects to prune. A kind that the cluster does not serve is left out.
	Kinds []schema.GroupVersionKind
	// ContentHashed are those whose objects are never changed, and have a new name for
	// every content. One is pruned when no ReplicaSet needs it any more.
	ContentHashed []schema.GroupVersionKind
	// Selector is what the owner's ReplicaSets are found by. Without it nothing of
	// ContentHashed is pruned.
	Selector map[string]string

	// Adopt lets objects be taken over that nobody controls.
	Adopt bool
	// Recreate lets an object be deleted and made anew when a field that differs cannot
	// be changed: once for each object and Key.
	Recreate bool
	// DriftOnly has differences reported and not corrected. What is no longer desired is
	// pruned nevertheless: it was so before.
	DriftOnly bool
	// Ignore are fields that make no difference.
	Ignore []diff.IgnoreRule
	// Key changes when somebody has asked for another attempt: with the owner's generation
	// and annotations. Contested fields are left alone while it stays.
	Key string
}

// Apply makes the cluster hold the set. Each object is attempted, also when another one
// fails; pruning is, when none failed.
//
// The error is of type [Errors], and the result then still says what was done with each
// object. A set that must not be applied at all is refused before anything is written.
func (a *Applier) Apply(ctx context.Context, set Set) (Result, error) {
	if errs := set.check(); len(errs) > 0 {
		return refused(errs), errs
	}
	r := &run{Applier: a, set: &set}
	var err error
	if r.ignorer, err = diff.NewIgnorer(a.options(&set)); err != nil {
		errs := Errors{refuse(set.ref(), ReasonNotAllowed, "%v", err)}
		return refused(errs), errs
	}

	var result Result
	var errs Errors
	desired := set.owned()
	for _, object := range desired {
		outcome := r.object(ctx, object)
		if ctx.Err() != nil && outcome.Err != nil {
			outcome = failed(interrupted(ctx, outcome.Object))
		}
		result.Objects = append(result.Objects, outcome)
		if outcome.Err != nil {
			errs = append(errs, outcome.Err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if len(errs) == 0 {
		pruned, pruneErrs := r.prune(ctx, desired)
		result.Objects = append(result.Objects, pruned...)
		errs = pruneErrs
	}
	result.Writes = r.writes
	return result, errs.orNil()
}

// Forget drops what is remembered of an owner. To be called when it is gone.
func (a *Applier) Forget(owner types.NamespacedName) { a.memory.forget(owner) }

// options are those of a comparison with the cluster.
func (a *Applier) options(set *Set) diff.Options {
	return diff.Options{Manager: a.manager, Migrate: a.migrate, Namespace: set.Owner.Namespace, Ignore: set.Ignore}
}

func refused(errs Errors) Result {
	var result Result
	for _, err := range errs {
		result.Objects = append(result.Objects, failed(err))
	}
	return result
}

// ref names the owner.
func (s *Set) ref() diff.ObjectRef {
	return diff.ObjectRef{APIVersion: s.Owner.APIVersion, Kind: s.Owner.Kind, Namespace: s.Owner.Namespace, Name: s.Owner.Name}
}

// owned gives the desired objects as they are applied.
func (s *Set) owned() []*unstructured.Unstructured {
	out := make([]*unstructured.Unstructured, len(s.Objects))
	for i, object := range s.Objects {
		out[i] = s.Owner.owned(object)
	}
	return out
}

// check refuses what can be told to be wrong without asking anybody.
func (s *Set) check() Errors {
	var errs Errors
	add := func(ref diff.ObjectRef, text string, args ...any) {
		errs = append(errs, refuse(ref, ReasonNotAllowed, text, args...))
	}
	if s.Owner.Name == "" || s.Owner.Namespace == "" || s.Owner.UID == "" || s.Owner.Kind == "" || s.Owner.APIVersion == "" {
		add(s.ref(), "the owner needs a name, a namespace and a UID")
	}
	return append(errs, s.checkObjects()...)
}

func (s *Set) checkObjects() Errors {
	var errs Errors
	seen := make(map[identity]bool, len(s.Objects))
	for _, object := range s.Objects {
		ref := refOf(object)
		if ref.Namespace == "" {
			ref.Namespace = s.Owner.Namespace
		}
		text := ""
		switch {
		case ref.APIVersion == "" || ref.Kind == "" || ref.Name == "":
			text = "an object needs an apiVersion, a kind and a name"
		case ref.Kind == "Secret" && ref.Group() == "":
			text = "appsvc never writes a Secret"
		case ref.Namespace != s.Owner.Namespace:
			// The garbage collector would delete it: it looks for owners in the object's own
			// namespace (kubernetes/kubernetes#92743).
			text = fmt.Sprintf("must be in the namespace of its owner, %s", s.Owner.Namespace)
		case seen[identityOf(ref)]:
			text = "is there twice"
		}
		if text != "" {
			errs = append(errs, refuse(ref, ReasonNotAllowed, "%s", text))
		}
		seen[identityOf(ref)] = true
	}
	return errs
}

// run is one call of Apply.
type run struct {
	*Applier
	set     *Set
	ignorer *diff.Ignorer
	writes  int
}

func (r *run) owner() types.NamespacedName { return r.set.Owner.key() }

// attempts bounds how often an object is read and written anew when it changes meanwhile.
const attempts = 8

// object makes one object be as desired, or says why not.
func (r *run) object(ctx context.Context, desired *unstructured.Unstructured) ObjectResult {
	ref := refOf(desired)
	d, err := digestOf(desired, r.set.Ignore, r.set.DriftOnly)
	if err != nil {
		return failed(refuse(ref, ReasonInvalid, "cannot be written as JSON"))
	}
	t := target{ref: ref, desired: desired, digest: d}
	outcome, known := r.fromCache(ctx, t)
	if known {
		return outcome
	}
	failure := r.namespaced(t)
	if failure != nil {
		return failed(failure)
	}
	for range attempts {
		var live *unstructured.Unstructured
		if live, failure = r.get(ctx, ref); failure != nil {
			return failed(failure)
		}
		if outcome, failure = r.settle(ctx, t, live); failure == nil {
			return outcome
		}
		if failure.Reason != ReasonConflict || failure.RetryAfter > 0 {
			break
		}
	}
	return failed(failure)
}

// target is an object that is desired.
type target struct {
	ref     diff.ObjectRef
	desired *unstructured.Unstructured
	digest  digest
}

// namespaced refuses kinds that live in no namespace: they would have an owner that the
// garbage collector never finds.
func (r *run) namespaced(t target) *Error {
	ok, err := r.client.IsObjectNamespaced(t.desired)
	switch {
	case err != nil:
		return failure(t.ref, err, nil)
	case !ok:
		return refuse(t.ref, ReasonNotAllowed, "a %s has no namespace, and so cannot belong to an AppService", t.ref.Kind)
	}
	return nil
}

// sortedManagers gives the owners of fields, each once.
func sortedManagers(change *diff.ObjectChange) []string {
	var out []string
	for i := range change.Fields {
		out = append(out, change.Fields[i].Owners...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
