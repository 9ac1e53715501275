package diff

import (
	"bytes"
	"io"
)

// WriteNames writes one line for each object that is created, updated or deleted: the
// action and its name, and what it was called before:
//
//	update Deployment shop/web
//	update ConfigMap shop/web-9c2b (was ConfigMap shop/web-5d8f)
func (r *Report) WriteNames(w io.Writer) error {
	var out bytes.Buffer
	for i := range r.changes.Objects {
		o := &r.changes.Objects[i]
		if !o.Changed() {
			continue
		}
		out.WriteString(string(o.Action) + " " + visible(o.Object.String()))
		if o.From != nil && o.From.String() != o.Object.String() {
			out.WriteString(" (was " + visible(o.From.String()) + ")")
		}
		out.WriteByte('\n')
	}
	_, err := w.Write(out.Bytes())
	return err
}
