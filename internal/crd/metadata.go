package crd

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apimachinery/pkg/api/operation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/storage/names"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// prepareCreate does what the API server does between decoding an object and
// validating it when it is to be created, and returns what is wrong with its
// metadata (BeforeCreate in apiserver/pkg/registry/rest, PrepareForCreate of the
// strategy for custom resources).
func (o *object) prepareCreate(ctx context.Context) field.ErrorList {
	// With a status subresource, a status cannot be created.
	delete(o.content, "status")
	if o.meta == nil {
		return nil
	}
	var errs field.ErrorList
	// apiserver/pkg/storage/etcd3 refuses any other version than 0, which means none.
	if version := o.meta.ResourceVersion; version != "" && version != "0" {
		errs = append(errs, field.Invalid(metadataPath().Child("resourceVersion"), version, "should not be set on objects to be created"))
	}
	o.meta.UID = ""
	o.meta.CreationTimestamp = metav1.Time{}
	o.meta.DeletionTimestamp = nil
	o.meta.DeletionGracePeriodSeconds = nil
	o.meta.Generation = 1
	o.complete()
	errs = append(errs, apivalidation.ValidateObjectMetaDeclaratively(ctx, operation.Create, o.meta, nil, true, apivalidation.NameIsDNSSubdomain, metadataPath(), betaRules())...)
	return o.withoutConsequences(append(errs, o.writeMetadata()...))
}

// prepareUpdate is prepareCreate for an object that replaces before (BeforeUpdate
// and PrepareForUpdate in the same places).
func (o *object) prepareUpdate(ctx context.Context, before *object) field.ErrorList {
	// With a status subresource, a status is not updated with the rest.
	delete(o.content, "status")
	if status, ok := before.content["status"]; ok {
		o.content["status"] = status
	}
	if o.meta == nil || before.meta == nil {
		return nil
	}
	before.complete()
	o.complete()
	// Who applies or patches need not name the version that is replaced: the API
	// server takes the present one. A stored object always has one.
	before.meta.ResourceVersion = cmp.Or(before.meta.ResourceVersion, "1")
	o.meta.ResourceVersion = cmp.Or(o.meta.ResourceVersion, before.meta.ResourceVersion)
	o.meta.UID = cmp.Or(o.meta.UID, before.meta.UID)
	o.meta.Generation = before.meta.Generation
	o.meta.CreationTimestamp = before.meta.CreationTimestamp
	if !before.meta.DeletionTimestamp.IsZero() {
		o.meta.DeletionTimestamp = before.meta.DeletionTimestamp
	}
	if o.meta.DeletionGracePeriodSeconds == nil {
		o.meta.DeletionGracePeriodSeconds = before.meta.DeletionGracePeriodSeconds
	}
	errs := apivalidation.ValidateObjectMeta(o.meta, true, apivalidation.NameIsDNSSubdomain, metadataPath())
	errs = append(errs, apivalidation.ValidateObjectMetaDeclaratively(ctx, operation.Update, o.meta, before.meta, true, nil, metadataPath(), betaRules())...)
	errs = append(errs, before.writeMetadata()...)
	return o.withoutConsequences(append(errs, o.writeMetadata()...))
}

// complete fills in what the API server fills in for whoever left it out. What it
// puts into managedFields is always valid, whatever came in.
func (o *object) complete() {
	o.meta.Namespace = cmp.Or(o.meta.Namespace, metav1.NamespaceDefault)
	o.meta.ManagedFields = nil
	if o.meta.Name == "" && o.meta.GenerateName != "" {
		base := o.meta.GenerateName
		// Any suffix of the letters and digits that the API server draws from is as
		// good as another for every rule, and a constant one keeps verdicts equal.
		o.meta.Name = base[:min(len(base), names.MaxGeneratedNameLength)] + "xxxxx"
	}
}

// writeMetadata puts meta, as it is now, into content.
func (o *object) writeMetadata() field.ErrorList {
	if err := objectmeta.SetObjectMeta(o.content, o.meta); err != nil {
		return field.ErrorList{field.InternalError(metadataPath(), err)}
	}
	return nil
}

// withoutConsequences drops errors in fields that the decoder has complained of:
// a name that is a number is not a missing name.
func (o *object) withoutConsequences(errs field.ErrorList) field.ErrorList {
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		return slices.ContainsFunc(o.errs, func(cause *field.Error) bool { return cause.Field == err.Field })
	})
}

// betaRules says whether the API server of this release checks the rules that
// Kubernetes calls beta.
func betaRules() bool {
	return utilfeature.DefaultFeatureGate.Enabled(features.DeclarativeValidationBeta)
}
