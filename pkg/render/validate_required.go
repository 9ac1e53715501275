package render

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// needs are the fields that native structs must have and that no other rule asks for, by
// the name of the field that holds the struct. The CRD requires the same ones. Go's types
// cannot tell an absent number or text from 0 or "", so these are refused with it.
var needs = map[string][]string{
	// Sources of volumes.
	"awsElasticBlockStore": {"volumeID"},
	"azureDisk":            {"diskName", "diskURI"},
	"azureFile":            {"secretName", "shareName"},
	"cephfs":               {"monitors"},
	"cinder":               {"volumeID"},
	"clusterTrustBundle":   {"path"},
	"csi":                  {"driver"},
	"dataSource":           {"kind", "name"},
	"dataSourceRef":        {"kind", "name"},
	"flexVolume":           {"driver"},
	"gcePersistentDisk":    {"pdName"},
	"gitRepo":              {"repository"},
	"glusterfs":            {"endpoints", "path"},
	"iscsi":                {"iqn", "targetPortal"},
	"nfs":                  {"path", "server"},
	"photonPersistentDisk": {"pdID"},
	"podCertificate":       {"keyType", "signerName"},
	"portworxVolume":       {"volumeID"},
	"quobyte":              {"registry", "volume"},
	"rbd":                  {"image", "monitors"},
	"scaleIO":              {"gateway", "secretRef", "system"},
	"volumeClaimTemplate":  {"spec"},
	"vsphereVolume":        {"volumePath"},

	// Metrics.
	"containerResource": {"container", "name"},
	"describedObject":   {"kind", "name"},
	"metric":            {"name"},
	"resource":          {"name"},
	"target":            {"type"},

	// Containers and pods.
	"appArmorProfile":    {"type"},
	"exitCodes":          {"operator"},
	"resizePolicy":       {"resourceName", "restartPolicy"},
	"restartPolicyRules": {"action"},
	"seccompProfile":     {"type"},
	"sysctls":            {"name", "value"},
	"volumeDevices":      {"devicePath", "name"},

	"matchExpressions": {"key", "operator"},
}

// missing names what needs asks for and a plain value lacks: that of the field called
// name, at a path, and all in it.
func missing(at *field.Path, name string, value any) field.ErrorList {
	var errs field.ErrorList
	switch v := value.(type) {
	case map[string]any:
		for _, need := range needs[name] {
			if isEmpty(v[need]) {
				errs = append(errs, field.Required(at.Child(need), ""))
			}
		}
		for key, child := range v {
			switch child.(type) {
			case map[string]any, []any:
				errs = append(errs, missing(at.Child(key), key, child)...)
			}
		}
	case []any:
		for i, item := range v {
			errs = append(errs, missing(at.Index(i), name, item)...)
		}
	}
	return errs
}

// isEmpty says whether a plain value is what Go's types write for none.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// validateRareFields checks the fields of a container that few have. What is in none of
// them is not made plain: that would cost more than all other checks.
func validateRareFields(at *field.Path, c *corev1.Container) field.ErrorList {
	var errs field.ErrorList
	if s := c.SecurityContext; s != nil && (s.SeccompProfile != nil || s.AppArmorProfile != nil) {
		errs = append(errs, missing(at.Child("securityContext"), "", plain(s))...)
	}
	if c.ResizePolicy == nil && c.RestartPolicyRules == nil && c.VolumeDevices == nil {
		return errs
	}
	errs = append(errs, missing(at, "", plain(&corev1.Container{
		ResizePolicy:       c.ResizePolicy,
		RestartPolicyRules: c.RestartPolicyRules,
		VolumeDevices:      c.VolumeDevices,
	}))...)
	for i, rule := range c.RestartPolicyRules {
		if rule.ExitCodes != nil {
			errs = append(errs, unique(at.Child("restartPolicyRules").Index(i).Child("exitCodes", "values"), rule.ExitCodes.Values)...)
		}
	}
	devices := make(map[string]bool, len(c.VolumeDevices))
	for i, d := range c.VolumeDevices {
		if devices[d.DevicePath] {
			errs = append(errs, field.Duplicate(at.Child("volumeDevices").Index(i).Child("devicePath"), d.DevicePath))
		}
		devices[d.DevicePath] = true
	}
	return errs
}

// unique refuses a value that a list, which is a set, has already.
func unique[T comparable](at *field.Path, list []T) field.ErrorList {
	var errs field.ErrorList
	seen := make(map[T]bool, len(list))
	for i, v := range list {
		if seen[v] {
			errs = append(errs, field.Duplicate(at.Index(i), v))
		}
		seen[v] = true
	}
	return errs
}
