package diff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ParseIgnore reads ignore rules from YAML or JSON. source is the name of the file, for
// messages. It takes
//
//   - a list of rules of its own, each with target, paths and managers:
//     {target: {group, version, kind, namespace, name}, paths: [...], managers: [...]};
//   - a list of ignoreDifferences of Argo CD: {group, kind, namespace, name, jsonPointers,
//     jqPathExpressions, managedFieldsManagers}; both may stand in one list;
//   - an Application or ApplicationSet of Argo CD;
//   - the ConfigMap argocd-cm, of which it reads the keys
//     resource.customizations.ignoreDifferences.*;
//   - a Kustomization or HelmRelease of Flux;
//
// and several documents of these. Paths are read by [ParsePathPattern]. All faults are
// reported, joined, each with source and line.
func ParseIgnore(source string, text []byte) ([]IgnoreRule, error) {
	p := ignoreParser{source: source}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	documents := 0
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if err == io.EOF {
			break
		}
		if err != nil {
			p.errs = append(p.errs, syntaxError(source, 0, err))
			break
		}
		if len(doc.Content) == 1 && !nullNode(doc.Content[0]) {
			documents++
			p.document(doc.Content[0])
		}
	}
	if documents == 0 && len(p.errs) == 0 {
		p.errs = append(p.errs, fmt.Errorf("%s: holds no ignore rules", source))
	}
	return p.done()
}

// ParseIgnoreList reads a list of rules of this package's own form that stands in another
// file, such as in the annotation of an AppService. Its first line is the line of source
// that is given; 0 when that is not known.
func ParseIgnoreList(source string, line int, text string) ([]IgnoreRule, error) {
	p := ignoreParser{source: source, offset: line - 1, noLines: line <= 0, inside: true}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, syntaxError(source, line, err)
	}
	if len(doc.Content) == 0 || nullNode(doc.Content[0]) {
		return nil, nil
	}
	p.list(doc.Content[0], p.native)
	return p.done()
}

var syntaxLine = regexp.MustCompile(`^yaml: line (\d+): `)

func syntaxError(source string, first int, err error) error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := syntaxLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ := strconv.Atoi(m[1])
		message = strings.TrimPrefix(err.Error(), m[0])
		source += ":" + strconv.Itoa(line+max(first-1, 0))
	}
	return fmt.Errorf("%s: is not YAML: %s", source, message)
}

// ignoreParser collects rules and what is wrong with them.
type ignoreParser struct {
	source string
	// offset is added to the lines of nodes.
	offset  int
	noLines bool
	// inside says that the rules are those of one AppService.
	inside bool
	rules  []IgnoreRule
	errs   []error
}

func (p *ignoreParser) done() ([]IgnoreRule, error) {
	if len(p.errs) > 0 {
		return nil, errors.Join(p.errs...)
	}
	return p.rules, nil
}

func (p *ignoreParser) at(n *yaml.Node) string {
	if p.noLines {
		return p.source
	}
	return p.source + ":" + strconv.Itoa(n.Line+p.offset)
}

func (p *ignoreParser) fail(n *yaml.Node, format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("%s: %w", p.at(n), fmt.Errorf(format, args...)))
}

// document reads a document by what it is.
func (p *ignoreParser) document(n *yaml.Node) {
	n = resolveNode(n)
	if n.Kind == yaml.SequenceNode {
		p.list(n, p.entry)
		return
	}
	apiVersion, kind := textNode(child(n, "apiVersion")), textNode(child(n, "kind"))
	group, _, _ := strings.Cut(apiVersion, "/")
	switch {
	case n.Kind != yaml.MappingNode:
		p.fail(n, "is no list of ignore rules")
	case group == "argoproj.io" && kind == "Application":
		p.under(n, p.argo, "spec", "ignoreDifferences")
	case group == "argoproj.io" && kind == "ApplicationSet":
		p.under(n, p.argo, "spec", "template", "spec", "ignoreDifferences")
	case group == "kustomize.toolkit.fluxcd.io" && kind == "Kustomization":
		p.under(n, p.flux, "spec", "ignore")
	case group == "helm.toolkit.fluxcd.io" && kind == "HelmRelease":
		p.under(n, p.flux, "spec", "driftDetection", "ignore")
	case apiVersion == "v1" && kind == "ConfigMap":
		p.configMap(n)
	case kind == "" && child(n, "ignoreDifferences") != nil:
		p.under(n, p.argo, "ignoreDifferences")
	case kind != "":
		p.fail(n, "a %s of %q holds no ignore rules that are known here", kind, apiVersion)
	default:
		p.fail(n, "is no list of ignore rules: a rule begins with a dash")
	}
}

