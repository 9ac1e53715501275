package referee

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/diff"
)

// leftover reports whether something in our name, or of the time before managedFields, is
// to be migrated: pkg/diff takes it for ours, as pkg/apply makes it.
func leftover(live *unstructured.Unstructured, managers []string) bool {
	return slices.ContainsFunc(live.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		return e.Operation == metav1.ManagedFieldsOperationUpdate && e.Subresource == "" && slices.Contains(managers, e.Manager)
	})
}

var leftovers = []string{v1alpha1.FieldManager, "before-first-apply"}

// adopted are those whose fields become ours, too, when we first apply what they have made.
var adopted = []string{"before", "kubectl-client-side-apply"}

// applied reports whether the object has been applied in our name.
func applied(live *unstructured.Unstructured) bool {
	return slices.ContainsFunc(live.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		return e.Operation == metav1.ManagedFieldsOperationApply && e.Manager == v1alpha1.FieldManager
	})
}

// migration gives the options for pkg/diff, and the managers whose fields become ours.
func (s *subject) migration() (diff.Options, []string) {
	opts, managers := diff.Options{Manager: v1alpha1.FieldManager}, leftovers
	if s.adopt {
		opts.Migrate = adopted
		if !applied(s.live) {
			managers = slices.Concat(leftovers, adopted)
		}
	}
	return opts, managers
}

// migrate makes leftovers ours, as pkg/apply does.
func (s *subject) migrate(ctx context.Context, managers []string) error {
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(s.live, sets.New(managers...), v1alpha1.FieldManager)
	if err != nil || patch == nil {
		return err
	}
	live, err := s.client.Patch(ctx, s.live.GetName(), types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: v1alpha1.FieldManager})
	if err != nil {
		return err
	}
	s.live = live
	s.history = append(s.history, "migrated")
	return nil
}
