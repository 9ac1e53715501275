package diff

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// What is masked, and how:
//
//  1. The values of data and stringData of a Secret, wherever in an object a Secret is.
//     Its keys, labels and other annotations are shown.
//  2. The whole content of annotations in which a tool keeps a copy of the object.
//  3. With MaskKeys: values under a matching key in the data of a ConfigMap and in
//     annotations, and the value of a matching entry of an env list.
//  4. Equal values get equal placeholders, numbered as they appear, in the order in
//     which a report shows them. What is base64 in data and plain in stringData is
//     equal. A placeholder shows neither the value nor its length nor a hash of it.
//  5. Binary data of a ConfigMap is shown by its size, masking or not.
//
// All of it happens before a writer sees anything.

// ReportOptions say what a report shows.
type ReportOptions struct {
	// ShowSecrets shows what would be masked.
	ShowSecrets bool
	// MaskKeys are patterns of names whose values are masked as well: those of entries of
	// env, keys of the data of a ConfigMap, and annotations. "*" stands for any text, "?"
	// for one character; upper and lower case are the same; the pattern is for the whole
	// name: "*PASSWORD*".
	MaskKeys []string
}

// MaskObject gives a copy of an object with everything secret masked. Placeholders are
// equal within the object only.
func MaskObject(object map[string]any, opts ReportOptions) map[string]any {
	return newMasker(opts).mapping(object, scope{})
}

// mode is what is to be done with a value.
type mode int

const (
	// The zero value masks nothing itself: a Secret may be further down.
	_ mode = iota
	// modeBinary holds base64 of which the size is shown.
	modeBinary
	// modeNamed holds values whose names may match MaskKeys.
	modeNamed
	// modeSecretText and modeSecretBase64 hold secrets by their keys.
	modeSecretText
	modeSecretBase64
	// modeMaskText and modeMaskBase64 are secrets.
	modeMaskText
	modeMaskBase64
)

// scope is where in an object a value is.
type scope struct {
	mode mode
	// kind is that of an object which does not name its own: an item of a SecretList, or
	// the object whose path is followed.
	kind string
	// name is that of an item of a list, when its path says so.
	name string
}

// masker copies values and masks what is secret in them.
type masker struct {
	show     bool
	patterns []string
	// placeholders are by what was masked.
	placeholders map[string]string
	// sizes has the contents of each size, in the order of their appearance.
	sizes map[int][]string
	// secrets are the strings masked since it was last emptied.
	secrets map[string]string
}

func newMasker(opts ReportOptions) *masker {
	m := &masker{
		show:         opts.ShowSecrets,
		placeholders: make(map[string]string),
		sizes:        make(map[int][]string),
		secrets:      make(map[string]string),
	}
	for _, p := range opts.MaskKeys {
		m.patterns = append(m.patterns, strings.ToLower(p))
	}
	return m
}

// object copies a change. Placeholders are numbered in the order in which fields and
// objects are shown.
func (m *masker) object(o *ObjectChange) ObjectChange {
	clear(m.secrets)
	out := *o
	if o.From != nil {
		from := *o.From
		out.From = &from
	}
	out.Fields = m.fields(o, o.Fields)
	out.Adopted = m.fields(o, o.Adopted)
	out.Kept = m.fields(o, o.Kept)
	out.Foreign = m.fields(o, o.Foreign)
	out.Before, out.After = nil, nil
	if o.Changed() { // of what is the same, nobody is shown the whole
		at := scope{kind: o.Object.Kind}
		out.Before = m.mapping(o.Before, at)
		out.After = m.mapping(o.After, at)
	}
	out.Notes = slices.Clone(o.Notes)
	for i, note := range out.Notes {
		out.Notes[i] = m.scrub(note)
	}
	return out
}

func (m *masker) fields(o *ObjectChange, fields []FieldChange) []FieldChange {
	if len(fields) == 0 {
		return nil
	}
	out := make([]FieldChange, len(fields))
	for i, f := range fields {
		at, n := m.follow(f.Path, o)
		f.Path = f.Path[:n:n]
		f.Before = m.value(f.Before, at)
		f.After = m.value(f.After, at)
		f.Owners = slices.Clone(f.Owners)
		out[i] = f
	}
	return out
}

// follow finds the scope of a path, and how many of its steps lead no further than to
// what is masked: names below that are part of the secret.
func (m *masker) follow(path Path, o *ObjectChange) (scope, int) {
	at := scope{kind: o.Object.Kind}
	nodes := []any{o.Before, o.After}
	for i, step := range path {
		switch {
		case at.mode >= modeMaskText:
			return at, i
		case at.mode >= modeSecretText && step.Field == "":
			return at.item(), i // no Secret: its data is a list
		}
		at = m.step(at, step, nodes)
		for j := range nodes {
			nodes[j], _ = step.step(nodes[j])
		}
	}
	return at, len(path)
}

// step goes on to a field or an item. Two objects are compared: what is secret in one
// of them is secret.
func (m *masker) step(at scope, step PathElement, nodes []any) scope {
	if step.Field == "" {
		at = at.item()
		for _, k := range step.Key {
			if k.Name == "name" {
				at.name, _ = k.Value.(string)
			}
		}
		return at
	}
	var next scope
	for _, node := range nodes {
		object, _ := node.(map[string]any)
		if s := m.field(at, step.Field, object); s.mode > next.mode || next == (scope{}) {
			next = s
		}
	}
	return next
}

