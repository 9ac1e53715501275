package render

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	"kudevops.io/appsvc/api/v1alpha1"
)

// Target is a cluster, described by what it serves.
type Target struct {
	version *utilversion.Version
	// served has every API version and kind given.
	served map[string]bool
	// listed has the API versions of which kinds are given.
	listed map[string]bool
	given  int
}

// NewTarget describes a cluster by its version ("1.34", "v1.34.2") and by the
// API versions that it serves ("apps/v1", or "apps/v1/Deployment", the two forms
// that Helm and Argo CD use). An API version stands for all its kinds, unless kinds
// of it are given too: Argo CD gives both, and then a kind that is missing is one
// that the cluster lacks, such as one of several CRDs of a group. An empty version,
// or no API versions, leaves that side unchecked.
func NewTarget(kubeVersion string, apiVersions []string) (*Target, error) {
	t := &Target{served: make(map[string]bool), listed: make(map[string]bool), given: len(apiVersions)}
	for _, v := range apiVersions {
		parts := strings.Split(v, "/")
		if len(parts) > 3 || slices.Contains(parts, "") || strings.ContainsAny(v, " \t\r\n") {
			return nil, fmt.Errorf("API version %q: must be like v1, apps/v1 or apps/v1/Deployment", v)
		}
		t.served[v] = true
		if i := strings.LastIndexByte(v, '/'); i > 0 {
			t.listed[v[:i]] = true
		}
	}
	if kubeVersion != "" {
		v, err := utilversion.ParseGeneric(kubeVersion)
		if err != nil {
			return nil, fmt.Errorf("kube version %q: %w", kubeVersion, err)
		}
		t.version = v
	}
	return t, nil
}

// lacks reports the kinds that an AppService renders to and the target does not
// serve. A nil target serves all.
func (t *Target) lacks(spec *v1alpha1.AppServiceSpec) field.ErrorList {
	if t == nil {
		return nil
	}
	var errs field.ErrorList
	for _, c := range children {
		if !c.wanted(spec) {
			continue
		}
		if reason := t.lack(&c); reason != "" {
			errs = append(errs, field.Forbidden(paths.spec,
				fmt.Sprintf("renders to a %s (%s), which the target cluster does not serve: %s",
					c.gvk.Kind, c.gvk.GroupVersion(), reason)))
		}
	}
	return errs
}

func (t *Target) lack(c *child) string {
	if t.given > 0 {
		gv := c.gvk.GroupVersion().String()
		whole := t.served[gv] && !t.listed[gv]
		if !whole && !t.served[gv+"/"+c.gvk.Kind] {
			return "it is not among the " + plural(t.given, "API version") + " given"
		}
	}
	if t.version != nil && !t.version.AtLeast(utilversion.MustParseGeneric(c.since)) {
		return fmt.Sprintf("it came with %s, the target is %s", c.since, t.version)
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
	for _, c := range children {
		if c.gvk.Group == group && c.gvk.Kind == kind {
			return true
		}
	}
	return false
}

// Kinds gives every kind of object that an AppService can render to, in the order in which
// they are applied.
func Kinds() []schema.GroupVersionKind {
	out := make([]schema.GroupVersionKind, len(children))
	for i := range children {
		out[i] = children[i].gvk
	}
	return out
}
