package render_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/render"
)

func ExampleRender() {
	replicas := int32(2)
	app := &v1alpha1.AppService{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"},
		Spec: v1alpha1.AppServiceSpec{
			Image:    "nginx:1.29",
			Replicas: &replicas,
			Ports:    []v1alpha1.ServicePort{{Name: "http", Port: 80}},
		},
	}

	result, errs := render.Render(app, render.Options{})
	if len(errs) > 0 {
		fmt.Println(errs.ToAggregate())
		return
	}
	for _, o := range result.Objects {
		fmt.Println(o.GetKind(), o.GetNamespace()+"/"+o.GetName())
	}
	// Output:
	// Service shop/web
	// Deployment shop/web
}

// Every fault is reported, each with its field.
func ExampleRender_faults() {
	app := &v1alpha1.AppService{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: v1alpha1.AppServiceSpec{
			Ports: []v1alpha1.ServicePort{{Port: 80}, {Name: "admin", Port: 80}},
		},
	}
	_, errs := render.Render(app, render.Options{})
	for _, err := range errs {
		fmt.Println(err)
	}
	// Output:
	// spec.image: Required value
	// spec.ports[0].name: Required value: each of several ports needs a name
	// spec.ports[1]: Duplicate value: "80/TCP"
}

// A target says which cluster the objects are meant for.
func ExampleNewTarget() {
	target, err := render.NewTarget("1.8", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	app := &v1alpha1.AppService{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       v1alpha1.AppServiceSpec{Image: "nginx:1.29"},
	}
	_, errs := render.Render(app, render.Options{Target: target})
	fmt.Println(errs.ToAggregate())
	// Output:
	// spec: Forbidden: renders to a Deployment (apps/v1), which the target cluster does not serve: it came with 1.9, the target is 1.8
}

// The objects hold plain values, so any encoder writes them.
func ExampleResult() {
	app := &v1alpha1.AppService{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       v1alpha1.AppServiceSpec{Image: "nginx:1.29", Ports: []v1alpha1.ServicePort{{Port: 80}}},
	}
	result, _ := render.Render(app, render.Options{})
	text, err := yaml.Marshal(result.Objects[0].Object["spec"])
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(text))
	// Output:
	// ports:
	// - port: 80
	//   protocol: TCP
	// selector:
	//   apps.kudevops.io/appservice: web
	// type: ClusterIP
}
