package krm

import (
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/manifest"
	"kudevops.io/appsvc/pkg/render"
)

// process renders the list in place and says what there is to say. With a fault in
// it, the items stay as they were read.
func (l *resourceList) process() results {
	p := process{list: l, paths: make(map[string]bool), at: make(map[manifest.ID]*slot)}
	p.read()
	if isAppService(l.config) {
		p.generate()
	} else {
		p.transform()
	}
	if !p.results.failed() {
		l.setItems(p.items())
	}
	l.setResults(p.results)
	return p.results
}

func isAppService(o *manifest.Object) bool { return o != nil && o.IsAppService() }

// process is one run over a list.
type process struct {
	list    *resourceList
	slots   []*slot
	at      map[manifest.ID]*slot
	paths   map[string]bool // files that items are in
	hasPath bool            // items carry paths: it is kpt that calls
	results results
}

// slot is a place in the list of items, with the children that follow it.
type slot struct {
	node   *yaml.Node
	object *manifest.Object
	// source is the AppService that this item was rendered from in this run.
	source *manifest.Object
	// local says that the item is to be marked as one that no tool applies.
	local    bool
	dropped  bool
	children []*yaml.Node
}

func (p *process) fault(o *manifest.Object, path, message string) {
	p.results = append(p.results, result{"error", o, path, message})
}

func (p *process) read() {
	for i, o := range p.list.list {
		s := &slot{node: p.list.items.Content[i], object: o}
		p.slots = append(p.slots, s)
		if o == nil {
			continue
		}
		if file := pathOf(o); file != "" {
			p.hasPath = true
			p.paths[path.Clean(file)] = true
		}
		if o.Name == "" {
			continue
		}
		if first, twice := p.at[o.ID]; twice {
			if isAppService(o) {
				p.fault(o, "", "occurs twice among the items, first at "+where(first.object))
			}
			continue
		}
		p.at[o.ID] = s
	}
}

