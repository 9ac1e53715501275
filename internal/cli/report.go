package cli

import (
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/manifest"
)

// report prints faults and warnings as they come, one line each.
type report struct {
	w      io.Writer
	faults int
}

func newReport(w io.Writer) *report { return &report{w: w} }

func (r *report) add(faults []*manifest.Fault) {
	for _, f := range faults {
		if !f.Warning {
			r.faults++
		}
		fmt.Fprintln(r.w, f.Error())
	}
}

func (r *report) failed() bool { return r.faults > 0 }

// validationFaults gives the renderer's verdict a place in the file.
func validationFaults(o *manifest.Object, errs field.ErrorList) []*manifest.Fault {
	faults := make([]*manifest.Fault, len(errs))
	for i, e := range errs {
		faults[i] = o.Fault(e.Field, e.ErrorBody())
	}
	return faults
}

// skipped says that a document is left out.
func skipped(doc manifest.Document) *manifest.Fault {
	return &manifest.Fault{
		File: doc.File, Line: doc.Line, Warning: true,
		Message: "is no Kubernetes object, it has neither apiVersion nor kind: skipped",
	}
}

// misplaced finds objects that belong neither into a cluster nor to what is
// rendered. A warning among them means that the object is skipped.
func misplaced(o *manifest.Object) *manifest.Fault {
	if path, message := o.Misspelt(); message != "" {
		return o.Fault(path, message)
	}
	switch {
	case o.Group == v1alpha1.Group && o.Kind == v1alpha1.RenderConfigKind:
		fault := o.Fault("", "configures the KRM function and belongs into no cluster: skipped")
		fault.Warning = true
		return fault
	case o.IsResourceList():
		return o.Fault("", "is the input of a KRM function: give it to appsvc-render without a verb")
	}
	return nil
}
