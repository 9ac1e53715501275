package cli

import (
	"bytes"
	"slices"
	"strings"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/manifest"
)

// scanned gives the object of a document that both sides have, without parsing it: of
// such an object nothing but its identity is needed. ok is false for any document but one
// that is certainly sound, and holds one object that is passed through. See plainScanner.
func (r *sideRenderer) scanned(doc manifest.Document) (o sideObject, ok bool) {
	var s plainScanner
	if !s.scan(doc.Text) {
		return o, false
	}
	apiVersion, kind, name := string(s.apiVersion), string(s.kind), string(s.name)
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		group, version = "", apiVersion
	}
	switch {
	case apiVersion == "" || kind == "" || name == "":
		return o, false
	case group == v1alpha1.Group || kind == v1alpha1.Kind || strings.HasSuffix(kind, "List"):
		return o, false // more is to be known of it
	case kind == "HorizontalPodAutoscaler":
		return o, false // it may scale an AppService
	}
	id := manifest.ID{Group: group, Kind: kind, Namespace: string(s.namespace), Name: name}
	if r.namespace != "" && id.Namespace == "" && namespaced(&manifest.Object{ID: id, Version: version}) {
		id.Namespace = r.namespace
	}
	return sideObject{id: id, apiVersion: apiVersion, same: true, file: doc.File, line: doc.Line + s.first}, true
}

// plainScanner reads the plain part of YAML that nearly all manifests are written in, line
// by line and some twenty times as fast as a parser:
//
//	key: value          key:              - key: value      - value      key: |
//
// It accepts a text only if it is certain that a parser finds nothing wrong with it and
// reads the same identity; a flow collection, an anchor, a tag, a text of several lines
// and anything else that needs thought it leaves to the parser.
type plainScanner struct {
	apiVersion, kind, namespace, name []byte
	// first is the line, from 0, of the first key.
	first int

	blocks []plainBlock
	// open says that the last line was a key without a value, so that one may follow.
	open bool
	// literal is the indentation of the key that a block of text belongs to, -1 outside
	// of one; text is that of the block itself, 0 while it is not known.
	literal, text int
	// inMetadata says that the second block is that of metadata.
	inMetadata bool
}

// plainBlock is a mapping or a list whose end was not seen yet.
type plainBlock struct {
	indent int
	list   bool
	keys   [][]byte
}

const (
	// maxPlainDepth and maxPlainKeys are where a parser is the better choice.
	maxPlainDepth = 32
	maxPlainKeys  = 100
)

func (s *plainScanner) scan(text []byte) bool {
	s.literal, s.first = -1, -1
	s.blocks = make([]plainBlock, 0, 16)
	line := 0
	for raw := range bytes.Lines(text) {
		raw = bytes.TrimSuffix(raw, []byte{'\n'})
		if !s.line(raw) {
			return false
		}
		if s.first < 0 && len(s.blocks) > 0 {
			s.first = line
		}
		line++
	}
	return len(s.blocks) > 0
}

func (s *plainScanner) line(raw []byte) bool {
	content := bytes.TrimLeft(raw, " ")
	indent := len(raw) - len(content)
	if len(content) == 0 {
		return indent == 0 // white space alone may be part of a text
	}
	for _, c := range content {
		if c < ' ' || c > '~' {
			return false
		}
	}
	if s.literal >= 0 {
		if indent > s.literal {
			if s.text == 0 {
				s.text = indent
			}
			return indent >= s.text
		}
		s.literal = -1
	}
	if content[0] == '#' {
		return true
	}
	isItem := false
	if rest, ok := bytes.CutPrefix(content, []byte("- ")); ok {
		if !s.item(indent) {
			return false
		}
		isItem, content, indent = true, rest, indent+2
	}
	key, value, isKey := cutKey(content)
	if !isKey {
		s.open = false
		return isItem && plainValue(content)
	}
	if !s.key(indent, key, isItem) {
		return false
	}
	return s.value(indent, key, value)
}

// closeTo ends the blocks that a line of this indentation is not part of.
func (s *plainScanner) closeTo(indent int) *plainBlock {
	for len(s.blocks) > 0 && s.blocks[len(s.blocks)-1].indent > indent {
		s.blocks = s.blocks[:len(s.blocks)-1]
		s.open = false // the key was in there
	}
	if len(s.blocks) == 0 {
		return nil
	}
	return &s.blocks[len(s.blocks)-1]
}

func (s *plainScanner) push(b plainBlock) bool {
	s.blocks = append(s.blocks, b)
	return len(s.blocks) <= maxPlainDepth
}

// item begins an item of a list, which may stand as deep as the key that it is under.
func (s *plainScanner) item(indent int) bool {
	top := s.closeTo(indent)
	switch {
	case top == nil:
		return false
	case top.list && top.indent == indent && !s.open:
		return true
	case !top.list && s.open:
		s.open = false
		return s.push(plainBlock{indent: indent, list: true})
	}
	return false
}

