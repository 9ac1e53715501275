package main

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// node is a type: the counterpart of the type of that name in pkg/diff.
type node struct {
	shape  string
	name   string
	elem   int
	fields []field
	keys   []key
}

// field is a field of a struct. keepsEmpty says that a zero or empty value is not
// the same as none.
type field struct {
	name       string
	node       int
	keepsEmpty bool
}

// key is a field that tells the items of a list apart, with its default.
type key struct{ name, absent string }

type root struct {
	group, version, kind string
	node                 int
}

// table is all types, each once.
type table struct {
	nodes []node
	roots []root
	seen  map[seenKey]int
	names *schema.Schema
}

// seenKey identifies a type: Kubernetes uses one Go type under several names, and
// one list type with several keys.
type seenKey struct {
	goType reflect.Type
	ref    string
}

// scalars come first, in the order of the constants of pkg/diff.
var scalars = []string{
	"shapeAny", "shapeText", "shapeNumber", "shapeBoolean", "shapeQuantity", "shapeIntOrString", "shapeTime", "shapeBinary",
}

func build() (*table, error) {
	t := &table{seen: make(map[seenKey]int)}
	for _, s := range scalars {
		t.nodes = append(t.nodes, node{shape: s})
	}
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	for gvk, goType := range scheme.Scheme.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal || !isObject(goType) {
			continue
		}
		object := reflect.New(goType).Interface().(runtime.Object)
		object.GetObjectKind().SetGroupVersionKind(gvk)
		value, err := converter.ObjectToTyped(object, typed.AllowDuplicates)
		if err != nil {
			// Reviews and other requests that are never stored have no schema.
			continue
		}
		t.names = value.Schema()
		t.roots = append(t.roots, root{group: gvk.Group, version: gvk.Version, kind: gvk.Kind})
	}
	if len(t.roots) == 0 {
		return nil, fmt.Errorf("client-go has no schema for any kind")
	}
	slices.SortFunc(t.roots, func(a, b root) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.kind, b.kind), cmp.Compare(a.version, b.version))
	})
	for i := range t.roots {
		r := &t.roots[i]
		gvk := metav1.GroupVersionKind{Group: r.group, Version: r.version, Kind: r.kind}
		goType := scheme.Scheme.AllKnownTypes()[schemaKey(gvk)]
		object := reflect.New(goType).Interface().(runtime.Object)
		object.GetObjectKind().SetGroupVersionKind(schemaKey(gvk))
		value, err := converter.ObjectToTyped(object, typed.AllowDuplicates)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", gvk, err)
		}
		r.node = t.of(goType, value.TypeRef())
	}
	return t, t.addAnyKind()
}

// addAnyKind adds, as the first root and without a name, what all objects have in
// common: the type of the kinds that nobody knows.
func (t *table) addAnyKind() error {
	known := t.nodes[t.roots[0].node]
	i := slices.IndexFunc(known.fields, func(f field) bool { return f.name == "metadata" })
	if i < 0 {
		return fmt.Errorf("%s has no metadata", known.name)
	}
	t.roots = slices.Insert(t.roots, 0, root{node: len(t.nodes)})
	t.nodes = append(t.nodes, node{shape: "shapeStruct", fields: []field{known.fields[i]}})
	return nil
}

// isObject tells objects from lists, options and events of a watch.
func isObject(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	meta, ok := t.FieldByName("ObjectMeta")
	return ok && meta.Type == reflect.TypeFor[metav1.ObjectMeta]()
}

// of gives the node of a Go type that the schema knows as ref.
func (t *table) of(goType reflect.Type, ref schema.TypeRef) int {
	if goType.Kind() == reflect.Pointer {
		goType = goType.Elem()
	}
	if s, ok := scalarOf(goType); ok {
		return slices.Index(scalars, s)
	}
	id := seenKey{goType: goType, ref: describe(ref)}
	if n, ok := t.seen[id]; ok {
		return n
	}
	n := len(t.nodes)
	t.seen[id] = n
	t.nodes = append(t.nodes, node{}) // its place, as a type may hold itself

	atom, _ := t.names.Resolve(ref)
	var made node
	switch goType.Kind() {
	case reflect.Struct:
		made = t.structOf(goType, atom)
	case reflect.Map:
		made = t.mapOf(goType, atom)
	case reflect.Slice:
		made = t.listOf(goType, atom)
	default:
		made = node{shape: "shapeAny"}
	}
	t.nodes[n] = made
	return n
}

