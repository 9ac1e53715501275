package render

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

// plain turns a native struct into plain JSON values, without what its Go type
// writes although nobody asked for it.
func plain(v any) map[string]any {
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(v)
	if err != nil {
		// The converter fails on types that JSON cannot hold (channels, functions);
		// no type of k8s.io/api has such a field.
		return nil
	}
	prune(m)
	return m
}

// noise are the fields that native types write empty when they were not set, all of
// them structs without omitempty. Any other empty mapping was meant: emptyDir, a label
// selector that selects all. A test has a case for each.
var noise = map[string]bool{
	"resources":       true, // Container, PersistentVolumeClaimSpec
	"metadata":        true, // PersistentVolumeClaimTemplate
	"securityContext": true, // the server takes an empty one for none
}

// prune removes nulls and empty noise, deepest first.
func prune(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			prune(child)
			if child == nil {
				delete(v, key)
			} else if m, ok := child.(map[string]any); ok && len(m) == 0 && noise[key] {
				delete(v, key)
			}
		}
	case []any:
		for _, child := range v {
			prune(child)
		}
	}
}

// nativeList gives native structs as plain values, each after change had its way
// with a copy of it.
func nativeList[T any, P interface {
	*T
	DeepCopy() *T
}](list []T, change func(P)) []any {
	out := make([]any, len(list))
	for i := range list {
		item := P(&list[i]).DeepCopy()
		if change != nil {
			change(item)
		}
		out[i] = plain(item)
	}
	return out
}

// normalizeContainer writes out what the main container gets too.
func normalizeContainer(c *corev1.Container) {
	if c.ImagePullPolicy == "" {
		c.ImagePullPolicy = pullPolicy(c.Image)
	}
	for i := range c.Ports {
		c.Ports[i].Protocol = protocolOf(c.Ports[i].Protocol)
	}
	for i := range c.Env {
		if src := c.Env[i].ValueFrom; src != nil {
			normalizeFieldRefs(src.FieldRef, src.ResourceFieldRef)
		}
	}
	canonicalList(c.Resources.Limits)
	canonicalList(c.Resources.Requests)
	normalizeSecurityContext(c.SecurityContext)
}

// normalizeFieldRefs writes out the defaults of fields that are replaced as a
// whole: without them every apply would be a change (kubernetes/kubernetes#115563).
func normalizeFieldRefs(f *corev1.ObjectFieldSelector, r *corev1.ResourceFieldSelector) {
	if f != nil && f.APIVersion == "" {
		f.APIVersion = "v1"
	}
	if r != nil {
		r.Divisor = canonicalQuantity(r.Divisor)
	}
}

// normalizeSecurityContext sorts the capabilities, which are sets in lists.
func normalizeSecurityContext(s *corev1.SecurityContext) {
	if s != nil && s.Capabilities != nil {
		slices.Sort(s.Capabilities.Add)
		slices.Sort(s.Capabilities.Drop)
	}
}

// normalizeVolume writes out the defaults inside lists that are replaced as a
// whole, and sorts those whose order means nothing.
func normalizeVolume(v *corev1.Volume) {
	if s := v.EmptyDir; s != nil && s.SizeLimit != nil {
		limit := canonicalQuantity(*s.SizeLimit)
		s.SizeLimit = &limit
	}
	if s := v.ConfigMap; s != nil {
		sortItems(s.Items)
	}
	if s := v.Secret; s != nil {
		sortItems(s.Items)
	}
	if s := v.DownwardAPI; s != nil {
		normalizeDownward(s.Items)
	}
	if s := v.Ephemeral; s != nil && s.VolumeClaimTemplate != nil {
		canonicalList(s.VolumeClaimTemplate.Spec.Resources.Limits)
		canonicalList(s.VolumeClaimTemplate.Spec.Resources.Requests)
	}
	if s := v.Projected; s != nil {
		for i := range s.Sources {
			p := &s.Sources[i]
			if p.ConfigMap != nil {
				sortItems(p.ConfigMap.Items)
			}
			if p.Secret != nil {
				sortItems(p.Secret.Items)
			}
			if p.DownwardAPI != nil {
				normalizeDownward(p.DownwardAPI.Items)
			}
			if t := p.ServiceAccountToken; t != nil && t.ExpirationSeconds == nil {
				hour := int64(3600)
				t.ExpirationSeconds = &hour
			}
		}
	}
}

func sortItems(items []corev1.KeyToPath) {
	slices.SortFunc(items, func(a, b corev1.KeyToPath) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Key, b.Key))
	})
}

func normalizeDownward(items []corev1.DownwardAPIVolumeFile) {
	for i := range items {
		normalizeFieldRefs(items[i].FieldRef, items[i].ResourceFieldRef)
	}
	slices.SortFunc(items, func(a, b corev1.DownwardAPIVolumeFile) int { return cmp.Compare(a.Path, b.Path) })
}

// canonicalList rounds amounts up to a thousandth, as the API server does.
func canonicalList(list corev1.ResourceList) {
	for name, q := range list {
		q.RoundUp(resource.Milli)
		list[name] = canonicalQuantity(q)
	}
}

// canonicalQuantity gives a quantity that is written in its canonical form.
func canonicalQuantity(q resource.Quantity) resource.Quantity {
	parsed, err := resource.ParseQuantity(canonical(q))
	if err != nil {
		return q // what was just formatted parses
	}
	return parsed
}
