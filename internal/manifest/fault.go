package manifest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// maxMessage is how many bytes of a message are shown; a value from the input can
// be as long as a document.
const maxMessage = 600

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
	b.WriteString(f.File)
	if f.Line > 0 {
		b.WriteByte(':')
		b.WriteString(strconv.Itoa(f.Line))
	}
	if f.Origin != "" {
		b.WriteString(" (from " + f.Origin + ")")
	}
	severity := ""
	if f.Warning {
		severity = "warning"
	}
	for _, part := range []string{severity, f.Object, f.Path, oneLine(f.Message)} {
		if part != "" {
			if b.Len() > 0 {
				b.WriteString(": ")
			}
			b.WriteString(part)
		}
	}
	return b.String()
}

func oneLine(s string) string {
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + "..."
	}
	if strings.ContainsAny(s, "\n\r") {
		s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	}
	return s
}

// sortFaults orders the faults of one document by line, then by text, once each.
func sortFaults(faults []*Fault) []*Fault {
	slices.SortStableFunc(faults, func(a, b *Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(faults, func(a, b *Fault) bool { return *a == *b })
}
