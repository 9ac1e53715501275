package crd

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sample is the AppService that people know from the tutorial operator.
const sample = `
apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata:
  name: nginx-app
spec:
  replicas: 2
  image: nginx:1.7.9
  ports:
  - port: 80
    targetPort: 80
    nodePort: 30002
`

func TestDefault(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		reason string
		object string
		want   string
	}{
		{name: "status and nothing else", reason: "a bare AppService has no other field with a default",
			object: "{spec: {image: nginx}}",
			want:   "{spec: {image: nginx}, status: {observedGeneration: -1}}"},
		{name: "protocols", reason: "the keys of both lists of ports",
			object: "{spec: {ports: [{port: 80}, {port: 53, protocol: UDP}], containerPorts: [{containerPort: 80}]}, status: {}}",
			want:   "{spec: {ports: [{port: 80, protocol: TCP}, {port: 53, protocol: UDP}], containerPorts: [{containerPort: 80, protocol: TCP}]}, status: {}}"},
		{name: "status kept", reason: "a default replaces nothing",
			object: "{status: {observedGeneration: 3}}",
			want:   "{status: {observedGeneration: 3}}"},
		{name: "nulls", reason: "dropped, or replaced where there is a default",
			object: "{spec: {replicas: null, ports: [{port: 80, protocol: null}], podLabels: {a: null, b: c}}, status: null}",
			want:   "{spec: {ports: [{port: 80, protocol: TCP}], podLabels: {b: c}}, status: {observedGeneration: -1}}"},
		{name: "unknown fields", reason: "they are not Default's business",
			object: "{spec: {imge: nginx, other: null}, status: {}}",
			want:   "{spec: {imge: nginx, other: null}, status: {}}"},
		{name: "wrong types", reason: "there is nothing to fill in",
			object: "{spec: {ports: x}, status: x}",
			want:   "{spec: {ports: x}, status: x}"},
	}
	v := newValidator(t)
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, want := decodeYAML(t, tc.object), decodeYAML(t, tc.want)
			for _, when := range []string{"first", "second"} {
				v.Default(got)
				// Decoding again makes the numbers of a default comparable.
				if diff := cmp.Diff(want, roundTrip(t, got)); diff != "" {
					t.Errorf("%s call: %s (-want +got):\n%s", when, tc.reason, diff)
				}
			}
		})
	}
}

// A default is copied: what happens to one object must not show in the next.
func TestDefaultCopies(t *testing.T) {
	t.Parallel()
	v := newValidator(t)
	first, second := map[string]any{}, map[string]any{}
	v.Default(first)
	first["status"].(map[string]any)["observedGeneration"] = int64(7)
	v.Default(second)
	if got := second["status"].(map[string]any)["observedGeneration"]; got != int64(-1) {
		t.Errorf("observedGeneration defaults to %v, want -1", got)
	}
}

func BenchmarkNewValidator(b *testing.B) {
	for b.Loop() {
		newValidator(b)
	}
}

// The first verdict that needs the CEL rules compiles them.
func BenchmarkNewValidatorWithRules(b *testing.B) {
	obj := decodeYAML(b, sample)
	for b.Loop() {
		newValidator(b).Validate(b.Context(), obj)
	}
}
