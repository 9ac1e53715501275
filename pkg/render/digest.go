package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Digest names what an AppService renders to: "sha256:" and 64 hexadecimal digits. It is
// the same wherever the same objects are rendered, whichever namespace they go to: the
// controller keeps it in status.renderDigest, where it can be compared with what a
// repository renders to.
func Digest(objects []*unstructured.Unstructured) string {
	sum := sha256.New()
	for _, object := range objects {
		text, err := json.Marshal(withoutNamespace(object.Object)) // keys come sorted
		if err != nil {
			continue // plain JSON values are always written
		}
		sum.Write(text)
		sum.Write([]byte{'\n'})
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

func withoutNamespace(object map[string]any) map[string]any {
	metadata, ok := object["metadata"].(map[string]any)
	if !ok || metadata["namespace"] == nil {
		return object
	}
	object = maps.Clone(object)
	metadata = maps.Clone(metadata)
	delete(metadata, "namespace")
	object["metadata"] = metadata
	return object
}
