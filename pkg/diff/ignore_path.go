package diff

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParsePathPattern reads a path in one of three notations:
//
//	/spec/template/spec/containers/0/image                                  JSON pointer (RFC 6901)
//	.spec.template.spec.containers[] | select(.name == "app") | .image      jq, as far as it is a path
//	spec.template.spec.containers[name=app].image                           as reports write it
//
// In the last one, [] stands for any field or item.
func ParsePathPattern(text string) (PathPattern, error) {
	var p PathPattern
	var err error
	switch {
	case strings.HasPrefix(text, "/"):
		p, err = parsePointer(text)
	case strings.HasPrefix(text, "."):
		p, err = parseJQ(text)
	default:
		p, err = parseKeyedPath(text)
	}
	if err == nil {
		err = p.check()
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// parsePointer reads a JSON pointer. Its tokens are names of fields or indices of items,
// which only the object tells.
func parsePointer(text string) (PathPattern, error) {
	if text == "/" {
		return nil, errors.New(`path "/" is that of a field without a name`)
	}
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return nil, fmt.Errorf("%q is no JSON pointer: it has to begin with a slash", text)
	}
	var p PathPattern
	for token := range strings.SplitSeq(rest, "/") {
		name, ok := unescapeToken(token)
		switch {
		case !ok:
			return nil, fmt.Errorf(`%q is no JSON pointer: after "~" comes 0 or 1`, text)
		case name == "":
			return nil, fmt.Errorf("%q has a part without a name; a slash in a name is written ~1", text)
		case name == "-":
			return nil, fmt.Errorf(`%q: "-" is the item behind the last one, which is never there`, text)
		}
		p = append(p, PatternElement{Field: name})
	}
	return p, nil
}

func unescapeToken(token string) (string, bool) {
	for i := 0; i < len(token); i++ {
		if token[i] == '~' && (i+1 == len(token) || token[i+1] != '0' && token[i+1] != '1') {
			return "", false
		}
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token), true
}

// parseKeyedPath reads what Path.String writes.
func parseKeyedPath(text string) (PathPattern, error) {
	fail := func(why string) (PathPattern, error) {
		return nil, fmt.Errorf("%q is no path: %s", text, why)
	}
	var p PathPattern
	rest := text
	for len(rest) > 0 {
		if inner, ok := strings.CutPrefix(rest, "["); ok {
			step, after, err := parseBracket(inner)
			if err != nil {
				return fail(err.Error())
			}
			p, rest = append(p, step), after
			continue
		}
		if len(p) > 0 {
			var ok bool
			if rest, ok = strings.CutPrefix(rest, "."); !ok {
				return fail("after ] comes a dot or [")
			}
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		name := rest[:end]
		if name == "" || !plainField(name) {
			return fail(fmt.Sprintf("%q has to stand in brackets, without quotes", name))
		}
		p, rest = append(p, PatternElement{Field: name}), rest[end:]
	}
	if len(p) == 0 {
		return fail("it is empty")
	}
	return p, nil
}

// parseBracket reads what stands in brackets, of which the first one is gone.
func parseBracket(text string) (step PatternElement, rest string, err error) {
	if after, ok := strings.CutPrefix(text, "="); ok {
		quoted, err := strconv.QuotedPrefix(after)
		if err != nil {
			return step, "", errors.New("after [= comes a value in quotes")
		}
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return step, "", err
		}
		rest, ok := strings.CutPrefix(after[len(quoted):], "]")
		if !ok {
			return step, "", errors.New("a bracket is not closed")
		}
		return PatternElement{Value: value}, rest, nil
	}
	inner, rest, ok := strings.Cut(text, "]")
	if !ok {
		return step, "", errors.New("a bracket is not closed")
	}
	if inner == "" {
		return PatternElement{Any: true}, rest, nil
	}
	if index, err := strconv.Atoi(inner); err == nil && index >= 0 {
		return PatternElement{Index: index}, rest, nil
	}
	if !strings.Contains(inner, "=") {
		return PatternElement{Field: inner}, rest, nil
	}
	for part := range strings.SplitSeq(inner, ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok || name == "" {
			return step, "", fmt.Errorf("[%s] is no list of keys and values", inner)
		}
		step.Where = append(step.Where, KeyValue{Name: name, Value: value})
	}
	return step, rest, nil
}

// parseJQ reads an expression of jq that is nothing but a path: .a.b, ."a", .["a"],
// [0], [], a pipe between them, and select(.name == "x" and .kind == "y") behind [].
func parseJQ(text string) (PathPattern, error) {
	j := jqParser{rest: text}
	p, err := j.pipeline()
	if err != nil {
		return nil, fmt.Errorf("jq expression %q is not supported, only plain paths with select(.field == value) are: %w", text, err)
	}
	if len(p) == 0 {
		return nil, fmt.Errorf("jq expression %q is the whole object; to leave out objects, leave them out of what is compared", text)
	}
	return p, nil
}

type jqParser struct{ rest string }

func (j *jqParser) space() { j.rest = strings.TrimLeft(j.rest, " \t\r\n") }

// take takes a token, if that comes next.
func (j *jqParser) take(token string) bool {
	j.space()
	rest, ok := strings.CutPrefix(j.rest, token)
	if ok {
		j.rest = rest
	}
	return ok
}

func (j *jqParser) unexpected() error {
	if j.space(); j.rest == "" {
		return errors.New("it ends too early")
	}
	shown := j.rest
	if len(shown) > 30 {
		shown = strings.ToValidUTF8(shown[:30], "") + "..."
	}
	return fmt.Errorf("at %q", shown)
}

func (j *jqParser) pipeline() (PathPattern, error) {
	var p PathPattern
	for {
		if j.take("select") {
			where, err := j.selection()
			if err != nil {
				return nil, err
			}
			if len(p) == 0 || !p[len(p)-1].Any && p[len(p)-1].Where == nil {
				return nil, errors.New("select has to stand behind []")
			}
			last := &p[len(p)-1]
			*last = PatternElement{Where: append(last.Where, where...)}
		} else {
			steps, err := j.path()
			if err != nil {
				return nil, err
			}
			p = append(p, steps...)
		}
		if j.space(); j.rest == "" {
			return p, nil
		}
		if !j.take("|") {
			return nil, j.unexpected()
		}
	}
}

// path reads .a.b["c"][0][] up to whatever comes then.
func (j *jqParser) path() (PathPattern, error) {
	if !j.take(".") {
		return nil, j.unexpected()
	}
	var p PathPattern
	dot := true // a name may follow, without a dot of its own
	for {
		switch {
		case strings.HasPrefix(j.rest, "["):
			j.rest = j.rest[1:]
			step, err := j.bracket()
			if err != nil {
				return nil, err
			}
			p = append(p, step)
		case strings.HasPrefix(j.rest, "?"):
			// "No error where there is nothing": there never is one here.
			j.rest = j.rest[1:]
			continue
		case dot && strings.HasPrefix(j.rest, `"`):
			name, err := j.text()
			if err != nil {
				return nil, err
			}
			p = append(p, PatternElement{Field: name})
		case dot && j.name() != "":
			name := j.name()
			j.rest = j.rest[len(name):]
			p = append(p, PatternElement{Field: name})
		case !dot && strings.HasPrefix(j.rest, "."):
			j.rest = j.rest[1:]
			dot = true
			continue
		case dot && len(p) > 0:
			return nil, j.unexpected()
		default:
			return p, nil
		}
		dot = false
	}
}

// name gives the name of a field that comes next.
func (j *jqParser) name() string {
	for i, c := range []byte(j.rest) {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return j.rest[:i]
		}
	}
	return j.rest
}

