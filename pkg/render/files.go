package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// filesVolume is the name of the volume that holds spec.files.
const filesVolume = "appsvc-files"

// files is a ConfigMap that is never changed: another content has another name, so
// that pods of the old template keep what they were started with, and a roll-back
// finds it.
func (r *renderer) files() map[string]any {
	data := make(map[string]any, len(r.app.Spec.Files))
	for path, content := range r.app.Spec.Files {
		data[fileKey(path)] = content
	}
	meta := r.metadata(nil, nil)
	meta["name"] = r.filesName()
	return map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata":   meta,
		"data":       data,
		"immutable":  true,
	}
}

// filesName has a hash of the files, paths included.
func (r *renderer) filesName() string {
	text, err := json.Marshal(r.app.Spec.Files) // keys come sorted
	if err != nil {
		text = nil // a map of strings is always written
	}
	sum := sha256.Sum256(text)
	return r.name() + "-" + hex.EncodeToString(sum[:5])
}

// fileMounts puts each file where it belongs, leaving its folder as the image has it.
func (r *renderer) fileMounts() []any {
	var mounts []any
	for _, path := range slices.Sorted(maps.Keys(r.app.Spec.Files)) {
		mounts = append(mounts, map[string]any{
			"name": filesVolume, "mountPath": path, "subPath": fileKey(path), "readOnly": true,
		})
	}
	return mounts
}

func (r *renderer) filesVolume() []any {
	if len(r.app.Spec.Files) == 0 {
		return nil
	}
	return []any{map[string]any{"name": filesVolume, "configMap": map[string]any{"name": r.filesName()}}}
}

// fileKey is the key of a path in the ConfigMap, whose keys have no slashes.
func fileKey(path string) string {
	return strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", "..")
}
