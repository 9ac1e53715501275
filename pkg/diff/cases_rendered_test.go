package diff_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/manifest"
	"kudevops.io/appsvc/pkg/render"
)

// TestCasesOfTheRenderer: some false differences never come up because of how pkg/render
// writes what it means.
func TestCasesOfTheRenderer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		id, name, reason string
		spec             string
		kind             string
		path             []string // the field, in the only or first item of each list
		want             string   // as JSON; empty: the field is not there
		warning          string
	}{
		{
			id: "O2", reason: "with autoscaling the count is not written, and a warning says so",
			spec: `{image: "app:1", replicas: 3, resources: {requests: {cpu: 100m}}, autoscaling: {maxReplicas: 5, cpu: 80}}`,
			kind: "Deployment", path: []string{"spec", "replicas"}, warning: "replicas",
		},
		{
			id: "F10", reason: "the policy follows the tag, as the server would only do once",
			spec: `{image: "app:latest"}`,
			kind: "Deployment", path: []string{"spec", "template", "spec", "containers", "imagePullPolicy"}, want: `"Always"`,
		},
		{
			id: "F10", name: "tag", reason: "the policy follows the tag, as the server would only do once",
			spec: `{image: "app:1.2"}`,
			kind: "Deployment", path: []string{"spec", "template", "spec", "containers", "imagePullPolicy"}, want: `"IfNotPresent"`,
		},
		{
			id: "F18", reason: "a default inside a list that is replaced as a whole is written out",
			spec: `{image: "app:1", volumes: [{name: t, projected: {sources: [{serviceAccountToken: {path: t}}]}}]}`,
			kind: "Deployment", path: []string{"spec", "template", "spec", "volumes", "projected", "sources", "serviceAccountToken", "expirationSeconds"}, want: `3600`,
		},
		{
			id: "F19", reason: "and inside a mapping",
			spec: `{image: "app:1", env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}`,
			kind: "Deployment", path: []string{"spec", "template", "spec", "containers", "env", "valueFrom", "fieldRef", "apiVersion"}, want: `"v1"`,
		},
		{
			id: "F20", reason: "and inside another",
			spec: `{image: "app:1", env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]}`,
			kind: "Deployment", path: []string{"spec", "template", "spec", "containers", "env", "valueFrom", "resourceFieldRef", "divisor"}, want: `"0"`,
		},
		{
			id: "F31", reason: "the alias of the account's name is never written",
			spec: `{image: "app:1", serviceAccountName: x}`,
			kind: "Deployment", path: []string{"spec", "template", "spec", "serviceAccount"},
		},
		{
			id: "F31b", reason: "the name always is, so that dropping it has an effect",
			spec: `{image: "app:1"}`,
			kind: "Deployment", path: []string{"spec", "template", "spec", "serviceAccountName"}, want: `"default"`,
		},
		{
			id: "O21", reason: "the bounds of a strategy are written from the first apply on",
			spec: `{image: "app:1"}`,
			kind: "Deployment", path: []string{"spec", "strategy"}, want: `{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},"type":"RollingUpdate"}`,
		},
		{
			id: "O21", name: "Recreate", reason: "and only where they may be",
			spec: `{image: "app:1", strategy: {type: Recreate}}`,
			kind: "Deployment", path: []string{"spec", "strategy"}, want: `{"type":"Recreate"}`,
		},
		{
			id: "L6", reason: "tolerations are sorted",
			spec: `{image: "app:1", tolerations: [{key: b, operator: Exists}, {key: a, operator: Exists}]}`,
			kind: "Deployment", path: []string{"spec", "template", "spec", "tolerations"}, want: `[{"key":"a","operator":"Exists"},{"key":"b","operator":"Exists"}]`,
		},
		{
			id: "L23", reason: "the items of a volume are sorted",
			spec: `{image: "app:1", volumes: [{name: c, configMap: {name: c, items: [{key: b, path: b}, {key: a, path: a}]}}]}`,
			kind: "Deployment", path: []string{"spec", "template", "spec", "volumes", "configMap", "items"}, want: `[{"key":"a","path":"a"},{"key":"b","path":"b"}]`,
		},
		{
			id: "L28", reason: "the ranges of a Service are sorted",
			spec: `{image: "app:1", ports: [{port: 80}], service: {type: LoadBalancer, loadBalancerSourceRanges: [192.0.2.16/28, 192.0.2.0/28]}}`,
			kind: "Service", path: []string{"spec", "loadBalancerSourceRanges"}, want: `["192.0.2.0/28","192.0.2.16/28"]`,
		},
		{
			id: "L2", reason: "variables keep the order of their author",
			spec: `{image: "app:1", env: [{name: B, value: b}, {name: A, value: $(B)}]}`,
			kind: "Deployment", path: []string{"spec", "template", "spec", "containers", "env"}, want: `[{"name":"B","value":"b"},{"name":"A","value":"$(B)"}]`,
		},
		{
			id: "E2", reason: "what is empty and means nothing is not written",
			spec: `{image: "app:1", resources: {}, command: [], podSecurityContext: {}}`,
			kind: "Deployment", path: []string{"spec", "template", "spec", "containers", "resources"},
		},
		{
			id: "E6", reason: "what is empty and means something is",
			spec: `{image: "app:1", volumes: [{name: tmp, emptyDir: {}}]}`,
			kind: "Deployment", path: []string{"spec", "template", "spec", "volumes", "emptyDir"}, want: `{}`,
		},
		{
			id: "E5", reason: "so is a selector of all pods",
			spec: `{image: "app:1", networkPolicy: {ingress: [{from: [{podSelector: {}}]}]}}`,
			kind: "NetworkPolicy", path: []string{"spec", "ingress", "from", "podSelector"}, want: `{}`,
		},
		{
			id: "E15", reason: "an encoder's empty time is not written",
			spec: `{image: "app:1"}`,
			kind: "Deployment", path: []string{"spec", "template", "metadata", "creationTimestamp"},
		},
		{
			id: "Q7", reason: "amounts are written as the server would",
			spec: `{image: "app:1", resources: {limits: {cpu: 1000m, memory: 1024Mi}}}`,
			kind: "Deployment", path: []string{"spec", "template", "spec", "containers", "resources"}, want: `{"limits":{"cpu":"1","memory":"1Gi"}}`,
		},
	} {
		t.Run(strings.TrimSpace(test.id+" "+test.name), func(t *testing.T) {
			t.Parallel()
			app := &v1alpha1.AppService{}
			if err := yaml.UnmarshalStrict([]byte(test.spec), &app.Spec); err != nil {
				t.Fatal(err)
			}
			app.Name = "web"
			result, errs := render.Render(app, render.Options{})
			if len(errs) > 0 {
				t.Fatal(errs.ToAggregate())
			}
			var warnings []string
			for _, w := range result.Warnings {
				warnings = append(warnings, w.String())
			}
			if said := strings.Join(warnings, "\n"); !strings.Contains(said, test.warning) {
				t.Errorf("the warnings are %q, want %q", said, test.warning)
			}
			for _, object := range result.Objects {
				if object.GetKind() != test.kind {
					continue
				}
				if got := fieldOf(t, object, test.path); got != test.want {
					t.Errorf("%s is %s, want %s: %s", strings.Join(test.path, "."), got, test.want, test.reason)
				}
				return
			}
			t.Errorf("there is no %s", test.kind)
		})
	}
}

