package same

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// shown is how many objects that differ are shown: when one label differs, it
// does in all of them.
const shown = 3

// Compare says how two sets of objects differ, as text for people: nothing when
// they are the same. Lines with - are ours only, lines with + theirs.
func Compare(ours, theirs Objects) string {
	ids := slices.Sorted(maps.Keys(ours))
	for id := range theirs {
		if _, both := ours[id]; !both {
			ids = append(ids, id)
		}
	}
	var text strings.Builder
	differ := 0
	for _, id := range ids {
		if cmp.Equal(ours[id], theirs[id]) {
			continue
		}
		if differ++; differ <= shown {
			fmt.Fprintf(&text, "%s: %s\n", id, difference(ours[id], theirs[id]))
		}
	}
	if differ == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d objects differ; the first of them:\n%s", differ, len(ids), text.String())
}

func difference(ours, theirs map[string]any) string {
	switch {
	case ours == nil:
		return "only theirs"
	case theirs == nil:
		return "only ours"
	}
	return cmp.Diff(ours, theirs)
}
