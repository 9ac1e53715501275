package cli

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/manifest"
	"kudevops.io/appsvc/pkg/render"
)

// renderAppService reads an AppService and renders it. One without a namespace goes to
// the one that is given, if any. The app is nil when it cannot be rendered: then at least
// one of the faults is no warning.
func renderAppService(o *manifest.Object, namespace string, opts render.Options) (app *v1alpha1.AppService, children []*unstructured.Unstructured, faults []*manifest.Fault) {
	app, faults = o.AppService()
	if app == nil {
		return nil, nil, faults
	}
	broken := len(faults) > 0
	if app.Namespace == "" && namespace != "" {
		app.Namespace = namespace
		o.SetNamespace(namespace)
	}
	result, errs := render.Render(app, opts)
	for _, w := range result.Warnings {
		fault := o.Fault(w.Field, w.Message)
		fault.Warning = true
		faults = append(faults, fault)
	}
	faults = append(faults, validationFaults(o, errs)...)
	if broken || len(errs) > 0 {
		return nil, nil, faults
	}
	return app, result.Objects, faults
}
