package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// AppendYAML appends a mapping of plain values as a YAML document in block style:
// keys sorted, two spaces a level, lists not indented, as kubectl prints.
//
// What is written reads back as the same values by YAML 1.1 and 1.2 alike. A
// string is left unquoted only where no reader takes it for anything else; one of
// several lines becomes a literal block where that keeps it as it is.
//
// Values other than map[string]any, []any, string, bool, nil, int64, int and
// float64 do not occur in plain values; they are written as Go prints them.
func AppendYAML(dst []byte, object map[string]any) []byte {
	e := encoder{out: dst, keys: make([]string, 0, 32)}
	if len(object) == 0 {
		return append(e.out, "{}\n"...)
	}
	e.mapping(object, 0)
	return e.out
}

type encoder struct {
	out  []byte
	keys []string // sorted keys of the mappings being written, a stack
}

// mapping writes pairs, each at the given indentation; the first one where the
// output stands, which is after the indentation already.
func (e *encoder) mapping(m map[string]any, indent int) {
	start := len(e.keys)
	for k := range m {
		e.keys = append(e.keys, k)
	}
	end := len(e.keys)
	slices.Sort(e.keys[start:end])
	for i := start; i < end; i++ {
		if i > start {
			e.indent(indent)
		}
		key := e.keys[i]
		if len(key) > maxSimpleKey {
			e.out = append(e.out, "? "...)
			e.out = appendQuoted(e.out, key)
			e.out = append(e.out, '\n')
			e.indent(indent)
		} else {
			e.text(key)
		}
		e.out = append(e.out, ':')
		e.value(m[key], indent)
	}
	e.keys = e.keys[:start]
}

// maxSimpleKey is how long a key may be without being marked as one: the limit is
// 1024 characters (YAML 1.2, 7.4.2), quotes and escapes included.
const maxSimpleKey = 128

// value writes a value after a key, up to and with the end of its last line.
func (e *encoder) value(v any, indent int) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 {
			e.out = append(e.out, '\n')
			e.indent(indent + 2)
			e.mapping(v, indent+2)
			return
		}
	case []any:
		if len(v) > 0 {
			e.out = append(e.out, '\n')
			e.indent(indent)
			e.list(v, indent)
			return
		}
	case string:
		if literal(v) {
			e.out = append(e.out, ' ')
			e.block(v, indent+2)
			return
		}
	}
	e.out = append(e.out, ' ')
	e.inline(v)
	e.out = append(e.out, '\n')
}

func (e *encoder) list(items []any, indent int) {
	for i, item := range items {
		if i > 0 {
			e.indent(indent)
		}
		switch v := item.(type) {
		case map[string]any:
			if len(v) > 0 {
				e.out = append(e.out, "- "...)
				e.mapping(v, indent+2)
				continue
			}
		case []any:
			if len(v) > 0 {
				e.out = append(e.out, "- "...)
				e.list(v, indent+2)
				continue
			}
		case string:
			if literal(v) {
				e.out = append(e.out, "- "...)
				e.block(v, indent+2)
				continue
			}
		}
		e.out = append(e.out, "- "...)
		e.inline(item)
		e.out = append(e.out, '\n')
	}
}

func (e *encoder) indent(n int) {
	for range n {
		e.out = append(e.out, ' ')
	}
}

// inline writes a scalar or an empty collection.
func (e *encoder) inline(v any) {
	switch v := v.(type) {
	case string:
		e.text(v)
	case int64:
		e.out = strconv.AppendInt(e.out, v, 10)
	case int:
		e.out = strconv.AppendInt(e.out, int64(v), 10)
	case bool:
		e.out = strconv.AppendBool(e.out, v)
	case float64:
		e.out = appendFloat(e.out, v)
	case nil:
		e.out = append(e.out, "null"...)
	case map[string]any:
		e.out = append(e.out, "{}"...)
	case []any:
		e.out = append(e.out, "[]"...)
	default:
		e.text(fmt.Sprint(v))
	}
}

func (e *encoder) text(s string) {
	if plain(s) {
		e.out = append(e.out, s...)
		return
	}
	e.out = appendQuoted(e.out, s)
}

// block writes a string of several lines as a literal block.
func (e *encoder) block(s string, indent int) {
	e.out = append(e.out, '|')
	switch {
	case !strings.HasSuffix(s, "\n"):
		e.out = append(e.out, '-')
	case strings.HasSuffix(s, "\n\n"):
		e.out = append(e.out, '+')
	}
	e.out = append(e.out, '\n')
	for line := range strings.Lines(s) {
		if line != "\n" {
			e.indent(indent)
		}
		e.out = append(e.out, line...)
	}
	if !strings.HasSuffix(s, "\n") {
		e.out = append(e.out, '\n')
	}
}

