package controller_test

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kudevops.io/appsvc/api/v1alpha1"
)

// TestUpgrade: what a create-only operator of the same API made is taken over. Such an
// operator makes a Deployment and a Service with the labels app: NAME, once, by Create,
// under the name "manager" that controller-runtime gives a program of its scaffolding, and
// never looks at them again.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		selector string
		check    func(k kubectl, before made)
	}{
		{"the selector is kept, and nothing is made anew", "selector: {app: web}, ", kubectl.takenOver},
		{"without the selector it is said what to do", "", kubectl.offered},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k := inShared(t)
			// Nothing is done before the old operator's objects are there.
			k.apply(appServiceOf("web", test.selector+"suspend: true, replicas: 2, ports: [{port: 80}]"))
			before := k.createOnly(k.app("web"))
			k.run("patch", "appservice", "web", "--type=json", "-p", `[{"op": "remove", "path": "/spec/suspend"}]`)
			test.check(k, before)
		})
	}
}

// made is what the old operator made.
type made struct {
	deployment *appsv1.Deployment
	service    *corev1.Service
}

// createOnly does what the old operator does, and waits until the pods run.
func (k kubectl) createOnly(app *v1alpha1.AppService) made {
	k.t.Helper()
	ctx, client := k.t.Context(), k.cluster.Client()
	labels := map[string]string{"app": app.Name}
	owner := metav1.NewControllerRef(app, v1alpha1.GroupVersion.WithKind("AppService"))
	meta := metav1.ObjectMeta{Name: app.Name, Namespace: k.namespace, OwnerReferences: []metav1.OwnerReference{*owner}}
	by := metav1.CreateOptions{FieldManager: "manager"}
	deployment, err := client.AppsV1().Deployments(k.namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: meta,
		Spec: appsv1.DeploymentSpec{
			Replicas: app.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: app.Name, Image: app.Spec.Image, ImagePullPolicy: corev1.PullIfNotPresent,
					Ports: []corev1.ContainerPort{{ContainerPort: 80}},
					Env:   []corev1.EnvVar{{Name: "GONE", Value: "with the old operator"}},
				}}},
			},
		},
	}, by)
	if err != nil {
		k.t.Fatal(err)
	}
	service, err := client.CoreV1().Services(k.namespace).Create(ctx, &corev1.Service{
		ObjectMeta: meta,
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeNodePort, Selector: labels,
			Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(80)}},
		},
	}, by)
	if err != nil {
		k.t.Fatal(err)
	}
	k.shows("2", "deployment", app.Name, "{.status.readyReplicas}")
	return made{deployment, service}
}

// takenOver: same objects, same addresses, at most one rolling restart, and what the old
// operator wrote and nobody wants is gone.
func (k kubectl) takenOver(before made) {
	k.t.Helper()
	k.reaches("web", metav1.ConditionTrue, v1alpha1.ReasonAvailable)
	k.settled()
	deployment, service := k.pair()
	if deployment.UID != before.deployment.UID || service.UID != before.service.UID {
		k.t.Error("an object was made anew")
	}
	if service.Spec.ClusterIP != before.service.Spec.ClusterIP {
		k.t.Errorf("the address of the Service was %s, and is %s", before.service.Spec.ClusterIP, service.Spec.ClusterIP)
	}
	if revision := deployment.Annotations["deployment.kubernetes.io/revision"]; revision != "1" && revision != "2" {
		k.t.Errorf("revision %s: more than one rolling restart", revision)
	}
	containers := deployment.Spec.Template.Spec.Containers
	if len(containers) != 1 || containers[0].Name != "app" || len(containers[0].Env) != 0 {
		k.t.Errorf("the old container is left: %v", containers)
	}
	for _, object := range []metav1.Object{deployment, service} {
		for _, entry := range object.GetManagedFields() {
			if entry.Manager == "manager" && entry.Subresource == "" {
				k.t.Errorf("%s: fields still belong to the old operator", object.GetName())
			}
		}
	}
	k.run("delete", "appservice", "web")
	eventually(k.t, func(context.Context) error { return wants(k.run("get", "deployments,services", "-o", "name"), "") })
}

// offered: the selector of a Deployment cannot be changed. That is said, together with the
// ways out, and nothing is touched; the Deployment is made anew when that is asked for.
func (k kubectl) offered(before made) {
	k.t.Helper()
	app := k.reaches("web", metav1.ConditionFalse, v1alpha1.ReasonImmutableField)
	says(k.t, condition(app, v1alpha1.ConditionStalled).Message, "Deployment", "spec.selector", v1alpha1.RecreateAnnotation)
	k.settled()
	deployment, _ := k.pair()
	if deployment.Generation != before.deployment.Generation {
		k.t.Error("the Deployment was touched")
	}
	writes := k.writes()
	k.run("annotate", "appservice", "web", fmt.Sprintf("%s=%d", v1alpha1.RecreateAnnotation, app.Generation-1))
	k.settled()
	if again := k.writes().Since(writes); again.Total() > 3 {
		k.t.Errorf("another generation's annotation led to %s", again)
	}
	k.reaches("web", metav1.ConditionFalse, v1alpha1.ReasonImmutableField)

	k.run("annotate", "--overwrite", "appservice", "web", fmt.Sprintf("%s=%d", v1alpha1.RecreateAnnotation, app.Generation))
	k.reaches("web", metav1.ConditionTrue, v1alpha1.ReasonAvailable)
	k.settled()
	deployment, service := k.pair()
	if deployment.UID == before.deployment.UID || service.UID != before.service.UID {
		k.t.Error("the Deployment alone is to be made anew")
	}
	k.shows("web", "deployment", "web", `{.spec.selector.matchLabels.apps\.kudevops\.io/appservice}`)
}

func (k kubectl) pair() (*appsv1.Deployment, *corev1.Service) {
	k.t.Helper()
	deployment, err := k.cluster.Client().AppsV1().Deployments(k.namespace).Get(k.t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		k.t.Fatal(err)
	}
	service, err := k.cluster.Client().CoreV1().Services(k.namespace).Get(k.t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		k.t.Fatal(err)
	}
	return deployment, service
}
