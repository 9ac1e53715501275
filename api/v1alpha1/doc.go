// Package v1alpha1 holds the AppService API, group apps.kudevops.io.
//
// An AppService says what a stateless service is (an image, its ports, its
// environment) and leaves to pkg/render what Kubernetes objects that takes.
// Every field has the native Kubernetes type and name where one exists, so that
// what is known about a Deployment or a Service is known about an AppService.
//
// The package promises that an AppService which is valid today means the same
// tomorrow: a new default comes in a new spec.profile and never changes what an
// existing AppService renders to. The schema itself carries no defaults beyond
// the protocol of a port, which the key of a list needs, and the status that
// says "nobody has looked at this yet".
//
// The rules that the API server checks are markers on the types; pkg/render
// refuses all that they refuse, and more (docs/validation.md).
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +groupName=apps.kudevops.io
package v1alpha1
