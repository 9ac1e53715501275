package diff

import (
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// objects reads objects from YAML documents.
func objects(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for _, document := range strings.Split(text, "\n---\n") {
		if strings.TrimSpace(document) != "" {
			out = append(out, parse(t, document))
		}
	}
	return out
}

// TestCasesOfSets compares whole sets of objects: what is the same object as what.
func TestCasesOfSets(t *testing.T) {
	t.Parallel()
	const configMap = `{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME, namespace: shop}, data: {a: VALUE}}`
	of := func(name, value string) string {
		return strings.NewReplacer("NAME", name, "VALUE", value).Replace(configMap)
	}
	for _, test := range []struct {
		id, name, reason string
		from, to         string
		opts             Options
		want             []string
		fault            string
	}{
		{
			id: "I1", reason: "an object without a namespace is in the one that is given",
			from: of("web", "x"), to: strings.Replace(of("web", "x"), ", namespace: shop", "", 1),
			opts: Options{Namespace: "shop"},
		},
		{
			id: "I1", name: "none given", reason: "without one, no namespace is an identity of its own",
			from: of("web", "x"), to: strings.Replace(of("web", "x"), ", namespace: shop", "", 1),
			want: []string{"create ConfigMap web", "delete ConfigMap shop/web"},
		},
		{
			id: "I2", name: "given", reason: "a namespace that is given is none of a kind of the whole cluster",
			from: `{apiVersion: v1, kind: Namespace, metadata: {name: a}}`,
			to:   `{apiVersion: v1, kind: Namespace, metadata: {name: a, namespace: shop}}`,
			opts: Options{Namespace: "other"},
		},
		{
			id: "I4", name: "other kind", reason: "another kind of one name is another object",
			from: of("web", "x"), to: strings.Replace(of("web", "eA=="), "ConfigMap", "Secret", 1),
			want: []string{"create Secret shop/web", "delete ConfigMap shop/web"},
		},
		{
			id: "I5", name: "unknown move", reason: "one kind in two groups is two kinds, but for the moves of Kubernetes itself",
			from: `{apiVersion: a.example/v1, kind: Thing, metadata: {name: a}}`,
			to:   `{apiVersion: b.example/v1, kind: Thing, metadata: {name: a}}`,
			want: []string{"create Thing a", "delete Thing a"},
		},
		{
			id: "I18", reason: "what is in a new namespace is new, and needs no answer of a server",
			to:   `{apiVersion: v1, kind: Namespace, metadata: {name: shop}}` + "\n---\n" + of("web", "x"),
			opts: Options{Manager: "ours"},
			want: []string{"create Namespace shop", "create ConfigMap shop/web"},
		},
		{
			id: "I19", reason: "one object twice is a fault",
			to:    of("web", "x") + "\n---\n" + of("web", "y"),
			fault: "ConfigMap shop/web: is there twice",
		},
		{
			id: "I19", name: "versions", reason: "also in two versions of its group",
			to: `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}}` + "\n---\n" +
				`{apiVersion: policy/v1beta1, kind: PodDisruptionBudget, metadata: {name: web}}`,
			fault: "PodDisruptionBudget web: is there twice",
		},
		{
			id: "S13", reason: "a ConfigMap that differs in the hash of its name is the same one, renamed (flux2#3378)",
			from: of("web-6bt8b5fh4g", "x"), to: of("web-9d2k7m6ctf", "z"),
			want: []string{"replace data.a"},
		},
		{
			id: "S13", name: "same", reason: "a new name is a change by itself",
			from: of("web-6bt8b5fh4g", "x"), to: of("web-9d2k7m6ctf", "x"),
			want: []string{"update ConfigMap shop/web-9d2k7m6ctf"},
		},
		{
			id: "S13", name: "words", reason: "a word is no hash",
			from: of("web-settings", "x"), to: of("web-defaults", "x"),
			want: []string{"create ConfigMap shop/web-defaults", "delete ConfigMap shop/web-settings"},
		},
		{
			id: "S13", name: "several", reason: "which of two went into which cannot be told",
			from: of("web-6bt8b5fh4g", "x") + "\n---\n" + of("web-1bt8b5fh4g", "z"), to: of("web-9d2k7m6ctf", "z"),
			want: []string{"create ConfigMap shop/web-9d2k7m6ctf", "delete ConfigMap shop/web-6bt8b5fh4g", "delete ConfigMap shop/web-1bt8b5fh4g"},
		},
		{
			id: "Q20", name: "ignored", reason: "who knows that it is a duration can say so",
			from: `{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, spec: {every: 1m0s}}`,
			to:   `{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, spec: {every: 60s}}`,
			opts: Options{Ignore: []IgnoreRule{{Kind: "Thing", Paths: []PathPattern{{{Field: "spec"}, {Field: "every"}}}}}},
		},
	} {
		t.Run(strings.TrimSpace(test.id+" "+test.name), func(t *testing.T) {
			t.Parallel()
			set, err := Diff(objects(t, test.from), objects(t, test.to), test.opts)
			if test.fault != "" {
				if err == nil || !strings.Contains(err.Error(), test.fault) {
					t.Errorf("the error is %v, want %q: %s", err, test.fault, test.reason)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := written(set)
			for _, o := range set.Objects {
				if o.Action == Update && len(o.Fields) == 0 {
					got = append(got, "update "+o.Object.String())
				}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("changes (-want +got):\n%s%s", d, test.reason)
			}
		})
	}
}

// TestCasesOfFloats: an encoder may write a whole number as a float. YAML and the
// decoders of Kubernetes do not, so that no case in a file can say so.
func TestCasesOfFloats(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		id, reason string
		from, to   any
		want       []string
	}{
		{id: "N5", reason: "2.0 is 2", from: int64(2), to: float64(2)},
		{id: "N19", reason: "1.0 is 1", from: float64(1), to: int64(1)},
		{id: "N17", reason: "beyond 2^53 a float does not say which integer it is", from: int64(9007199254740993), to: float64(9007199254740992), want: []string{"replace spec.replicas"}},
	} {
		t.Run(test.id, func(t *testing.T) {
			t.Parallel()
			object := func(replicas any) *unstructured.Unstructured {
				u := parse(t, typicalDeployment)
				spec, _ := u.Object["spec"].(map[string]any)
				spec["replicas"] = replicas
				return u
			}
			wantChanges(t, test.reason, object(test.from), object(test.to), test.want, "")
			desired, live := object(test.to), applied(t, "ours", object(test.from))
			if got := NewChecker("ours").Changed(desired, live); got != (test.want != nil) {
				t.Errorf("Changed says %t: %s", got, test.reason)
			}
		})
	}
}

// TestCasesOfNewerServers: a server that is newer than this package fills in fields that
// it does not know.
func TestCasesOfNewerServers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		id, reason string
		edit       func(live map[string]any)
	}{
		{id: "F32", reason: "a new default in a container (kubernetes/kubernetes#69445, #78904)", edit: func(live map[string]any) {
			containerOf(live)["procMount2"] = "Default"
		}},
		{id: "I14", reason: "new fields, lists and structures, wherever they are (argo-cd#17358, #16400)", edit: func(live map[string]any) {
			live["extra"] = map[string]any{"a": []any{int64(1), map[string]any{"b": nil}}}
			spec, _ := live["spec"].(map[string]any)
			spec["extra"] = []any{map[string]any{"name": "x"}, "y"}
			containerOf(live)["extra"] = map[string]any{"k": "v"}
			metadata, _ := live["metadata"].(map[string]any)
			metadata["extra"] = "x"
		}},
	} {
		t.Run(test.id, func(t *testing.T) {
			t.Parallel()
			desired := parse(t, typicalDeployment)
			live := applied(t, "ours", desired)
			test.edit(live.Object)
			if NewChecker("ours").Changed(desired, live) {
				t.Errorf("Changed says true: %s", test.reason)
			}
			set, err := Diff([]*unstructured.Unstructured{live}, []*unstructured.Unstructured{desired}, Options{Manager: "ours"})
			if err != nil {
				t.Fatal(err)
			}
			if got := written(set); got != nil {
				t.Errorf("changes %q: %s", got, test.reason)
			}
		})
	}
}

