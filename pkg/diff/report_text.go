package diff

import (
	"bytes"
	"io"
	"strings"
)

// TextOptions say how text is written.
type TextOptions struct {
	// Color marks what is added, removed and grave by ANSI colours.
	Color bool
}

// WriteText writes a report for people at a terminal:
//
//	~ Deployment shop/web: rolls 3 pods
//	  ~ spec.template.spec.containers[name=app].image: web:1.0 -> web:1.1
//
//	0 to create, 1 to change, 0 to delete, 5 unchanged
//
// Objects that are the same and need no write are only counted. A created object is
// shown whole, a deleted one by its name. Long values are cut, and say by how much.
func (r *Report) WriteText(w io.Writer, opts TextOptions) error {
	t := &textWriter{color: opts.Color}
	for i := range r.changes.Objects {
		t.object(&r.changes.Objects[i])
	}
	t.summary(r)
	_, err := w.Write(t.out.Bytes())
	return err
}

type textWriter struct {
	out   bytes.Buffer
	color bool
}

// SGR parameters.
const (
	colorRed    = "31"
	colorGreen  = "32"
	colorYellow = "33"
	colorCyan   = "36"
	colorBold   = "1;"
	colorFaint  = "2"
)

// paint writes a text in a colour; none for "".
func (t *textWriter) paint(color, text string) {
	if !t.color || color == "" || text == "" {
		t.out.WriteString(text)
		return
	}
	t.out.WriteString("\x1b[" + color + "m" + text + "\x1b[0m")
}

func (c consequence) color() string {
	switch c {
	case consequenceDeleted, consequenceRecreated:
		return colorBold + colorRed
	case consequenceRestarted:
		return colorBold + colorYellow
	case consequenceCreated:
		return colorBold + colorGreen
	case consequenceUnchanged:
		return colorFaint
	}
	return colorYellow
}

func markColor(mark byte) string {
	switch mark {
	case '+':
		return colorGreen
	case '-':
		return colorRed
	case '~':
		return colorYellow
	case '@':
		return colorCyan
	}
	return ""
}

// shown reports whether there is anything to say about an object.
func (o *ObjectChange) shown() bool {
	return o.Changed() || len(o.Adopted) > 0 || len(o.Kept) > 0 || len(o.Foreign) > 0
}

func (t *textWriter) object(o *ObjectChange) {
	if !o.shown() {
		return
	}
	c := o.consequence()
	t.paint(c.color(), string(c.mark())+" "+o.title()+": "+o.happens())
	t.out.WriteByte('\n')
	if o.Action == Create && o.After != nil {
		for _, l := range cutLines(lineDiff("", yamlLines(o.After), 0), maxObject) {
			t.line("    ", l)
		}
	}
	for i := range o.Fields {
		t.field(o, &o.Fields[i])
	}
	for _, text := range o.apartLines() {
		t.out.WriteString("  ")
		t.paint(colorFaint, text)
		t.out.WriteByte('\n')
	}
	t.out.WriteByte('\n')
}

// field writes a change on one line, or its text diff below its path.
func (t *textWriter) field(o *ObjectChange, f *FieldChange) {
	mark := f.mark()
	t.out.WriteString("  ")
	t.paint(markColor(mark), string(mark))
	t.out.WriteString(" " + visible(f.Path.String()) + ":")
	text, single := f.inline()
	if single {
		t.out.WriteString(" " + text)
	}
	t.paint(colorFaint, bracketed(f.remarks(o)))
	t.out.WriteByte('\n')
	if single {
		return
	}
	for _, l := range cutLines(f.values(), maxBlock) {
		t.line("      ", l)
	}
}

func (f *FieldChange) mark() byte {
	switch f.Op {
	case Add:
		return '+'
	case Remove:
		return '-'
	case Replace, Reorder, Rename:
	}
	return '~'
}

func (t *textWriter) line(indent string, l line) {
	t.out.WriteString(indent)
	text := string(l.mark) + " " + l.text
	if l.text == "" {
		text = strings.TrimRight(string(l.mark), " ")
	}
	t.paint(markColor(l.mark), text)
	t.out.WriteByte('\n')
}

// maxNamed is how many objects are named in a line that sums up.
const maxNamed = 10

// summary ends a report with what is gravest in it, where a terminal stands.
func (t *textWriter) summary(r *Report) {
	n := r.Counts()
	if n.Create+n.Update+n.Delete > 1 {
		for _, c := range []consequence{consequenceDeleted, consequenceRecreated, consequenceRestarted} {
			t.named(c, r.with(c))
		}
	}
	t.paint("1", n.summary())
	t.out.WriteByte('\n')
	if apart := n.apart(); apart != "" {
		t.out.WriteString("apart from that: " + apart + "\n")
	}
}

func (t *textWriter) named(c consequence, objects []*ObjectChange) {
	if len(objects) == 0 {
		return
	}
	var names []string
	for _, o := range objects[:min(len(objects), maxNamed)] {
		names = append(names, visible(o.Object.String()))
	}
	text := strings.Join(names, ", ")
	if rest := len(objects) - maxNamed; rest > 0 {
		text += " and " + thousands(rest) + " more"
	}
	t.paint(c.color(), c.words()+": "+text)
	t.out.WriteByte('\n')
}

// with gives the objects of a consequence.
func (r *Report) with(c consequence) []*ObjectChange {
	var out []*ObjectChange
	for i := range r.changes.Objects {
		if o := &r.changes.Objects[i]; o.consequence() == c {
			out = append(out, o)
		}
	}
	return out
}
