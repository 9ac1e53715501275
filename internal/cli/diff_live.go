package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/manifest"
	"kudevops.io/appsvc/pkg/apply"
	"kudevops.io/appsvc/pkg/diff"
	"kudevops.io/appsvc/pkg/render"
)

// liveSource is where live objects come from.
type liveSource interface {
	// read gives the live objects that bear the identity of a desired one, and those that
	// the controller would prune, with the UIDs of the AppServices that are live. What is
	// wrong with the source are faults; the error says why it cannot be read at all.
	read(ctx context.Context, desired *treeSide) (live, []*manifest.Fault, error)
}

// withCluster compares with a cluster.
func (c *comparison) withCluster(ctx context.Context, args []string, progress *progress) (*diff.ChangeSet, error) {
	source, err := c.options.cluster.connect(progress)
	if err != nil {
		return nil, err
	}
	return c.withLive(ctx, source, args, progress)
}

// live is what a cluster holds.
type live struct {
	objects []*unstructured.Unstructured
	// owners are the UIDs of AppServices by namespace and name.
	owners map[manifest.ID]string
}

// withLive compares live objects with what applying the desired ones would make of them.
func (c *comparison) withLive(ctx context.Context, source liveSource, args []string, progress *progress) (*diff.ChangeSet, error) {
	if len(args) > 1 {
		return nil, errors.New("live objects are compared with one side: name one PATH")
	}
	here := sideSpec{text: ".", path: "."}
	spec := here
	if len(args) == 1 {
		var err error
		if spec, err = parseSide(args[0]); err != nil {
			return nil, err
		}
	}
	desired, err := c.read(ctx, spec, here)
	if err != nil {
		c.show(desired, err, true)
		return nil, errReported
	}
	r := sideRenderer{namespace: c.options.namespace, render: c.render, progress: progress}
	if err := r.side(ctx, desired); err != nil {
		return nil, err
	}
	desired.found = append(desired.found, homeless(desired)...)
	c.show(desired, nil, true)
	if c.report.failed() {
		return nil, errReported
	}
	found, faults, err := source.read(ctx, desired)
	if err != nil {
		return nil, err
	}
	c.report.add(faults)
	c.rules = append(c.rules, c.annotationRules(&treeSide{}, desired)...)
	if c.report.failed() {
		return nil, errReported
	}
	opts := diff.Options{Manager: v1alpha1.FieldManager, Migrate: apply.DefaultMigrateManagers(), Ignore: c.rules}
	found.adopt(desired)
	found.handOver(desired, opts)
	changes, err := diff.Diff(found.objects, desired.values(), opts)
	if err != nil {
		return nil, c.locate(err, desired)
	}
	if cluster, ok := source.(*cluster); ok && c.options.cluster.serverSide {
		faults, err := cluster.tryOut(ctx, desired, found.objects, changes, c.rules)
		if err != nil {
			return nil, err
		}
		c.report.add(faults)
	}
	return changes, nil
}

// homeless finds the objects that cannot be found in a cluster, since nothing says in
// which namespace.
func homeless(desired *treeSide) []*manifest.Fault {
	var first *sideObject
	others := 0
	for i := range desired.objects {
		o := &desired.objects[i]
		if o.id.Namespace != "" || !namespaced(&manifest.Object{ID: o.id, Version: versionOf(o.apiVersion)}) {
			continue
		}
		if first == nil {
			first = o
		} else {
			others++
		}
	}
	if first == nil {
		return nil
	}
	message := "names no namespace, so that it cannot be found among live objects: --namespace says where it goes"
	if others > 0 {
		message += fmt.Sprintf(" (and %s more)", counted(others, "object"))
	}
	return []*manifest.Fault{{File: first.file, Line: first.line, Object: first.id.String(), Message: message}}
}

func versionOf(apiVersion string) string {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return apiVersion
	}
	return gv.Version
}

