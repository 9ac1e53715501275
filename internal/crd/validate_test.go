package crd

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// parts are the parts of an AppService as YAML. Those that are empty are taken
// from a valid one; more stands beside metadata and spec.
type parts struct {
	apiVersion, kind, metadata, spec, more string
}

func (p parts) text() string {
	return fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: %s, spec: %s%s}",
		orDefault(p.apiVersion, "apps.kudevops.io/v1alpha1"),
		orDefault(p.kind, "AppService"),
		orDefault(p.metadata, "{name: web, namespace: shop}"),
		orDefault(p.spec, "{image: nginx}"),
		p.more,
	)
}

func (p parts) object(t testing.TB) map[string]any {
	t.Helper()
	return decodeYAML(t, p.text())
}

func roundTrip(t testing.TB, obj map[string]any) map[string]any {
	t.Helper()
	text, err := yaml.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return decodeYAML(t, string(text))
}

func orDefault(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}

func decodeYAML(t testing.TB, text string) map[string]any {
	t.Helper()
	var obj map[string]any
	if err := yaml.UnmarshalStrict([]byte(text), &obj); err != nil {
		t.Fatalf("test input: %v\n%s", err, text)
	}
	return obj
}

func newValidator(t testing.TB) *Validator {
	t.Helper()
	v, err := NewValidator()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// report is a Verdict in a form that a table can hold.
type report struct {
	errors  []string
	unknown []string
	skipped bool
}

func reportOf(v Verdict) report {
	r := report{unknown: v.UnknownFields, skipped: v.RulesSkipped}
	for _, err := range v.Errors {
		r.errors = append(r.errors, err.Error())
	}
	return r
}

var compareReports = cmp.Options{cmp.AllowUnexported(report{}), cmpopts.EquateEmpty()}

const (
	notALabel     = `metadata.name in body should match '^[a-z]([-a-z0-9]*[a-z0-9])?$'`
	notASubdomain = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
	notANamespace = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`
	notAKey       = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`
	notAValue     = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`
	notAQuantity  = `in body should match '^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$'`
)

func TestValidate(t *testing.T) {
	t.Parallel()
	name63 := strings.Repeat("a", 63)
	cases := []struct {
		name   string
		reason string
		object parts
		want   report
	}{
		// Names.
		{name: "name of 63", reason: "the longest name that a Service can have",
			object: parts{metadata: "{name: " + name63 + "}"}},
		{name: "name of 64", reason: "one more, and the children cannot be made",
			object: parts{metadata: "{name: " + name63 + "a}"},
			want:   report{errors: []string{"metadata.name: Too long: may not be more than 63 bytes"}, skipped: true}},
		{name: "name of one letter", reason: "the shortest name",
			object: parts{metadata: "{name: a}"}},
		{name: "name with a leading digit", reason: "fine for a Deployment, not for a Service",
			object: parts{metadata: "{name: 1web}"},
			want:   report{errors: []string{`metadata.name: Invalid value: "1web": ` + notALabel}}},
		{name: "name with a dot", reason: "fine for a Deployment, not for a Service",
			object: parts{metadata: "{name: web.v2}"},
			want:   report{errors: []string{`metadata.name: Invalid value: "web.v2": ` + notALabel}}},
		{name: "name with a capital", reason: "both Kubernetes' rule for every name and ours are broken",
			object: parts{metadata: "{name: Web}"},
			want:   report{errors: []string{`metadata.name: Invalid value: "Web": ` + notASubdomain, `metadata.name: Invalid value: "Web": ` + notALabel}}},
		{name: "no name", reason: "Kubernetes wants one of two fields",
			object: parts{metadata: "{namespace: shop}"},
			want:   report{errors: []string{"metadata.name: Required value: name or generateName is required"}, skipped: true}},
		{name: "generateName", reason: "the API server makes a name of it",
			object: parts{metadata: "{generateName: web-}"}},
		{name: "long generateName", reason: "the API server cuts it until the suffix fits",
			object: parts{metadata: "{generateName: " + name63 + name63 + "}"}},
		{name: "generateName with a leading digit", reason: "the name that comes out has to be a label as well",
			object: parts{metadata: "{generateName: 1web-}"},
			want:   report{errors: []string{`metadata.name: Invalid value: "1web-xxxxx": ` + notALabel}}},
		{name: "name that is a number", reason: "one fault, not also a missing name",
			object: parts{metadata: "{name: 1}"},
			want:   report{errors: []string{"metadata.name: Invalid value: 1: cannot unmarshal number into Go struct field ObjectMeta.name of type string"}, skipped: true}},

		// The rest of metadata.
		{name: "no namespace", reason: "the request names one",
			object: parts{metadata: "{name: web}"}},
		{name: "bad namespace", reason: "no request can name it",
			object: parts{metadata: "{name: web, namespace: Shop}"},
			want:   report{errors: []string{`metadata.namespace: Invalid value: "Shop": ` + notANamespace}}},
		{name: "null metadata", reason: "the same as no metadata",
			object: parts{metadata: "null"},
			want:   report{errors: []string{"metadata.name: Required value: name or generateName is required"}, skipped: true}},
		{name: "metadata that is a string", reason: "one fault, not also a missing name",
			object: parts{metadata: "web"},
			want:   report{errors: []string{`metadata: Invalid value: "string": metadata in body must be of type object: "string"`}, skipped: true}},
		{name: "bad label and annotation", reason: "Kubernetes' rules for keys and values hold",
			object: parts{metadata: "{name: web, labels: {-x: ok, tier: a b}, annotations: {a b: ok}}"},
			want: report{errors: []string{
				`metadata.annotations: Invalid value: "a b": ` + notAKey,
				`metadata.labels: Invalid value: "-x": ` + notAKey,
				`metadata.labels: Invalid value: "a b": ` + notAValue,
			}}},
		{name: "labels and annotations without quotes", reason: "each of them is named, not the first",
			object: parts{metadata: "{name: web, labels: {version: 1.5, public: true, tier: a b, none: null}, annotations: {port: 80}}"},
			want: report{errors: []string{
				"metadata.annotations[port]: Invalid value: 80: must be a string",
				`metadata.labels: Invalid value: "a b": ` + notAValue,
				"metadata.labels[public]: Invalid value: true: must be a string",
				"metadata.labels[version]: Invalid value: 1.5: must be a string",
			}, skipped: true}},
		{name: "labels that are a list", reason: "the decoder's words are passed on",
			object: parts{metadata: "{name: web, labels: [a]}"},
			want:   report{errors: []string{`metadata.labels: Invalid value: ["a"]: cannot unmarshal array into Go struct field ObjectMeta.labels of type map[string]string`}, skipped: true}},
		{name: "bad finalizer", reason: "the rest of Kubernetes' rules for metadata hold too",
			object: parts{metadata: "{name: web, finalizers: [a b]}"},
			want:   report{errors: []string{`metadata.finalizers: Invalid value: "a b": ` + notAKey}}},
		{name: "fields that the server owns", reason: "it overwrites them, whatever they hold",
			object: parts{metadata: "{name: web, uid: x, generation: -1, creationTimestamp: 2020-01-01T00:00:00Z, managedFields: [{operation: X}]}"}},
		{name: "resourceVersion", reason: "what is to be created cannot have one",
			object: parts{metadata: "{name: web, resourceVersion: '12'}"},
			want:   report{errors: []string{`metadata.resourceVersion: Invalid value: "12": should not be set on objects to be created`}}},
		{name: "resourceVersion 0", reason: "0 stands for none",
			object: parts{metadata: "{name: web, resourceVersion: '0'}"}},

		// Replicas.
		{name: "replicas 0", reason: "0 is a wish like any other",
			object: parts{spec: "{image: nginx, replicas: 0}"}},
		{name: "replicas -1", reason: "the schema's minimum",
			object: parts{spec: "{image: nginx, replicas: -1}"},
			want:   report{errors: []string{"spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0"}}},
		{name: "replicas at the limit", reason: "the last number of the format",
			object: parts{spec: "{image: nginx, replicas: 2147483647}"}},
		{name: "replicas beyond the limit", reason: "the field is named although the library does not name it",
			object: parts{spec: "{image: nginx, replicas: 2147483648}"},
			want:   report{errors: []string{"spec.replicas: Invalid value: Checked value must be of type integer with format int32 in spec.replicas"}}},
		{name: "replicas as a string", reason: "the schema's type",
			object: parts{spec: "{image: nginx, replicas: '2'}"},
			want:   report{errors: []string{`spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"`}, skipped: true}},

		// Image.
		{name: "no image", reason: "there is nothing to run",
			object: parts{spec: "{replicas: 1}"},
			want:   report{errors: []string{"spec.image: Required value"}, skipped: true}},
		{name: "null image", reason: "the API server drops nulls before it looks",
			object: parts{spec: "{image: null}"},
			want:   report{errors: []string{"spec.image: Required value"}, skipped: true}},
		{name: "empty image", reason: "there is nothing to run",
			object: parts{spec: "{image: ''}"},
			want:   report{errors: []string{`spec.image: Invalid value: "": spec.image in body should be at least 1 chars long`}}},
		{name: "no spec", reason: "null is nothing",
			object: parts{spec: "null"},
			want:   report{errors: []string{"spec: Required value"}, skipped: true}},

		// Ports.
		{name: "one port twice", reason: "the protocol that both leave out is the same one",
			object: parts{spec: "{image: nginx, ports: [{name: a, port: 80}, {name: b, port: 80, protocol: TCP}]}"},
			want:   report{errors: []string{`spec.ports[1]: Duplicate value: {"port":80,"protocol":"TCP"}`}}},
		{name: "one number, two protocols", reason: "DNS needs it",
			object: parts{spec: "{image: nginx, ports: [{name: a, port: 53}, {name: b, port: 53, protocol: UDP}]}"}},
		{name: "null protocol", reason: "the default takes its place",
			object: parts{spec: "{image: nginx, ports: [{name: a, port: 53, protocol: null}, {name: b, port: 53, protocol: UDP}]}"}},
		{name: "one port without a name", reason: "there is nothing to tell it from",
			object: parts{spec: "{image: nginx, ports: [{port: 80}]}"}},
		{name: "two ports without names", reason: "a Service has to be able to tell them apart",
			object: parts{spec: "{image: nginx, ports: [{port: 80}, {port: 81}]}"},
			want:   report{errors: []string{"spec.ports: Invalid value: each of several ports needs a name"}}},
		{name: "two ports, one with an empty name", reason: "empty is none",
			object: parts{spec: "{image: nginx, ports: [{port: 80, name: a}, {port: 81, name: ''}]}"},
			want:   report{errors: []string{"spec.ports: Invalid value: each of several ports needs a name"}}},
		{name: "two ports of one name", reason: "a Service has to be able to tell them apart",
			object: parts{spec: "{image: nginx, ports: [{port: 80, name: a}, {port: 81, name: a}]}"},
			want:   report{errors: []string{"spec.ports: Invalid value: two ports have one name"}}},
		{name: "port numbers at the limits", reason: "1 and 65535 are ports",
			object: parts{spec: "{image: nginx, ports: [{port: 1, name: a}, {port: 65535, name: b, nodePort: 65535}]}"}},
		{name: "port numbers beyond the limits", reason: "0 and 65536 are not",
			object: parts{spec: "{image: nginx, ports: [{port: 0, name: a}, {port: 65536, name: b, nodePort: 65536}, {port: 1, name: c, nodePort: -1}]}"},
			want: report{errors: []string{
				"spec.ports[0].port: Invalid value: 0: spec.ports[0].port in body should be greater than or equal to 1",
				"spec.ports[1].nodePort: Invalid value: 65536: spec.ports[1].nodePort in body should be less than or equal to 65535",
				"spec.ports[1].port: Invalid value: 65536: spec.ports[1].port in body should be less than or equal to 65535",
				"spec.ports[2].nodePort: Invalid value: -1: spec.ports[2].nodePort in body should be greater than or equal to 0",
			}}},
		{name: "port without a number", reason: "it is the key of the list",
			object: parts{spec: "{image: nginx, ports: [{name: a}]}"},
			want:   report{errors: []string{"spec.ports[0].port: Required value"}, skipped: true}},
		{name: "null port", reason: "nulls in lists are not dropped",
			object: parts{spec: "{image: nginx, ports: [null]}"},
			want:   report{errors: []string{`spec.ports[0]: Invalid value: "null": spec.ports[0] in body must be of type object: "null"`}, skipped: true}},
		{name: "names of 63 and 64", reason: "a port's name is a DNS label",
			object: parts{spec: "{image: nginx, ports: [{port: 80, name: " + name63 + "}, {port: 81, name: " + name63 + "a}]}"},
			want:   report{errors: []string{"spec.ports[1].name: Too long: may not be more than 63 bytes"}, skipped: true}},
		{name: "target ports", reason: "a number or a name",
			object: parts{spec: "{image: nginx, ports: [{port: 80, name: a, targetPort: 8080}, {port: 81, name: b, targetPort: http}]}"}},
		{name: "target port that is neither", reason: "an integer or a string, says the type",
			object: parts{spec: "{image: nginx, ports: [{port: 80, targetPort: true}]}"},
			want: report{errors: []string{
				`spec.ports[0].targetPort: Invalid value: "boolean": spec.ports[0].targetPort in body must be of type integer,string: "boolean"`,
				`spec.ports[0].targetPort: Invalid value: "boolean": spec.ports[0].targetPort in body must be of type integer: "boolean"`,
				`spec.ports[0].targetPort: Invalid value: "spec.ports[0].targetPort" must validate at least one schema (anyOf)`,
			}, skipped: true}},
		{name: "one container port twice", reason: "a list-map of the native type, which defaults its protocol too",
			object: parts{spec: "{image: nginx, containerPorts: [{containerPort: 80}, {containerPort: 80, protocol: TCP}, {containerPort: 80, protocol: UDP}]}"},
			want:   report{errors: []string{`spec.containerPorts[1]: Duplicate value: {"containerPort":80,"protocol":"TCP"}`}}},
		{name: "container port beyond its format", reason: "the library names the field in its text alone",
			object: parts{spec: "{image: nginx, containerPorts: [{containerPort: 2147483648}]}"},
			want:   report{errors: []string{"spec.containerPorts[0].containerPort: Invalid value: Checked value must be of type integer with format int32 in spec.containerPorts[0].containerPort"}}},

		// The Service.
		{name: "nodePort and ClusterIP", reason: "that type has no node ports",
			object: parts{spec: "{image: nginx, ports: [{port: 80, nodePort: 30002}], service: {type: ClusterIP}}"},
			want:   report{errors: []string{"spec.ports: Invalid value: a port has a nodePort, which a Service of type ClusterIP has none of"}}},
		{name: "nodePort 0 and ClusterIP", reason: "0 is no nodePort",
			object: parts{spec: "{image: nginx, ports: [{port: 80, nodePort: 0}], service: {type: ClusterIP}}"}},
		{name: "nodePort and NodePort", reason: "that type has them",
			object: parts{spec: "{image: nginx, ports: [{port: 80, nodePort: 30002}], service: {type: NodePort}}"}},
		{name: "nodePort and LoadBalancer", reason: "that type has them too",
			object: parts{spec: "{image: nginx, ports: [{port: 80, nodePort: 30002}], service: {type: LoadBalancer}}"}},
		{name: "nodePort and no type", reason: "the type follows from it",
			object: parts{spec: "{image: nginx, ports: [{port: 80, nodePort: 30002}], service: {labels: {a: b}}}"}},

		// Enumerations.
		{name: "every allowed value", reason: "the values that the API documents",
			object: parts{spec: "{image: nginx, profile: v1, imagePullPolicy: Never, driftPolicy: Warn, ports: [{port: 80, protocol: SCTP}], service: {type: LoadBalancer}}"}},
		{name: "values that are not allowed", reason: "close to allowed ones",
			object: parts{spec: "{image: nginx, profile: v2, imagePullPolicy: always, driftPolicy: correct, ports: [{port: 80, protocol: tcp}], service: {type: ExternalName}}"},
			want: report{errors: []string{
				`spec.driftPolicy: Unsupported value: "correct": supported values: "", "Correct", "Warn"`,
				`spec.imagePullPolicy: Unsupported value: "always": supported values: "", "Always", "IfNotPresent", "Never"`,
				`spec.ports[0].protocol: Unsupported value: "tcp": supported values: "", "TCP", "UDP", "SCTP"`,
				`spec.profile: Unsupported value: "v2": supported values: "", "v1"`,
				`spec.service.type: Unsupported value: "ExternalName": supported values: "", "ClusterIP", "NodePort", "LoadBalancer"`,
			}, skipped: true}},

		// Other fields of the spec.
		{name: "selector", reason: "a map of strings, on creation without restriction",
			object: parts{spec: "{image: nginx, selector: {app: web}}"}},
		{name: "empty selector", reason: "it would select every pod",
			object: parts{spec: "{image: nginx, selector: {}}"},
			want:   report{errors: []string{"spec.selector: Invalid value: 0: spec.selector in body should have at least 1 properties"}}},
		{name: "containerName", reason: "a DNS label, which may begin with a digit",
			object: parts{spec: "{image: nginx, containerName: 1-a}"}},
		{name: "bad containerName", reason: "a DNS label",
			object: parts{spec: "{image: nginx, containerName: a_b}"},
			want:   report{errors: []string{`spec.containerName: Invalid value: "a_b": spec.containerName in body should match '^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$'`}}},
		{name: "empty words", reason: "programs that fill in a template leave them; as in the native types they count as absent",
			object: parts{spec: "{image: nginx, containerName: '', imagePullPolicy: '', profile: '', driftPolicy: '', service: {type: ''}, ports: [{name: '', port: 80, protocol: ''}]}"}},
		{name: "containerName of 64", reason: "a DNS label has at most 63",
			object: parts{spec: "{image: nginx, containerName: " + name63 + "a}"},
			want:   report{errors: []string{"spec.containerName: Too long: may not be more than 63 bytes"}, skipped: true}},
		{name: "one variable twice", reason: "a list-map",
			object: parts{spec: "{image: nginx, env: [{name: A, value: x}, {name: B}, {name: A, value: z}]}"},
			want:   report{errors: []string{`spec.env[2]: Duplicate value: {"name":"A"}`}}},
		{name: "variable without quotes", reason: "the most common slip in a manifest",
			object: parts{spec: "{image: nginx, env: [{name: A, value: 1}, {name: B, value: true}]}"},
			want: report{errors: []string{
				`spec.env[0].value: Invalid value: "integer": spec.env[0].value in body must be of type string: "integer"`,
				`spec.env[1].value: Invalid value: "boolean": spec.env[1].value in body must be of type string: "boolean"`,
			}, skipped: true}},
		{name: "reference without a name", reason: "the native type does not require it, and the default that it has upstream is gone",
			object: parts{spec: "{image: nginx, envFrom: [{configMapRef: {}}]}"}},
		{name: "one pull secret twice", reason: "a list-map",
			object: parts{spec: "{image: nginx, imagePullSecrets: [{name: a}, {name: a}]}"},
			want:   report{errors: []string{`spec.imagePullSecrets[1]: Duplicate value: {"name":"a"}`}}},
		{name: "pull secret without a name", reason: "the key of a list-map, and an empty name is none",
			object: parts{spec: "{image: nginx, imagePullSecrets: [{}, {name: ''}]}"},
			want: report{errors: []string{
				"spec.imagePullSecrets[0].name: Required value",
				`spec.imagePullSecrets[1].name: Invalid value: "": spec.imagePullSecrets[1].name in body should be at least 1 chars long`,
			}, skipped: true}},
		{name: "quantities", reason: "a number or a string",
			object: parts{spec: "{image: nginx, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1500m}}}"}},
		{name: "bad quantity", reason: "the schema has a pattern for it",
			object: parts{spec: "{image: nginx, resources: {limits: {memory: lots}}}"},
			want:   report{errors: []string{`spec.resources.limits.memory: Invalid value: "lots": spec.resources.limits.memory ` + notAQuantity}}},
		{name: "wrong types", reason: "of maps, lists and objects",
			object: parts{spec: "{image: nginx, command: sh, suspend: 'yes', service: [], podLabels: {app.kubernetes.io/tier: 1}}"},
			want: report{errors: []string{
				`spec.command: Invalid value: "string": spec.command in body must be of type array: "string"`,
				`spec.podLabels.app.kubernetes.io/tier: Invalid value: "integer": spec.podLabels.app.kubernetes.io/tier in body must be of type string: "integer"`,
				`spec.service: Invalid value: "array": spec.service in body must be of type object: "array"`,
				`spec.suspend: Invalid value: "string": spec.suspend in body must be of type boolean: "string"`,
			}, skipped: true}},
		{name: "nulls", reason: "the same as absent fields, in maps too",
			object: parts{spec: "{image: nginx, replicas: null, ports: null, service: null, selector: null, podLabels: {a: null}}"}},

		// Unknown fields.
		{name: "unknown fields", reason: "at every depth, the leftovers of a strategic merge patch and the status included",
			object: parts{
				metadata: "{name: web, nmae: web}",
				spec:     "{image: nginx, imge: x, ports: [{port: 80, protcol: UDP, $patch: delete}], service: {typ: x}, env: [{name: A, valueFrom: {fieldRef: {fieldPath: a, path: b}}}]}",
				more:     ", status: {replica: 1}, sepc: {image: x}",
			},
			want: report{unknown: []string{
				"metadata.nmae",
				"sepc",
				"spec.env[0].valueFrom.fieldRef.path",
				"spec.imge",
				"spec.ports[0].$patch",
				"spec.ports[0].protcol",
				"spec.service.typ",
				"status.replica",
			}}},
		{name: "any key in a map", reason: "its keys are no fields",
			object: parts{spec: "{image: nginx, podLabels: {anything: goes}, service: {annotations: {example.com/x: z}}}"}},

		// Status.
		{name: "status of the wrong type", reason: "it is dropped on creation before anybody looks",
			object: parts{more: ", status: {replicas: many}"}},

		// Type.
		{name: "another kind", reason: "the schema says nothing of it",
			object: parts{kind: "Deployment"},
			want:   report{errors: []string{`kind: Invalid value: "Deployment": must be AppService`}, skipped: true}},
		{name: "another version", reason: "the schema says nothing of it",
			object: parts{apiVersion: "apps.kudevops.io/v1"},
			want:   report{errors: []string{`apiVersion: Invalid value: "apps.kudevops.io/v1": must be apps.kudevops.io/v1alpha1`}, skipped: true}},
	}
	v := newValidator(t)
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			obj := tc.object.object(t)
			before := runtime.DeepCopyJSON(obj)

			got := v.Validate(t.Context(), obj)

			if diff := cmp.Diff(tc.want, reportOf(got), compareReports); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if valid := len(tc.want.errors)+len(tc.want.unknown) == 0; got.Valid() != valid {
				t.Errorf("Valid() = %t, want %t: %s", got.Valid(), valid, tc.reason)
			}
			if diff := cmp.Diff(before, obj); diff != "" {
				t.Errorf("Validate changed its argument (-before +after):\n%s", diff)
			}
			v.Default(obj)
			if diff := cmp.Diff(tc.want, reportOf(v.Validate(t.Context(), obj)), compareReports); diff != "" {
				t.Errorf("the verdict is another one once the object is defaulted (-want +got):\n%s", diff)
			}
		})
	}
}