// fieldOf gives a field as JSON, empty for none. It goes through the first item of lists.
func fieldOf(t *testing.T, object *unstructured.Unstructured, path []string) string {
	t.Helper()
	var at any = object.Object
	for _, name := range path {
		if list, ok := at.([]any); ok && len(list) > 0 {
			at = list[0]
		}
		m, _ := at.(map[string]any)
		v, ok := m[name]
		if !ok {
			return ""
		}
		at = v
	}
	written, err := yaml.Marshal(at)
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := yaml.YAMLToJSON(written)
	if err != nil {
		t.Fatal(err)
	}
	return string(asJSON)
}

// TestCasesOfTheWriter: text that YAML would read as something else stays in quotes.
func TestCasesOfTheWriter(t *testing.T) {
	t.Parallel()
	for id, value := range map[string]string{
		"N8": "1", "N9": "true", "N10": "on", "N16": "1e3", "N18": "12345678901234567890", "N22": "0x1F", "N12": "0644", "N13": "0o644",
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			text := manifest.AppendYAML(nil, map[string]any{"value": value})
			var back map[string]any
			if err := yaml.Unmarshal(text, &back); err != nil || back["value"] != value {
				t.Errorf("%q is written as %q, which is read as %v (%v)", value, text, back["value"], err)
			}
		})
	}
}
