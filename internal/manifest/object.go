package manifest

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "sigs.k8s.io/json"

	"kudevops.io/appsvc/api/v1alpha1"
)

// ID is what makes two objects the same one: the version of the API is not part
// of it.
type ID struct {
	Group, Kind, Namespace, Name string
}

// String gives "Kind namespace/name", without what is empty.
func (id ID) String() string {
	switch {
	case id.Name == "":
		return id.Kind
	case id.Namespace == "":
		return id.Kind + " " + id.Name
	}
	return id.Kind + " " + id.Namespace + "/" + id.Name
}

// IDOf gives the identity of a rendered object.
func IDOf(o *unstructured.Unstructured) ID {
	gvk := o.GroupVersionKind()
	return ID{Group: gvk.Group, Kind: gvk.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// Object is one object of the input and where it stands.
type Object struct {
	// ID is its identity. Its namespace is empty when the object names none.
	ID
	// Version is the version of its API.
	Version string
	// File and Line say where it begins; Line is 0 when that is not known.
	File string
	Line int
	// Origin is the file it came from before kustomize built it, or empty.
	Origin string
	// Node is the object itself, a mapping.
	Node *yaml.Node

	// base is added to the line of a node; below zero: the lines are not known.
	base int
	// text is the document, when the object is the whole of one.
	text []byte
}

// APIVersion gives group and version as a manifest has them.
func (o *Object) APIVersion() string {
	if o.Group == "" {
		return o.Version
	}
	return o.Group + "/" + o.Version
}

// IsAppService says whether the object is an AppService of the version that this
// program knows.
func (o *Object) IsAppService() bool {
	return o.Kind == v1alpha1.Kind && o.Group == v1alpha1.Group && o.Version == v1alpha1.Version
}

// Misspelt says why an object that was meant for this program is none that it knows:
// passed through, it would reach the cluster as it is. The message is empty for any
// other object.
func (o *Object) Misspelt() (path, message string) {
	switch {
	case o.IsAppService():
	case o.Kind == v1alpha1.Kind && (o.Group == v1alpha1.Group || o.Group == ""):
		return "apiVersion", fmt.Sprintf("is %q; this program knows %s", o.StringAt("apiVersion"), v1alpha1.APIVersion)
	case o.Group == v1alpha1.Group && o.Kind != v1alpha1.RenderConfigKind && o.Kind != v1alpha1.ListKind:
		return "kind", fmt.Sprintf("is %q, which there is none of in %s; an AppService is an %s", o.Kind, o.Group, v1alpha1.Kind)
	}
	return "", ""
}

// IsResourceList says whether the object is the input or output of a KRM function.
func (o *Object) IsResourceList() bool {
	return o.Kind == "ResourceList" && o.Group == "config.kubernetes.io"
}

// Fault is a fault of this object, at the line of a field.
func (o *Object) Fault(path, message string) *Fault {
	return &Fault{File: o.File, Line: o.LineOf(path), Origin: o.Origin, Object: o.ID.String(), Path: path, Message: message}
}

// JSON gives the object as JSON, with what is wrong with it as a tree: a key that
// occurs twice, an alias that expands without bounds, an unknown tag.
func (o *Object) JSON() ([]byte, []*Fault) {
	c := o.convert(false)
	return c.out, c.sorted()
}

func (o *Object) convert(source bool) *converter {
	c := &converter{object: o, source: source, out: make([]byte, 0, 1<<10), path: make([]step, 0, 16)}
	c.value(o.Node, 0)
	return c
}

// Value gives the object as plain values: map[string]any, []any, string, int64,
// float64, bool and nil.
func (o *Object) Value() (map[string]any, []*Fault) {
	text, faults := o.JSON()
	if len(faults) > 0 {
		return nil, faults
	}
	var value map[string]any
	if err := utiljson.UnmarshalCaseSensitivePreserveInts(text, &value); err != nil {
		return nil, []*Fault{o.Fault("", err.Error())}
	}
	return value, nil
}

// Objects gives the objects of a document, those of a List one by one. A document
// that is no Kubernetes object (it has neither apiVersion nor kind, like the
// values of a Helm chart) gives none, and says so.
func Objects(doc Document) (objects []*Object, isObject bool, faults []*Fault) {
	root, fault := Parse(doc)
	if fault != nil {
		return nil, true, []*Fault{fault}
	}
	if root == nil {
		return nil, false, nil
	}
	if root.Kind != yaml.MappingNode || (find(root, "apiVersion") == nil && find(root, "kind") == nil) {
		return nil, false, nil
	}
	o, fault := newObject(root, doc.File, doc.Line)
	if fault != nil {
		return nil, true, []*Fault{fault}
	}
	o.text = doc.Text
	objects, faults = unpack(nil, o, 0)
	return objects, true, faults
}

// FromNode makes an object of a mapping that is part of a larger document; base is
// the line, in file, of the document's own first line.
func FromNode(node *yaml.Node, file string, base int) (*Object, *Fault) {
	return newObject(node, file, base)
}

func newObject(node *yaml.Node, file string, base int) (*Object, *Fault) {
	o := &Object{File: file, Node: node, base: base}
	if base >= 0 {
		o.Line = base + node.Line - 1
	}
	apiVersion, ok1 := stringAt(node, "apiVersion")
	kind, ok2 := stringAt(node, "kind")
	if group, version, found := strings.Cut(apiVersion, "/"); found {
		o.Group, o.Version = group, version
	} else {
		o.Version = apiVersion
	}
	o.Kind = kind
	o.Name, _ = stringAt(node, "metadata", "name")
	o.Namespace, _ = stringAt(node, "metadata", "namespace")
	for _, missing := range []struct {
		field string
		ok    bool
	}{{"apiVersion", ok1 && apiVersion != ""}, {"kind", ok2 && kind != ""}} {
		if !missing.ok {
			f := o.Fault(missing.field, "is needed, as a string")
			if o.Kind == "" {
				f.Object = ""
			}
			return nil, f
		}
	}
	return o, nil
}

// unpack appends o, or the objects of the list that o is.
func unpack(objects []*Object, o *Object, depth int) ([]*Object, []*Fault) {
	ofAppServices := o.Kind == v1alpha1.ListKind && o.Group == v1alpha1.Group
	if !ofAppServices && (o.Kind != "List" || o.Group != "") {
		return append(objects, o), nil
	}
	items := find(o.Node, "items")
	if items == nil || isNull(items) {
		return objects, nil
	}
	items = resolve(items)
	if items.Kind != yaml.SequenceNode {
		return objects, []*Fault{o.Fault("items", "must be a list")}
	}
	if depth > 4 {
		return objects, []*Fault{o.Fault("", "lists are nested too deeply")}
	}
	if len(items.Content) > maxExpanded {
		return objects, []*Fault{o.Fault("items", fmt.Sprintf("has more than %d elements", maxExpanded))}
	}
	var faults []*Fault
	for i, node := range items.Content {
		node = resolve(node)
		if node.Kind != yaml.MappingNode {
			faults = append(faults, o.Fault(fmt.Sprintf("items[%d]", i), "is no object"))
			continue
		}
		if ofAppServices && find(node, "kind") == nil {
			// Clients leave both out of the elements of a typed list.
			typed := *node
			typed.Content = append([]*yaml.Node{
				{Kind: yaml.ScalarNode, Tag: "!!str", Value: "apiVersion", Line: node.Line},
				{Kind: yaml.ScalarNode, Tag: "!!str", Value: o.APIVersion(), Line: node.Line},
				{Kind: yaml.ScalarNode, Tag: "!!str", Value: "kind", Line: node.Line},
				{Kind: yaml.ScalarNode, Tag: "!!str", Value: v1alpha1.Kind, Line: node.Line},
			}, node.Content...)
			node = &typed
		}
		item, fault := newObject(node, o.File, o.base)
		if fault != nil {
			faults = append(faults, fault)
			continue
		}
		var nested []*Fault
		objects, nested = unpack(objects, item, depth+1)
		faults = append(faults, nested...)
	}
	return objects, faults
}

// stringAt gives the string at a way of keys. ok is false when there is none, or
// something else than a string.
func stringAt(n *yaml.Node, keys ...string) (value string, ok bool) {
	for _, key := range keys {
		if n = find(n, key); n == nil {
			return "", false
		}
	}
	n = resolve(n)
	if n.Kind != yaml.ScalarNode {
		return "", false
	}
	v, err := scalarOf(n)
	if err != nil {
		return "", false
	}
	value, ok = v.(string)
	return value, ok
}

// StringAt gives the string at a way of keys, or "" when there is none.
func (o *Object) StringAt(keys ...string) string {
	value, _ := stringAt(o.Node, keys...)
	return value
}

// SetNamespace puts the object, in whose tree there is no fault, into a namespace.
func (o *Object) SetNamespace(namespace string) {
	o.Node = Expand(o.Node)
	SetString(o.Node, namespace, "metadata", "namespace")
	o.Namespace = namespace
	o.text = nil
}

// Text gives the object exactly as it was written, when it was a document of its
// own whose text can stand in a stream of other documents as it is.
func (o *Object) Text() ([]byte, bool) {
	text := o.text
	if text == nil || isJSONOnly(text) || bytes.HasPrefix(text, []byte("---")) || bytes.HasPrefix(text, []byte("%")) || bytes.Contains(text, []byte("\n%")) {
		return nil, false
	}
	if text[len(text)-1] != '\n' {
		// The line end that has to be added would become part of a block scalar.
		if bytes.ContainsAny(text, "|>") {
			return nil, false
		}
		text = append(bytes.Clone(text), '\n')
	}
	return text, true
}

// Child gives the value of a key of the object, or nil when there is none or it is
// null.
func (o *Object) Child(key string) *yaml.Node {
	n := find(o.Node, key)
	if n == nil || isNull(n) {
		return nil
	}
	return resolve(n)
}