// Values in Go need not come from a decoder.
func TestValidateGoValues(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name     string
		reason   string
		replicas any
		want     report
	}{
		{name: "int", reason: "a whole number however it is held", replicas: 2},
		{name: "float64", reason: "what encoding/json decodes a whole number to", replicas: 2.0},
		{name: "fraction", reason: "no whole number", replicas: 1.5,
			want: report{errors: []string{
				`spec.replicas: Invalid value: "float64": spec.replicas in body must be of type int32: "float64"`,
				"spec.replicas: Invalid value: Checked value must be of type integer with format int32 in spec.replicas",
			}, skipped: true}},
		{name: "NaN", reason: "cannot be sent to an API server", replicas: math.NaN(),
			want: report{errors: []string{"<nil>: Invalid value: json: unsupported value: NaN"}, skipped: true}},
	}
	v := newValidator(t)
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			obj := parts{}.object(t)
			obj["spec"].(map[string]any)["replicas"] = tc.replicas
			if diff := cmp.Diff(tc.want, reportOf(v.Validate(t.Context(), obj)), compareReports); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	t.Run("nil", func(t *testing.T) {
		t.Parallel()
		want := report{errors: []string{
			"apiVersion: Invalid value: null: must be apps.kudevops.io/v1alpha1",
			"kind: Invalid value: null: must be AppService",
		}, skipped: true}
		if diff := cmp.Diff(want, reportOf(v.Validate(t.Context(), nil)), compareReports); diff != "" {
			t.Errorf("no object at all (-want +got):\n%s", diff)
		}
	})
}

