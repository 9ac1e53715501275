package diff

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
)

// IgnoreRule names fields that make no difference, of the objects that it selects. A
// rule without a selector selects all objects.
//
// An ignored field is never created, changed or removed: it stays as it is on the side
// that is compared from. It does not count in any report, nor in the exit code, nor as
// drift. An object that is created has its ignored fields all the same.
type IgnoreRule struct {
	// Group, Version, Kind, Namespace and Name select objects; empty matches any. "*"
	// stands for any text in them. The group "core" is that of Pods and Services.
	Group, Version, Kind, Namespace, Name string
	// Regexp says that these are regular expressions for the whole of each, as in Flux.
	Regexp bool
	// Labels and Annotations are label selectors, such as "app=web,tier!=db", of what
	// the object has on either side; empty matches any.
	Labels, Annotations string
	// Objects, when there are any, are the only ones that the rule selects among, by
	// group, kind, namespace and name.
	Objects []ObjectRef

	// Paths are where the fields are, each with all below it.
	Paths []PathPattern
	// Managers are field managers whose fields are ignored; in a comparison with a
	// cluster only.
	Managers []string
	// Source says where the rule was written, for messages: "ignore.yaml:3".
	Source string
}

// PathPattern is a path in which a step may match several.
type PathPattern []PatternElement

// PatternElement matches one step of a path: a field by its name, or an item of a list.
// The first of these that is set decides; with none it is the item at Index.
type PatternElement struct {
	// Field is the name of a field. In a list it is the index of an item, in digits, as
	// JSON pointers have it.
	Field string
	// Any matches every field or item.
	Any bool
	// Where matches the items in which all of these fields have these values.
	Where []KeyValue
	// Value matches the items of a set that have this value.
	Value any
	// Index is where an item stands, from 0.
	Index int
}

// Ignorer applies ignore rules. It does not change, and may be used by several
// goroutines at once.
type Ignorer struct {
	opts  Options
	rules []compiledRule
}

// NewIgnorer prepares opts.Ignore. Its errors name the rule by its source: an expression
// that is none, or a path that leads to what identifies an object.
func NewIgnorer(opts Options) (*Ignorer, error) {
	ig := &Ignorer{opts: opts, rules: make([]compiledRule, len(opts.Ignore))}
	var errs []error
	for i := range opts.Ignore {
		rule, err := compile(&opts.Ignore[i])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", sourceOf(&opts.Ignore[i], i), err))
		}
		ig.rules[i] = rule
	}
	return ig, errors.Join(errs...)
}

func sourceOf(r *IgnoreRule, i int) string {
	if r.Source != "" {
		return r.Source
	}
	return fmt.Sprintf("ignore rule %d", i+1)
}

// compiledRule is a rule whose expressions were read.
type compiledRule struct {
	*IgnoreRule
	group, version, kind, namespace, name matcher
	labels, annotations                   labels.Selector
}

// matcher reports whether a text is meant.
type matcher func(string) bool

func matchAll(string) bool { return true }

func compile(r *IgnoreRule) (compiledRule, error) {
	c := compiledRule{IgnoreRule: r, labels: labels.Everything(), annotations: labels.Everything()}
	var errs []error
	for _, part := range []struct {
		what, text string
		into       *matcher
	}{
		{"group", r.Group, &c.group}, {"version", r.Version, &c.version}, {"kind", r.Kind, &c.kind},
		{"namespace", r.Namespace, &c.namespace}, {"name", r.Name, &c.name},
	} {
		m, err := newMatcher(part.text, r.Regexp)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", part.what, err))
		}
		if part.text == coreGroup && part.what == "group" {
			m = func(s string) bool { return s == "" }
		}
		*part.into = m
	}
	for _, part := range []struct {
		what, text string
		into       *labels.Selector
	}{{"label selector", r.Labels, &c.labels}, {"annotation selector", r.Annotations, &c.annotations}} {
		if part.text == "" {
			continue
		}
		selector, err := labels.Parse(part.text)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %q: %w", part.what, part.text, err))
			continue
		}
		*part.into = selector
	}
	if len(r.Paths) == 0 && len(r.Managers) == 0 {
		errs = append(errs, errors.New("names neither paths nor field managers"))
	}
	for _, p := range r.Paths {
		if err := p.check(); err != nil {
			errs = append(errs, err)
		}
	}
	return c, errors.Join(errs...)
}