// adopt gives desired objects the owner reference that the controller applies, where the
// live object shows which one that is.
func (l *live) adopt(desired *treeSide) {
	byID := make(map[manifest.ID]*unstructured.Unstructured, len(l.objects))
	for _, o := range l.objects {
		byID[manifest.IDOf(o)] = o
	}
	for i := range desired.objects {
		o := &desired.objects[i]
		existing := byID[o.id]
		if existing == nil || o.app == nil {
			continue
		}
		uid, known := l.owners[o.app.ID]
		if controller := metav1.GetControllerOfNoCopy(existing); !known && controller != nil && isAppService(controller) && controller.Name == o.app.Name {
			uid = string(controller.UID)
		}
		if uid == "" {
			continue
		}
		metadata, ok := o.value["metadata"].(map[string]any)
		if !ok {
			continue
		}
		references, _ := metadata["ownerReferences"].([]any)
		metadata["ownerReferences"] = append(references, map[string]any{
			"apiVersion": v1alpha1.APIVersion, "kind": v1alpha1.Kind, "name": o.app.Name, "uid": uid,
			"controller": true, "blockOwnerDeletion": true,
		})
	}
}

// handOver does to live objects what the controller does before it applies: a number of
// replicas that the AppService no longer says stays what it is.
func (l *live) handOver(desired *treeSide, opts diff.Options) {
	rendered := make(map[manifest.ID]*sideObject, len(desired.objects))
	for i := range desired.objects {
		if o := &desired.objects[i]; o.app != nil {
			rendered[o.id] = o
		}
	}
	for i, o := range l.objects {
		if r := rendered[manifest.IDOf(o)]; r != nil {
			l.objects[i] = apply.AfterHandOver(&unstructured.Unstructured{Object: r.value}, o, opts)
		}
	}
}

// isAppService says whether an owner reference is one to an AppService.
func isAppService(ref *metav1.OwnerReference) bool {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	return err == nil && gv.Group == v1alpha1.Group && ref.Kind == v1alpha1.Kind
}

// prunable says whether the controller would delete an object that is not desired: one of
// a kind that it renders, with its label, and controlled by one of the AppServices. owners
// are the live AppServices, as far as they are known.
func prunable(o *unstructured.Unstructured, apps map[manifest.ID]bool, owners map[manifest.ID]string) bool {
	gvk := o.GroupVersionKind()
	if !render.Renders(gvk.Group, gvk.Kind) || o.GetLabels()[v1alpha1.ManagedByLabel] != v1alpha1.ManagedBy ||
		o.GetAnnotations()[v1alpha1.PruneAnnotation] == "disabled" || o.GetDeletionTimestamp() != nil {
		return false
	}
	controller := metav1.GetControllerOfNoCopy(o)
	if controller == nil || !isAppService(controller) {
		return false
	}
	owner := manifest.ID{Group: v1alpha1.Group, Kind: v1alpha1.Kind, Namespace: o.GetNamespace(), Name: controller.Name}
	uid, known := owners[owner]
	return apps[owner] && (!known || uid == string(controller.UID))
}

// maxDump is how large a dump may be, in bytes.
const maxDump = 512 << 20

// dump is a file with the output of kubectl get -o yaml or -o json.
type dump struct{ file string }

func (d dump) read(ctx context.Context, desired *treeSide) (live, []*manifest.Fault, error) {
	text, err := readLimited(d.file, maxDump)
	if err != nil {
		return live{}, nil, &manifest.Fault{File: d.file, Message: readError(err)}
	}
	wanted := make(map[manifest.ID]string, len(desired.objects))
	for i := range desired.objects {
		wanted[desired.objects[i].id] = desired.objects[i].apiVersion
	}
	apps := make(map[manifest.ID]bool, len(desired.apps))
	for _, app := range desired.apps {
		apps[app.id] = true
	}
	p := picker{file: d.file, wanted: wanted, apps: apps, found: live{owners: make(map[manifest.ID]string)}, seen: make(map[manifest.ID]int)}
	err = inOrder(ctx,
		func(yield func(manifest.Document) bool) { p.documents(text, yield) },
		p.objects,
		p.collect)
	if err != nil {
		return live{}, nil, err
	}
	if p.broken != nil {
		p.faults = append(p.faults, p.broken)
	}
	for _, candidate := range p.candidates {
		if prunable(candidate.object, apps, p.found.owners) {
			p.take(candidate)
		}
	}
	return p.found, p.faults, nil
}

// picker picks of a dump what matters.
type picker struct {
	file   string
	wanted map[manifest.ID]string // the version that is desired
	apps   map[manifest.ID]bool
	found  live
	seen   map[manifest.ID]int // the line
	// candidates may have to be pruned.
	candidates []dumped
	faults     []*manifest.Fault
	broken     *manifest.Fault // what ended the reading
}

