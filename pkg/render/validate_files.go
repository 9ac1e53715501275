package render

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudevops.io/appsvc/api/v1alpha1"
)

// maxFiles is how much fits into a ConfigMap, in bytes (MaxSecretSize in
// k8s.io/kubernetes pkg/apis/core/types.go, which counts for both).
const maxFiles = 1 << 20

func validateFiles(s *v1alpha1.AppServiceSpec) field.ErrorList {
	if len(s.Files) == 0 {
		return nil
	}
	at := paths.spec.Child("files")
	errs := atMost(at, len(s.Files), 200)
	total := 0
	keys := make(map[string]bool, len(s.Files))
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		content := s.Files[name]
		total += len(content) + len(name)
		here := at.Key(name)
		if !path.IsAbs(name) || path.Clean(name) != name || name == "/" {
			errs = append(errs, field.Invalid(here, name, "must be the absolute path of a file, without '.', '..' and double slashes"))
			continue
		}
		if keys[fileKey(name)] {
			errs = append(errs, field.Invalid(here, name, "another path has the same key in the ConfigMap: "+fileKey(name)))
		}
		keys[fileKey(name)] = true
		if strings.Contains(name, ":") {
			errs = append(errs, field.Invalid(here, name, "must not contain ':'"))
		}
		for _, msg := range validation.IsConfigMapKey(fileKey(name)) {
			errs = append(errs, field.Invalid(here, name, "each part of the path: "+msg))
		}
		if strings.Contains(name, "..") {
			errs = append(errs, field.Invalid(here, name, "must not contain '..', which stands for a slash in the key of the ConfigMap"))
		}
		if slices.ContainsFunc(s.VolumeMounts, func(m corev1.VolumeMount) bool { return path.Clean(m.MountPath) == name }) {
			errs = append(errs, field.Duplicate(here, name))
		}
	}
	if total > maxFiles {
		errs = append(errs, field.TooLong(at, field.OmitValueType{}, maxFiles))
	}
	for i, v := range s.Volumes {
		if v.Name == filesVolume {
			errs = append(errs, field.Forbidden(paths.spec.Child("volumes").Index(i).Child("name"), fmt.Sprintf("%q is the volume of spec.files", filesVolume)))
		}
	}
	return errs
}
