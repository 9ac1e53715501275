package crd

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func metadataPath() *field.Path { return field.NewPath("metadata") }

// object is an AppService on its way through the API server.
type object struct {
	content map[string]any
	// meta is the metadata in content. It is nil when that is no object at all,
	// which is for the schema to say.
	meta *metav1.ObjectMeta
	// errs are what the decoder finds wrong.
	errs field.ErrorList
	// unknown are the sorted paths of what the decoder does not know.
	unknown []string
}

// decode copies obj and brings it into the form that the API server validates:
// metadata as typed fields, no unknown fields, no nulls that the schema does not
// allow, defaults filled in (unstructuredSchemaCoercer and unstructuredDefaulter
// in apiextensions-apiserver/pkg/apiserver/customresource_handler.go).
func (v *Validator) decode(obj map[string]any) (*object, *field.Error) {
	content, err := copyJSON(obj)
	if err != nil {
		return nil, field.Invalid(nil, field.OmitValueType{}, err.Error())
	}
	o := &object{content: content}
	o.decodeMetadata()
	o.unknown = append(o.unknown, pruning.PruneWithOptions(content, v.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	v.Default(content)
	embeddedErr, embeddedUnknown := objectmeta.CoerceWithOptions(nil, content, v.structural, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	if embeddedErr != nil {
		o.errs = append(o.errs, embeddedErr)
	}
	o.unknown = append(o.unknown, embeddedUnknown...)
	slices.Sort(o.unknown)
	return o, nil
}

// copyJSON returns what the API server's decoder makes of obj when a client sends
// it: a deep copy in which whole numbers are int64, however they were held.
func copyJSON(obj map[string]any) (map[string]any, error) {
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := utiljson.Unmarshal(data, &out); err != nil {
		return nil, err
	}
	if out == nil { // obj is nil, which is null in JSON.
		out = map[string]any{}
	}
	return out, nil
}

// decodeMetadata fills in meta, and puts the fields that metadata does not have
// into unknown and those that are malformed into errs. The API server gives up at
// the first malformed one; here it is dropped, so that the rest is looked at.
func (o *object) decodeMetadata() {
	if metadata, ok := o.content["metadata"].(map[string]any); ok {
		o.dropMalformedEntries(metadata, "labels")
		o.dropMalformedEntries(metadata, "annotations")
		o.dropMalformedFields(metadata)
	}
	meta, found, unknown, err := objectmeta.GetObjectMetaWithOptions(o.content, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return
	}
	if !found {
		meta = &metav1.ObjectMeta{}
	}
	o.meta = meta
	o.unknown = append(o.unknown, unknown...)
}

// dropMalformedEntries removes what is not a string from a map of strings. Where
// one label or annotation lacks its quotes there are often several: each is named.
func (o *object) dropMalformedEntries(metadata map[string]any, name string) {
	entries, ok := metadata[name].(map[string]any)
	if !ok {
		return
	}
	for key, value := range entries {
		if _, ok := value.(string); ok || value == nil {
			continue
		}
		o.errs = append(o.errs, field.TypeInvalid(metadataPath().Child(name).Key(key), value, "must be a string"))
		delete(entries, key)
	}
}

// dropMalformedFields removes the fields of metadata that cannot be decoded.
func (o *object) dropMalformedFields(metadata map[string]any) {
	for name, value := range metadata {
		single := map[string]any{"metadata": map[string]any{name: value}}
		if _, _, err := objectmeta.GetObjectMeta(single, false); err != nil {
			o.errs = append(o.errs, field.TypeInvalid(metadataPath().Child(name), value, strings.TrimPrefix(err.Error(), "json: ")))
			delete(metadata, name)
		}
	}
}
