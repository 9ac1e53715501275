package apply

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/diff"
)

// ReadOptions for Read. The zero value reads as the controller does by default.
type ReadOptions struct {
	// Manager and MigrateManagers are as in Options.
	Manager         string
	MigrateManagers []string
}

// Live is what a set meets in a cluster.
type Live struct {
	// Objects are the desired ones, in their order.
	Objects []LiveObject
	// Prune are the objects that would be deleted, by kind and name.
	Prune []*unstructured.Unstructured
	// Kept are those that are no longer desired and stay: their Note says why.
	Kept []ObjectResult
}

// LiveObject is a desired object beside the live one.
type LiveObject struct {
	// Desired is as it would be applied: with its namespace and its owner.
	Desired *unstructured.Unstructured
	// Live is nil where there is none. Where spec.replicas would be handed over first, it
	// is as it were after that.
	Live *unstructured.Unstructured
	// Err says why Desired would not be applied, or could not be compared.
	Err *Error
}

// Read reads what Apply would meet, and changes nothing: it needs the rights to get the
// desired kinds, to list the prunable ones and, for what is content-hashed, ReplicaSets.
// The owner's UID may be empty, for one that is not in the cluster yet: nothing is its own
// then, and nothing would be pruned.
//
// What can be read is given also when there is an error, which is of type [Errors] and
// holds those of the objects too. With [diff.Diff], Live and Prune compared with Desired,
// as the same field manager, are what Apply would do.
func Read(ctx context.Context, reader client.Reader, set Set, opts ReadOptions) (Live, error) {
	var out Live
	errs := set.checkObjects()
	if len(errs) > 0 {
		return out, errs
	}
	desired := set.owned()
	for _, object := range desired {
		read := readObject(ctx, reader, object, &set, opts.diff(&set))
		out.Objects = append(out.Objects, read)
		if read.Err != nil {
			errs = append(errs, read.Err)
		}
		if ctx.Err() != nil {
			return out, errs.orNil()
		}
	}
	if set.Owner.UID == "" {
		return out, errs.orNil()
	}
	return out, append(errs, out.readPrunable(ctx, reader, desired, &set)...).orNil()
}

func (o ReadOptions) diff(set *Set) diff.Options {
	out := diff.Options{Manager: o.Manager, Migrate: o.MigrateManagers, Namespace: set.Owner.Namespace}
	if out.Manager == "" {
		out.Manager = v1alpha1.FieldManager
	}
	if out.Migrate == nil {
		out.Migrate = DefaultMigrateManagers()
	}
	return out
}

func readObject(ctx context.Context, reader client.Reader, desired *unstructured.Unstructured, set *Set, opts diff.Options) LiveObject {
	out := LiveObject{Desired: desired}
	out.Live, out.Err = getLive(ctx, reader, refOf(desired))
	if out.Live == nil {
		return out
	}
	out.Err = mayWrite(refOf(desired), out.Live, set)
	if out.Err == nil {
		out.Live = AfterHandOver(desired, out.Live, opts)
	}
	return out
}

// readPrunable reads what is there and not desired.
func (l *Live) readPrunable(ctx context.Context, reader client.Reader, desired []*unstructured.Unstructured, set *Set) Errors {
	wanted := identities(desired)
	var errs Errors
	for _, gvk := range set.Kinds {
		list := newList(runtime.NewScheme(), gvk)
		refs, err := listOwned(ctx, reader, list, gvk, set, "")
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, ref := range refs {
			if wanted[identityOf(ref)] {
				continue
			}
			live, err := getLive(ctx, reader, ref)
			note := ""
			if live != nil && err == nil {
				note, err = keptBecause(ctx, reader, gvk, live, set)
			}
			switch {
			case err != nil:
				errs = append(errs, err)
			case live == nil:
			case note != "":
				l.Kept = append(l.Kept, ObjectResult{Object: ref, Action: Kept, Effect: diff.EffectNone, Note: note})
			default:
				l.Prune = append(l.Prune, live)
			}
		}
	}
	return errs
}

// AfterHandOver gives a live object as it is when desired is applied over it: with
// spec.replicas handed over, where Apply does that first. Otherwise it gives live itself.
func AfterHandOver(desired, live *unstructured.Unstructured, opts diff.Options) *unstructured.Unstructured {
	if !handsOver(desired, live, opts) {
		return live
	}
	return handedOver(live)
}
