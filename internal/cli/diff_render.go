package cli

import (
	"context"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/manifest"
	"kudevops.io/appsvc/pkg/diff"
	"kudevops.io/appsvc/pkg/render"
)

// treeSide is a side: what was read of it, and what that renders to.
type treeSide struct {
	place   location
	units   []unit
	objects []sideObject
	apps    []sideApp
	// found is what is wrong, and what is warned of.
	found []*manifest.Fault
}

// unit is a piece of a side: a document, an object that kustomize built, or faults.
type unit struct {
	document *manifest.Document
	object   *manifest.Object
	faults   []*manifest.Fault
	// same says that the other side has the same document, byte for byte. That of FROM is
	// rendered, and that of TO takes over what came of its twin.
	same bool
	twin *unit
	// rendered is what comes of it.
	rendered *rendered
}

// rendered is what comes of a unit.
type rendered struct {
	objects []sideObject
	apps    []sideApp
	faults  []*manifest.Fault
	scaling scaling
}

// sideObject is an object of a side.
type sideObject struct {
	id         manifest.ID
	apiVersion string
	// value is the object itself; nil where same says that the other side has it just so.
	value map[string]any
	same  bool
	// app is the AppService that it was rendered from; nil for any other object.
	app *manifest.Object
	// document is where an object stands that was not rendered; nil when it came out of
	// a kustomization. Its tree is not kept: it takes ten times the memory of the value.
	document *manifest.Document
	// file, line and origin are where it, or its AppService, stands.
	file   string
	line   int
	origin string
}

// fault is a fault of a field, in its line.
func (o *sideObject) fault(path, message string) *manifest.Fault {
	if o.app != nil {
		return o.app.Fault("", "renders to "+o.id.String()+": "+path+": "+message)
	}
	f := &manifest.Fault{File: o.file, Line: o.line, Origin: o.origin, Object: o.id.String(), Path: path, Message: message}
	if o.document == nil {
		return f
	}
	objects, _, _ := manifest.Objects(*o.document)
	for _, candidate := range objects {
		if candidate.Kind == o.id.Kind && candidate.Name == o.id.Name && candidate.Line == o.line {
			f.Line = candidate.LineOf(path)
		}
	}
	return f
}

func (o *sideObject) ref() diff.ObjectRef {
	return diff.ObjectRef{APIVersion: o.apiVersion, Kind: o.id.Kind, Namespace: o.id.Namespace, Name: o.id.Name}
}

// sideApp is an AppService of a side, and what it renders to.
type sideApp struct {
	source   *manifest.Object
	id       manifest.ID
	children []diff.ObjectRef
	same     bool
}

// missing says whether the revision has no such path.
func (s *treeSide) missing() bool { return s.place.path == "" }

// faults counts what is wrong.
func (s *treeSide) faults() int {
	n := 0
	for _, f := range s.found {
		if !f.Warning {
			n++
		}
	}
	return n
}

// values gives the objects that have to be compared.
func (s *treeSide) values() []*unstructured.Unstructured {
	list := make([]*unstructured.Unstructured, 0, len(s.objects))
	for i := range s.objects {
		if !s.objects[i].same {
			list = append(list, &unstructured.Unstructured{Object: s.objects[i].value})
		}
	}
	return list
}

// insertSame puts the objects that did not have to be compared among those that were,
// which come in the order of this side.
func (s *treeSide) insertSame(changes *diff.ChangeSet) {
	compared := changes.Objects
	all := make([]diff.ObjectChange, 0, len(s.objects)+len(compared))
	for i := range s.objects {
		if o := &s.objects[i]; o.same {
			all = append(all, diff.ObjectChange{Object: o.ref(), Action: diff.Unchanged, Effect: diff.EffectNone})
			continue
		}
		all = append(all, compared[0])
		compared = compared[1:]
	}
	changes.Objects = append(all, compared...)
}

