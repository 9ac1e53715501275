package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// Group is the API group of AppService.
	Group = "apps.kudevops.io"
	// Version is the version that this package describes.
	Version = "v1alpha1"
	// APIVersion is what an AppService has as its apiVersion.
	APIVersion = Group + "/" + Version
	// Kind is the kind of an AppService.
	Kind = "AppService"
	// ListKind is the kind of a list of them.
	ListKind = "AppServiceList"
	// RenderConfigKind is the kind of the object that configures the KRM function.
	// It lives in files only.
	RenderConfigKind = "RenderConfig"
	// Resource is the plural, lower-case name in URLs and in RBAC rules.
	Resource = "appservices"
)

// GroupVersion is the group and version of the objects in this package.
var GroupVersion = schema.GroupVersion{Group: Group, Version: Version}

// SchemeGroupVersion is GroupVersion, under the name that generated code asks for.
var SchemeGroupVersion = GroupVersion

// AddToScheme adds the types of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &AppService{}, &AppServiceList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
