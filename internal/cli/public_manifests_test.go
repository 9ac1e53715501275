package cli_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/yaml"

	"kudevops.io/appsvc/internal/cli"
)

// publicManifests holds manifests of well-known applications, as their authors
// publish them. It is no part of the repository.
const publicManifests = "../../../shared/inputs/manifests"

// TestPublicManifests: the examples that are named after public applications render
// to what the public manifests say. What differs nevertheless is listed here, with
// the reason; a difference that is not listed fails, and so does a listed one that
// is not there any more. docs/compatibility.md tells the same to the reader.
func TestPublicManifests(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(publicManifests); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the public manifests are not part of the repository, and there are none in %s", publicManifests)
	}
	boutique := []string{
		"adservice", "cartservice", "checkoutservice", "currencyservice", "emailservice", "frontend", "loadgenerator",
		"paymentservice", "productcatalogservice", "recommendationservice", "redis-cart", "shippingservice",
	}
	podinfo := []string{"backend", "frontend", "podinfo"}
	tests := []struct {
		name   string
		public []string // folders of publicManifests
		want   []difference
	}{
		{
			name:   "online-boutique",
			public: []string{"online-boutique"},
			want: slices.Concat(
				recommendedLabels("Deployment", "metadata.labels", boutique),
				recommendedLabels("Deployment", "spec.template.metadata.labels", boutique),
				recommendedLabels("Service", "metadata.labels", without(boutique, "loadgenerator")),
				recommendedLabels("ServiceAccount", "metadata.labels", without(boutique, "redis-cart")),
				[]difference{
					{
						kind: "ServiceAccount", names: without(boutique, "redis-cart"),
						path: "metadata.labels.app", public: absent, ours: `"NAME"`,
						reason: "the labels of an AppService go to all that it renders to",
					},
					{
						kind: "Service", names: []string{"frontend-external"}, path: wholeObject, public: "present", ours: absent,
						reason: "an AppService has one Service",
					},
					{
						kind: "Deployment", names: []string{"loadgenerator"},
						path:   "spec.template.spec.initContainers[frontend-check].command",
						public: "sha256:2f3c428447e2c156", ours: "sha256:1e6e30bd379660f2",
						reason: "the example waits for the frontend with a script of its own",
					},
				},
			),
		},
		{
			name:   "podinfo",
			public: []string{"podinfo", "podinfo-apps/backend", "podinfo-apps/frontend"},
			want: slices.Concat(
				recommendedLabels("Deployment", "metadata.labels", podinfo),
				// In the others, the name is the label that pods are selected by.
				recommendedLabels("Deployment", "spec.template.metadata.labels", []string{"podinfo"}),
				withoutName(recommendedLabels("Deployment", "spec.template.metadata.labels", []string{"backend", "frontend"})),
				recommendedLabels("Service", "metadata.labels", podinfo),
				recommendedLabels("HorizontalPodAutoscaler", "metadata.labels", podinfo),
				recommendedLabels("ServiceAccount", "metadata.labels", []string{"frontend"}),
				[]difference{{
					kind: "CronJob", names: []string{"warm-cache"}, path: wholeObject, public: "present", ours: absent,
					reason: "a job is no service; it stays a manifest beside the AppService",
				}},
			),
		},
	}
	used := map[string]bool{}
	for _, tt := range tests {
		var out, errOut bytes.Buffer
		if code := cli.Main(t.Context(), []string{"build", filepath.Join("../../examples", tt.name)}, nil, &out, &errOut); code != 0 {
			t.Fatalf("%s: build: exit code %d: %s", tt.name, code, errOut.String())
		}
		ours := manifestSet{}
		ours.add(t, &out)
		public := manifestSet{}
		for _, folder := range tt.public {
			public.addFolder(t, filepath.Join(publicManifests, folder))
		}
		want, got := lines(tt.want), lines(compareManifests(public, ours, used))
		for _, line := range got {
			if !slices.Contains(want, line) {
				t.Errorf("%s: a difference that is not listed: %s", tt.name, line)
			}
		}
		for _, line := range want {
			if !slices.Contains(got, line) {
				t.Errorf("%s: a listed difference that is not there: %s", tt.name, line)
			}
		}
	}
	for _, d := range serverDefaults {
		if !used[d.kind+" "+d.path] {
			t.Errorf("the default of %s %s makes no difference anywhere: it need not be listed", d.kind, d.path)
		}
	}
}

