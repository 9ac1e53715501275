package diffcases

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

//go:embed *.yaml
var files embed.FS

// Case is a pair of objects and what differs between them.
type Case struct {
	// ID is that of the kind of difference, such as "Q1". Several cases may have one.
	ID string `json:"id"`
	// Name tells cases with one ID apart; empty for most.
	Name   string `json:"name"`
	Reason string `json:"reason"`
	// In says what From and To are parts of: "container" (called app) and "pod" of the
	// template of Deployment web, "deployment" (its spec). Empty: they are whole objects.
	In   string         `json:"in"`
	From map[string]any `json:"from"`
	To   map[string]any `json:"to"`
	// Want are the changes of the content, in order: "replace spec.replicas". None means
	// that both are the same.
	Want []string `json:"want"`
	// Fault is part of the error where To is refused before it is compared.
	Fault string `json:"fault"`
	// Refused is part of what the API server says when To is applied over From, where it
	// refuses that.
	Refused string `json:"refused"`
	// Cluster says that the pair is for a real API server too, and what is other there.
	Cluster *Cluster `json:"cluster"`
}

// Cluster says what is other with a real API server. There From is applied, and then
// compared with To.
type Cluster struct {
	// Want, when given, is instead of the case's.
	Want []string `json:"want"`
	// Filled says that From has what the API server fills in: that To becomes From when
	// it is applied.
	Filled bool `json:"filled"`
	// Respelled says that the API server would store another spelling, although nothing
	// differs. The Checker does not want that.
	Respelled bool `json:"respelled"`
}

// All reads the cases, in the order of their files.
func All() ([]Case, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	var out []Case
	for _, name := range names {
		cases, err := read(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, cases...)
	}
	return out, nil
}

func read(name string) ([]Case, error) {
	text, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	written, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	var checked []Case
	if err := yaml.UnmarshalStrict(text, &checked); err != nil {
		return nil, err
	}
	// The objects again, with integers as integers: encoding/json has floats alone.
	var plain []any
	if err := kjson.Unmarshal(written, &plain); err != nil {
		return nil, err
	}
	for i := range checked {
		fields, _ := plain[i].(map[string]any)
		checked[i].From, _ = fields["from"].(map[string]any)
		checked[i].To, _ = fields["to"].(map[string]any)
	}
	return checked, nil
}

// Objects gives both sides as whole objects, in a namespace if they have one.
func (c *Case) Objects(namespace string) (from, to *unstructured.Unstructured, err error) {
	if from, err = c.object(c.From, namespace); err != nil {
		return nil, nil, err
	}
	to, err = c.object(c.To, namespace)
	return from, to, err
}

func (c *Case) object(part map[string]any, namespace string) (*unstructured.Unstructured, error) {
	part = maps.Clone(part)
	var whole map[string]any
	switch c.In {
	case "":
		whole = part
	case "deployment":
		whole = deployment(part)
	case "pod":
		whole = deployment(map[string]any{"template": template(part)})
	case "container":
		setAbsent(part, "name", "app")
		setAbsent(part, "image", "registry.example/app:1")
		whole = deployment(map[string]any{"template": template(map[string]any{"containers": []any{part}})})
	default:
		return nil, fmt.Errorf("%s: nothing is known of in: %q", c.ID, c.In)
	}
	object := &unstructured.Unstructured{Object: whole}
	object = object.DeepCopy()
	if object.GetNamespace() == "" && namespaced(object.GetKind()) {
		object.SetNamespace(namespace)
	}
	return object, nil
}

func namespaced(kind string) bool { return kind != "Namespace" && kind != "ClusterRole" }

func setAbsent(m map[string]any, name string, value any) {
	if _, ok := m[name]; !ok {
		m[name] = value
	}
}

func deployment(spec map[string]any) map[string]any {
	setAbsent(spec, "selector", map[string]any{"matchLabels": map[string]any{"app": "web"}})
	setAbsent(spec, "template", template(map[string]any{}))
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"}, "spec": spec,
	}
}

func template(pod map[string]any) map[string]any {
	setAbsent(pod, "containers", []any{map[string]any{"name": "app", "image": "registry.example/app:1"}})
	return map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": pod}
}