// under reads the list at a way of keys. That there is none is an error, since whoever
// names a file for its rules expects some.
func (p *ignoreParser) under(n *yaml.Node, entry func(*yaml.Node), keys ...string) {
	list := n
	for _, key := range keys {
		if list = child(list, key); list == nil {
			p.fail(n, "has no %s", strings.Join(keys, "."))
			return
		}
	}
	p.list(list, entry)
}

func (p *ignoreParser) list(n *yaml.Node, entry func(*yaml.Node)) {
	n = resolveNode(n)
	if n.Kind != yaml.SequenceNode {
		p.fail(n, "is no list of ignore rules: a rule begins with a dash")
		return
	}
	for _, item := range n.Content {
		if item = resolveNode(item); item.Kind != yaml.MappingNode {
			p.fail(item, "is no ignore rule: it has no fields")
			continue
		}
		entry(item)
	}
}

// entry reads a rule of either form, which their fields tell apart.
func (p *ignoreParser) entry(n *yaml.Node) {
	for _, name := range []string{"jsonPointers", "jqPathExpressions", "managedFieldsManagers", "group", "kind", "name", "namespace"} {
		if child(n, name) != nil {
			p.argo(n)
			return
		}
	}
	p.native(n)
}

// native reads {target, paths, managers}.
func (p *ignoreParser) native(n *yaml.Node) {
	rule, before := IgnoreRule{Source: p.at(n)}, len(p.errs)
	p.fields(n, map[string]func(*yaml.Node){
		"target": func(n *yaml.Node) {
			allowed := map[string]func(*yaml.Node){
				"group":              p.text(&rule.Group, p.pattern),
				"version":            p.text(&rule.Version, p.pattern),
				"kind":               p.text(&rule.Kind, p.pattern),
				"name":               p.text(&rule.Name, p.pattern),
				"labelSelector":      p.text(&rule.Labels, nil),
				"annotationSelector": p.text(&rule.Annotations, nil),
			}
			if !p.inside {
				allowed["namespace"] = p.text(&rule.Namespace, p.pattern)
			}
			p.fields(n, allowed)
		},
		"paths":    p.paths(&rule, ParsePathPattern),
		"managers": p.texts(func(n *yaml.Node, s string) { rule.Managers = append(rule.Managers, s) }),
	})
	p.add(n, rule, before, "paths or managers")
}

// argo reads an entry of ignoreDifferences. In Argo CD no group is the core group, and
// group and kind are patterns while name and namespace are not.
func (p *ignoreParser) argo(n *yaml.Node) {
	rule, before := IgnoreRule{Source: p.at(n), Group: coreGroup}, len(p.errs)
	fields := p.argoFields(&rule)
	fields["group"] = p.text(&rule.Group, nil)
	fields["kind"] = p.text(&rule.Kind, nil)
	fields["name"] = p.text(&rule.Name, nil)
	fields["namespace"] = p.text(&rule.Namespace, nil)
	p.fields(n, fields)
	if rule.Group == "" {
		rule.Group = coreGroup
	}
	if rule.Kind == "" {
		p.fail(n, "names no kind, which Argo CD demands")
		return
	}
	p.add(n, rule, before, argoNeeds)
}

func (p *ignoreParser) argoFields(rule *IgnoreRule) map[string]func(*yaml.Node) {
	return map[string]func(*yaml.Node){
		"jsonPointers":          p.paths(rule, parsePointer),
		"jqPathExpressions":     p.paths(rule, parseJQ),
		"managedFieldsManagers": p.texts(func(n *yaml.Node, s string) { rule.Managers = append(rule.Managers, s) }),
	}
}

const argoNeeds = "jsonPointers, jqPathExpressions or managedFieldsManagers"

// argoPrefix begins the keys of argocd-cm that hold ignore rules; group and kind follow.
const argoPrefix = "resource.customizations.ignoreDifferences."

// configMap reads argocd-cm.
func (p *ignoreParser) configMap(n *yaml.Node) {
	data := child(n, "data")
	found := false
	for i := 0; data != nil && i+1 < len(data.Content); i += 2 {
		key, value := data.Content[i], resolveNode(data.Content[i+1])
		target, ok := strings.CutPrefix(key.Value, argoPrefix)
		if !ok {
			continue
		}
		found = true
		p.customization(key, target, value)
	}
	if !found {
		p.fail(n, "a ConfigMap holds ignore rules of Argo CD under data[%s*], and this one has none", argoPrefix)
	}
}