func TestValidateSample(t *testing.T) {
	t.Parallel()
	v := newValidator(t)
	if got := v.Validate(t.Context(), decodeYAML(t, sample)); !got.Valid() || got.RulesSkipped {
		t.Errorf("the sample is refused: %+v", reportOf(got))
	}
}

// Only the CEL rules may make a difference between the two.
func TestValidateSchema(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		reason string
		object parts
		want   report
	}{
		{name: "valid", reason: "rules are skipped, which the verdict says",
			want: report{skipped: true}},
		{name: "schema and keys", reason: "both are looked at without rules",
			object: parts{spec: "{image: '', ports: [{port: 80}, {port: 80}]}"},
			want: report{errors: []string{
				`spec.image: Invalid value: "": spec.image in body should be at least 1 chars long`,
				`spec.ports[1]: Duplicate value: {"port":80,"protocol":"TCP"}`,
			}, skipped: true}},
		{name: "rules", reason: "two ports without names break a rule and nothing else",
			object: parts{spec: "{image: nginx, ports: [{port: 80}, {port: 81}]}"},
			want:   report{skipped: true}},
	}
	v := newValidator(t)
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, reportOf(v.ValidateSchema(t.Context(), tc.object.object(t))), compareReports); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateUpdate(t *testing.T) {
	t.Parallel()
	const immutable = "spec.selector: Invalid value: selector is immutable: neither added, changed nor removed"
	stored := "{name: web, namespace: shop, uid: abc, resourceVersion: '7', generation: 3, creationTimestamp: 2020-01-01T00:00:00Z}"
	cases := []struct {
		name     string
		reason   string
		old, obj parts
		want     report
	}{
		{name: "nothing changed", reason: "an update like any other"},
		{name: "selector kept", reason: "the same map",
			old: parts{spec: "{image: nginx, selector: {app: web}}"}, obj: parts{spec: "{image: nginx:2, selector: {app: web}}"}},
		{name: "selector changed", reason: "a Deployment's selector cannot follow",
			old: parts{spec: "{image: nginx, selector: {app: web}}"}, obj: parts{spec: "{image: nginx, selector: {app: api}}"},
			want: report{errors: []string{immutable}}},
		{name: "selector added", reason: "absent means one that differs",
			obj:  parts{spec: "{image: nginx, selector: {app: web}}"},
			want: report{errors: []string{immutable}}},
		{name: "selector removed", reason: "absent means one that differs",
			old:  parts{spec: "{image: nginx, selector: {app: web}}"},
			want: report{errors: []string{immutable}}},
		{name: "rule that does not compare", reason: "holds on update too",
			obj:  parts{spec: "{image: nginx, ports: [{port: 80}, {port: 81}]}"},
			want: report{errors: []string{"spec.ports: Invalid value: each of several ports needs a name"}}},
		{name: "schema", reason: "holds on update too, and then the rules are skipped",
			obj:  parts{spec: "{selector: {app: web}}"},
			want: report{errors: []string{"spec.image: Required value"}, skipped: true}},
		{name: "unknown field", reason: "of the new object alone",
			old: parts{spec: "{image: nginx, old: x}"}, obj: parts{spec: "{image: nginx, new: x}"},
			want: report{unknown: []string{"spec.new"}}},
		{name: "old fault kept", reason: "what did not change is not held against the update (ratcheting)",
			old: parts{spec: "{image: nginx, imagePullPolicy: Sometimes, ports: [{port: 80, name: a}, {port: 80, name: b}]}"},
			obj: parts{spec: "{image: nginx:2, imagePullPolicy: Sometimes, ports: [{port: 80, name: a}, {port: 80, name: b}]}"}},
		{name: "old fault changed", reason: "what changed has to be right",
			old:  parts{spec: "{image: nginx, imagePullPolicy: Sometimes}"},
			obj:  parts{spec: "{image: nginx, imagePullPolicy: Often}"},
			want: report{errors: []string{`spec.imagePullPolicy: Unsupported value: "Often": supported values: "", "Always", "IfNotPresent", "Never"`}, skipped: true}},
		{name: "fields of the server", reason: "who applies a manifest does not repeat them",
			old: parts{metadata: stored, more: ", status: {replicas: 2}"}},
		{name: "fields of the server repeated", reason: "a manifest that was read from the cluster",
			old: parts{metadata: stored}, obj: parts{metadata: stored}},
		{name: "status", reason: "does not go with the rest of an update",
			obj: parts{more: ", status: {replicas: many}"}},
		{name: "another name", reason: "would be another object",
			obj:  parts{metadata: "{name: api, namespace: shop}"},
			want: report{errors: []string{`metadata.name: Invalid value: "api": field is immutable`}}},
		{name: "another namespace", reason: "would be another object",
			obj:  parts{metadata: "{name: web, namespace: store}"},
			want: report{errors: []string{`metadata.namespace: Invalid value: "store": field is immutable`}}},
		{name: "bad label", reason: "said once, though the API server looks in three places",
			obj:  parts{metadata: "{name: web, namespace: shop, labels: {-x: a}}"},
			want: report{errors: []string{`metadata.labels: Invalid value: "-x": ` + notAKey}}},
		{name: "bad finalizer", reason: "said of new objects and of old ones",
			obj:  parts{metadata: "{name: web, namespace: shop, finalizers: [a b]}"},
			want: report{errors: []string{`metadata.finalizers: Invalid value: "a b": ` + notAKey}}},
		{name: "another kind", reason: "the schema says nothing of it",
			obj:  parts{kind: "Deployment"},
			want: report{errors: []string{`kind: Invalid value: "Deployment": must be AppService`}, skipped: true}},
	}
	v := newValidator(t)
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			obj, old := tc.obj.object(t), tc.old.object(t)
			objBefore, oldBefore := runtime.DeepCopyJSON(obj), runtime.DeepCopyJSON(old)

			got := v.ValidateUpdate(t.Context(), obj, old)

			if diff := cmp.Diff(tc.want, reportOf(got), compareReports); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(objBefore, obj); diff != "" {
				t.Errorf("ValidateUpdate changed obj (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(oldBefore, old); diff != "" {
				t.Errorf("ValidateUpdate changed old (-before +after):\n%s", diff)
			}
		})
	}
}