// key begins a pair of a mapping.
func (s *plainScanner) key(indent int, key []byte, isItem bool) bool {
	top := s.closeTo(indent)
	if top != nil && !isItem && top.list && top.indent == indent && !s.open {
		// The list has ended: it stood as deep as its key.
		s.blocks = s.blocks[:len(s.blocks)-1]
		top = s.closeTo(indent)
	}
	switch {
	case isItem: // which has ended the one before it
		return s.push(plainBlock{indent: indent, keys: [][]byte{key}})
	case top == nil:
		return len(s.blocks) == 0 && s.first < 0 && indent == 0 && s.push(plainBlock{keys: [][]byte{key}})
	case !top.list && top.indent == indent:
		if len(top.keys) >= maxPlainKeys || slices.ContainsFunc(top.keys, func(k []byte) bool { return bytes.Equal(k, key) }) {
			return false
		}
		top.keys = append(top.keys, key)
		return true
	case !top.list && top.indent < indent && s.open:
		return s.push(plainBlock{indent: indent, keys: [][]byte{key}})
	}
	return false
}

// value takes what stands behind a key, and remembers it when it is part of the identity.
func (s *plainScanner) value(indent int, key, value []byte) bool {
	s.open = len(value) == 0
	var part *[]byte
	switch depth := len(s.blocks); {
	case depth == 1 && string(key) == "apiVersion":
		part = &s.apiVersion
	case depth == 1 && string(key) == "kind":
		part = &s.kind
	case depth == 2 && s.inMetadata && string(key) == "namespace":
		part = &s.namespace
	case depth == 2 && s.inMetadata && string(key) == "name":
		part = &s.name
	}
	if len(s.blocks) == 1 {
		s.inMetadata = string(key) == "metadata"
	}
	if part != nil {
		text := bytes.Trim(value, `"`)
		*part = text
		quoted := len(value) == len(text)+2
		return len(text) > 0 && identityText(text) && (quoted || len(value) == len(text) && isLetter(text[0]) && !reservedWord(text))
	}
	switch string(value) {
	case "", "{}", "[]":
		return true
	case "|", "|-", "|+", ">", ">-", ">+":
		s.literal, s.text = indent, 0
		return true
	}
	return plainValue(value)
}

// cutKey cuts a line into key and value.
func cutKey(content []byte) (key, value []byte, ok bool) {
	end := 0
	for end < len(content) && (isLetter(content[end]) || end > 0 && (isDigit(content[end]) || content[end] == '-' || content[end] == '.' || content[end] == '/' || content[end] == '_')) {
		end++
	}
	if end == 0 || end == len(content) || content[end] != ':' || reservedWord(content[:end]) {
		return nil, nil, false
	}
	key, value = content[:end], content[end+1:]
	if len(value) == 0 {
		return key, nil, true
	}
	if value[0] != ' ' {
		return nil, nil, false
	}
	value = bytes.TrimLeft(value, " ")
	return key, value, len(value) > 0
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// reservedWord says whether some version of YAML reads a word as something else than text.
func reservedWord(word []byte) bool {
	switch strings.ToLower(string(word)) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return true
	}
	return false
}

// identityText says whether a text can be part of an identity as it stands.
func identityText(text []byte) bool {
	for _, c := range text {
		if !isLetter(c) && !isDigit(c) && c != '-' && c != '.' && c != '/' {
			return false
		}
	}
	return true
}

// plainValue says whether a value is one on its own line, whatever it is.
func plainValue(v []byte) bool {
	if v[len(v)-1] == ' ' {
		return false
	}
	if v[0] == '-' { // -c and --flag
		v = bytes.TrimLeft(v, "-")
		return len(v) > 0 && isLetter(v[0]) && plainValue(v)
	}
	switch c := v[0]; {
	case c == '"':
		return quotedValue(v)
	case c == '\'':
		return len(v) > 1 && bytes.IndexByte(v[1:], '\'') == len(v)-2
	case isDigit(c):
		return plainNumber(v)
	case isLetter(c), c == '/', c == '_', c == '$', c == '(':
		return !bytes.Contains(v, []byte(": ")) && !bytes.Contains(v, []byte(" #")) && v[len(v)-1] != ':'
	}
	return false
}

// quotedValue says whether a text in double quotes ends where the line does.
func quotedValue(v []byte) bool {
	for i := 1; i < len(v); i++ {
		switch v[i] {
		case '"':
			return i == len(v)-1
		case '\\':
			i++
			if i == len(v) || !bytes.Contains([]byte(`"\nt`), v[i:i+1]) {
				return false
			}
		}
	}
	return false
}

// plainNumber says whether what begins with a digit is a whole number, or text for sure,
// as 500m, 25% and 10.0.0.1 are.
func plainNumber(v []byte) bool {
	digits := 0
	for digits < len(v) && isDigit(v[digits]) {
		digits++
	}
	if digits == len(v) {
		return digits < 16 && (v[0] != '0' || digits == 1)
	}
	switch rest := string(v[digits:]); rest {
	case "m", "k", "M", "G", "Mi", "Gi", "Ki", "Ti", "%", "s", "h":
		return true
	}
	return false
}