const (
	absent      = "absent"
	wholeObject = "the object"
)

// difference is a field with one value in a public manifest and another one in what
// is rendered. Values are as valueAt gives them; NAME stands for the name of the
// object.
type difference struct {
	kind         string
	names        []string
	path         string
	public, ours string
	reason       string
}

// lines gives one line for each object that has a difference, sorted.
func lines(differences []difference) []string {
	var all []string
	for _, d := range differences {
		for _, name := range d.names {
			line := fmt.Sprintf("%s %s, %s: public %s, ours %s", d.kind, name, d.path, d.public, d.ours)
			all = append(all, strings.ReplaceAll(line, "NAME", name))
		}
	}
	slices.Sort(all)
	return all
}

// recommendedLabels are the labels that appsvc adds at a path.
func recommendedLabels(kind, path string, names []string) []difference {
	var all []difference
	for _, l := range []struct{ key, value string }{
		{"app.kubernetes.io/name", `"NAME"`},
		{"app.kubernetes.io/instance", `"NAME"`},
		{"app.kubernetes.io/managed-by", `"appsvc"`},
	} {
		all = append(all, difference{
			kind: kind, names: names, path: path + "[" + l.key + "]", public: absent, ours: l.value,
			reason: "appsvc writes the labels that Kubernetes recommends",
		})
	}
	return all
}

func withoutName(labels []difference) []difference {
	return slices.DeleteFunc(labels, func(d difference) bool { return strings.HasSuffix(d.path, "[app.kubernetes.io/name]") })
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}

// serverDefaults are the values that a field has where it is left out, which one
// side does and the other does not. They are k8s.io/kubernetes/pkg/apis/*/v1/defaults.go
// unless the reason names another source.
var serverDefaults = []struct {
	kind, path string
	value      any
	sibling    string // the field beside it whose value it has, in place of value
	reason     string
}{
	{kind: "Deployment", path: "spec.strategy.type", value: "RollingUpdate", reason: "written so that a change to Recreate is not refused later"},
	{kind: "Deployment", path: "spec.strategy.rollingUpdate.maxSurge", value: "25%", reason: "written together with the type"},
	{kind: "Deployment", path: "spec.strategy.rollingUpdate.maxUnavailable", value: "25%", reason: "written together with the type"},
	{kind: "Deployment", path: "spec.template.spec.restartPolicy", value: "Always", reason: "the only one that a Deployment may have, so there is no field for it"},
	{kind: "Deployment", path: "spec.template.spec.serviceAccountName", value: "default", reason: "what the ServiceAccount admission plugin gives a pod; written because it cannot be taken back otherwise"},
	{kind: "Deployment", path: "spec.template.spec.containers[].imagePullPolicy", value: "IfNotPresent", reason: "for an image whose tag is not latest, as in all of these"},
	{kind: "Deployment", path: "spec.template.spec.initContainers[].imagePullPolicy", value: "IfNotPresent", reason: "as for the containers"},
	{kind: "Deployment", path: "spec.template.spec.containers[].ports[].protocol", value: "TCP", reason: "part of the key of the list, so always written"},
	{kind: "Service", path: "spec.ports[].protocol", value: "TCP", reason: "part of the key of the list, so always written"},
	{kind: "Service", path: "spec.ports[].targetPort", sibling: "port", reason: "left out where it says the same as port"},
}

// manifestSet are objects by kind and name, each as its values by path.
type manifestSet map[[2]string]map[string]any

// addFolder adds what the YAML files of a folder say, but for kustomizations.
func (s manifestSet) addFolder(t *testing.T, folder string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("%s: no manifests", folder)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s.add(t, bytes.NewReader(text))
	}
}

