package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// plainValues reads YAML as plain JSON values.
func plainValues(t testing.TB, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var value map[string]any
	if err := json.UnmarshalCaseSensitivePreserveInts(data, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func ignoring(t testing.TB, manager string, rules string) *Ignorer {
	t.Helper()
	parsed, err := ParseIgnore("ignore.yaml", []byte(rules))
	if err != nil {
		t.Fatal(err)
	}
	ig, err := NewIgnorer(Options{Manager: manager, Ignore: parsed})
	if err != nil {
		t.Fatal(err)
	}
	return ig
}

// deployment puts a spec into a Deployment.
func deployment(body string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop, labels: {app: web}}\n" + body
}

func TestIgnoreTrees(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason         string
		rules          string
		from, to, want string
		ignored        int
		unmatched      bool
	}{
		"replaced": {
			reason:  "an ignored field keeps its value",
			rules:   `[{paths: [/spec/replicas]}]`,
			from:    deployment(`spec: {replicas: 2, paused: true}`),
			to:      deployment(`spec: {replicas: 3, paused: false}`),
			want:    deployment(`spec: {replicas: 2, paused: false}`),
			ignored: 1,
		},
		"added": {
			reason:  "and is not added; the mapping that came with it neither",
			rules:   `[{paths: [/spec/strategy/type]}]`,
			from:    deployment(`spec: {replicas: 2}`),
			to:      deployment(`spec: {replicas: 2, strategy: {type: Recreate}}`),
			want:    deployment(`spec: {replicas: 2}`),
			ignored: 1,
		},
		"removed": {
			reason:  "and is not removed",
			rules:   `[{paths: ["metadata.annotations[example.com/a]"]}]`,
			from:    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {example.com/a: x, b: z}}",
			to:      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}",
			want:    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {example.com/a: x}}",
			ignored: 1,
		},
		"equal": {
			reason: "what does not differ is found, and is not counted",
			rules:  `[{paths: [/spec/replicas]}]`,
			from:   deployment(`spec: {replicas: 2}`),
			to:     deployment(`spec: {replicas: 2.0}`),
			want:   deployment(`spec: {replicas: 2}`),
		},
		"nowhere": {
			reason: "a rule that finds nothing is reported", unmatched: true,
			rules: `[{paths: [/spec/replicas/x, /spec/nothing, /spec/template/spec/containers/7]}]`,
			from:  deployment(`spec: {replicas: 2, template: {spec: {containers: [{name: a}]}}}`),
			to:    deployment(`spec: {replicas: 3, template: {spec: {containers: [{name: a}]}}}`),
			want:  deployment(`spec: {replicas: 3, template: {spec: {containers: [{name: a}]}}}`),
		},
		"item by key": {
			reason:  "an item is the one of the same name, wherever it stands",
			rules:   `[{paths: ["spec.template.spec.containers[name=app].image"]}]`,
			from:    deployment(`spec: {template: {spec: {containers: [{name: app, image: a:1}, {name: log, image: l:1}]}}}`),
			to:      deployment(`spec: {template: {spec: {containers: [{name: log, image: l:2}, {name: app, image: a:2}]}}}`),
			want:    deployment(`spec: {template: {spec: {containers: [{name: log, image: l:2}, {name: app, image: a:1}]}}}`),
			ignored: 1,
		},
		"item by index": {
			reason:  "an index is that of either side, and the item is the same on both",
			rules:   `[{paths: [/spec/template/spec/containers/0/image]}]`,
			from:    deployment(`spec: {template: {spec: {containers: [{name: app, image: a:1}, {name: log, image: l:1}]}}}`),
			to:      deployment(`spec: {template: {spec: {containers: [{name: side, image: s:1}, {name: app, image: a:2}]}}}`),
			want:    deployment(`spec: {template: {spec: {containers: [{name: side, image: s:1}, {name: app, image: a:1}]}}}`),
			ignored: 1,
		},
		"all items": {
			reason:  "a new item stays as it is: it is the item that differs",
			rules:   `[{paths: [".spec.template.spec.containers[].image"]}]`,
			from:    deployment(`spec: {template: {spec: {containers: [{name: app, image: a:1}, {name: gone, image: g:1}]}}}`),
			to:      deployment(`spec: {template: {spec: {containers: [{name: new, image: n:1}, {name: app, image: a:2}]}}}`),
			want:    deployment(`spec: {template: {spec: {containers: [{name: new, image: n:1}, {name: app, image: a:1}]}}}`),
			ignored: 1,
		},
		"a whole item": {
			reason:  "an ignored item comes back, behind what it stood behind, or goes",
			rules:   `[{paths: ['.spec.template.spec.containers[] | select(.name == "mesh")', "spec.template.spec.volumes[name=mesh]"]}]`,
			from:    deployment(`spec: {template: {spec: {containers: [{name: app}, {name: mesh, image: m}, {name: log}]}}}`),
			to:      deployment(`spec: {template: {spec: {containers: [{name: app}, {name: log}], volumes: [{name: mesh}]}}}`),
			want:    deployment(`spec: {template: {spec: {containers: [{name: app}, {name: mesh, image: m}, {name: log}]}}}`),
			ignored: 2,
		},
		"nested items": {
			reason:  "keys of keys",
			rules:   `[{paths: ['.spec.template.spec.containers[] | select(.name=="app") | .env[] | select(.name == "TOKEN") | .value']}]`,
			from:    deployment(`spec: {template: {spec: {containers: [{name: app, env: [{name: A, value: "1"}, {name: TOKEN, value: x}]}]}}}`),
			to:      deployment(`spec: {template: {spec: {containers: [{name: app, env: [{name: TOKEN, value: y}, {name: A, value: "2"}]}]}}}`),
			want:    deployment(`spec: {template: {spec: {containers: [{name: app, env: [{name: TOKEN, value: x}, {name: A, value: "2"}]}]}}}`),
			ignored: 1,
		},
		"keys with a default": {
			reason:  "a port without protocol is one of TCP",
			rules:   `[{paths: ["spec.ports[].nodePort"]}]`,
			from:    "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80, protocol: TCP, nodePort: 30080}, {port: 80, protocol: UDP, nodePort: 30081}]}",
			to:      "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80, protocol: UDP}, {port: 80}]}",
			want:    "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80, protocol: UDP, nodePort: 30081}, {port: 80, nodePort: 30080}]}",
			ignored: 2,
		},
		"the key itself": {
			reason: "without its key an item would be another one",
			rules:  `[{paths: ["spec.ports[].port"]}]`,
			from:   "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}",
			to:     "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 81}]}",
			want:   "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 81}]}",
		},
		"list without keys": {
			reason:  "items are told apart by where they stand",
			rules:   `[{paths: [/spec/template/spec/containers/0/args/1]}]`,
			from:    deployment(`spec: {template: {spec: {containers: [{name: a, args: [x, "1", z]}]}}}`),
			to:      deployment(`spec: {template: {spec: {containers: [{name: a, args: [x, "2"]}]}}}`),
			want:    deployment(`spec: {template: {spec: {containers: [{name: a, args: [x, "1"]}]}}}`),
			ignored: 1,
		},
		"set": {
			reason:  "finalizers are told apart by themselves",
			rules:   `[{paths: ['metadata.finalizers[="b"]']}]`,
			from:    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, finalizers: [a, b]}",
			to:      "apiVersion: v1\nkind: Pod\nmetadata: {name: p, finalizers: [c, a]}",
			want:    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, finalizers: [c, a, b]}",
			ignored: 1,
		},
		"a kind that nobody knows": {
			reason:  "what the rule asks for is as good as a key",
			rules:   `[{paths: ["spec.parts[id=b].size"]}]`,
			from:    "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\nspec: {parts: [{id: a, size: 1}, {id: b, size: 2}]}",
			to:      "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\nspec: {parts: [{id: b, size: 3}, {id: a, size: 4}]}",
			want:    "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\nspec: {parts: [{id: b, size: 2}, {id: a, size: 4}]}",
			ignored: 1,
		},
		"a mapping": {
			reason:  "all below is ignored, and counted field by field",
			rules:   `[{paths: [/metadata/annotations]}]`,
			from:    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {a: x, b: y}}",
			to:      "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {a: x, b: z, c: w}}",
			want:    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {a: x, b: y}}",
			ignored: 2,
		},
		"digits are a name too": {
			reason:  "a JSON pointer does not tell a key from an index",
			rules:   `[{paths: [/data/0]}]`,
			from:    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {\"0\": a, \"1\": b}",
			to:      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {\"0\": c, \"1\": d}",
			want:    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {\"0\": a, \"1\": d}",
			ignored: 1,
		},
		"another type": {
			reason: "a mapping that has become a text differs as a whole", unmatched: true,
			rules: `[{paths: [/spec/x/y]}]`,
			from:  "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\nspec: {x: {y: 1}}",
			to:    "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\nspec: {x: text}",
			want:  "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\nspec: {x: text}",
		},
		"created": {
			reason: "a new object has its ignored fields, and the rule has found them",
			rules:  `[{paths: [/spec/replicas]}]`,
			to:     deployment(`spec: {replicas: 2}`),
			want:   deployment(`spec: {replicas: 2}`),
		},
		"two rules": {
			reason:  "one finds what another has brought back",
			rules:   `[{paths: [/spec/template/metadata]}, {paths: [/spec/template/metadata/annotations/a]}]`,
			from:    deployment(`spec: {template: {metadata: {annotations: {a: x}}}}`),
			to:      deployment(`spec: {template: {spec: {}}}`),
			want:    deployment(`spec: {template: {spec: {}, metadata: {annotations: {a: x}}}}`),
			ignored: 1,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ig := ignoring(t, "", tc.rules)
			from, to := plainValues(t, tc.from), plainValues(t, tc.to)
			matched := make([]bool, len(ig.rules))
			got, ignored := ig.keep(from, to, refOf(to, ""), nil, matched)
			if diff := cmp.Diff(plainValues(t, tc.want), got.object, compareNumbers()); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
			if ignored != tc.ignored {
				t.Errorf("%s: ignored %d fields, want %d", tc.reason, ignored, tc.ignored)
			}
			if matched[0] == tc.unmatched {
				t.Errorf("%s: matched %v", tc.reason, matched)
			}
			if diff := cmp.Diff(plainValues(t, tc.from), from); diff != "" {
				t.Errorf("from was changed:\n%s", diff)
			}
			if diff := cmp.Diff(plainValues(t, tc.to), to); diff != "" {
				t.Errorf("to was changed:\n%s", diff)
			}
		})
	}
}