// containerOf gives the first container of a Deployment.
func containerOf(object map[string]any) map[string]any {
	containers, _, _ := unstructured.NestedFieldNoCopy(object, "spec", "template", "spec", "containers")
	list, _ := containers.([]any)
	first, _ := list[0].(map[string]any)
	return first
}

// TestCasesOfOldEntries: managedFields may name a version that no server writes any more.
func TestCasesOfOldEntries(t *testing.T) {
	t.Parallel()
	desired := parse(t, `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: web}}}`)
	live := applied(t, "ours", desired)
	fields := live.GetManagedFields()
	fields[0].APIVersion = "autoscaling/v2beta2"
	live.SetManagedFields(fields)
	if !NewChecker("ours").Changed(desired, live) {
		t.Error("O25: Changed says false of what is owned in a version that is gone (kubernetes/kubernetes#111937)")
	}
}

// reports gives a change in every form.
func reports(t *testing.T, from, to string, opts ReportOptions) map[string]string {
	t.Helper()
	set, err := Diff(objects(t, from), objects(t, to), Options{})
	if err != nil {
		t.Fatal(err)
	}
	report := NewReport(set, opts)
	out := make(map[string]string)
	for name, write := range map[string]func(io.Writer) error{
		"json":     report.WriteJSON,
		"names":    report.WriteNames,
		"text":     func(w io.Writer) error { return report.WriteText(w, TextOptions{}) },
		"unified":  func(w io.Writer) error { return report.WriteUnified(w, UnifiedOptions{}) },
		"markdown": func(w io.Writer) error { return report.WriteMarkdown(w, MarkdownOptions{}) },
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = b.String()
	}
	return out
}

