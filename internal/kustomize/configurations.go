package kustomize

import (
	"embed"
	"fmt"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"
)

// The configurations of kustomize's transformers that make them know AppService:
// one file for each transformer.
//
//go:embed configurations/*.yaml
var configurationFiles embed.FS

// configuration is the part of a transformer configuration that ours are about,
// named as kustomize names it.
type configuration struct {
	Images        types.FsSlice   `json:"images,omitempty"`
	Replicas      types.FsSlice   `json:"replicas,omitempty"`
	NamePrefix    types.FsSlice   `json:"namePrefix,omitempty"`
	NameSuffix    types.FsSlice   `json:"nameSuffix,omitempty"`
	NameReference []nameReference `json:"nameReference,omitempty"`
}

// nameReference lists the fields that hold the name of an object of some kind.
type nameReference struct {
	resid.Gvk  `json:",inline"`
	FieldSpecs types.FsSlice `json:"fieldSpecs,omitempty"`
}

// ownConfigurations gives the text of our configurations by the name of the file,
// without the fields that the users' configurations declare otherwise. A file of
// which nothing is left is not there.
//
// What selects pods of an AppService is looked up by name before it is rendered
// (selectors.yaml), and has the prefix of names put before it afterwards (names.yaml),
// so which of the two is given depends on whether a build renders.
func ownConfigurations(users []configuration, renders bool) (map[string][]byte, error) {
	unwanted := "names.yaml"
	if renders {
		unwanted = "selectors.yaml"
	}
	entries, err := configurationFiles.ReadDir("configurations")
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	for _, entry := range entries {
		if entry.Name() == unwanted {
			continue
		}
		text, err := configurationFiles.ReadFile("configurations/" + entry.Name())
		if err != nil {
			return nil, err
		}
		var own configuration
		if err := yaml.UnmarshalStrict(text, &own); err != nil {
			return nil, fmt.Errorf("embedded configuration %s: %w", entry.Name(), err)
		}
		for _, user := range users {
			own = own.without(user)
		}
		if len(own.Images)+len(own.Replicas)+len(own.NamePrefix)+len(own.NameSuffix)+len(own.NameReference) == 0 {
			continue
		}
		if texts[entry.Name()], err = yaml.Marshal(own); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// without gives the configuration without the fields that another one declares
// otherwise.
func (c configuration) without(other configuration) configuration {
	kept := configuration{
		Images:     withoutConflicts(c.Images, other.Images),
		Replicas:   withoutConflicts(c.Replicas, other.Replicas),
		NamePrefix: withoutConflicts(c.NamePrefix, other.NamePrefix),
		NameSuffix: withoutConflicts(c.NameSuffix, other.NameSuffix),
	}
	for _, reference := range c.NameReference {
		for _, o := range other.NameReference {
			if o.Gvk.Equals(reference.Gvk) {
				reference.FieldSpecs = withoutConflicts(reference.FieldSpecs, o.FieldSpecs)
			}
		}
		if len(reference.FieldSpecs) > 0 {
			kept.NameReference = append(kept.NameReference, reference)
		}
	}
	return kept
}

// withoutConflicts leaves out the fields that the others have with another
// `create`, which ends a build with "conflicting fieldspecs". kustomize compares
// when it merges one layer's configuration into another's, and then only whether
// the one that comes covers the kinds of the one that is there (api
// types/fieldspec.go). Which comes first depends on the layers, so either way
// counts.
func withoutConflicts(own, others types.FsSlice) types.FsSlice {
	return slices.DeleteFunc(slices.Clone(own), func(spec types.FieldSpec) bool {
		return slices.ContainsFunc(others, func(other types.FieldSpec) bool {
			return spec.Path == other.Path && spec.CreateIfNotPresent != other.CreateIfNotPresent &&
				(spec.IsSelected(&other.Gvk) || other.IsSelected(&spec.Gvk))
		})
	})
}

// usersConfigurations reads the configurations that the layers declare.
func (t *tree) usersConfigurations() []configuration {
	var users []configuration
	for _, l := range t.layers {
		for _, path := range l.kustomization.Configurations {
			if !filepath.IsAbs(path) {
				path = filepath.Join(l.dir, path)
			}
			dir, file, err := t.disk.CleanedAbs(path)
			if err != nil {
				continue // and the tree has a fault for it
			}
			var user configuration
			// What is broken here kustomize reads after us, and says so.
			if yaml.Unmarshal(t.files[dir.Join(file)], &user) == nil {
				users = append(users, user)
			}
		}
	}
	return users
}
