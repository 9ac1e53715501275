package kustomize

import (
	"cmp"
	"slices"
	"strings"

	"kudevops.io/appsvc/internal/manifest"
)

// Faults is why a folder was not built: everything that was found wrong with its
// kustomization files, of all layers. There is at least one fault.
type Faults []*manifest.Fault

// Error gives one fault per line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

// sorted orders faults by file and line.
func (f Faults) sorted() Faults {
	slices.SortStableFunc(f, func(a, b *manifest.Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return f
}
