package diff

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	udiff "github.com/aymanbagabas/go-udiff"
)

// Text and Markdown are to be read, so long values are cut, and say so. Unified and
// JSON are complete.
const (
	// maxLine is how many characters of a line are shown.
	maxLine = 2000
	// maxBlock is how many characters of a value of several lines are shown.
	maxBlock = 4000
	// maxObject is how many characters of a whole object are shown.
	maxObject = 20000
	// maxInline is how much of a value is shown where it only has to be recognised.
	maxInline = 200
	// contextLines is how many equal lines are shown around a difference.
	contextLines = 3
)

// line is a line of a text diff. Its text is visible.
type line struct {
	// mark is '+', '-' or ' ', and '@' for what is said about the lines that follow.
	mark byte
	text string
}

// values gives what changes in a field as a text diff: of the texts when all there is
// are texts, of YAML otherwise.
func (f *FieldChange) values() []line {
	before, beforeText := f.Before.(string)
	after, afterText := f.After.(string)
	if (f.Before == nil || beforeText) && (f.After == nil || afterText) {
		return lineDiff(before, after, contextLines)
	}
	if f.Before != nil {
		before = yamlLines(f.Before)
	}
	if f.After != nil {
		after = yamlLines(f.After)
	}
	return lineDiff(before, after, contextLines)
}

// inline gives what changes in a field on one line, when that is possible.
func (f *FieldChange) inline() (string, bool) {
	if !oneLine(f.Before) || !oneLine(f.After) {
		return "", false
	}
	switch {
	case f.Op == Remove || f.After == nil:
		return cutText(flowYAML(f.Before), maxLine), true
	case f.Op == Add || f.Before == nil:
		return cutText(flowYAML(f.After), maxLine), true
	}
	before, after := cutTexts(flowYAML(f.Before), flowYAML(f.After))
	return before + " -> " + after, true
}

// oneLine reports whether a value stands on one line: no lines, no fields, and a list
// only when it is one of a few scalars.
func oneLine(v any) bool {
	switch v := v.(type) {
	case string:
		return !multiline(v)
	case map[string]any:
		return len(v) == 0
	case []any:
		for _, item := range v {
			switch item.(type) {
			case map[string]any, []any:
				return false
			}
		}
		return len(v) == 0 || utf8.RuneCountInString(flowYAML(v)) <= maxInline/2
	}
	return true
}

// remarks are what has to be known about a change of a field. The effect is left out
// where it is that of all fields of the object.
func (f *FieldChange) remarks(o *ObjectChange) []string {
	var out []string
	if f.Default {
		if _, single := f.inline(); single && f.Op == Remove && f.After != nil {
			out = append(out, "falls back to the default "+cutText(flowYAML(f.After), maxInline))
		} else {
			out = append(out, "falls back to the default")
		}
	}
	switch f.Op {
	case Reorder:
		out = append(out, "order")
	case Rename:
		out = append(out, "renamed")
	case Add, Remove, Replace:
	}
	switch f.Effect {
	case EffectRestart, EffectRecreate, EffectScale:
		if !sameEffect(o.Fields) {
			out = append(out, string(f.Effect))
		}
	case EffectNone, EffectMetadata, EffectOrder, EffectInPlace, EffectAdopt, EffectKept:
	}
	if len(f.Owners) > 0 {
		out = append(out, "owned by "+strings.Join(f.Owners, ", "))
	}
	return out
}

// sameEffect reports whether all fields have one effect.
func sameEffect(fields []FieldChange) bool {
	for i := range fields {
		if fields[i].Effect != fields[0].Effect {
			return false
		}
	}
	return true
}

// bracketed gives remarks as they stand behind a value.
func bracketed(remarks []string) string {
	if len(remarks) == 0 {
		return ""
	}
	return "  [" + visible(strings.Join(remarks, ", ")) + "]"
}

// apartLines are the fields whose value stays, each on a line.
func (o *ObjectChange) apartLines() []string {
	var out []string
	for i := range o.Adopted {
		out = append(out, o.Adopted[i].stays("adopt", "owned by "))
	}
	for i := range o.Kept {
		out = append(out, o.Kept[i].stays("kept", "stays: owned by "))
	}
	for i := range o.Foreign {
		out = append(out, o.Foreign[i].stays("foreign", "owned by "))
	}
	if o.Ignored > 0 {
		out = append(out, "ignored by rules: "+counted(o.Ignored, "difference"))
	}
	return out
}

func (f *FieldChange) stays(what, owned string) string {
	v := f.Before
	if v == nil {
		v = f.After
	}
	text := what + " " + visible(f.Path.String()) + ": " + cutText(flowYAML(v), maxInline)
	if len(f.Owners) > 0 {
		text += bracketed([]string{owned + strings.Join(f.Owners, ", ")})
	}
	return text
}

// lineDiff gives the difference of two texts, with as many equal lines around it. Either
// text may be empty: then it has no lines.
func lineDiff(before, after string, context int) []line {
	var out []line
	endsDiffer := before != "" && after != "" && strings.HasSuffix(before, "\n") != strings.HasSuffix(after, "\n")
	add := func(mark byte, content string) {
		text, ended := strings.CutSuffix(content, "\n")
		out = append(out, line{mark, cutText(visible(text), maxLine)})
		if !ended && endsDiffer {
			out = append(out, line{'@', "no line end"})
		}
	}
	if before == "" || after == "" {
		mark, text := byte('+'), after
		if after == "" {
			mark, text = '-', before
		}
		for l := range strings.Lines(text) {
			add(mark, l)
		}
		return out
	}
	for i, h := range textHunks(before, after, context) {
		if i > 0 || h.FromLine > 1 {
			out = append(out, line{'@', "line " + strconv.Itoa(h.FromLine)})
		}
		for _, l := range h.Lines {
			add(lineMark(l.Kind), l.Content)
		}
	}
	return out
}

func lineMark(kind udiff.OpKind) byte {
	switch kind {
	case udiff.Delete:
		return '-'
	case udiff.Insert:
		return '+'
	case udiff.Equal:
	}
	return ' '
}

// textHunks compares two texts by lines.
func textHunks(before, after string, context int) []*udiff.Hunk {
	d, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, after), context)
	if err != nil {
		// The edits are those of these texts, and fit.
		return nil
	}
	return d.Hunks
}

// cutLines leaves out lines beyond a number of characters.
func cutLines(all []line, limit int) []line {
	size := 0
	for i, l := range all {
		size += len(l.text) + 1
		if size > limit && i > 0 {
			return append(all[:i:i], line{'@', "cut: " + counted(len(all)-i, "more line")})
		}
	}
	return all
}

// cutText leaves out what is beyond a number of characters.
func cutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	return firstRunes(s, limit) + fmt.Sprintf("... (cut: %s of %s characters)", thousands(limit), thousands(n))
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// cutTexts cuts two texts so that what differs is still there: of a long beginning that
// is equal in both, only the end is shown.
func cutTexts(a, b string) (string, string) {
	if len(a) <= maxLine && len(b) <= maxLine {
		return a, b
	}
	equal := 0
	for equal < min(len(a), len(b)) && a[equal] == b[equal] {
		equal++
	}
	const shown = 40
	if equal <= 2*shown {
		return cutText(a, maxLine), cutText(b, maxLine)
	}
	skip := equal - shown
	for skip > 0 && !utf8.RuneStart(a[skip]) {
		skip--
	}
	prefix := "... (" + thousands(utf8.RuneCountInString(a[:skip])) + " equal characters) "
	return prefix + cutText(a[skip:], maxLine), prefix + cutText(b[skip:], maxLine)
}
