package manifest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A value from the input can be as long as a document: so many bytes of a message,
// and of each of the other parts of a fault, are shown.
const (
	maxMessage = 600
	maxPart    = 200
)

// Fault is one thing that is wrong with the input, and where.
type Fault struct {
	// File is the name of the file, or of the folder that kustomize built.
	File string
	// Line is the line in File, from 1; 0 when it is not known.
	Line int
	// Origin is the file that an object came from before kustomize built it.
	Origin string
	// Object is the object as "Kind namespace/name"; empty when there is none.
	Object string
	// Path is the field, such as "spec.ports[1].name"; empty for the whole object.
	Path string
	// Message says what is wrong, in lower case.
	Message string
	// Warning says that the input is accepted all the same.
	Warning bool
}

// Error gives the fault as one line: file:line, object, field, message. That of a
// warning says so after the position.
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(oneLine(f.File, maxPart))
	if f.Line > 0 {
		b.WriteByte(':')
		b.WriteString(strconv.Itoa(f.Line))
	}
	if f.Origin != "" {
		b.WriteString(" (from " + oneLine(f.Origin, maxPart) + ")")
	}
	severity := ""
	if f.Warning {
		severity = "warning"
	}
	for _, part := range []string{severity, oneLine(f.Object, maxPart), oneLine(f.Path, maxPart), oneLine(f.Message, maxMessage)} {
		if part != "" {
			if b.Len() > 0 {
				b.WriteString(": ")
			}
			b.WriteString(part)
		}
	}
	return b.String()
}

// oneLine cuts what is long, and escapes what could pretend to be a line of its own
// or change the terminal: names and values come from the input.
func oneLine(s string, limit int) string {
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "..."
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

// sortFaults orders the faults of one document by line, then by text, once each.
func sortFaults(faults []*Fault) []*Fault {
	slices.SortStableFunc(faults, func(a, b *Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(faults, func(a, b *Fault) bool { return *a == *b })
}