// literal says whether a string can be a literal block that reads back as it is,
// without an indentation indicator.
func literal(s string) bool {
	if !strings.Contains(s, "\n") || strings.Trim(s, "\n") == "" {
		return false
	}
	if c := s[0]; c == ' ' || c == '\t' || c == '\n' {
		return false
	}
	for line := range strings.Lines(s) {
		// A line of nothing but white space is read as an empty one by some.
		if text := strings.TrimSuffix(line, "\n"); text != "" && strings.Trim(text, " \t") == "" {
			return false
		}
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && !printable(r) {
			return false
		}
	}
	return utf8.ValidString(s)
}

// printable is narrower than YAML's own rule: what an editor may not show, or a
// reader may take for the end of a line, is escaped.
func printable(r rune) bool {
	if r < 0x7f {
		return r >= ' '
	}
	return r != utf8.RuneError && r != '\ufeff' && r != '\u0085' && r != '\u2028' && r != '\u2029' && unicode.IsPrint(r)
}

// Classes of the bytes of a string that may do without quotes.
const (
	anywhere = 1 << iota // may stand anywhere in it
	atStart              // may be its first byte
	numeric              // occurs in numbers, timestamps and the like
)

var plainClass = func() (class [256]byte) {
	for c := 'a'; c <= 'z'; c++ {
		class[c] = anywhere | atStart
		class[c-'a'+'A'] = anywhere | atStart
	}
	for c := '0'; c <= '9'; c++ {
		class[c] = anywhere | atStart | numeric
	}
	for _, c := range "_/$(" {
		class[c] = anywhere | atStart
	}
	for _, c := range " .:@+-=,;)%?!*~&<>^|\\" {
		class[c] = anywhere
	}
	for _, c := range "_,.:+- eExXoObBaAcCdDfFtTzZ" {
		class[c] |= numeric
	}
	class['-'] |= atStart
	return class
}()

// plain says whether a string needs no quotes: every reader takes it for that
// string and nothing else.
func plain(s string) bool {
	if s == "" || plainClass[s[0]]&atStart == 0 || reserved(s) {
		return false
	}
	switch last := s[len(s)-1]; last {
	case ' ', ':':
		return false
	}
	if s[0] == '-' {
		// "-x" and "--x", as in arguments; not "-1", "-.inf", "- x" or "---".
		rest := strings.TrimPrefix(s[1:], "-")
		if rest == "" || plainClass[rest[0]]&numeric != 0 && (rest[0] < 'A' || rest[0] > 'z') {
			return false
		}
	}
	digit := s[0] >= '0' && s[0] <= '9'
	for i := 0; i < len(s); i++ {
		class := plainClass[s[i]]
		if class == 0 || class == numeric {
			return false
		}
		if class&numeric == 0 {
			digit = false // it can be no number any more
		}
		if s[i] == ':' && s[i+1] == ' ' { // a last ':' was refused above
			return false
		}
	}
	return !digit
}

// reserved knows the words that a reader of YAML 1.1 or 1.2 takes for a boolean
// or for null, in any case.
func reserved(s string) bool {
	switch len(s) {
	case 1:
		return s == "y" || s == "Y" || s == "n" || s == "N"
	case 2, 3, 4, 5:
		switch strings.ToLower(s) {
		case "yes", "no", "on", "off", "true", "false", "null":
			return true
		}
	}
	return false
}

const hex = "0123456789abcdef"

// appendQuoted writes a string in double quotes.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f {
			if c == '"' || c == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r != utf8.RuneError && r >= 0x80 && printable(r):
			dst = utf8.AppendRune(dst, r)
		case r < 0x100:
			dst = append(dst, '\\', 'x', hex[r>>4], hex[r&15])
		case r < 0x10000:
			dst = append(dst, '\\', 'u', hex[r>>12], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			dst = append(dst, fmt.Sprintf(`\U%08x`, r)...)
		}
	}
	return append(dst, '"')
}

// AppendJSON appends a mapping of plain values as indented JSON and a line end.
func AppendJSON(dst []byte, object map[string]any) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(object); err != nil {
		return dst, fmt.Errorf("writing JSON: %w", err)
	}
	return buf.Bytes(), nil
}

// QuoteYAML gives a string as a YAML scalar on one line.
func QuoteYAML(s string) string {
	if plain(s) {
		return s
	}
	return string(appendQuoted(nil, s))
}
