package diff

import (
	"fmt"
	"io"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

// UnifiedOptions say how a unified diff is written.
type UnifiedOptions struct {
	// Context is how many equal lines are shown around a difference: 3 when it is 0, none
	// when it is negative.
	Context int
	// Color marks lines by ANSI colours.
	Color bool
}

// WriteUnified writes a unified diff of the YAML of each object that is created, updated
// or deleted. What makes no difference, such as a field that a rule ignores or another
// spelling of a quantity, is shown as it was and is no difference here either. Nothing is
// cut; white space at the end of a line and what does not print is shown escaped.
func (r *Report) WriteUnified(w io.Writer, opts UnifiedOptions) error {
	context := opts.Context
	switch {
	case context == 0:
		context = contextLines
	case context < 0:
		context = 0
	}
	u := &unifiedWriter{textWriter: textWriter{color: opts.Color}}
	for i := range r.changes.Objects {
		if o := &r.changes.Objects[i]; o.Changed() {
			u.object(o, context)
		}
	}
	_, err := w.Write(u.out.Bytes())
	return err
}

type unifiedWriter struct{ textWriter }

func (u *unifiedWriter) object(o *ObjectChange, context int) {
	was := o.Object
	if o.From != nil {
		was = *o.From
	}
	from, to := was.APIVersion+" "+was.String(), o.Object.APIVersion+" "+o.Object.String()
	before, after := o.sides()
	if before == "" {
		from = "/dev/null"
	}
	if after == "" {
		to = "/dev/null"
	}
	u.paint("1", "--- "+visible(from))
	u.out.WriteByte('\n')
	u.paint("1", "+++ "+visible(to))
	u.out.WriteByte('\n')
	for _, h := range textHunks(before, after, context) {
		u.hunk(h)
	}
}

// sides gives both sides of an object as YAML.
func (o *ObjectChange) sides() (before, after string) {
	if o.Before != nil && o.Action != Create {
		before = yamlLines(o.Before)
	}
	if o.After != nil && o.Action != Delete {
		after = yamlLines(o.After)
	}
	if before != "" && after != "" {
		after = yamlLines(aligned(o))
	}
	return before, after
}

func (u *unifiedWriter) hunk(h *udiff.Hunk) {
	from, to := 0, 0
	for _, l := range h.Lines {
		if l.Kind != udiff.Insert {
			from++
		}
		if l.Kind != udiff.Delete {
			to++
		}
	}
	u.paint(colorCyan, fmt.Sprintf("@@ -%s +%s @@", extent(h.FromLine, from), extent(h.ToLine, to)))
	u.out.WriteByte('\n')
	for _, l := range h.Lines {
		mark := lineMark(l.Kind)
		u.paint(markColor(mark), string(mark)+visible(strings.TrimSuffix(l.Content, "\n")))
		u.out.WriteByte('\n')
	}
}

// extent gives where lines are, as diff writes it: of no lines, the line before them.
func extent(first, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", first-1)
	case 1:
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d,%d", first, n)
}