func where(o *manifest.Object) string {
	if file := pathOf(o); file != "" {
		return file
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

// generate renders the functionConfig. Its children go to the end of the items. Its
// copy among the items is left out, unless it has a file: then it is kpt's, which
// hands over the file of the config, and leaving it out would remove that.
func (p *process) generate() {
	last := &slot{}
	for _, s := range p.slots {
		o := s.object
		if o == nil || o.ID != p.list.config.ID || o.Version != p.list.config.Version {
			continue
		}
		s.dropped = pathOf(o) == ""
		s.local = annotation(o, localConfig) == ""
	}
	p.slots = append(p.slots, last)
	p.render(p.list.config, last)
}

// transform renders every AppService among the items.
func (p *process) transform() {
	keep := p.keepSources()
	for _, s := range p.slots {
		switch o := s.object; {
		case isAppService(o):
			p.render(o, s)
			s.dropped = !keep
			s.local = keep && annotation(o, localConfig) == ""
		case o != nil && o.Kind == v1alpha1.ListKind && o.Group == v1alpha1.Group:
			p.fault(o, "", "is a list: a function takes AppServices one by one")
		case o != nil:
			if path, message := o.Misspelt(); message != "" {
				p.fault(o, path, message)
			}
		}
	}
	switch {
	case keep:
		// Where sources are dropped, a child whose AppService is not there is as it
		// should be.
		p.prune()
	case p.hasPath:
		p.results = append(p.results, result{"warning", p.list.config, "",
			"keepSources is false: where the package is rendered in place, the files of its AppServices are removed"})
	}
}

// keepSources reads spec.keepSources of a RenderConfig, or data.keepSources of a
// ConfigMap, the form that kpt's configMap gives. Other kinds say nothing.
func (p *process) keepSources() bool {
	c := p.list.config
	if c == nil {
		return true
	}
	var section string
	switch {
	case c.Kind == v1alpha1.RenderConfigKind && c.Group == v1alpha1.Group:
		section = "spec"
	case c.Kind == "ConfigMap" && c.Group == "":
		section = "data"
	default:
		return true
	}
	value, faults := c.Value()
	if len(faults) > 0 {
		return true // the list was found to be sound before
	}
	fields, _ := value[section].(map[string]any)
	keep := true
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		v := fields[name]
		switch {
		case name == "keepSources":
			keep = p.boolean(c, section, name, v)
		case section == "spec":
			p.fault(c, section+"."+name, "unknown field")
		default:
			p.results = append(p.results, result{"warning", c, section + "." + name, "unknown field, ignored"})
		}
	}
	return keep
}

// boolean reads a field of the config: a boolean, or in a ConfigMap, which has
// none, a string that says one.
func (p *process) boolean(c *manifest.Object, section, name string, v any) bool {
	value, ok := v.(bool)
	text, isString := v.(string)
	switch {
	case section == "spec" && ok:
		return value
	case section == "data" && isString:
		if parsed, err := strconv.ParseBool(text); err == nil {
			return parsed
		}
		p.fault(c, section+"."+name, fmt.Sprintf("is %q, must be \"true\" or \"false\"", text))
	case section == "data":
		p.fault(c, section+"."+name, "must be a string, \"true\" or \"false\": quote it")
	default:
		p.fault(c, section+"."+name, "must be a boolean, true or false without quotes")
	}
	return true
}

// render renders one AppService and puts its children into the list, new ones
// after the slot.
func (p *process) render(o *manifest.Object, after *slot) {
	app, faults := o.AppService()
	for _, f := range faults {
		p.fault(o, f.Path, f.Message)
	}
	if app == nil {
		return
	}
	rendered, errs := render.Render(app, render.Options{})
	if len(faults) > 0 {
		rendered.Objects = nil
	}
	for _, w := range rendered.Warnings {
		p.results = append(p.results, result{"warning", o, w.Field, w.Message})
	}
	for _, e := range errs {
		p.fault(o, e.Field, e.ErrorBody())
	}
	for _, child := range rendered.Objects {
		id := manifest.IDOf(child)
		if existing := p.at[id]; existing != nil {
			p.replace(existing, o, app, child.Object)
			continue
		}
		p.at[id] = &slot{source: o}
		if file := p.newPath(o, id); file != "" {
			annotate(child.Object, internalPath, file)
		}
		after.children = append(after.children, manifest.NodeOf(child.Object))
	}
}

// replace puts a child where one of its identity stands.
func (p *process) replace(s *slot, o *manifest.Object, app *v1alpha1.AppService, child map[string]any) {
	if s.source != nil {
		p.fault(o, "", "renders to "+idOf(child)+", which "+s.source.ID.String()+" renders to as well")
		return
	}
	s.source = o
	value, faults := s.object.Value()
	if len(faults) > 0 {
		return // the list was found to be sound before
	}
	meta, _ := value["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	if labels[v1alpha1.ManagedByLabel] != v1alpha1.ManagedBy && app.Annotations[v1alpha1.AdoptAnnotation] != "true" {
		p.fault(o, "", fmt.Sprintf("renders to %s, which is there already (%s) and was not made by appsvc; the annotation %s: \"true\" lets it be replaced",
			s.object.ID, where(s.object), v1alpha1.AdoptAnnotation))
		return
	}
	notes, _ := meta["annotations"].(map[string]any)
	for key, v := range notes {
		if text, ok := v.(string); ok && bookkeeping(key) {
			annotate(child, key, text)
		}
	}
	if !reflect.DeepEqual(value, child) {
		head, foot := s.node.HeadComment, s.node.FootComment
		s.node = manifest.NodeOf(child)
		s.node.HeadComment, s.node.FootComment = head, foot
	}
}

func idOf(child map[string]any) string {
	meta, _ := child["metadata"].(map[string]any)
	return fmt.Sprint(child["kind"], " ", meta["name"])
}

func annotate(object map[string]any, key, value string) {
	meta := object["metadata"].(map[string]any)
	notes, ok := meta["annotations"].(map[string]any)
	if !ok {
		notes = make(map[string]any, 1)
		meta["annotations"] = notes
	}
	notes[key] = value
}

// newPath is the file for a new child, beside that of its AppService; empty where
// items have no paths.
func (p *process) newPath(o *manifest.Object, id manifest.ID) string {
	source := pathOf(o)
	if source == "" {
		return ""
	}
	base := strings.ToLower(id.Kind) + "_" + id.Name
	candidates := []string{base + ".yaml"}
	if id.Namespace != "" {
		candidates = append(candidates, id.Namespace+"_"+base+".yaml")
	}
	for n := 2; ; n++ {
		for _, c := range candidates {
			file := path.Join(path.Dir(source), c)
			if !p.paths[file] {
				p.paths[file] = true
				return file
			}
		}
		candidates = []string{fmt.Sprintf("%s_%d.yaml", base, n)}
	}
}

// prune drops children whose AppService is gone, or renders to them no more. Only
// a package on disk (kpt) holds the children of an earlier run.
func (p *process) prune() {
	if !p.hasPath || p.results.failed() {
		return
	}
	for _, s := range p.slots {
		o := s.object
		if o == nil || s.source != nil || pathOf(o) == "" || !isChild(o) || annotation(o, v1alpha1.PruneAnnotation) == "disabled" {
			continue
		}
		s.dropped = true
		p.results = append(p.results, result{"info", o, "", "removed: no AppService renders to it any more"})
	}
}

// isChild says whether appsvc made an object: it is of a kind that is rendered,
// and carries the labels that only appsvc puts together.
func isChild(o *manifest.Object) bool {
	if !render.Renders(o.Group, o.Kind) {
		return false
	}
	label := func(key string) string { return o.StringAt("metadata", "labels", key) }
	instance := label(v1alpha1.InstanceLabel)
	return label(v1alpha1.ManagedByLabel) == v1alpha1.ManagedBy &&
		instance != "" && instance == label(v1alpha1.NameLabel) &&
		(o.Name == instance || strings.HasPrefix(o.Name, instance+"-"))
}

// items is the list as it will be written.
func (p *process) items() []*yaml.Node {
	var items []*yaml.Node
	for _, s := range p.slots {
		if s.node != nil && !s.dropped {
			if s.local {
				manifest.SetString(s.node, "true", "metadata", "annotations", localConfig)
			}
			items = append(items, s.node)
		}
		items = append(items, s.children...)
	}
	return items
}

func (l *resourceList) setItems(items []*yaml.Node) {
	if l.items == nil && len(items) == 0 {
		return
	}
	if l.items == nil || len(l.items.Content) == 0 {
		// Not there, null, or "[]", which would make what is in it flow as well.
		l.items = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		l.set("items", l.items)
	}
	l.items.Content = items
}

// set gives a key of the list a value; nil takes the key away.
func (l *resourceList) set(key string, value *yaml.Node) {
	content := l.root.Content
	for i := 0; i+1 < len(content); i += 2 {
		if content[i].Value != key {
			continue
		}
		if value == nil {
			l.root.Content = slices.Delete(content, i, i+2)
		} else {
			content[i+1] = value
		}
		return
	}
	if value != nil {
		l.root.Content = append(content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value)
	}
}