func (j *jqParser) bracket() (PatternElement, error) {
	if j.take("]") {
		return PatternElement{Any: true}, nil
	}
	var step PatternElement
	v, err := j.value()
	if err != nil {
		return step, err
	}
	switch v := v.(type) {
	case string:
		step.Field = v
	case int64:
		if v < 0 || v > 1<<20 {
			return step, fmt.Errorf("index %d", v)
		}
		step.Index = int(v)
	default:
		return step, fmt.Errorf("index %v", v)
	}
	if !j.take("]") {
		return step, j.unexpected()
	}
	return step, nil
}

// selection reads (.name == "x" and .kind == "y").
func (j *jqParser) selection() ([]KeyValue, error) {
	if !j.take("(") {
		return nil, j.unexpected()
	}
	var where []KeyValue
	for {
		field, err := j.path()
		if err != nil {
			return nil, err
		}
		if len(field) != 1 || field[0].Field == "" {
			return nil, errors.New("select compares one field of the item")
		}
		if !j.take("==") {
			return nil, j.unexpected()
		}
		v, err := j.value()
		if err != nil {
			return nil, err
		}
		where = append(where, KeyValue{Name: field[0].Field, Value: v})
		if j.take(")") {
			return where, nil
		}
		if !j.take("and") {
			return nil, j.unexpected()
		}
	}
}

// value reads a text, a whole number or a boolean.
func (j *jqParser) value() (any, error) {
	j.space()
	if strings.HasPrefix(j.rest, `"`) {
		text, err := j.text()
		if err == nil && text == "" {
			err = errors.New("an empty text")
		}
		return text, err
	}
	end := strings.IndexAny(j.rest, " \t\r\n)]|")
	if end < 0 {
		end = len(j.rest)
	}
	word := j.rest[:end]
	i, err := strconv.ParseInt(word, 10, 64)
	switch {
	case err == nil:
		j.rest = j.rest[end:]
		return i, nil
	case word == "true" || word == "false":
		j.rest = j.rest[end:]
		return word == "true", nil
	}
	return nil, j.unexpected()
}

// text reads a string in quotes, without escapes but those that Go has too, and without
// an interpolation.
func (j *jqParser) text() (string, error) {
	quoted, err := strconv.QuotedPrefix(j.rest)
	if err != nil {
		return "", j.unexpected()
	}
	text, err := strconv.Unquote(quoted)
	if err != nil || !utf8.ValidString(text) {
		return "", j.unexpected()
	}
	j.rest = j.rest[len(quoted):]
	return text, nil
}