// scalarOf names the shape of what has no parts.
func scalarOf(goType reflect.Type) (string, bool) {
	switch goType {
	case reflect.TypeFor[resource.Quantity]():
		return "shapeQuantity", true
	case reflect.TypeFor[intstr.IntOrString]():
		return "shapeIntOrString", true
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return "shapeTime", true
	case reflect.TypeFor[metav1.Duration]():
		return "shapeText", true
	case reflect.TypeFor[runtime.RawExtension](), reflect.TypeFor[metav1.FieldsV1]():
		return "shapeAny", true
	case reflect.TypeFor[[]byte]():
		return "shapeBinary", true
	}
	switch goType.Kind() {
	case reflect.String:
		return "shapeText", true
	case reflect.Bool:
		return "shapeBoolean", true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return "shapeNumber", true
	}
	return "", false
}

func (t *table) structOf(goType reflect.Type, atom schema.Atom) node {
	made := node{shape: "shapeStruct", name: nameOf(goType)}
	if atom.Map != nil && atom.Map.ElementRelationship == schema.Atomic {
		made.shape = "shapeAtomicStruct"
	}
	t.addFields(&made, goType, atom)
	slices.SortFunc(made.fields, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	return made
}

func (t *table) addFields(made *node, goType reflect.Type, atom schema.Atom) {
	for i := range goType.NumField() {
		f := goType.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && (f.Anonymous || strings.Contains(options, "inline")) {
			t.addFields(made, f.Type, atom)
			continue
		}
		if name == "-" || name == "" || skipped(goType, name) {
			continue
		}
		var ref schema.TypeRef
		if atom.Map != nil {
			if sf, ok := atom.Map.FindField(name); ok {
				ref = sf.Type
			}
		}
		made.fields = append(made.fields, field{name: name, node: t.of(f.Type, ref), keepsEmpty: f.Type.Kind() == reflect.Pointer})
	}
}

// skipped are the parts of an object that nobody applies.
func skipped(goType reflect.Type, name string) bool {
	if isObject(goType) {
		return name == "status"
	}
	return goType == reflect.TypeFor[metav1.ObjectMeta]() && name == "managedFields"
}

func (t *table) mapOf(goType reflect.Type, atom schema.Atom) node {
	made := node{shape: "shapeMap", name: nameOf(goType)}
	var elem schema.TypeRef
	if atom.Map != nil {
		elem = atom.Map.ElementType
		if atom.Map.ElementRelationship == schema.Atomic {
			made.shape = "shapeAtomicMap"
		}
	}
	made.elem = t.of(goType.Elem(), elem)
	return made
}

func (t *table) listOf(goType reflect.Type, atom schema.Atom) node {
	made := node{shape: "shapeList"}
	var elem schema.TypeRef
	if atom.List != nil {
		elem = atom.List.ElementType
		switch {
		case atom.List.ElementRelationship != schema.Associative:
		case len(atom.List.Keys) == 0:
			made.shape = "shapeSet"
		default:
			made.shape = "shapeKeyed"
			for _, name := range atom.List.Keys {
				made.keys = append(made.keys, key{name: name, absent: t.absent(elem, name)})
			}
			// In managedFields the keys stand sorted.
			slices.SortFunc(made.keys, func(a, b key) int { return cmp.Compare(a.name, b.name) })
		}
	}
	made.elem = t.of(goType.Elem(), elem)
	return made
}

// absent is what the server takes for a key that is not given: only a port's protocol
// has such a default. (That numbers have a zero one says nothing.)
func (t *table) absent(elem schema.TypeRef, name string) string {
	atom, ok := t.names.Resolve(elem)
	if !ok || atom.Map == nil {
		return ""
	}
	f, _ := atom.Map.FindField(name)
	value, _ := f.Default.(string)
	return value
}

// nameOf gives core/v1.Container for k8s.io/api/core/v1.Container; no name for a type
// that Go gives none.
func nameOf(goType reflect.Type) string {
	if goType.Name() == "" {
		return ""
	}
	parts := strings.Split(goType.PkgPath(), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/") + "." + goType.Name()
}

// describe tells references apart that lead to different types.
func describe(ref schema.TypeRef) string {
	if ref.NamedType != nil {
		relationship := ""
		if ref.ElementRelationship != nil {
			relationship = string(*ref.ElementRelationship)
		}
		return *ref.NamedType + relationship
	}
	switch {
	case ref.Inlined.List != nil:
		return fmt.Sprint("list ", ref.Inlined.List.ElementRelationship, ref.Inlined.List.Keys, describe(ref.Inlined.List.ElementType))
	case ref.Inlined.Map != nil:
		return fmt.Sprint("map ", ref.Inlined.Map.ElementRelationship, describe(ref.Inlined.Map.ElementType))
	}
	return ""
}
