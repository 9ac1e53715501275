package kustomize

import (
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"

	"kudevops.io/appsvc/api/v1alpha1"
)

// withoutRendered leaves out the AppServices that a function has rendered within the
// build. It marks them for local use, as people mark those that are still to be
// rendered; what tells them apart is the Deployment, to which every AppService renders,
// under its own name.
func withoutRendered(resources []*resource.Resource) []*resource.Resource {
	type key struct{ namespace, name string }
	rendered := map[key]bool{}
	for _, r := range resources {
		if r.GetKind() == "Deployment" && r.GetLabels()[v1alpha1.ManagedByLabel] == v1alpha1.ManagedBy {
			rendered[key{r.GetNamespace(), r.GetName()}] = true
		}
	}
	return slices.DeleteFunc(resources, func(r *resource.Resource) bool {
		// Not GetGvk: it looks at the OpenAPI schema, which is another build's by now.
		group, _, _ := strings.Cut(r.GetApiVersion(), "/")
		_, local := r.GetAnnotations()[keptLocal]
		return local && group == v1alpha1.Group && r.GetKind() == v1alpha1.Kind && rendered[key{r.GetNamespace(), r.GetName()}]
	})
}