// faulty has faults in all stages and in several entries of each map, so that an
// order which depends on a map's would show.
var faulty = parts{
	metadata: "{name: Web, namespace: Shop, labels: {a: 1, b: 2, -c: x, -d: x, e: x y}, annotations: {-f: x, -g: x}, h: x, i: x}",
	spec:     "{image: '', j: x, k: x, replicas: -1, podLabels: {l: 1, m: 2, n: 3}, ports: [{port: 80, o: x}, {port: 80}], env: [{name: A}, {name: A}]}",
}

func TestValidateIsDeterministic(t *testing.T) {
	t.Parallel()
	v := newValidator(t)
	want := reportOf(v.Validate(t.Context(), faulty.object(t)))
	if len(want.errors) < 10 || len(want.unknown) < 5 {
		t.Fatalf("there are too few faults to sort: %+v", want)
	}
	for range 50 {
		if diff := cmp.Diff(want, reportOf(v.Validate(t.Context(), faulty.object(t))), compareReports); diff != "" {
			t.Fatalf("two runs differ (-first +later):\n%s", diff)
		}
	}
}

func TestValidateConcurrently(t *testing.T) {
	t.Parallel()
	v := newValidator(t)
	good, bad := decodeYAML(t, sample), faulty.object(t)
	other := newValidator(t)
	wantBad := reportOf(other.Validate(t.Context(), bad))
	wantUpdate := reportOf(other.ValidateUpdate(t.Context(), bad, good))

	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 5 {
				if got := v.Validate(t.Context(), good); !got.Valid() {
					t.Errorf("the sample is refused: %+v", reportOf(got))
				}
				if diff := cmp.Diff(wantBad, reportOf(v.Validate(t.Context(), bad)), compareReports); diff != "" {
					t.Errorf("Validate differs from a lone call (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(wantUpdate, reportOf(v.ValidateUpdate(t.Context(), bad, good)), compareReports); diff != "" {
					t.Errorf("ValidateUpdate differs from a lone call (-want +got):\n%s", diff)
				}
				if got := v.ValidateSchema(t.Context(), good); !got.Valid() {
					t.Errorf("the sample is refused by the schema: %+v", reportOf(got))
				}
				v.Default(runtime.DeepCopyJSON(good))
			}
		})
	}
	wait.Wait()
}

func BenchmarkValidate(b *testing.B) {
	v := newValidator(b)
	obj := decodeYAML(b, sample)
	v.Validate(b.Context(), obj) // compiles the rules
	for b.Loop() {
		v.Validate(b.Context(), obj)
	}
}

func BenchmarkValidateSchema(b *testing.B) {
	v := newValidator(b)
	obj := decodeYAML(b, sample)
	for b.Loop() {
		v.ValidateSchema(b.Context(), obj)
	}
}