// TestCasesOfReports: what a report shows of a change, and what it does not.
func TestCasesOfReports(t *testing.T) {
	t.Parallel()
	const secret = `{apiVersion: v1, kind: Secret, metadata: {name: web, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"data":{"a":"VALUE"}}'}}, data: {a: VALUE}}`
	const configMap = `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, KEY: {a: VALUE}}`
	const plain = `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {DB_PASSWORD: VALUE}}`
	of := func(text, value string) string { return strings.ReplaceAll(text, "VALUE", value) }
	for _, test := range []struct {
		id, name, reason string
		from, to         string
		opts             ReportOptions
		shown            []string // in the text
		hidden           []string // everywhere
	}{
		{
			id: "S4", reason: "neither the value of a Secret nor its length",
			from: of(secret, "aHVudGVyMg=="), to: of(secret, "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5"),
			shown:  []string{"data.a"},
			hidden: []string{"hunter2", "aHVudGVyMg", "correct horse", "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5", "7 bytes", "21 bytes"},
		},
		{
			id: "S5", reason: "also not in what is created",
			to:     of(secret, "aHVudGVyMg=="),
			shown:  []string{"Secret web"},
			hidden: []string{"hunter2", "aHVudGVyMg"},
		},
		{
			id: "O6", reason: "kubectl's memory of a Secret is as secret (helm-diff#390, kubectl#1453)",
			from: of(secret, "aHVudGVyMg=="), to: strings.ReplaceAll(of(secret, "aHVudGVyMg=="), "last-applied-configuration: '{", "last-applied-configuration: '{ "),
			shown:  []string{"kubectl.kubernetes.io/last-applied-configuration"},
			hidden: []string{"hunter2", "aHVudGVyMg"},
		},
		{
			id: "S10", reason: "a carriage return can be seen",
			from: strings.ReplaceAll(of(configMap, `"x\r\ny"`), "KEY", "data"), to: strings.ReplaceAll(of(configMap, `"x\ny"`), "KEY", "data"),
			shown: []string{`\r`},
		},
		{
			id: "S12", reason: "of bytes the number is shown, and not the base64",
			from: strings.ReplaceAll(of(configMap, "AAECAwQFBgcICQ=="), "KEY", "binaryData"), to: strings.ReplaceAll(of(configMap, "AAECAwQFBgcICQo="), "KEY", "binaryData"),
			shown:  []string{"binaryData.a", "10 bytes", "11 bytes"},
			hidden: []string{"AAECAwQ"},
		},
		{
			id: "S15", reason: "a value is masked elsewhere when its name says that it is secret, and only then (argo-cd#5201, kapp#90)",
			from: of(plain, "hunter2"), to: of(plain, "correct"), opts: ReportOptions{MaskKeys: []string{"*PASSWORD*"}},
			shown:  []string{"DB_PASSWORD"},
			hidden: []string{"hunter2", "correct"},
		},
		{
			id: "S15", name: "off", reason: "without the option it is shown",
			from: of(plain, "hunter2"), to: of(plain, "correct"),
			shown: []string{"hunter2", "correct"},
		},
	} {
		t.Run(strings.TrimSpace(test.id+" "+test.name), func(t *testing.T) {
			t.Parallel()
			outputs := reports(t, test.from, test.to, test.opts)
			for _, shown := range test.shown {
				if !strings.Contains(outputs["text"], shown) {
					t.Errorf("the text lacks %q: %s\n%s", shown, test.reason, outputs["text"])
				}
			}
			for _, name := range slices.Sorted(maps.Keys(outputs)) {
				for _, hidden := range test.hidden {
					if strings.Contains(outputs[name], hidden) {
						t.Errorf("%s shows %q: %s\n%s", name, hidden, test.reason, outputs[name])
					}
				}
			}
		})
	}
}