func (p *ignoreParser) customization(key *yaml.Node, target string, value *yaml.Node) {
	rule := IgnoreRule{Source: p.at(key), Kind: target, Group: coreGroup}
	if group, kind, ok := strings.Cut(target, "_"); ok {
		rule.Group, rule.Kind = group, kind
	}
	if target == "all" {
		rule.Group, rule.Kind = "", ""
	}
	nested := ignoreParser{source: p.source, offset: value.Line + p.offset, noLines: p.noLines}
	if value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		nested.offset--
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(value.Value), &doc); err != nil {
		p.errs = append(p.errs, syntaxError(p.source, nested.offset+1, err))
		return
	}
	if value.Kind != yaml.ScalarNode || len(doc.Content) == 0 {
		p.fail(key, "%s holds no rules", key.Value)
		return
	}
	nested.fields(doc.Content[0], nested.argoFields(&rule))
	nested.add(doc.Content[0], rule, 0, argoNeeds)
	p.rules, p.errs = append(p.rules, nested.rules...), append(p.errs, nested.errs...)
}

// flux reads {paths, target} as Flux does: the parts of the target are expressions.
func (p *ignoreParser) flux(n *yaml.Node) {
	rule, before := IgnoreRule{Source: p.at(n), Regexp: true}, len(p.errs)
	p.fields(n, map[string]func(*yaml.Node){
		"target": func(n *yaml.Node) {
			p.fields(n, map[string]func(*yaml.Node){
				"group":              p.text(&rule.Group, nil),
				"version":            p.text(&rule.Version, nil),
				"kind":               p.text(&rule.Kind, nil),
				"name":               p.text(&rule.Name, nil),
				"namespace":          p.text(&rule.Namespace, nil),
				"labelSelector":      p.text(&rule.Labels, nil),
				"annotationSelector": p.text(&rule.Annotations, nil),
			})
		},
		"paths": p.paths(&rule, parsePointer),
	})
	p.add(n, rule, before, "paths")
}

// add takes a rule, unless something was wrong with it: there were so many errors before
// it was read.
func (p *ignoreParser) add(n *yaml.Node, rule IgnoreRule, before int, needed string) {
	if len(p.errs) > before {
		return
	}
	if len(rule.Paths) == 0 && len(rule.Managers) == 0 {
		p.fail(n, "ignores nothing: it has no %s", needed)
		return
	}
	if _, err := compile(&rule); err != nil {
		p.fail(n, "%w", err)
		return
	}
	p.rules = append(p.rules, rule)
}

// fields hands each field of a mapping to what reads it.
func (p *ignoreParser) fields(n *yaml.Node, known map[string]func(*yaml.Node)) {
	n = resolveNode(n)
	if n.Kind != yaml.MappingNode {
		p.fail(n, "is no mapping")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], resolveNode(n.Content[i+1])
		read, ok := known[key.Value]
		switch {
		case !ok:
			p.fail(key, "unknown field %q, only %s", key.Value, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		case seen[key.Value]:
			p.fail(key, "%q is given twice", key.Value)
		case !nullNode(value):
			read(value)
		}
		seen[key.Value] = true
	}
}

// text gives what reads a text, which check may refuse.
func (p *ignoreParser) text(into *string, check func(*yaml.Node, string)) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode {
			p.fail(n, "is no text")
			return
		}
		*into = n.Value
		if check != nil {
			check(n, n.Value)
		}
	}
}

// pattern refuses what looks like a regular expression, which would match nothing.
func (p *ignoreParser) pattern(n *yaml.Node, s string) {
	if strings.ContainsAny(s, `^$|()[]+?\{}`) || strings.Contains(s, ".*") {
		p.fail(n, "%q: a target is a name, in which * stands for any text, and no regular expression", s)
	}
}

func (p *ignoreParser) texts(take func(*yaml.Node, string)) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			p.fail(n, "is no list")
			return
		}
		for _, item := range n.Content {
			if item = resolveNode(item); item.Kind != yaml.ScalarNode || item.Value == "" {
				p.fail(item, "is no text")
				continue
			}
			take(item, item.Value)
		}
	}
}

func (p *ignoreParser) paths(rule *IgnoreRule, parse func(string) (PathPattern, error)) func(*yaml.Node) {
	return p.texts(func(n *yaml.Node, s string) {
		pattern, err := parse(s)
		if err == nil {
			err = pattern.check()
		}
		if err != nil {
			p.fail(n, "%w", err)
			return
		}
		rule.Paths = append(rule.Paths, pattern)
	})
}

func resolveNode(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			if v := resolveNode(n.Content[i+1]); !nullNode(v) {
				return v
			}
			return nil
		}
	}
	return nil
}

func textNode(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

func nullNode(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }
