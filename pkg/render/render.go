package render

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudevops.io/appsvc/api/v1alpha1"
)

// Options say for which cluster objects are rendered. The zero value stands for
// the newest Kubernetes that this package knows, serving every kind that it
// renders.
type Options struct {
	// Target is the cluster that the objects are meant for. Nil means the newest.
	Target *Target
}

// Result is what an AppService renders to.
type Result struct {
	// Objects are in the order in which they are applied. The caller owns them.
	Objects []*unstructured.Unstructured
	// Warnings name what is allowed and probably not meant, sorted by field.
	Warnings []Warning
}

// Warning names a field that is allowed and probably not meant.
type Warning struct {
	// Field is the path, such as "spec.service".
	Field string
	// Message says what will happen, in lower case and without the path.
	Message string
}

// String gives the warning as one line, the field first.
func (w Warning) String() string { return w.Field + ": " + w.Message }

// Render turns an AppService into objects. It neither keeps nor changes app, and
// may be called by several goroutines at once, with the same app too.
//
// When the list of errors is not empty, it holds every fault of app, sorted by
// field, and Result has no objects. The status of app, and whether it is
// suspended, make no difference.
func Render(app *v1alpha1.AppService, opts Options) (Result, field.ErrorList) {
	ports, errs := validate(app)
	errs = append(errs, opts.Target.lacks(&app.Spec)...)
	if len(errs) > 0 {
		return Result{}, sorted(errs)
	}

	r := renderer{app: app, ports: ports, defaults: defaultsOf(app.Spec.Profile)}
	objects := make([]*unstructured.Unstructured, 0, len(children))
	for _, c := range children {
		if c.wanted(&app.Spec) {
			objects = append(objects, &unstructured.Unstructured{Object: c.render(&r)})
		}
	}
	if errs := patch(app, objects); len(errs) > 0 {
		return Result{}, sorted(errs)
	}
	return Result{Objects: objects, Warnings: warnings(app)}, nil
}

// Validate reports what Render would: every fault, sorted by field, and the
// warnings.
func Validate(app *v1alpha1.AppService, opts Options) (field.ErrorList, []Warning) {
	_, errs := Render(app, opts)
	return errs, warnings(app)
}

// renderer holds what the objects of one AppService have in common.
type renderer struct {
	app      *v1alpha1.AppService
	ports    portTable
	defaults defaults
}

// name is the name of every object that has no content hash in its own.
func (r *renderer) name() string { return r.app.Name }