// coreGroup stands for the group that has no name.
const coreGroup = "core"

func newMatcher(text string, isRegexp bool) (matcher, error) {
	switch {
	case text == "" || text == "*":
		return matchAll, nil
	case isRegexp:
		// Flux anchors the expressions of its selectors likewise.
		re, err := regexp.Compile("^(?:" + text + ")$")
		if err != nil {
			return matchAll, fmt.Errorf("%q is no regular expression: %w", text, err)
		}
		return re.MatchString, nil
	case !strings.Contains(text, "*"):
		return func(s string) bool { return s == text }, nil
	}
	parts := strings.Split(text, "*")
	return func(s string) bool { return matchParts(s, parts) }, nil
}

// matchParts reports whether a text is the parts with anything between them.
func matchParts(s string, parts []string) bool {
	last := len(parts) - 1
	rest, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}

// selects reports whether the rule is about an object, which is called ref and is as in
// from or as in to; either may be missing.
func (c *compiledRule) selects(ref ObjectRef, from, to map[string]any) bool {
	if !c.kind(ref.Kind) || !c.name(ref.Name) || !c.namespace(ref.Namespace) || !c.group(ref.Group()) {
		return false
	}
	_, version, found := strings.Cut(ref.APIVersion, "/")
	if !found {
		version = ref.APIVersion
	}
	if !c.version(version) {
		return false
	}
	if len(c.Objects) > 0 && !slices.ContainsFunc(c.Objects, func(o ObjectRef) bool {
		return o.Kind == ref.Kind && o.Name == ref.Name && o.Namespace == ref.Namespace && o.Group() == ref.Group()
	}) {
		return false
	}
	return c.selectsSets(from) || c.selectsSets(to)
}

func (c *compiledRule) selectsSets(object map[string]any) bool {
	if c.labels.Empty() && c.annotations.Empty() {
		return true
	}
	metadata, _ := object["metadata"].(map[string]any)
	return metadata != nil && c.labels.Matches(textSet(metadata["labels"])) && c.annotations.Matches(textSet(metadata["annotations"]))
}

// textSet gives labels or annotations to a selector.
func textSet(v any) labels.Set {
	m, _ := v.(map[string]any)
	set := make(labels.Set, len(m))
	for key, value := range m {
		if s, ok := value.(string); ok {
			set[key] = s
		}
	}
	return set
}

// check refuses a path to what makes an object the one that it is: ignoring that would
// make one object of two.
func (p PathPattern) check() error {
	if len(p) == 0 {
		return errors.New("a path is empty, which is the whole object; to leave out objects, leave them out of what is compared")
	}
	step := func(i int, names ...string) bool {
		return p[i].Any || slices.Contains(names, p[i].Field)
	}
	switch {
	case len(p) == 1 && step(0, "apiVersion", "kind", "metadata"):
	case len(p) == 2 && step(0, "metadata") && step(1, "name", "namespace"):
	default:
		return nil
	}
	return fmt.Errorf("path %q covers what identifies an object (its apiVersion, kind, namespace or name)", p)
}

// String gives the pattern as ParsePath reads it.
func (p PathPattern) String() string {
	var b strings.Builder
	for _, e := range p {
		switch {
		case e.Any:
			b.WriteString("[]")
		case e.Field != "":
			PathElement{Field: e.Field}.write(&b)
		case e.Where != nil:
			PathElement{Key: e.Where}.write(&b)
		case e.Value != nil:
			PathElement{Value: e.Value}.write(&b)
		default:
			PathElement{Index: e.Index}.write(&b)
		}
	}
	return b.String()
}
