package cli

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudevops.io/appsvc/pkg/diff"
)

// shareSame pairs the documents that both sides have, byte for byte: they are rendered
// once, and need no comparison.
func shareSame(from, to *treeSide) {
	waiting := make(map[string][]*unit, len(from.units))
	for i := range from.units {
		u := &from.units[i]
		if u.document != nil {
			text := string(u.document.Text)
			waiting[text] = append(waiting[text], u)
		}
	}
	for i := range to.units {
		u := &to.units[i]
		if u.document == nil {
			continue
		}
		twins := waiting[string(u.document.Text)]
		if len(twins) == 0 {
			continue
		}
		u.twin, u.same, twins[0].same = twins[0], true, true
		waiting[string(u.document.Text)] = twins[1:]
	}
}

// unmatchedInSame gives those of the rules that find nothing in the documents either that
// both sides have. Only for that are these parsed.
func (r *sideRenderer) unmatchedInSame(side *treeSide, rules []diff.IgnoreRule) []diff.IgnoreRule {
	if len(rules) == 0 {
		return nil
	}
	var objects []*unstructured.Unstructured
	for i := range side.units {
		if !side.units[i].same {
			continue
		}
		u := unit{document: side.units[i].document}
		r.unit(&u)
		for j := range u.rendered.objects {
			objects = append(objects, &unstructured.Unstructured{Object: u.rendered.objects[j].value})
		}
	}
	changes, err := diff.Diff(objects, objects, diff.Options{Ignore: rules})
	if err != nil {
		// What no API server takes is no difference when both sides have it. Then it cannot
		// be told.
		return nil
	}
	return changes.Unmatched
}