// read reads a side without rendering it.
func (c *comparison) read(ctx context.Context, spec, other sideSpec) (*treeSide, error) {
	side := &treeSide{place: location{name: spec.text}}
	var err error
	if side.place, err = spec.locate(ctx, other, c.scratch); err != nil {
		side.place.name = spec.text
		return side, err
	}
	if side.missing() {
		return side, nil
	}
	in := inputs{paths: []string{side.place.path}, stdin: c.in, kustomize: c.layers}
	in.read(ctx, func(b batch) bool {
		for i := range b.documents {
			side.units = append(side.units, unit{document: &b.documents[i]})
		}
		for _, o := range b.objects {
			side.units = append(side.units, unit{object: o})
		}
		if len(b.faults) > 0 {
			side.units = append(side.units, unit{faults: b.faults})
		}
		return true
	})
	return side, ctx.Err()
}

// sideRenderer turns units into objects. It is used by several goroutines.
type sideRenderer struct {
	namespace string
	render    render.Options
	progress  *progress
}

// side renders all of a side, and finds what is there twice.
func (r *sideRenderer) side(ctx context.Context, s *treeSide) error {
	const chunk = batchDocuments
	var scaling scaling
	seen := make(map[manifest.ID]*sideObject)
	err := inOrder(ctx,
		func(yield func([]unit) bool) {
			for at := 0; at < len(s.units) && yield(s.units[at:min(at+chunk, len(s.units))]); at += chunk {
			}
		},
		func(units []unit) []unit {
			for i := range units {
				r.unit(&units[i])
			}
			return units
		},
		func(units []unit) error {
			for i := range units {
				u := units[i].rendered
				s.found = append(s.found, u.faults...)
				s.apps = append(s.apps, u.apps...)
				s.objects = append(s.objects, u.objects...)
				scaling.merge(u.scaling)
				r.progress.count.Add(int64(len(u.objects)))
			}
			return nil
		})
	if err != nil {
		return err
	}
	var twice *manifest.Object
	for i := range s.objects {
		o := &s.objects[i]
		first, there := seen[o.id]
		switch {
		case !there:
			seen[o.id] = o
		case o.app == nil || o.app != twice: // the children of what is there twice are too
			s.found = append(s.found, o.twice(first))
			twice = o.app
		}
	}
	s.found = append(s.found, scaling.warnings()...)
	return nil
}

func (o *sideObject) twice(first *sideObject) *manifest.Fault {
	where := first.file
	if first.line > 0 {
		where = fmt.Sprintf("%s:%d", where, first.line)
	}
	f := &manifest.Fault{File: o.file, Line: o.line, Origin: o.origin, Object: o.id.String(), Message: "occurs twice, first: " + where}
	if o.app != nil {
		f.Object, f.Message = o.app.ID.String(), "renders to "+o.id.String()+", which "+f.Message
	}
	return f
}

// unit renders a unit. That of a document which the other side has too is taken from
// there, unless something is wrong with it: then each side says so in its own lines.
func (r *sideRenderer) unit(u *unit) {
	if u.twin != nil && len(u.twin.rendered.faults) == 0 {
		u.rendered = u.twin.rendered.elsewhere(*u.document)
		return
	}
	out := &rendered{faults: u.faults}
	u.rendered = out
	if u.object != nil {
		r.object(u.object, nil, out)
		u.object = nil
	}
	if u.document == nil {
		return
	}
	if u.same {
		if o, ok := r.scanned(*u.document); ok {
			out.objects = []sideObject{o}
			return
		}
	}
	objects, isObject, faults := manifest.Objects(*u.document)
	out.faults = append(out.faults, faults...)
	if !isObject {
		out.faults = append(out.faults, skipped(*u.document))
	}
	for _, o := range objects {
		r.object(o, u.document, out)
	}
	if u.same {
		out.markSame()
	}
}

func (r *rendered) markSame() {
	for i := range r.objects {
		r.objects[i].same, r.objects[i].value = true, nil
	}
	for i := range r.apps {
		r.apps[i].same = true
	}
}

// elsewhere gives what the same document is in another file.
func (r *rendered) elsewhere(doc manifest.Document) *rendered {
	out := &rendered{objects: make([]sideObject, len(r.objects)), apps: r.apps, scaling: r.scaling}
	for i, o := range r.objects {
		o.file, o.line = doc.File, doc.Line
		out.objects[i] = o
	}
	return out
}

