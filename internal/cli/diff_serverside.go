package cli

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/manifest"
	"kudevops.io/appsvc/pkg/diff"
)

// tried is what the API server made of an object in a dry run, or why not.
type tried struct {
	stored *unstructured.Unstructured
	fault  *manifest.Fault
}

// tryOut asks the API server by dry run what would be stored, webhooks and all, and puts
// its answers in the place of what was worked out. Objects that it refuses keep what was,
// with a warning: often the change is needed to see why.
func (c *cluster) tryOut(ctx context.Context, desired *treeSide, found []*unstructured.Unstructured, changes *diff.ChangeSet, rules []diff.IgnoreRule) ([]*manifest.Fault, error) {
	before := make(map[manifest.ID]*unstructured.Unstructured, len(found))
	for _, o := range found {
		before[manifest.IDOf(o)] = o
	}
	var faults []*manifest.Fault
	i := 0
	err := inOrder(ctx,
		func(yield func(*sideObject) bool) {
			for i := range desired.objects {
				if !yield(&desired.objects[i]) {
					return
				}
			}
		},
		func(o *sideObject) tried { return c.dryRun(ctx, o, before[o.id]) },
		func(t tried) error {
			o, change := &desired.objects[i], &changes.Objects[i]
			i++
			if t.fault != nil {
				faults = append(faults, t.fault)
				return nil
			}
			var from []*unstructured.Unstructured
			if live := before[o.id]; live != nil {
				from = append(from, live)
			}
			answer, err := diff.Diff(from, []*unstructured.Unstructured{t.stored}, diff.Options{Ignore: rules})
			if err != nil {
				return err
			}
			seen := answer.Objects[0]
			seen.Adopted, seen.Kept, seen.Foreign = change.Adopted, change.Kept, change.Foreign
			for _, kept := range change.Kept {
				seen.Notes = append(seen.Notes, kept.Path.String()+" stays: owned by "+strings.Join(kept.Owners, ", "))
			}
			*change = seen
			return nil
		})
	return faults, err
}

// dryRun tries an apply out. The number of replicas that nobody wants to change comes
// along: the controller hands it over first, which cannot be tried out.
func (c *cluster) dryRun(ctx context.Context, o *sideObject, live *unstructured.Unstructured) tried {
	u := (&unstructured.Unstructured{Object: o.value}).DeepCopy()
	if err := keepReplicas(u, live); err != nil {
		return tried{fault: o.fault("", err.Error())}
	}
	err := c.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.DryRunAll, client.ForceOwnership, client.FieldOwner(v1alpha1.FieldManager))
	if err == nil {
		return tried{stored: u}
	}
	fault := o.fault("", untried(err, o.id))
	// Without the right to patch nothing can be tried; all else is an answer.
	fault.Warning = !apierrors.IsForbidden(err)
	return tried{fault: fault}
}

func keepReplicas(desired, live *unstructured.Unstructured) error {
	if live == nil {
		return nil
	}
	replicas, ok, err := unstructured.NestedInt64(live.Object, "spec", "replicas")
	if err != nil || !ok {
		return err
	}
	if _, wanted, err := unstructured.NestedFieldNoCopy(desired.Object, "spec", "replicas"); wanted || err != nil {
		return err
	}
	return unstructured.SetNestedField(desired.Object, replicas, "spec", "replicas")
}

// untried words the error of a dry run.
func untried(err error, id manifest.ID) string {
	switch {
	case meta.IsNoMatchError(err):
		return "is of a kind that the cluster does not serve: its definition has to be installed first"
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("cannot be tried out, since there is no namespace %q yet", id.Namespace)
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("may not be tried out: --server-side needs the right to patch, also for a dry run; without it, reading is enough: %v", err)
	}
	return fmt.Sprintf("is refused by the API server: %v", err)
}