func (s manifestSet) add(t *testing.T, stream io.Reader) {
	t.Helper()
	decoder := yaml.NewYAMLOrJSONDecoder(stream, 4096)
	for {
		var object map[string]any
		err := decoder.Decode(&object)
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		kind, _ := object["kind"].(string)
		if object == nil || kind == "Kustomization" {
			continue
		}
		metadata, _ := object["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		id := [2]string{kind, name}
		if _, twice := s[id]; twice {
			t.Fatalf("%s %s is there twice", kind, name)
		}
		values := map[string]any{}
		flatten(t, values, "", object)
		s[id] = values
	}
}

// flatten gives the values of a tree by their paths. An entry of a list that has a
// key is known by its key; any other list is one value, and so is an empty mapping.
func flatten(t *testing.T, values map[string]any, path string, tree any) {
	t.Helper()
	switch tree := tree.(type) {
	case map[string]any:
		for key, value := range tree {
			switch {
			case strings.ContainsAny(key, "./"):
				flatten(t, values, path+"["+key+"]", value)
			case path == "":
				flatten(t, values, key, value)
			default:
				flatten(t, values, path+"."+key, value)
			}
		}
		if len(tree) > 0 {
			return
		}
	case []any:
		if entries, ok := byKey(path, tree); ok {
			if len(entries) != len(tree) {
				t.Fatalf("%s: two entries with one key", path)
			}
			for key, entry := range entries {
				flatten(t, values, path+"["+key+"]", entry)
			}
			return
		}
	}
	values[path] = tree
}

// byKey gives the entries of a list by their keys, if they have any.
func byKey(path string, list []any) (map[string]any, bool) {
	field := path[strings.LastIndex(path, ".")+1:]
	entries := map[string]any{}
	for _, item := range list {
		entry, ok := item.(map[string]any)
		if !ok {
			return nil, false
		}
		var key string
		switch field {
		case "containers", "initContainers", "env", "volumes":
			key = fmt.Sprint(entry["name"])
		case "volumeMounts":
			key = fmt.Sprint(entry["mountPath"])
		case "ports":
			number, protocol := entry["containerPort"], entry["protocol"]
			if number == nil {
				number = entry["port"]
			}
			if protocol == nil {
				protocol = "TCP"
			}
			key = fmt.Sprintf("%v/%v", number, protocol)
		default:
			return nil, false
		}
		entries[key] = entry
	}
	return entries, true
}

// compareManifests gives each field that differs by itself, and notes in used which
// of the serverDefaults made two sides equal.
func compareManifests(public, ours manifestSet, used map[string]bool) []difference {
	var all []difference
	for id := range union(public, ours) {
		theirs, isTheirs := public[id]
		mine, isMine := ours[id]
		if !isTheirs || !isMine {
			d := difference{kind: id[0], names: []string{id[1]}, path: wholeObject, public: "present", ours: absent}
			if isMine {
				d.public, d.ours = d.ours, d.public
			}
			all = append(all, d)
			continue
		}
		for path := range union(theirs, mine) {
			a, hasA := theirs[path]
			b, hasB := mine[path]
			switch {
			case hasA && hasB && sameValue(path, a, b):
			case !hasA && isDefault(id[0], path, mine, used):
			case !hasB && isDefault(id[0], path, theirs, used):
			default:
				all = append(all, difference{
					kind: id[0], names: []string{id[1]}, path: path,
					public: valueAt(theirs, path), ours: valueAt(mine, path),
				})
			}
		}
	}
	return all
}

func union[K comparable, V any](a, b map[K]V) map[K]struct{} {
	keys := map[K]struct{}{}
	for k := range a {
		keys[k] = struct{}{}
	}
	for k := range b {
		keys[k] = struct{}{}
	}
	return keys
}

var quantityPath = regexp.MustCompile(`\.resources\.(requests|limits)\.`)

func sameValue(path string, a, b any) bool {
	if quantityPath.MatchString(path) {
		p, errP := resource.ParseQuantity(fmt.Sprint(a))
		q, errQ := resource.ParseQuantity(fmt.Sprint(b))
		return errP == nil && errQ == nil && p.Cmp(q) == 0
	}
	return reflect.DeepEqual(a, b)
}

var listKey = regexp.MustCompile(`\[[^\]]*\]`)

func isDefault(kind, path string, values map[string]any, used map[string]bool) bool {
	pattern := listKey.ReplaceAllString(path, "[]")
	for _, d := range serverDefaults {
		if d.kind != kind || d.path != pattern {
			continue
		}
		value := d.value
		if d.sibling != "" {
			value = values[path[:strings.LastIndex(path, ".")+1]+d.sibling]
		}
		if reflect.DeepEqual(value, values[path]) {
			used[kind+" "+pattern] = true
			return true
		}
	}
	return false
}

// valueAt gives the value as JSON, or absent. A long one is known by its hash, so
// that this file need not repeat it.
func valueAt(values map[string]any, path string) string {
	value, ok := values[path]
	if !ok {
		return absent
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	if len(text) > 100 {
		return fmt.Sprintf("sha256:%.8x", sha256.Sum256(text))
	}
	return string(text)
}

// TestCompareManifests: the comparison sees what TestPublicManifests relies on.
func TestCompareManifests(t *testing.T) {
	t.Parallel()
	const path = "spec.template.spec.containers[app]"
	tests := []struct {
		name, reason string
		public, ours string // one container
		want         []string
	}{
		{
			name:   "quantities",
			reason: "2000m is 2",
			public: `{name: app, resources: {limits: {cpu: 2000m, memory: 1Gi}}}`,
			ours:   `{name: app, resources: {limits: {cpu: 2, memory: 1024Mi}}}`,
		},
		{
			name:   "another quantity",
			reason: "20m is not 2",
			public: `{name: app, resources: {limits: {cpu: 20m}}}`,
			ours:   `{name: app, resources: {limits: {cpu: 2}}}`,
			want:   []string{"Deployment web, " + path + `.resources.limits.cpu: public "20m", ours 2`},
		},
		{
			name:   "lists with keys",
			reason: "entries are told apart by their keys, whatever their order; the protocol is TCP where none is given",
			public: `{name: app, env: [{name: A, value: a}, {name: B, value: b}], ports: [{containerPort: 53}, {containerPort: 53, protocol: UDP}]}`,
			ours:   `{name: app, env: [{name: B, value: b}, {name: A, value: c}], ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53, protocol: TCP}]}`,
			want:   []string{"Deployment web, " + path + `.env[A].value: public "a", ours "c"`},
		},
		{
			name:   "lists without",
			reason: "the order of arguments matters",
			public: `{name: app, args: [a, b]}`,
			ours:   `{name: app, args: [b, a]}`,
			want:   []string{"Deployment web, " + path + `.args: public ["a","b"], ours ["b","a"]`},
		},
		{
			name:   "defaults",
			reason: "a default may be written or not, another value may not",
			public: `{name: app, imagePullPolicy: Always}`,
			ours:   `{name: app}`,
			want:   []string{"Deployment web, " + path + `.imagePullPolicy: public "Always", ours absent`},
		},
		{
			name:   "empty mappings",
			reason: "an empty mapping is not the same as none, as in emptyDir: {}",
			public: `{name: app, securityContext: {}}`,
			ours:   `{name: app}`,
			want:   []string{"Deployment web, " + path + `.securityContext: public {}, ours absent`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var sides [2]manifestSet
			for i, container := range []string{tt.public, tt.ours} {
				sides[i] = manifestSet{}
				sides[i].add(t, strings.NewReader("{kind: Deployment, metadata: {name: web}, spec: {template: {spec: {containers: ["+container+"]}}}}"))
			}
			got := lines(compareManifests(sides[0], sides[1], map[string]bool{}))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s, -want +got:\n%s", tt.reason, diff)
			}
		})
	}
}