func (r *sideRenderer) object(o *manifest.Object, document *manifest.Document, out *rendered) {
	if fault := misplaced(o); fault != nil {
		out.faults = append(out.faults, fault)
		return
	}
	if o.IsAppService() {
		r.appService(o, out)
		return
	}
	if r.namespace != "" && o.Namespace == "" && namespaced(o) {
		o.Namespace = r.namespace
	}
	value, faults := o.Value()
	if len(faults) > 0 {
		out.faults = append(out.faults, faults...)
		return
	}
	if o.Name == "" {
		fault := o.Fault("metadata.name", "is missing, so that it cannot be told which object this is: skipped")
		fault.Warning = true
		out.faults = append(out.faults, fault)
		return
	}
	child := &unstructured.Unstructured{Object: value}
	if o.Namespace != child.GetNamespace() {
		child.SetNamespace(o.Namespace)
	}
	if scalesAppService(o) {
		out.scaling.add(o, nil)
	}
	out.objects = append(out.objects, sideObject{
		id: o.ID, apiVersion: o.APIVersion(), value: value, document: document, file: o.File, line: o.Line, origin: o.Origin,
	})
}

func (r *sideRenderer) appService(o *manifest.Object, out *rendered) {
	app, children, faults := renderAppService(o, r.namespace, r.render)
	out.faults = append(out.faults, faults...)
	if app == nil {
		return
	}
	out.scaling.add(o, app)
	found := sideApp{source: o, id: o.ID}
	for _, child := range children {
		rendered := sideObject{
			id: manifest.IDOf(child), apiVersion: child.GetAPIVersion(), value: child.Object, app: o, file: o.File, line: o.Line, origin: o.Origin,
		}
		out.objects = append(out.objects, rendered)
		found.children = append(found.children, rendered.ref())
	}
	out.apps = append(out.apps, found)
}

// annotationRules gives the ignore rules in the annotations of the AppServices of TO,
// each for the objects of its own, of both sides.
func (c *comparison) annotationRules(from, to *treeSide) []diff.IgnoreRule {
	var rules []diff.IgnoreRule
	for _, app := range to.apps {
		if app.same {
			continue // and so are its objects
		}
		own, err := app.ignoreRules()
		if err != nil {
			for _, e := range unjoin(err) {
				c.report.add([]*manifest.Fault{to.place.fault(&manifest.Fault{Message: e.Error()})})
			}
			continue
		}
		children := app.children
		for _, before := range from.apps {
			if before.id == app.id {
				children = append(children[:len(children):len(children)], before.children...)
			}
		}
		for i := range own {
			own[i].Objects = children
			own[i].Source = to.place.say(own[i].Source)
		}
		rules = append(rules, own...)
	}
	return rules
}

// ignoreRules reads the annotation of an AppService.
func (a *sideApp) ignoreRules() ([]diff.IgnoreRule, error) {
	text := a.source.StringAt("metadata", "annotations", v1alpha1.IgnoreDifferencesAnnotation)
	if text == "" {
		return nil, nil
	}
	rules, err := diff.ParseIgnoreList(a.source.File, a.annotationLine(), text)
	if err != nil {
		var errs []error
		for _, e := range unjoin(err) {
			errs = append(errs, fmt.Errorf("%w (in %s of %s)", e, v1alpha1.IgnoreDifferencesAnnotation, a.id))
		}
		return nil, errors.Join(errs...)
	}
	return rules, nil
}

// annotationLine is where the text of the annotation begins: in a block, on the line
// after its key.
func (a *sideApp) annotationLine() int {
	line := a.source.LineOf("metadata.annotations[" + v1alpha1.IgnoreDifferencesAnnotation + "]")
	n := a.source.Child("metadata")
	for _, key := range []string{"annotations", v1alpha1.IgnoreDifferencesAnnotation} {
		n = valueOf(n, key)
	}
	if line > 0 && n != nil && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		line++
	}
	return line
}

func valueOf(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
