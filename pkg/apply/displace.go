package apply

import (
	"context"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// displace puts right what an edit of a key leaves: to change the number of a port is to
// remove ours and to add another one, which is the editor's. An apply brings ours back
// beside it, and the API server may refuse the two together, since ports need names, and
// different ones. Force decides about a field that two want otherwise; of two items that
// cannot be there together, it is the same: the items of others, in the lists that the
// refusal is about, are made ours, and go with the apply.
//
// It gives nil where nothing stands in the way.
func (r *run) displace(ctx context.Context, live *unstructured.Unstructured, refusal *Error) (*unstructured.Unstructured, error) {
	if r.set.Owner.claimOn(live) != ours {
		return nil, nil
	}
	entries, ok := displaced(live, r.manager, refusal.Fields)
	if !ok {
		return nil, nil
	}
	// Naming the version makes it a conflict when somebody was faster.
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": entries},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": live.GetResourceVersion()},
	})
	if err != nil {
		return nil, err
	}
	returned := live.DeepCopy()
	r.writes++
	err = r.client.Patch(ctx, returned, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(r.manager))
	return returned, err
}

// displaced gives managedFields in which the items of others, in the innermost lists on
// the paths, are the manager's; false when there are none.
func displaced(live *unstructured.Unstructured, manager string, paths []string) ([]any, bool) {
	entries, _, err := unstructured.NestedSlice(live.Object, "metadata", "managedFields") // a copy
	if err != nil {
		return nil, false
	}
	var own map[string]any
	for _, e := range entries {
		if e, ok := e.(map[string]any); ok && e["manager"] == manager && e["operation"] == "Apply" && e["subresource"] == nil {
			own, _ = e["fieldsV1"].(map[string]any)
		}
	}
	if own == nil {
		return nil, false
	}
	moved := false
	for _, e := range entries {
		e, ok := e.(map[string]any)
		if !ok || e["subresource"] != nil {
			continue
		}
		fields, ok := e["fieldsV1"].(map[string]any)
		if !ok || e["manager"] == manager && e["operation"] == "Apply" {
			continue
		}
		for _, path := range paths {
			steps := listOn(path)
			if len(steps) == 0 {
				continue // it is about no list
			}
			items := take(fields, steps)
			merge(own, items)
			moved = moved || len(items) > 0
		}
	}
	return entries, moved
}

// listOn gives the steps to the innermost list on a path, as the API server writes paths:
// spec.ports[0].name leads to spec, ports. The step "" is into each item of a list.
func listOn(path string) []string {
	var steps []string
	end := 0
	for _, part := range strings.Split(path, ".") {
		name, _, indexed := strings.Cut(part, "[")
		steps = append(steps, name)
		if indexed {
			end = len(steps)
			steps = append(steps, "")
		}
	}
	return steps[:end]
}

// take removes the items of a list from a set of fields, and gives them as a set of their
// own, empty if there are none.
func take(fields map[string]any, steps []string) map[string]any {
	taken := make(map[string]any)
	for key, below := range fields {
		below, ok := below.(map[string]any)
		switch isItem := strings.HasPrefix(key, "k:"); {
		case !ok:
		case len(steps) == 0 && isItem:
			taken[key] = below
			delete(fields, key)
		case len(steps) > 0 && (isItem && steps[0] == "" || steps[0] != "" && key == "f:"+steps[0]):
			items := take(below, steps[1:])
			if len(items) == 0 {
				continue
			}
			taken[key] = items
			if _, itself := below["."]; len(below) == 0 || len(below) == 1 && itself {
				delete(fields, key) // an empty set would be all of the field
			}
		}
	}
	return taken
}

// at gives the set below a key, which is made if need be.
func at(fields map[string]any, key string) map[string]any {
	below, ok := fields[key].(map[string]any)
	if !ok {
		below = make(map[string]any)
		fields[key] = below
	}
	return below
}

// merge adds a set of fields to another.
func merge(into, fields map[string]any) {
	for key, below := range fields {
		below, _ := below.(map[string]any)
		merge(at(into, key), below)
	}
}
