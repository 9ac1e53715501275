package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Report is a ChangeSet that may be shown: a copy in which everything secret is masked.
// All writers take a Report, so that none of them can leak. It shares no memory with the
// ChangeSet, and writing does not change it.
type Report struct {
	changes ChangeSet
}

// NewReport copies and masks a ChangeSet.
func NewReport(cs *ChangeSet, opts ReportOptions) *Report {
	m := newMasker(opts)
	r := &Report{changes: ChangeSet{
		Objects:   make([]ObjectChange, len(cs.Objects)),
		Unmatched: slices.Clone(cs.Unmatched),
	}}
	for i := range cs.Objects {
		r.changes.Objects[i] = m.object(&cs.Objects[i])
	}
	return r
}

// ChangeSet gives the masked changes, for writers of other formats. They are not to be
// changed. Unchanged objects come without Before and After.
func (r *Report) ChangeSet() *ChangeSet { return &r.changes }

// Counts sums up the report.
func (r *Report) Counts() Counts { return r.changes.Counts() }

// consequence is what a reviewer has to know first about an object. The gravest is the
// first.
type consequence int

const (
	consequenceDeleted consequence = iota
	consequenceRecreated
	consequenceRestarted
	consequenceScaled
	consequenceCreated
	consequenceRenamed
	consequenceInPlace
	consequenceReordered
	consequenceMetadataOnly
	consequenceEffectless
	consequenceUnchanged
	consequences = int(consequenceUnchanged)
)

// words say it of one object or of several: "restarts pods: Deployment shop/web".
func (c consequence) words() string {
	switch c {
	case consequenceDeleted:
		return "deleted"
	case consequenceRecreated:
		return "must be recreated"
	case consequenceRestarted:
		return "restarts pods"
	case consequenceScaled:
		return "changes the number of pods"
	case consequenceCreated:
		return "created"
	case consequenceRenamed:
		return "renamed"
	case consequenceInPlace:
		return "changed in place"
	case consequenceReordered:
		return "order only"
	case consequenceMetadataOnly:
		return "metadata only"
	case consequenceEffectless:
		return "nothing that runs changes"
	case consequenceUnchanged:
	}
	return "unchanged"
}

func (o *ObjectChange) consequence() consequence {
	switch o.Action {
	case Delete:
		return consequenceDeleted
	case Create:
		return consequenceCreated
	case Unchanged:
		return consequenceUnchanged
	case Update:
	}
	switch o.Effect {
	case EffectRecreate:
		return consequenceRecreated
	case EffectRestart:
		return consequenceRestarted
	case EffectScale:
		return consequenceScaled
	case EffectInPlace, EffectOrder, EffectMetadata, EffectNone, EffectAdopt, EffectKept:
	}
	if o.From != nil && o.From.Name != o.Object.Name {
		return consequenceRenamed
	}
	switch o.Effect {
	case EffectInPlace:
		return consequenceInPlace
	case EffectOrder:
		return consequenceReordered
	case EffectMetadata:
		return consequenceMetadataOnly
	case EffectNone, EffectAdopt, EffectKept, EffectScale, EffectRestart, EffectRecreate:
	}
	return consequenceEffectless
}

// mark is what stands before an object in text.
func (c consequence) mark() byte {
	switch c {
	case consequenceDeleted:
		return '-'
	case consequenceCreated:
		return '+'
	case consequenceRecreated:
		return '!'
	case consequenceUnchanged:
		return '='
	}
	return '~'
}

// title names an object, and what it was called before.
func (o *ObjectChange) title() string {
	if o.From == nil {
		return visible(o.Object.String())
	}
	was, is := *o.From, o.Object
	title := is.String()
	switch {
	case was.Kind != is.Kind || was.Namespace != is.Namespace:
		title = was.String() + " -> " + is.String()
	case was.Name != is.Name:
		title = was.String() + " -> " + is.Name
	}
	if was.APIVersion != is.APIVersion && !o.changes("apiVersion") {
		title += " (" + was.APIVersion + " -> " + is.APIVersion + ")"
	}
	return visible(title)
}

// changes reports whether a field of the object itself changes.
func (o *ObjectChange) changes(field string) bool {
	return slices.ContainsFunc(o.Fields, func(f FieldChange) bool { return len(f.Path) == 1 && f.Path[0].Field == field })
}

// happens says in words what happens to an object. Fields that stay are not repeated:
// they are shown themselves.
func (o *ObjectChange) happens() string {
	var words []string
	for _, note := range o.Notes {
		if !slices.ContainsFunc(o.Kept, func(f FieldChange) bool { return strings.HasPrefix(note, f.Path.String()+" stays") }) {
			words = append(words, note)
		}
	}
	if len(words) == 0 {
		words = append(words, o.consequence().words())
	}
	if o.Action == Unchanged {
		for _, f := range []struct {
			fields []FieldChange
			what   string
		}{{o.Adopted, "fields to adopt"}, {o.Kept, "fields kept"}, {o.Foreign, "foreign fields"}} {
			if len(f.fields) > 0 {
				words = append(words, f.what)
			}
		}
	}
	return visible(strings.Join(words, "; "))
}

// summary is one line: "1 to create, 2 to change, 0 to delete, 5 unchanged".
func (n Counts) summary() string {
	return fmt.Sprintf("%d to create, %d to change, %d to delete, %d unchanged", n.Create, n.Update, n.Delete, n.Unchanged)
}

// apart is what is counted apart from changes, empty when there is none.
func (n Counts) apart() string {
	var parts []string
	if n.Adopted > 0 {
		parts = append(parts, "fields to adopt in "+counted(n.Adopted, "object"))
	}
	if n.Kept > 0 {
		parts = append(parts, "fields kept in "+counted(n.Kept, "object"))
	}
	if n.Foreign > 0 {
		parts = append(parts, "foreign fields in "+counted(n.Foreign, "object"))
	}
	if n.Ignored > 0 {
		parts = append(parts, counted(n.Ignored, "difference")+" ignored by rules")
	}
	return strings.Join(parts, ", ")
}

// counted gives "1 object", "2 objects".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

// thousands gives "12,345".
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// visible gives a line as it can be shown: white space at its end and everything that
// does not print, such as a carriage return or what steers a terminal, is escaped.
func visible(line string) string {
	text := strings.TrimRight(line, " \t")
	if text == line && isPlainASCII(line) {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\t' || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += n
	}
	for _, c := range line[len(text):] {
		if c == '\t' {
			b.WriteString(`\t`)
		} else {
			b.WriteString("\u00b7")
		}
	}
	return b.String()
}

func isPlainASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
