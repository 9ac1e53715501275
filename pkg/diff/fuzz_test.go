package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// FuzzDiff compares two objects of any shape in every way. Nothing panics or changes its
// input, an object is the same as itself, and both ways differ or none.
func FuzzDiff(f *testing.F) {
	live := applied(f, "ours", parse(f, typicalDeployment))
	written, err := yaml.Marshal(live.Object)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(written), typicalDeployment)
	for _, seed := range [][2]string{
		{"{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {b: c}}", "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {b: Yw==}}"},
		{"{apiVersion: v1, kind: ConfigMap, metadata: {name: a-12345678}}", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a-12345679}}"},
		{"{apiVersion: v1, kind: Pod, metadata: 1, spec: []}", "{apiVersion: v1, kind: Pod, spec: {containers: [1, {name: []}]}}"},
		{"{apiVersion: v1, kind: Service, spec: {ports: [{port: 53, protocol: UDP}, {port: 53}]}}", "{apiVersion: v1, kind: Service, spec: {ports: [{port: 53.0}]}}"},
		{"{apiVersion: a/b, kind: C, metadata: {managedFields: [{manager: ours, operation: Apply, apiVersion: a/b, fieldsV1: {'f:l': {'k:{\"a\":1}': {'f:b': {}}}}}]}, l: [{a: 1, b: 2}]}", "{apiVersion: a/b, kind: C, l: [{a: 1, b: 3}, 4]}"},
		{"{apiVersion: v1, kind: ResourceQuota, spec: {hard: {cpu: 1e400, pods: '1k'}}}", "{apiVersion: v1, kind: ResourceQuota, spec: {hard: {cpu: 10e399, pods: 1000}}}"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, left, right string) {
		a, b := fuzzed(left), fuzzed(right)
		if a == nil || b == nil {
			return
		}
		keptA, keptB := runtime.DeepCopyJSON(a), runtime.DeepCopyJSON(b)
		list := func(o map[string]any) []*unstructured.Unstructured {
			return []*unstructured.Unstructured{{Object: o}}
		}
		there, errThere := Diff(list(a), list(b), Options{})
		back, errBack := Diff(list(b), list(a), Options{})
		if errThere == nil && errBack == nil && there.Changed() != back.Changed() {
			t.Errorf("there %+v\nback %+v", there.Objects, back.Objects)
		}
		if same, err := Diff(list(a), list(a), Options{}); err == nil && same.Changed() {
			t.Errorf("differs from itself: %+v", same.Objects[0].Fields)
		}
		if live, err := Diff(list(a), list(b), Options{Manager: "ours"}); err == nil {
			live.Counts()
		}
		NewChecker("ours").Changed(list(b)[0], list(a)[0])
		if d := cmp.Diff(keptA, a) + cmp.Diff(keptB, b); d != "" {
			t.Errorf("the input was changed:\n%s", d)
		}
	})
}

// fuzzed gives the object that a text is, as plain JSON values; nil if it is none.
func fuzzed(text string) map[string]any {
	written, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil
	}
	var object map[string]any
	if utiljson.Unmarshal(written, &object) != nil {
		return nil
	}
	return object
}
