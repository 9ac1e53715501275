package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/yaml"
)

const (
	// packageName is what the bundle is a version of.
	packageName = "appsvc"
	// channel is the one that there is. Its name is OLM's for what is not stable yet
	// (olm.operatorframework.io/docs/best-practices/channel-naming).
	channel = "candidate"

	versionKind = "ClusterServiceVersion"

	// annotationsFile is where a bundle says that it is one.
	annotationsFile = "metadata/annotations.yaml"
)

// An object of config/default goes one of three ways:
//
//  1. into the ClusterServiceVersion, from which OLM makes the Deployment, its
//     ServiceAccount and what that may do;
//  2. beside it, as a manifest without a namespace: OLM's user chooses that;
//  3. nowhere: the Namespace, the ServiceAccount and the bindings, which OLM makes.

// bundleOf gives the files of the bundle by their paths.
func bundleOf(objects []*unstructured.Unstructured, base, sample *unstructured.Unstructured, tag string) (map[string][]byte, error) {
	number := strings.TrimPrefix(tag, "v")
	if _, err := version.ParseSemantic(number); err != nil {
		return nil, fmt.Errorf("version %q: %w", tag, err)
	}
	deployment, err := only(objects, "Deployment")
	if err != nil {
		return nil, err
	}
	account, _, err := unstructured.NestedString(deployment.Object, "spec", "template", "spec", "serviceAccountName")
	if err != nil {
		return nil, err
	}
	granted, err := grants(objects, account)
	if err != nil {
		return nil, err
	}
	csv, err := clusterServiceVersion(base, sample, number, deployment, granted)
	if err != nil {
		return nil, err
	}

	files := map[string][]byte{
		annotationsFile:     annotations(),
		"bundle.Dockerfile": dockerfile(),
	}
	if err := add(files, packageName+".clusterserviceversion.yaml", csv); err != nil {
		return nil, err
	}
	for _, o := range objects {
		if madeByOLM(o) || granted.has(o) {
			continue
		}
		o = o.DeepCopy()
		o.SetNamespace("")
		name := o.GetName() + "_" + strings.ToLower(o.GetKind()) + ".yaml"
		if o.GetKind() == "CustomResourceDefinition" {
			plural, group, _ := strings.Cut(o.GetName(), ".")
			name = group + "_" + plural + ".yaml"
		}
		if err := add(files, name, o); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// madeByOLM says whether the object is of those that OLM makes by itself.
func madeByOLM(o *unstructured.Unstructured) bool {
	return slices.Contains([]string{"Deployment", "Namespace", "ServiceAccount", "RoleBinding", "ClusterRoleBinding"}, o.GetKind())
}

// only gives the one object of a kind.
func only(objects []*unstructured.Unstructured, kind string) (*unstructured.Unstructured, error) {
	var found *unstructured.Unstructured
	for _, o := range objects {
		if o.GetKind() != kind {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%s %s and %s: one is expected", kind, found.GetName(), o.GetName())
		}
		found = o
	}
	if found == nil {
		return nil, fmt.Errorf("no %s", kind)
	}
	return found, nil
}

// permissions are the rules that an account has.
type permissions struct {
	account string
	// cluster holds the rules in the whole cluster, namespace those in its own.
	cluster, namespace []any
	roles              []*unstructured.Unstructured
}

func (p permissions) has(role *unstructured.Unstructured) bool {
	return slices.Contains(p.roles, role)
}

// grants follows the bindings of an account to the roles.
func grants(objects []*unstructured.Unstructured, account string) (permissions, error) {
	p := permissions{account: account}
	for _, binding := range objects {
		if kind := binding.GetKind(); kind != "RoleBinding" && kind != "ClusterRoleBinding" {
			continue
		}
		bound, err := binds(binding, account)
		if err != nil {
			return p, err
		}
		if !bound {
			continue
		}
		kind, _, _ := unstructured.NestedString(binding.Object, "roleRef", "kind")
		name, _, _ := unstructured.NestedString(binding.Object, "roleRef", "name")
		i := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool {
			return o.GetKind() == kind && o.GetName() == name
		})
		if i < 0 {
			return p, fmt.Errorf("%s %s: no %s %q", binding.GetKind(), binding.GetName(), kind, name)
		}
		rules, _, err := unstructured.NestedSlice(objects[i].Object, "rules")
		if err != nil {
			return p, fmt.Errorf("%s %s: %w", kind, name, err)
		}
		if binding.GetKind() == "ClusterRoleBinding" {
			p.cluster = append(p.cluster, rules...)
		} else {
			p.namespace = append(p.namespace, rules...)
		}
		p.roles = append(p.roles, objects[i])
	}
	if len(p.roles) == 0 {
		return p, fmt.Errorf("ServiceAccount %q: no binding", account)
	}
	return p, nil
}

func binds(binding *unstructured.Unstructured, account string) (bool, error) {
	subjects, _, err := unstructured.NestedSlice(binding.Object, "subjects")
	if err != nil {
		return false, fmt.Errorf("%s %s: %w", binding.GetKind(), binding.GetName(), err)
	}
	return slices.ContainsFunc(subjects, func(s any) bool {
		subject, _ := s.(map[string]any)
		return subject["kind"] == "ServiceAccount" && subject["name"] == account
	}), nil
}

// clusterServiceVersion completes the base.
func clusterServiceVersion(base, sample *unstructured.Unstructured, number string, deployment *unstructured.Unstructured, granted permissions) (*unstructured.Unstructured, error) {
	if base.GetKind() != versionKind {
		return nil, fmt.Errorf("the base is a %s, not a %s", base.GetKind(), versionKind)
	}
	image, err := imageOf(deployment)
	if err != nil {
		return nil, err
	}
	examples, err := json.MarshalIndent([]any{sample.Object}, "", "  ")
	if err != nil {
		return nil, err
	}
	csv := base.DeepCopy()
	csv.SetName(packageName + ".v" + number)
	notes := csv.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	notes["alm-examples"] = string(examples)
	notes["containerImage"] = image
	csv.SetAnnotations(notes)

	spec, ok := csv.Object["spec"].(map[string]any)
	if !ok {
		return nil, errors.New("the base has no spec")
	}
	spec["version"] = number
	spec["relatedImages"] = []any{map[string]any{"name": deployment.GetName(), "image": image}}
	entry := map[string]any{"name": deployment.GetName(), "spec": deployment.Object["spec"]}
	if labels := deployment.GetLabels(); len(labels) > 0 {
		entry["label"] = labels
	}
	spec["install"] = map[string]any{
		"strategy": "deployment",
		"spec": map[string]any{
			"deployments":        []any{entry},
			"clusterPermissions": []any{map[string]any{"serviceAccountName": granted.account, "rules": granted.cluster}},
			"permissions":        []any{map[string]any{"serviceAccountName": granted.account, "rules": granted.namespace}},
		},
	}
	return csv, nil
}

// imageOf gives the image of the one container.
func imageOf(deployment *unstructured.Unstructured) (string, error) {
	containers, _, err := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	if err != nil {
		return "", err
	}
	if len(containers) != 1 {
		return "", fmt.Errorf("the Deployment %s has %d containers, and one is expected", deployment.GetName(), len(containers))
	}
	container, _ := containers[0].(map[string]any)
	image, _ := container["image"].(string)
	if image == "" {
		return "", fmt.Errorf("the Deployment %s has no image", deployment.GetName())
	}
	return image, nil
}

func add(files map[string][]byte, name string, o *unstructured.Unstructured) error {
	path := "manifests/" + name
	if _, twice := files[path]; twice {
		return fmt.Errorf("%s: two objects", path)
	}
	// By way of JSON, since a label map is a map of strings.
	text, err := yaml.Marshal(o.Object)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	files[path] = text
	return nil
}

// labels say what the folders of the bundle are, by the bundle format's names, in
// annotations.yaml and on an image of the bundle alike.
func labels() [][2]string {
	const prefix = "operators.operatorframework.io.bundle."
	return [][2]string{
		{prefix + "mediatype.v1", "registry+v1"},
		{prefix + "manifests.v1", "manifests/"},
		{prefix + "metadata.v1", "metadata/"},
		{prefix + "package.v1", packageName},
		{prefix + "channels.v1", channel},
		{prefix + "channel.default.v1", channel},
	}
}

func annotations() []byte {
	var b strings.Builder
	b.WriteString("annotations:\n")
	for _, l := range labels() {
		fmt.Fprintf(&b, "  %s: %s\n", l[0], l[1])
	}
	return []byte(b.String())
}

// dockerfile is of an image of the bundle, to be built in its folder.
func dockerfile() []byte {
	var b strings.Builder
	b.WriteString("FROM scratch\n")
	for _, l := range labels() {
		fmt.Fprintf(&b, "LABEL %s=%s\n", l[0], l[1])
	}
	b.WriteString("COPY manifests /manifests/\nCOPY metadata /metadata/\n")
	return []byte(b.String())
}
