package diff

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Values are shown as YAML for people: keys sorted, two spaces a level, lists not
// indented, strings of several lines always as a block, whatever they hold, so that a
// difference within one is a difference of lines.

// maxDepth is how many levels are shown as blocks; what is deeper stands on one line.
const maxDepth = 100

// yamlLines gives a value as YAML, the end of each line included. Lines are not yet
// visible.
func yamlLines(v any) string {
	var b strings.Builder
	y := yamlWriter{&b}
	switch t := v.(type) {
	case map[string]any:
		if len(t) > 0 {
			y.mapping(t, 0, 0)
			return b.String()
		}
	case []any:
		if len(t) > 0 {
			y.list(t, 0, 0)
			return b.String()
		}
	}
	y.leaf(v, 2)
	return b.String()
}

type yamlWriter struct{ *strings.Builder }

// mapping writes the first key where the output stands.
func (y yamlWriter) mapping(m map[string]any, indent, depth int) {
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			y.indent(indent)
		}
		y.WriteString(scalarYAML(key) + ":")
		switch v := m[key].(type) {
		case map[string]any:
			if len(v) > 0 && depth < maxDepth {
				y.WriteByte('\n')
				y.indent(indent + 2)
				y.mapping(v, indent+2, depth+1)
				continue
			}
		case []any:
			if len(v) > 0 && depth < maxDepth {
				y.WriteByte('\n')
				y.indent(indent)
				y.list(v, indent, depth+1)
				continue
			}
		}
		y.WriteByte(' ')
		y.leaf(m[key], indent+2)
	}
}

func (y yamlWriter) list(items []any, indent, depth int) {
	for i, item := range items {
		if i > 0 {
			y.indent(indent)
		}
		y.WriteString("- ")
		switch v := item.(type) {
		case map[string]any:
			if len(v) > 0 && depth < maxDepth {
				y.mapping(v, indent+2, depth+1)
				continue
			}
		case []any:
			if len(v) > 0 && depth < maxDepth {
				y.list(v, indent+2, depth+1)
				continue
			}
		}
		y.leaf(item, indent+2)
	}
}

func (y yamlWriter) indent(n int) {
	for range n {
		y.WriteByte(' ')
	}
}

// leaf writes what is on one line, or a block of text.
func (y yamlWriter) leaf(v any, indent int) {
	s, ok := v.(string)
	if !ok || !multiline(s) {
		y.WriteString(flowYAML(v) + "\n")
		return
	}
	y.WriteByte('|')
	if s[0] == ' ' || s[0] == '\n' {
		y.WriteByte('2')
	}
	switch {
	case !strings.HasSuffix(s, "\n"):
		y.WriteByte('-')
	case strings.HasSuffix(s, "\n\n"):
		y.WriteByte('+')
	}
	y.WriteByte('\n')
	for line := range strings.Lines(s) {
		if line != "\n" {
			y.indent(indent)
		}
		y.WriteString(line)
	}
	if !strings.HasSuffix(s, "\n") {
		y.WriteByte('\n')
	}
}

// multiline reports whether a string is shown as lines.
func multiline(s string) bool {
	return strings.Contains(s, "\n") && strings.Trim(s, "\n") != ""
}

// flowYAML gives a value on one line.
func flowYAML(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var b strings.Builder
		b.WriteByte('{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(flowScalarYAML(key) + ": " + flowItemYAML(v[key]))
		}
		b.WriteByte('}')
		return b.String()
	case []any:
		var b strings.Builder
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(flowItemYAML(item))
		}
		b.WriteByte(']')
		return b.String()
	}
	return scalarYAML(v)
}

func flowItemYAML(v any) string {
	if s, ok := v.(string); ok {
		return flowScalarYAML(s)
	}
	return flowYAML(v)
}

// flowScalarYAML quotes what would end an item.
func flowScalarYAML(s string) string {
	if strings.ContainsAny(s, ",[]{}") {
		return strconv.Quote(s)
	}
	return scalarYAML(s)
}

// scalarYAML gives a single value on one line: a string in quotes where it could be taken
// for something else.
func scalarYAML(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		if plainYAML(v) {
			return v
		}
		return strconv.Quote(v)
	case bool, int64, int:
		return fmt.Sprint(v)
	case map[string]any, []any:
		return flowYAML(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return visible(fmt.Sprint(v))
	}
	return string(text)
}

// plainYAML reports whether a string can do without quotes.
func plainYAML(s string) bool {
	if s == "" || strings.TrimSpace(s) != s || strings.ContainsRune("-?:,[]{}#&*!|>'\"%@`=", rune(s[0])) && !isFlag(s) {
		return false
	}
	if strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.Contains(s, " -> ") || strings.HasSuffix(s, ":") {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return false
		}
	}
	return !looksTyped(s)
}

// isFlag knows "-x" and "--x", as in arguments.
func isFlag(s string) bool {
	rest := strings.TrimPrefix(strings.TrimPrefix(s, "-"), "-")
	return s[0] == '-' && rest != "" && unicode.IsLetter(rune(rest[0]))
}

// looksTyped knows what a reader of YAML may take for a number, a boolean, a time or
// null.
func looksTyped(s string) bool {
	switch strings.ToLower(s) {
	case "null", "~", "true", "false", "yes", "no", "on", "off", "y", "n", ".inf", "-.inf", ".nan":
		return true
	}
	if s[0] != '.' && s[0] != '+' && s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return false
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return true
	}
	if _, err := strconv.ParseInt(s, 0, 64); err == nil {
		return true
	}
	// Numbers beyond all limits, times, and numbers to the base of 60.
	return strings.Trim(s, "0123456789+-_.:eETZ") == ""
}