// compareNumbers compares an integer and a float by value.
func compareNumbers() cmp.Option {
	return cmp.FilterValues(func(a, b any) bool {
		_, aInt := asInt(a)
		_, bInt := asInt(b)
		return aInt && bInt
	}, cmp.Comparer(func(a, b any) bool { return equalNumbers(a, b) }))
}

// TestIgnoreLive: what is ours stays as it is live, what is not ours is not applied, and
// after that nothing is left to be written.
func TestIgnoreLive(t *testing.T) {
	t.Parallel()
	live := func(spec, owned string) string {
		return `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  managedFields:
  - {manager: us, operation: Apply, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {f:spec: ` + owned + `}}
  - {manager: mesh, operation: Update, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {f:spec: {f:minReadySeconds: {}, f:template: {f:spec: {f:containers: {'k:{"name":"mesh"}': {.: {}, f:name: {}, f:image: {}}}}}}}}
spec: ` + spec
	}
	desired := func(spec string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: " + spec
	}
	tests := map[string]struct {
		reason              string
		rules               string
		live, desired, want string
		ignored             int
		writes              bool
	}{
		"ours": {
			reason: "a live value that is ours is what we go on to apply",
			rules:  `[{paths: [/spec/replicas]}]`,
			live:   live(`{replicas: 5, paused: true}`, `{f:replicas: {}, f:paused: {}}`), desired: desired(`{replicas: 2, paused: true}`),
			want: desired(`{replicas: 5, paused: true}`), ignored: 1,
		},
		"theirs": {
			reason: "to apply what is not ours would be to own it",
			rules:  `[{paths: [/spec/replicas]}]`,
			live:   live(`{replicas: 5, paused: true}`, `{f:paused: {}}`), desired: desired(`{replicas: 2, paused: true}`),
			want: desired(`{paused: true}`), ignored: 1,
		},
		"ours and not desired": {
			reason: "it stays, and stays ours",
			rules:  `[{paths: [/spec/replicas]}]`,
			live:   live(`{replicas: 5, paused: true}`, `{f:replicas: {}, f:paused: {}}`), desired: desired(`{paused: true}`),
			want: desired(`{replicas: 5, paused: true}`), ignored: 1,
		},
		"theirs and not desired": {
			reason: "nothing differs, nothing is counted",
			rules:  `[{paths: [/spec/replicas]}]`,
			live:   live(`{replicas: 5, paused: true}`, `{f:paused: {}}`), desired: desired(`{paused: true}`),
			want: desired(`{paused: true}`),
		},
		"not there": {
			reason: "an ignored field is not created",
			rules:  `[{paths: [/spec/replicas, /spec/strategy]}]`,
			live:   live(`{paused: true}`, `{f:paused: {}}`), desired: desired(`{replicas: 2, paused: true, strategy: {type: Recreate}}`),
			want: desired(`{paused: true}`), ignored: 2,
		},
		"a mapping of both": {
			reason: "of a mapping the parts that are ours stay ours, and no more",
			rules:  `[{paths: [/spec/template/metadata/annotations]}]`,
			live:   live(`{template: {metadata: {annotations: {a: x, b: y, c: z}}}}`, `{f:template: {f:metadata: {f:annotations: {f:a: {}, f:c: {}}}}}`),
			// b is live, and not ours: only its owner's.
			desired: desired(`{template: {metadata: {annotations: {a: w, b: y}}}}`),
			want:    desired(`{template: {metadata: {annotations: {a: x, c: z}}}}`), ignored: 2,
		},
		"an item of theirs": {
			reason: "an item that is ignored is not applied",
			rules:  `[{paths: ["spec.template.spec.containers[name=mesh]"]}]`,
			live: live(`{template: {spec: {containers: [{name: mesh, image: m:2}, {name: app, image: a}]}}}`,
				`{f:template: {f:spec: {f:containers: {'k:{"name":"app"}': {.: {}, f:name: {}, f:image: {}}}}}}`),
			desired: desired(`{template: {spec: {containers: [{name: app, image: a}, {name: mesh, image: m:1}]}}}`),
			want:    desired(`{template: {spec: {containers: [{name: app, image: a}]}}}`), ignored: 1,
		},
		"a field of an item": {
			reason: "the image that somebody sets is left alone",
			rules:  `[{paths: ["spec.template.spec.containers[name=app].image"]}]`,
			live: live(`{template: {spec: {containers: [{name: app, image: a:9, tty: true}]}}}`,
				`{f:template: {f:spec: {f:containers: {'k:{"name":"app"}': {.: {}, f:name: {}, f:tty: {}}}}}}`),
			desired: desired(`{template: {spec: {containers: [{name: app, image: a:1, tty: true}]}}}`),
			want:    desired(`{template: {spec: {containers: [{name: app, tty: true}]}}}`), ignored: 1,
		},
		"part of what is replaced as a whole": {
			reason: "there is no part that could be owned: it takes the live value",
			rules:  `[{paths: ["spec.template.spec.containers[name=app].args[1]"]}]`,
			live: live(`{template: {spec: {containers: [{name: app, args: [x, "9"]}]}}}`,
				`{f:template: {f:spec: {f:containers: {'k:{"name":"app"}': {.: {}, f:name: {}, f:args: {}}}}}}`),
			desired: desired(`{template: {spec: {containers: [{name: app, args: [x, "1"]}]}}}`),
			want:    desired(`{template: {spec: {containers: [{name: app, args: [x, "9"]}]}}}`), ignored: 1,
		},
		"by field manager": {
			reason: "all that a manager owns is ignored, and nothing else",
			rules:  `[{managers: [mesh]}]`,
			live: live(`{minReadySeconds: 9, paused: true, template: {spec: {containers: [{name: mesh, image: m:2}, {name: app, image: a:1}]}}}`,
				`{f:minReadySeconds: {}, f:paused: {}, f:template: {f:spec: {f:containers: {'k:{"name":"app"}': {.: {}, f:name: {}, f:image: {}}}}}}`),
			desired: desired(`{minReadySeconds: 1, paused: false, template: {spec: {containers: [{name: app, image: a:1}, {name: mesh, image: m:1}]}}}`),
			want:    desired(`{minReadySeconds: 9, paused: false, template: {spec: {containers: [{name: app, image: a:1}, {name: mesh}]}}}`), ignored: 2,
			writes: true,
		},
		"what is not ignored": {
			reason: "is written as ever",
			rules:  `[{paths: [/spec/replicas]}]`,
			live:   live(`{replicas: 5, paused: true}`, `{f:replicas: {}, f:paused: {}}`), desired: desired(`{replicas: 2, paused: false}`),
			want: desired(`{replicas: 5, paused: false}`), ignored: 1, writes: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ig := ignoring(t, "us", tc.rules)
			live, desired := plainValues(t, tc.live), plainValues(t, tc.desired)
			l, d := &unstructured.Unstructured{Object: live}, &unstructured.Unstructured{Object: desired}
			kept := ig.Keep(d, l)
			if diff := cmp.Diff(plainValues(t, tc.want), kept.Object); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
			if got := NewChecker("us").Changed(kept, l); got != tc.writes {
				t.Errorf("%s: Changed is %t", tc.reason, got)
			}
			own, _ := split(live, &ig.opts)
			if _, ignored := ig.keep(live, desired, refOf(desired, ""), own, nil); ignored != tc.ignored {
				t.Errorf("%s: ignored %d fields, want %d", tc.reason, ignored, tc.ignored)
			}
			if diff := cmp.Diff(plainValues(t, tc.live), live); diff != "" {
				t.Errorf("live was changed:\n%s", diff)
			}
			if diff := cmp.Diff(plainValues(t, tc.desired), desired); diff != "" {
				t.Errorf("desired was changed:\n%s", diff)
			}
			if again := ig.Keep(kept, l); again != kept {
				t.Errorf("Keep of what Keep gave is something else: %v", cmp.Diff(kept, again))
			}
		})
	}
}

