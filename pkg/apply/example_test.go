package apply_test

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/apply"
	"kudevops.io/appsvc/pkg/diff"
)

// A controller renders an AppService, applies what came out, and says what was done.
func ExampleApplier_Apply() {
	reconcile := func(ctx context.Context, applier *apply.Applier, app *v1alpha1.AppService, set apply.Set) error {
		set.Owner = apply.OwnerOf(app)
		result, err := applier.Apply(ctx, set)
		for _, o := range result.Objects {
			if o.Wrote() {
				fmt.Println(o.Object, o.Action, o.Fields)
			}
		}
		var errs apply.Errors
		if errors.As(err, &errs) && errs.Terminal() {
			return nil // a person has to act; say so in the status
		}
		return err
	}
	_ = reconcile
}

// Somebody who may only read sees what would be done.
func ExampleRead() {
	preview := func(ctx context.Context, reader client.Reader, set apply.Set) (*diff.ChangeSet, error) {
		live, err := apply.Read(ctx, reader, set, apply.ReadOptions{})
		if err != nil {
			return nil, err
		}
		from, to := live.Prune, set.Objects[:0:0]
		for _, o := range live.Objects {
			to = append(to, o.Desired)
			if o.Live != nil {
				from = append(from, o.Live)
			}
		}
		return diff.Diff(from, to, diff.Options{Manager: v1alpha1.FieldManager, Migrate: apply.DefaultMigrateManagers()})
	}
	_ = preview
}
