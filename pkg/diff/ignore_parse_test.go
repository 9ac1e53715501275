package diff

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shownRule is a rule with its paths as text.
type shownRule struct {
	IgnoreRule
	Paths []string
}

func rulesAsText(rules []IgnoreRule) []shownRule {
	var out []shownRule
	for _, r := range rules {
		s := shownRule{IgnoreRule: r}
		for _, p := range r.Paths {
			s.Paths = append(s.Paths, p.String())
		}
		s.IgnoreRule.Paths = nil
		out = append(out, s)
	}
	return out
}

func TestParseIgnore(t *testing.T) {
	t.Parallel()
	tests := map[string][]shownRule{
		"rules.yaml": {
			{IgnoreRule{Group: "apps", Kind: "Deployment", Namespace: "shop-*", Name: "web", Labels: "tier=front", Source: "rules.yaml:2"}, []string{
				"spec.replicas", "metadata.annotations[example.com/note]", "spec.template.spec.containers[name=app].image",
				"spec.template.spec.containers[name=log].args[1]",
			}},
			{IgnoreRule{Managers: []string{"kube-controller-manager"}, Source: "rules.yaml:13"}, []string{"spec.template.spec.nodeSelector"}},
			{IgnoreRule{Group: "apps", Kind: "*", Source: "rules.yaml:15"}, []string{"spec.template.spec.initContainers[]"}},
			{IgnoreRule{Group: "core", Kind: "ConfigMap", Name: "settings", Namespace: "shop", Managers: []string{"operator"}, Source: "rules.yaml:19"}, []string{"data.0"}},
		},
		"application.yaml": {
			{IgnoreRule{Group: "apps", Kind: "Deployment", Source: "application.yaml:7"}, []string{"spec.replicas"}},
		},
		"argocd-cm.yaml": {
			{IgnoreRule{Managers: []string{"kube-controller-manager"}, Source: "argocd-cm.yaml:6"}, nil},
			{IgnoreRule{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration", Source: "argocd-cm.yaml:9"}, []string{"webhooks[].clientConfig.caBundle"}},
			{IgnoreRule{Group: "core", Kind: "Secret", Source: "argocd-cm.yaml:12"}, []string{"data"}},
		},
		"flux.yaml": {
			{IgnoreRule{Kind: "Deployment|StatefulSet", Name: "web-.*", Labels: "tier=front", Regexp: true, Source: "flux.yaml:7"}, []string{"spec.replicas"}},
			{IgnoreRule{Regexp: true, Source: "flux.yaml:17"}, []string{"metadata.annotations.note"}},
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("testdata", "ignore", name))
			if err != nil {
				t.Fatal(err)
			}
			rules, err := ParseIgnore(name, text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, rulesAsText(rules)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if _, err := NewIgnorer(Options{Ignore: rules}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestParseIgnoreRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want string }{
		"empty":          {"# nothing\n", "f: holds no ignore rules"},
		"no YAML":        {"- paths: [/a]\n- b: [", "f:2: is not YAML: did not find expected node content"},
		"no list":        {"paths: [/spec]", "f:1: is no list of ignore rules: a rule begins with a dash"},
		"a text":         {"spec", "f:1: is no list of ignore rules"},
		"another kind":   {"apiVersion: apps/v1\nkind: Deployment", `f:1: a Deployment of "apps/v1" holds no ignore rules that are known here`},
		"no rules there": {"apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: {}", "f:1: has no spec.ignoreDifferences"},
		"no rules in it": {"apiVersion: v1\nkind: ConfigMap\ndata: {a: b}", "f:1: a ConfigMap holds ignore rules of Argo CD under data[resource.customizations.ignoreDifferences.*], and this one has none"},
		"a rule":         {"- spec", "f:1: is no ignore rule: it has no fields"},
		"no paths":       {"- target: {kind: Pod}", "f:1: ignores nothing: it has no paths or managers"},
		"unknown field":  {"- path: [/spec]", `f:1: unknown field "path", only managers, paths, target`},
		"twice":          {"- paths: [/spec]\n  paths: [/data]", `f:2: "paths" is given twice`},
		"all of them": {
			"- paths:\n  - spec/x\n  - \"\"\n  - /metadata\n  target:\n    name: (a|b)\n    namspace: x\n- paths: /spec",
			`f:2: "spec/x" is no path: "spec/x" has to stand in brackets, without quotes
f:3: is no text
f:4: path "metadata" covers what identifies an object (its apiVersion, kind, namespace or name)
f:6: "(a|b)": a target is a name, in which * stands for any text, and no regular expression
f:7: unknown field "namspace", only annotationSelector, group, kind, labelSelector, name, namespace, version
f:8: is no list`,
		},
		"the whole object": {`- paths: ["", .]`, "f:1: is no text\nf:1: jq expression \".\" is the whole object; to leave out objects, leave them out of what is compared"},
		"pointer": {
			`- paths: [/, /a//b, /a~2b, /a/-]`,
			"f:1: path \"/\" is that of a field without a name\nf:1: \"/a//b\" has a part without a name; a slash in a name is written ~1\nf:1: \"/a~2b\" is no JSON pointer: after \"~\" comes 0 or 1\nf:1: \"/a/-\": \"-\" is the item behind the last one, which is never there",
		},
		"no kind for Argo": {"- jsonPointers: [/spec]", "f:1: names no kind, which Argo CD demands"},
		"jq": {
			"- kind: Pod\n  jqPathExpressions:\n  - .spec | del(.x)\n  - .a[] | select(.name | test(\"x\"))\n  - .a[1:]\n  - ..\n",
			`f:3: jq expression ".spec | del(.x)" is not supported, only plain paths with select(.field == value) are: at "del(.x)"
f:4: jq expression ".a[] | select(.name | test(\"x\"))" is not supported, only plain paths with select(.field == value) are: at "| test(\"x\"))"
f:5: jq expression ".a[1:]" is not supported, only plain paths with select(.field == value) are: at "1:]"
f:6: jq expression ".." is not supported, only plain paths with select(.field == value) are: at "."`,
		},
		"expression": {
			"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nspec: {driftDetection: {ignore: [{paths: [/spec], target: {name: '('}}]}}",
			"f:3: name: \"(\" is no regular expression: error parsing regexp: missing closing ): `^(?:()$`",
		},
		"in argocd-cm": {
			"apiVersion: v1\nkind: ConfigMap\ndata:\n  resource.customizations.ignoreDifferences.Pod: |\n    jsonPointers:\n    - spec\n    paths: []\n",
			"f:6: \"spec\" is no JSON pointer: it has to begin with a slash\nf:7: unknown field \"paths\", only jqPathExpressions, jsonPointers, managedFieldsManagers",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules, err := ParseIgnore("f", []byte(tc.text))
			if err == nil {
				t.Fatalf("accepted: %+v", rules)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if rules != nil {
				t.Error("rules beside an error")
			}
		})
	}
}

func TestParseIgnoreList(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		line int
		want []shownRule
		err  string
	}{
		"rules":            {text: "- target: {kind: Deployment}\n  paths: [/spec/replicas]\n", line: 7, want: []shownRule{{IgnoreRule{Kind: "Deployment", Source: "app.yaml:7"}, []string{"spec.replicas"}}}},
		"no line":          {text: "- paths: [/spec/replicas]", want: []shownRule{{IgnoreRule{Source: "app.yaml"}, []string{"spec.replicas"}}}},
		"nothing":          {text: ""},
		"null":             {text: "null"},
		"no namespace":     {text: "- target: {namespace: x}\n  paths: [/spec]", line: 1, err: `app.yaml:1: unknown field "namespace", only annotationSelector, group, kind, labelSelector, name, version`},
		"no Argo":          {text: "- kind: Pod\n  jsonPointers: [/spec]", line: 1, err: "app.yaml:1: unknown field \"kind\", only managers, paths, target\napp.yaml:2: unknown field \"jsonPointers\", only managers, paths, target"},
		"no list":          {text: "paths: [/spec]", line: 3, err: "app.yaml:3: is no list of ignore rules: a rule begins with a dash"},
		"no YAML":          {text: "- a\n- [", line: 3, err: "app.yaml:4: is not YAML: did not find expected node content"},
		"no YAML, no line": {text: "- [", err: "app.yaml:1: is not YAML: did not find expected node content"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules, err := ParseIgnoreList("app.yaml", tc.line, tc.text)
			message := ""
			if err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff(tc.err, message); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, rulesAsText(rules)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestParsePathPattern(t *testing.T) {
	t.Parallel()
	field := func(name string) PatternElement { return PatternElement{Field: name} }
	where := func(pairs ...KeyValue) PatternElement { return PatternElement{Where: pairs} }
	tests := map[string]PathPattern{
		"/spec/replicas":         {field("spec"), field("replicas")},
		"/a/b~1c~0d/0":           {field("a"), field("b/c~d"), field("0")},
		".spec.replicas":         {field("spec"), field("replicas")},
		`."a b".c?["d.e"]?[2][]`: {field("a b"), field("c"), field("d.e"), {Index: 2}, {Any: true}},
		`.a.["b"].[0]`:           {field("a"), field("b"), {}},
		`. | .a | .b`:            {field("a"), field("b")},
		`.a[] | select(.name == "x" and .port==80) | .b[] | select(.on == true)`: {
			field("a"), where(KeyValue{"name", "x"}, KeyValue{"port", int64(80)}), field("b"), where(KeyValue{"on", true}),
		},
		"spec.containers[name=app].ports[containerPort=80,protocol=TCP]": {
			field("spec"), field("containers"), where(KeyValue{"name", "app"}), field("ports"), where(KeyValue{"containerPort", "80"}, KeyValue{"protocol", "TCP"}),
		},
		`metadata.annotations[example.com/a].x[].y[3][="a]b"]`: {
			field("metadata"), field("annotations"), field("example.com/a"), field("x"), {Any: true}, field("y"), {Index: 3}, {Value: "a]b"},
		},
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, err := ParsePathPattern(text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	for _, text := range []string{"a..b", "a.", "a[", "a[]b", "a[=x]", `a[="x"`, "a[b=", "[=", ".a.", ".a b", `.a["b`, ".a[-1]", ".a | ", ". a", "|", ".a | select(.b == 1)", ".a[] | select(.b)", ".a[] | select(.b.c == 1)", `.a["\(x)"]`, ".a[] | select(.b == 1 or .c == 2)"} {
		if p, err := ParsePathPattern(text); err == nil {
			t.Errorf("%q is taken for %v", text, p)
		}
	}
}