func TestIgnoreSelects(t *testing.T) {
	t.Parallel()
	object := plainValues(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-1, namespace: shop, labels: {tier: front}, annotations: {note: x}}`)
	pod := plainValues(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}")
	tests := map[string]struct {
		rule IgnoreRule
		pod  bool
		want bool
	}{
		"all":                  {rule: IgnoreRule{}, want: true},
		"kind":                 {rule: IgnoreRule{Kind: "Deployment"}, want: true},
		"another kind":         {rule: IgnoreRule{Kind: "Deploy"}},
		"case":                 {rule: IgnoreRule{Kind: "deployment"}},
		"star":                 {rule: IgnoreRule{Group: "*", Kind: "*", Namespace: "*", Name: "*"}, want: true},
		"begins":               {rule: IgnoreRule{Name: "web-*"}, want: true},
		"ends":                 {rule: IgnoreRule{Name: "*-1"}, want: true},
		"in between":           {rule: IgnoreRule{Name: "w*b*1"}, want: true},
		"not twice":            {rule: IgnoreRule{Name: "web-1*1"}},
		"a name alone":         {rule: IgnoreRule{Name: "web"}},
		"namespace":            {rule: IgnoreRule{Namespace: "sh*"}, want: true},
		"group":                {rule: IgnoreRule{Group: "apps", Version: "v1"}, want: true},
		"version":              {rule: IgnoreRule{Version: "v1beta1"}},
		"core is no apps":      {rule: IgnoreRule{Group: "core"}},
		"core":                 {rule: IgnoreRule{Group: "core", Version: "v1", Kind: "Pod"}, pod: true, want: true},
		"anchored":             {rule: IgnoreRule{Regexp: true, Name: "web"}},
		"expression":           {rule: IgnoreRule{Regexp: true, Name: `web-\d|x`, Kind: "Deploy.*", Group: "apps", Version: "v1", Namespace: "shop"}, want: true},
		"alternatives":         {rule: IgnoreRule{Regexp: true, Name: `x|web`}},
		"labels":               {rule: IgnoreRule{Labels: "tier in (front,back)"}, want: true},
		"other labels":         {rule: IgnoreRule{Labels: "tier!=front"}},
		"annotations":          {rule: IgnoreRule{Annotations: "note=x"}, want: true},
		"no annotations there": {rule: IgnoreRule{Annotations: "note=x"}, pod: true},
		"one of these":         {rule: IgnoreRule{Objects: []ObjectRef{{APIVersion: "apps/v1beta1", Kind: "Deployment", Namespace: "shop", Name: "web-1"}}}, want: true},
		"none of these":        {rule: IgnoreRule{Objects: []ObjectRef{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web-1"}}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.rule.Paths = []PathPattern{{{Field: "spec"}}}
			rule, err := compile(&tc.rule)
			if err != nil {
				t.Fatal(err)
			}
			o := object
			if tc.pod {
				o = pod
			}
			if got := rule.selects(refOf(o, ""), nil, o); got != tc.want {
				t.Errorf("%+v selects %v: %t", tc.rule, refOf(o, ""), got)
			}
		})
	}
}

func TestNewIgnorerRefuses(t *testing.T) {
	t.Parallel()
	spec := []PathPattern{{{Field: "spec"}}}
	tests := map[string]struct {
		rule IgnoreRule
		want string
	}{
		"nothing":     {IgnoreRule{}, "ignore rule 1: names neither paths nor field managers"},
		"expression":  {IgnoreRule{Regexp: true, Name: "(", Paths: spec, Source: "f:1"}, "f:1: name: \"(\" is no regular expression: error parsing regexp: missing closing ): `^(?:()$`"},
		"labels":      {IgnoreRule{Labels: "a in b", Paths: spec, Source: "f:1"}, `f:1: label selector "a in b": unable to parse requirement: found 'b' expected: '('`},
		"the object":  {IgnoreRule{Paths: []PathPattern{{}}}, "ignore rule 1: a path is empty, which is the whole object; to leave out objects, leave them out of what is compared"},
		"its name":    {IgnoreRule{Paths: []PathPattern{{{Field: "metadata"}, {Field: "name"}}}}, `ignore rule 1: path "metadata.name" covers what identifies an object (its apiVersion, kind, namespace or name)`},
		"all at once": {IgnoreRule{Paths: []PathPattern{{{Any: true}}}}, `ignore rule 1: path "[]" covers what identifies an object (its apiVersion, kind, namespace or name)`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := NewIgnorer(Options{Ignore: []IgnoreRule{tc.rule}})
			if err == nil || err.Error() != tc.want {
				t.Errorf("got %v\nwant %s", err, tc.want)
			}
		})
	}
}