// dumped is an object of a dump.
type dumped struct {
	source *manifest.Object
	object *unstructured.Unstructured
}

// dumpedDocument is what a document of a dump holds.
type dumpedDocument struct {
	objects []dumped
	faults  []*manifest.Fault
}

// documents splits a dump. kubectl prints all objects as one List, whose items are
// documents here, so that no size of a cluster is too large.
func (p *picker) documents(text []byte, yield func(manifest.Document) bool) {
	if splitList(p.file, text, yield) {
		return
	}
	r := manifest.NewReader(p.file, bytes.NewReader(text))
	for {
		doc, err := r.Next()
		var fault *manifest.Fault
		if errors.As(err, &fault) {
			p.broken = fault
		}
		if err != nil || !yield(doc) {
			return
		}
	}
}

// listHead and listTail are what kubectl prints around the items of a List.
var (
	listHead = []byte("apiVersion: v1\nitems:\n- ")
	listTail = regexp.MustCompile(`^kind: List\n(metadata:\n( .*\n)*)?$`)
)

// splitList hands over the items of a List as kubectl prints it, each with its line in
// the file, and says whether the text is one.
func splitList(file string, text []byte, yield func(manifest.Document) bool) bool {
	if !bytes.HasPrefix(text, listHead) {
		return false
	}
	var starts []int
	end := len(listHead) - len("- ")
	for end < len(text) {
		if bytes.HasPrefix(text[end:], []byte("- ")) {
			starts = append(starts, end)
		} else if text[end] != ' ' && text[end] != '\n' {
			break
		}
		next := bytes.IndexByte(text[end:], '\n')
		if next < 0 {
			return false
		}
		end += next + 1
	}
	if !listTail.Match(text[end:]) {
		return false
	}
	line := 1 + bytes.Count(text[:starts[0]], []byte{'\n'})
	for i, start := range starts {
		stop := end
		if i+1 < len(starts) {
			stop = starts[i+1]
		}
		item := bytes.Clone(text[start:stop])
		item[0] = ' '
		if !yield(manifest.Document{File: file, Line: line, Text: item}) {
			return true
		}
		line += bytes.Count(item, []byte{'\n'})
	}
	return true
}

func (p *picker) objects(doc manifest.Document) dumpedDocument {
	objects, isObject, faults := manifest.Objects(doc)
	out := dumpedDocument{faults: faults}
	if !isObject {
		out.faults = append(out.faults, skipped(doc))
	}
	for _, o := range objects {
		_, isWanted := p.wanted[o.ID]
		isWanted = isWanted || o.IsAppService()
		if !isWanted && o.StringAt("metadata", "labels", v1alpha1.ManagedByLabel) != v1alpha1.ManagedBy {
			continue // most of what a cluster holds
		}
		value, faults := o.Value()
		if len(faults) > 0 {
			out.faults = append(out.faults, faults...)
			continue
		}
		object := &unstructured.Unstructured{Object: value}
		if isWanted || prunable(object, p.apps, nil) {
			out.objects = append(out.objects, dumped{o, object})
		}
	}
	return out
}

func (p *picker) collect(doc dumpedDocument) error {
	p.faults = append(p.faults, doc.faults...)
	for _, o := range doc.objects {
		id := o.source.ID
		if first, twice := p.seen[id]; twice {
			p.faults = append(p.faults, o.source.Fault("", fmt.Sprintf("occurs twice, first: %s:%d", p.file, first)))
			continue
		}
		p.seen[id] = o.source.Line
		if o.source.IsAppService() {
			p.found.owners[id] = string(o.object.GetUID())
		}
		if _, isWanted := p.wanted[id]; isWanted {
			p.take(o)
		} else {
			p.candidates = append(p.candidates, o)
		}
	}
	return nil
}

// take takes an object of the dump, if it can be compared.
func (p *picker) take(o dumped) {
	switch version := p.wanted[o.source.ID]; {
	case version != "" && version != o.source.APIVersion():
		p.faults = append(p.faults, o.source.Fault("apiVersion", fmt.Sprintf("is %s, and what is desired is of %s: get the objects in that version", o.source.APIVersion(), version)))
	case len(o.object.GetManagedFields()) == 0:
		p.faults = append(p.faults, o.source.Fault("metadata.managedFields", "is missing, so that it cannot be told who owns what: get the objects with --show-managed-fields"))
	default:
		p.found.objects = append(p.found.objects, o.object)
	}
}
