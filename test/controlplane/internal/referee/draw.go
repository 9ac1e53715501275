package referee

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/arbitrary"
	"kudevops.io/appsvc/pkg/render"
)

// appServices draws AppServices and variations of them.
type appServices struct {
	rand *rand.Rand
	seed uint64
	pool []*v1alpha1.AppService
}

// draw gives an AppService that renders, and what it renders to. Its fields are drawn by
// the generator, some of them taken from the pool.
func (d *appServices) draw() (*v1alpha1.AppService, []*unstructured.Unstructured) {
	for {
		app := rapid.Custom(arbitrary.AppService).Example(int(d.rand.Uint32()))
		app.Name = fmt.Sprintf("c%d", d.seed)
		app.Namespace = ""
		d.graft(app, d.rand.IntN(4))
		if objects := d.render(app); objects != nil {
			return app, objects
		}
	}
}

// vary gives what another AppService of the same name renders to: the given one with some
// of its fields as in others.
func (d *appServices) vary(app *v1alpha1.AppService) []*unstructured.Unstructured {
	for {
		other := app.DeepCopy()
		switch d.rand.IntN(4) {
		case 0:
			other.Spec.Image = pick(d.rand, "nginx:1", "nginx:2", "nginx", "nginx@sha256:0123")
		case 1:
			other.Spec.Replicas = nil
		case 2:
			other.Labels = map[string]string{pick(d.rand, "a", "b", "team"): pick(d.rand, "1", "2")}
		}
		another := rapid.Custom(arbitrary.AppService).Example(int(d.rand.Uint32()))
		swap(d.rand, other, another, d.rand.IntN(3))
		d.graft(other, d.rand.IntN(3))
		if objects := d.render(other); objects != nil {
			return objects
		}
	}
}

// graft takes some fields from AppServices of the pool.
func (d *appServices) graft(app *v1alpha1.AppService, fields int) {
	for range fields {
		swap(d.rand, app, d.pool[d.rand.IntN(len(d.pool))], 1)
	}
}

// swap gives app some of the fields that another has.
func swap(r *rand.Rand, app, other *v1alpha1.AppService, fields int) {
	from, to := reflect.ValueOf(other.DeepCopy()).Elem().FieldByName("Spec"), reflect.ValueOf(app).Elem().FieldByName("Spec")
	var given []int
	for i := range from.NumField() {
		if !from.Field(i).IsZero() && from.Type().Field(i).Name != "Patches" {
			given = append(given, i)
		}
	}
	for range min(fields, len(given)) {
		i := given[r.IntN(len(given))]
		to.Field(i).Set(from.Field(i))
	}
}

// render gives the objects as the controller would apply them, nil when app is no good.
func (d *appServices) render(app *v1alpha1.AppService) []*unstructured.Unstructured {
	for i := range app.Spec.Ports {
		// Node ports are there once in a cluster: each case has some of its own.
		if app.Spec.Ports[i].NodePort != 0 {
			app.Spec.Ports[i].NodePort = 30000 + int32(d.seed%60)*8 + int32(i%8)
		}
	}
	result, errs := render.Render(app, render.Options{})
	if len(errs) > 0 {
		return nil
	}
	for _, object := range result.Objects {
		for _, s := range slots(object.Object, nil) {
			if slices.Contains(gated, s.name) {
				s.drop()
			}
		}
		own(object)
	}
	return result.Objects
}

// gated are fields behind feature gates that are off: the API server drops them, so that
// what is wanted never is what is there.
var gated = []string{"bindMountOptions"}

// own makes an object a child of an AppService. The garbage collector does not run: the
// owner need not be there.
func own(object *unstructured.Unstructured) {
	object.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.Kind, Name: object.GetName(),
		UID: "6f2c1a52-95a1-4cc0-a4f3-0c1d4c2a5b10", Controller: new(true), BlockOwnerDeletion: new(true),
	}})
}

// sample gives copies of one of the samples, named after the case.
func sample(r *rand.Rand, seed uint64, samples []*unstructured.Unstructured) *unstructured.Unstructured {
	object := samples[r.IntN(len(samples))].DeepCopy()
	object.SetName(fmt.Sprintf("%s-%d", object.GetName(), seed))
	own(object)
	return object
}
