package render

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	"kudevops.io/appsvc/api/v1alpha1"
)

// Target is a cluster, described by what it serves.
type Target struct {
	version     *utilversion.Version
	apiVersions []string
}

// NewTarget describes a cluster by its version ("1.34", "v1.34.2") and by the
// API versions that it serves ("apps/v1", or "apps/v1/Deployment", the two forms
// that Helm and Argo CD use). An empty version, or no API versions, leaves that
// side unchecked.
func NewTarget(kubeVersion string, apiVersions []string) (*Target, error) {
	t := &Target{apiVersions: slices.Clone(apiVersions)}
	if kubeVersion != "" {
		v, err := utilversion.ParseGeneric(kubeVersion)
		if err != nil {
			return nil, fmt.Errorf("kube version %q: %w", kubeVersion, err)
		}
		t.version = v
	}
	return t, nil
}

// servedSince is the Kubernetes version that first served a kind.
var servedSince = [...]struct {
	gvk     schema.GroupVersionKind
	version string
}{
	{schema.GroupVersionKind{Version: "v1", Kind: "Service"}, "1.0"},
	{schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, "1.9"},
}

// kindsOf lists the kinds that an AppService renders to.
func kindsOf(app *v1alpha1.AppService) []schema.GroupVersionKind {
	kinds := make([]schema.GroupVersionKind, 0, 2)
	if len(app.Spec.Ports) > 0 {
		kinds = append(kinds, schema.GroupVersionKind{Version: "v1", Kind: "Service"})
	}
	return append(kinds, schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
}

// lacks reports the kinds that the target does not serve. A nil target serves all.
func (t *Target) lacks(kinds []schema.GroupVersionKind) field.ErrorList {
	if t == nil {
		return nil
	}
	var errs field.ErrorList
	for _, gvk := range kinds {
		if reason := t.lack(gvk); reason != "" {
			errs = append(errs, field.Forbidden(paths.spec,
				fmt.Sprintf("renders to a %s (%s), which the target cluster does not serve: %s",
					gvk.Kind, gvk.GroupVersion(), reason)))
		}
	}
	return errs
}

func (t *Target) lack(gvk schema.GroupVersionKind) string {
	if len(t.apiVersions) > 0 {
		gv := gvk.GroupVersion().String()
		if !slices.Contains(t.apiVersions, gv) && !slices.Contains(t.apiVersions, gv+"/"+gvk.Kind) {
			return "it is not among the " + plural(len(t.apiVersions), "API version") + " given"
		}
	}
	if t.version == nil {
		return ""
	}
	for _, s := range servedSince {
		if s.gvk == gvk && !t.version.AtLeast(utilversion.MustParseGeneric(s.version)) {
			return fmt.Sprintf("it came with %s, the target is %s", s.version, t.version)
		}
	}
	return ""
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, strings.TrimSuffix(noun, "s"))
}

// Renders says whether objects of a kind can be among what an AppService renders
// to. The version of the API does not matter.
func Renders(group, kind string) bool {
	for _, s := range servedSince {
		if s.gvk.Group == group && s.gvk.Kind == kind {
			return true
		}
	}
	return false
}