// field gives the scope of a field of an object; the object may be nil.
func (m *masker) field(at scope, key string, object map[string]any) scope {
	switch at.mode {
	case modeSecretText:
		return scope{mode: modeMaskText}
	case modeSecretBase64:
		return scope{mode: modeMaskBase64}
	case modeNamed:
		if isCopy(key) || m.matches(key) {
			return scope{mode: modeMaskText}
		}
		return scope{}
	case modeBinary:
		return scope{mode: modeBinary}
	case modeMaskText, modeMaskBase64:
		return at
	}
	kind, ok := object["kind"].(string)
	if !ok || at.kind == "Secret" {
		kind = at.kind
	}
	name, ok := object["name"].(string)
	if !ok {
		name = at.name
	}
	switch {
	case kind == "Secret" && key == "data":
		return scope{mode: modeSecretBase64}
	case kind == "Secret" && key == "stringData":
		return scope{mode: modeSecretText}
	case kind == "ConfigMap" && key == "binaryData":
		return scope{mode: modeBinary}
	case kind == "ConfigMap" && key == "data", key == "annotations", key == "env":
		return scope{mode: modeNamed}
	case key == "value" && m.matches(name):
		return scope{mode: modeMaskText}
	case key == "items" && strings.HasSuffix(kind, "List"):
		return scope{kind: strings.TrimSuffix(kind, "List")}
	}
	return scope{}
}

// item gives the scope of an item of a list.
func (at scope) item() scope {
	switch at.mode {
	case modeSecretText:
		return scope{mode: modeMaskText}
	case modeSecretBase64:
		return scope{mode: modeMaskBase64}
	case modeNamed:
		return scope{}
	}
	return at
}

// isCopy knows the annotations in which tools keep the whole object: kubectl, kapp,
// Rancher's wrangler, and the object matcher of Banzai Cloud.
func isCopy(annotation string) bool {
	switch annotation {
	case "kapp.k14s.io/original", "objectset.rio.cattle.io/applied", "banzaicloud.com/last-applied":
		return true
	}
	return strings.HasSuffix(annotation, "/last-applied-configuration")
}

func (m *masker) matches(name string) bool {
	if len(m.patterns) == 0 || name == "" {
		return false
	}
	name = strings.ToLower(name)
	return slices.ContainsFunc(m.patterns, func(p string) bool { return wildcard(p, name) })
}

// wildcard matches a text with a pattern of "*" and "?".
func wildcard(pattern, text string) bool {
	p, t := []rune(pattern), []rune(text)
	i, j := 0, 0
	star, resume := -1, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, resume = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i++
			j++
		case star >= 0:
			resume++
			i, j = star+1, resume
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// value copies a value.
func (m *masker) value(v any, at scope) any {
	if v == nil {
		return nil
	}
	if !m.show && (at.mode == modeMaskText || at.mode == modeMaskBase64) {
		return m.secret(v, at.mode)
	}
	switch v := v.(type) {
	case map[string]any:
		return m.mapping(v, at)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = m.value(e, at.item())
		}
		return out
	case string:
		if at.mode == modeBinary {
			return m.size(v)
		}
	}
	if !m.show && (at.mode == modeSecretText || at.mode == modeSecretBase64) {
		return m.secret(v, modeMaskText)
	}
	return v
}

// mapping copies a mapping, nil as nil. Placeholders are numbered in the order of keys.
func (m *masker) mapping(v map[string]any, at scope) map[string]any {
	if v == nil {
		return nil
	}
	out := make(map[string]any, len(v))
	for _, key := range slices.Sorted(maps.Keys(v)) {
		out[key] = m.value(v[key], m.field(at, key, v))
	}
	return out
}

// secret gives the placeholder of a value.
func (m *masker) secret(v any, how mode) string {
	var content string
	switch s, ok := v.(string); {
	case !ok:
		// Nothing that a Secret may hold. The text is only compared.
		if text, err := json.Marshal(v); err == nil {
			content = string(text)
		} else {
			content = fmt.Sprint(v)
		}
	case how == modeMaskBase64:
		content = s
		if decoded, err := base64.StdEncoding.DecodeString(s); err == nil {
			content = string(decoded)
		}
	default:
		content = s
	}
	placeholder, ok := m.placeholders[content]
	if !ok {
		placeholder = fmt.Sprintf("(masked %d)", len(m.placeholders)+1)
		m.placeholders[content] = placeholder
	}
	m.secrets[content] = placeholder
	if s, ok := v.(string); ok {
		m.secrets[s] = placeholder
	}
	return placeholder
}

// size shows base64 by the size of its content. Contents of one size are told apart, or
// a change would show no difference.
func (m *masker) size(s string) string {
	content := s
	if decoded, err := base64.StdEncoding.DecodeString(s); err == nil {
		content = string(decoded)
	}
	n := len(content)
	i := slices.Index(m.sizes[n], content)
	if i < 0 {
		i = len(m.sizes[n])
		m.sizes[n] = append(m.sizes[n], content)
	}
	switch i {
	case 0:
		return "(binary, " + counted(n, "byte") + ")"
	case 1:
		return "(binary, " + counted(n, "byte") + ", other content)"
	default:
		return fmt.Sprintf("(binary, %s, other content %d)", counted(n, "byte"), i)
	}
}

// minScrubbed is how many bytes a secret must have to be looked for in a note: shorter
// ones are in any text.
const minScrubbed = 4

// scrub replaces what was masked in this object in a text about it, in the ways in
// which it may have been written there.
func (m *masker) scrub(note string) string {
	secrets := slices.SortedFunc(maps.Keys(m.secrets), func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	for _, s := range secrets {
		if len(s) < minScrubbed {
			continue
		}
		quoted := strconv.Quote(s)
		inJSON, _ := json.Marshal(s) // a string is never refused
		for _, form := range []string{quoted[1 : len(quoted)-1], string(inJSON[1 : len(inJSON)-1]), base64.StdEncoding.EncodeToString([]byte(s)), s} {
			note = strings.ReplaceAll(note, form, m.secrets[s])
		}
	}
	return note
}
