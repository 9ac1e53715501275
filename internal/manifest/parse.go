package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Parse reads the text of a document into a node tree. It gives nil for a document
// of nothing but comments.
func Parse(doc Document) (*yaml.Node, *Fault) {
	text := doc.Text
	if bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
		return nil, &Fault{File: doc.File, Line: doc.Line + badByteLine(text), Message: "is not text in UTF-8"}
	}
	text = yamlOfJSON(text)
	root, err := parse(text)
	if err != nil {
		return nil, &Fault{File: doc.File, Line: doc.Line + syntaxErrorLine(text, err), Message: syntaxMessage(err)}
	}
	return root, nil
}

// yamlOfJSON gives JSON as YAML, line by line the same; text that is no JSON it
// leaves as it is. YAML is not quite the superset of JSON that it is said to be: it
// takes no tab as white space, no character in two escapes, and, as the library reads
// it, no escaped slash.
func yamlOfJSON(text []byte) []byte {
	if !isJSONOnly(text) || !json.Valid(text) {
		return text
	}
	// Inside a string JSON has no tab, so each one can go.
	text = bytes.ReplaceAll(text, []byte{'\t'}, []byte{' '})
	return escapes.ReplaceAllFunc(text, func(escape []byte) []byte {
		switch escape[1] {
		case '/':
			return escape[1:]
		case 'u':
		default:
			return escape
		}
		var s string
		if json.Unmarshal(append(append([]byte{'"'}, escape...), '"'), &s) != nil {
			return escape
		}
		return []byte(s) // a half of a character becomes U+FFFD, as in encoding/json
	})
}

// escapes are those of JSON, the ones of characters outside the basic plane whole,
// so that none is looked for inside another ("\\\\ud800" is a backslash and text).
var escapes = regexp.MustCompile(`\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)`)

// isJSONOnly says whether text may be JSON that is no YAML.
func isJSONOnly(text []byte) bool {
	trimmed := bytes.TrimLeft(text, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != '{' {
		return false
	}
	return bytes.IndexByte(text, '\t') >= 0 || bytes.Contains(text, []byte(`\/`)) || bytes.Contains(text, []byte(`\ud`)) || bytes.Contains(text, []byte(`\uD`))
}

var errTrailing = errors.New("yaml: something follows the end of the document")

func parse(text []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, rest yaml.Node
	switch err := dec.Decode(&doc); {
	case err == io.EOF:
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err := dec.Decode(&rest); err == nil {
		return nil, errTrailing
	} else if err != io.EOF {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

var (
	linePrefix = regexp.MustCompile(`^line \d+: `)
	lineNumber = regexp.MustCompile(`\d+`)
)

func syntaxMessage(err error) string {
	return "is not YAML: " + linePrefix.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), "")
}

// syntaxErrorLine finds the line, from 0, that a syntax error is on. The number
// in the parser's message is that of the construct that encloses the fault, off by
// one for some kinds. A parser reads on until it meets the fault, so the line is
// the last one of the shortest text that fails alike. In a text too large to be
// read many times over, the parser's number has to do.
func syntaxErrorLine(text []byte, err error) int {
	if len(text) > 1<<20 {
		if n := lineNumber.FindString(err.Error()); n != "" {
			line, _ := strconv.Atoi(n)
			return max(line-1, 0)
		}
		return 0
	}
	ends := lineEnds(text)
	low, high := 0, len(ends)-1
	for low < high {
		mid := (low + high) / 2
		if _, e := parse(text[:ends[mid]]); e != nil && e.Error() == err.Error() {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

func lineEnds(text []byte) []int {
	var ends []int
	for i, c := range text {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	if len(ends) == 0 || ends[len(ends)-1] < len(text) {
		ends = append(ends, len(text))
	}
	return ends
}

// badByteLine is the line, from 0, of the first byte that is not text.
func badByteLine(text []byte) int {
	at := bytes.IndexByte(text, 0)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if (r == utf8.RuneError && n == 1) || i == at {
			return bytes.Count(text[:i], []byte{'\n'})
		}
		i += n
	}
	return 0
}
