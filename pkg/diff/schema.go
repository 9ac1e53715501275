package diff

import (
	"cmp"
	"slices"
	"strings"
)

// shape says how the API server treats a value. The order of the first ones is that of
// the first entries of the generated table.
type shape uint8

const (
	// shapeAny is of an unknown type: its mappings go key by key, its lists as a whole.
	shapeAny shape = iota
	shapeText
	shapeNumber
	shapeBoolean
	shapeQuantity
	shapeIntOrString
	shapeTime
	shapeBinary

	// shapeStruct has known fields; shapeMap has any keys. The atomic ones are replaced
	// as a whole by whoever applies them.
	shapeStruct
	shapeAtomicStruct
	shapeMap
	shapeAtomicMap

	// shapeList is replaced as a whole, too. The items of a keyed list are told apart by
	// their keys, those of a set by their values.
	shapeList
	shapeKeyed
	shapeSet
)

// typeInfo is a type of the Kubernetes API: see internal/schemagen, which writes the
// table of them.
type typeInfo struct {
	shape shape
	// name is the Go type, such as "core/v1.Container"; empty for what has none.
	name   string
	fields []fieldType // of a structure, sorted by name
	elem   int         // the type of the items or values
	keys   []keyField  // of a keyed list, sorted by name
}

// fieldType is a field of a structure.
type fieldType struct {
	name string
	node int
	// keepsEmpty says that zero, "", false, {} and [] are values of their own here. Else
	// the API server stores none of them: they are as good as absent
	// (kubernetes/kubernetes#128924).
	keepsEmpty bool
}

// keyField is a part of a key. absent stands for it where it is not written.
type keyField struct {
	name   string
	absent string
}

// rootType is the type of an object.
type rootType struct {
	group, version, kind string
	node                 int
}

// unknown is the type of what Kubernetes does not ship.
var unknown = &generatedTypes[0]

// typeOf gives the type of the objects of a kind. Of one that Kubernetes does not ship,
// the metadata alone is known.
func typeOf(apiVersion, kind string) *typeInfo {
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		group, version = "", apiVersion
	}
	i, ok := slices.BinarySearchFunc(generatedRoots[:], rootType{group: group, kind: kind, version: version}, func(a, b rootType) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.kind, b.kind), cmp.Compare(a.version, b.version))
	})
	if !ok {
		i = 0 // has no name, and the metadata that every object has
	}
	return &generatedTypes[generatedRoots[i].node]
}

// at gives the type of what is below name in a mapping of type t, and whether an empty
// value there is as good as none.
func (t *typeInfo) at(name string) (below *typeInfo, droppedEmpty bool) {
	switch t.shape {
	case shapeStruct, shapeAtomicStruct:
		if i, ok := t.find(name); ok {
			return &generatedTypes[t.fields[i].node], !t.fields[i].keepsEmpty
		}
	case shapeMap, shapeAtomicMap:
		return &generatedTypes[t.elem], false
	}
	return unknown, false
}

func (t *typeInfo) find(name string) (int, bool) {
	low, high := 0, len(t.fields)
	for low < high {
		middle := int(uint(low+high) >> 1)
		switch field := t.fields[middle].name; {
		case field == name:
			return middle, true
		case field < name:
			low = middle + 1
		default:
			high = middle
		}
	}
	return 0, false
}

// item gives the type of the items of a list of type t.
func (t *typeInfo) item() *typeInfo {
	if t.shape >= shapeList {
		return &generatedTypes[t.elem]
	}
	return unknown
}

// atomic reports whether a mapping of type t is replaced as a whole.
func (t *typeInfo) atomic() bool { return t.shape == shapeAtomicStruct || t.shape == shapeAtomicMap }
