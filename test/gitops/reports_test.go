package gitops

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestReports has a row for each public report about functions under kustomize, kpt
// and Argo CD that appsvc-render could share the fault of. The first word of a name is
// its number, the second the report. Rows 15, 17 and 20 are about the server of Argo
// CD alone: test/argocd has them, and the other half of 16, 18, 19 and 21.
func TestReports(t *testing.T) {
	t.Parallel()
	programs(t)
	tests := []struct {
		name, reason string
		test         func(t *testing.T)
	}{
		{"1 kustomize#5502", "a generator gets its config as an item too: it is rendered once", configIsItemToo},
		{"2 kustomize-sopssecretgenerator#36", "a child that inherits local-config vanishes from the output", childrenAreNotLocal},
		{"3 kustomize#4750 kustomize#2996 kpt#1045", "annotations of orchestrators leak into the output", nothingLeaks},
		{"4 kustomize#4399", "without --enable-exec, kustomize says nothing and prints nothing", execIsSkipped},
		{"5 kustomize#5036", "under validators a function always fails, so AppServices are validated under transformers", validatorsFail},
		{"6 kustomize#4347 kustomize#4350 kustomize#4117", "a relative path of the function in a base", pathsOfTheFunction},
		{"7 kustomize#4613 kustomize#3852 kustomize#2825", "a schema replaces the built-in one, so none is shipped; leftovers of patches are refused", noSchema},
		{"8 kustomize#5889 kustomize#3542 kustomize#758", "images: does not reach a custom resource", imagesReach},
		{"9 kustomize#2524 kustomize#4674 argo-rollouts#111", "the hashed name of a ConfigMap does not reach a custom resource", hashesReach},
		{"10 kustomize#1696", "an overlay cannot act on the config of a generator", overlayOfGenerator},
		{"11 kpt#938 kpt#1704 kpt#1744", "duplicates in a second run", noDuplicates},
		{"12 kpt#2388", "an item without kind and name", itemWithoutName},
		{"13 kpt#2767 kpt#3204 kpt#3409", "a resource that only generates is applied to the cluster", sourcesAreLocal},
		{"14 kpt#1933", "resources for local use are lost in a build", localSourcesAreBuilt},
		{"16 argo-cd#11238", "documents that are no objects are among the manifests", onlyObjects},
		{"18 argo-cd#11812 argo-cd#19832", "the environment is not there when plugins are asked", discoverWithoutEnvironment},
		{"19 argo-cd#11978 argo-cd#11752 avp#601 argo-cd-helmfile#38", "a plugin is found where it has no business", discoverByContent},
		{"21 argo-cd#14090", "an empty output with exit code 0 deletes everything", nothingIsAnError},
		{"22 argo-cd#7711 argo-cd#5553", "the folder that kustomize is called from", fromAnyFolder},
		{"23 go-yaml#489 kustomize#5558 yaml#108", "strings that look like something else lose their quotes", stringsStayStrings},
		{"24 krm-functions-catalog#795", "an annotation whose value is true without quotes is no string", annotationsAreStrings},
		{"25 kpt end-to-end tests", "what kpt's own functions are tested with", likeKptsOwn},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.test(t)
			if t.Failed() {
				t.Log(tt.reason)
			}
		})
	}
}

// web is an AppService by itself.
const web = `apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata:
  name: web
spec:
  image: nginx:1.27
`

// annotated is web as the config of a generator.
const annotated = `apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata:
  name: web
  annotations:
    config.kubernetes.io/function: |
      exec: {path: appsvc-render}
spec:
  image: nginx:1.27
`

// fn is the function as a transformer.
const fn = `apiVersion: apps.kudevops.io/v1alpha1
kind: RenderConfig
metadata:
  name: render
  annotations:
    config.kubernetes.io/function: |
      exec: {path: appsvc-render}
`

// unprefixed is component without a prefix, so that build, which makes selectors follow
// it in any case, gives the same.
func unprefixed() string { return strings.Replace(component, "namePrefix: prod-\n", "", 1) }

func count(t *testing.T, stream, line string, want int) {
	t.Helper()
	got := 0
	for l := range strings.Lines(stream) {
		if strings.TrimSpace(l) == line {
			got++
		}
	}
	if got != want {
		t.Errorf("%q is there %d times, want %d:\n%s", line, got, want, stream)
	}
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not there:\n%s", part, text)
		}
	}
}

func configIsItemToo(t *testing.T) {
	stdin := read(t, filepath.Join("testdata", "stdin", "kustomize-generator.yaml"))
	count(t, stdin, "kind: AppService", 2) // or kustomize has changed
	dir := plant(t, "-- kustomization.yaml --\ngenerators: [web.yaml]\n-- web.yaml --\n"+annotated)
	out := kustomize(t, dir).ok(t)
	count(t, out, "kind: Deployment", 1)
	count(t, out, "kind: AppService", 0)
}

func childrenAreNotLocal(t *testing.T) {
	contains(t, read(t, filepath.Join("testdata", "stdin", "kustomize-generator.yaml")), "config.kubernetes.io/local-config: 'true'")
	answer := read(t, filepath.Join("testdata", "stdout", "kustomize-generator.yaml"))
	items, _, _ := strings.Cut(answer, "functionConfig:")
	if strings.Contains(items, "local-config") || strings.Contains(items, "config.kubernetes.io/function") {
		t.Errorf("children have annotations that are about the AppService:\n%s", items)
	}
}

func nothingLeaks(t *testing.T) {
	leak := regexp.MustCompile(`config\.kubernetes\.io|config\.k8s\.io`)
	for _, l := range layouts() {
		if found := leak.FindString(kustomize(t, filepath.Join(root, "examples", l.dir)).ok(t)); found != "" {
			t.Errorf("%s: %s in the output", l.name, found)
		}
	}
	// In a list, a child has the file that it is to be written to, at most.
	for _, name := range []string{"kustomize-generator", "kustomize-transformer", "kpt"} {
		for _, o := range objects(t, read(t, filepath.Join("testdata", "stdout", name+".yaml"))) {
			for _, item := range o["items"].([]any) {
				item := object(item.(map[string]any))
				if item.at("metadata", "labels", "app.kubernetes.io/managed-by") != "appsvc" {
					continue
				}
				notes, _ := item.at("metadata", "annotations").(map[string]any)
				for key := range notes {
					if leak.MatchString(key) && key != "internal.config.kubernetes.io/path" {
						t.Errorf("%s: %s has the annotation %s", name, item.id(), key)
					}
				}
			}
		}
	}
	if stream := read(t, filepath.Join("testdata", "stdout", "kustomize-generator.yaml")); strings.Contains(stream, "needs-hash") {
		t.Error("needs-hash, which kustomize leaves in the output of a transformer")
	}
}

func execIsSkipped(t *testing.T) {
	dir := plant(t, apps+component)
	prod := filepath.Join(dir, "prod")
	r := command(t, "", programs(t).kustomize, "build", "--enable-alpha-plugins", prod)
	if r.code != 0 || strings.Contains(r.stdout, "Deployment") || strings.Contains(r.stderr, "exec") {
		t.Errorf("kustomize without --enable-exec has learnt to say so: change the documentation (%+v)", r)
	}
	generators := plant(t, "-- kustomization.yaml --\ngenerators: [web.yaml]\n-- web.yaml --\n"+annotated)
	if r := command(t, "", programs(t).kustomize, "build", "--enable-alpha-plugins", generators); r.code != 0 || r.stdout != "" {
		t.Errorf("kustomize without --enable-exec and with generators only: %+v, want nothing at all", r)
	}
	if r := appsvc(t, "--enable-alpha-plugins", prod); r.code != 1 || r.stdout != "" || !strings.Contains(r.stderr, "without the flag --enable-exec") {
		t.Errorf("build without --enable-exec: %+v, want the flag that is missing", r)
	}
	// A typo ends the build.
	write(t, filepath.Join(dir, "render", "fn.yaml"), strings.Replace(fn, "path:", "pathx:", 1))
	if r := kustomize(t, prod); r.code == 0 {
		t.Errorf("kustomize took a misspelt field: %s", r.stdout)
	}
	write(t, filepath.Join(dir, "render", "fn.yaml"), strings.Replace(fn, "appsvc-render", "appsvc-rendr", 1))
	if r := kustomize(t, prod); r.code == 0 {
		t.Errorf("kustomize took a misspelt program: %s", r.stdout)
	}
}

func validatorsFail(t *testing.T) {
	dir := plant(t, "-- v/kustomization.yaml --\nresources: [web.yaml]\nvalidators: [fn.yaml]\n-- v/web.yaml --\n"+web+"-- v/fn.yaml --\n"+fn+
		"-- t/kustomization.yaml --\nresources: [web.yaml]\ntransformers: [fn.yaml]\n-- t/fn.yaml --\n"+fn+"-- t/web.yaml --\n"+web+"  replicas: -1\n")
	if r := kustomize(t, filepath.Join(dir, "v")); r.code == 0 || !strings.Contains(r.stderr, "validator shouldn't modify the resource map") {
		t.Errorf("kustomize has learnt to run functions under validators: change the documentation (%+v)", r)
	}
	r := kustomize(t, filepath.Join(dir, "t"))
	if r.code == 0 || r.stdout != "" {
		t.Errorf("a broken AppService: %+v, want a failure and nothing on stdout", r)
	}
	contains(t, r.stderr, "AppService web: spec.replicas: Invalid value: -1")
}

func pathsOfTheFunction(t *testing.T) {
	dir := plant(t, apps+unprefixed()+"-- above/kustomization.yaml --\nresources: [../prod]\nnamespace: above\n")
	if err := os.MkdirAll(filepath.Join(dir, "render", "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(programs(t).appsvc, filepath.Join(dir, "render", "bin", "fn")); err != nil {
		t.Fatal(err)
	}
	want := kustomize(t, filepath.Join(dir, "above")).ok(t)
	contains(t, want, "kind: Deployment", "namespace: above")
	for _, path := range []string{"./bin/fn", "bin/fn", "../render/bin/fn", programs(t).appsvc} {
		write(t, filepath.Join(dir, "render", "fn.yaml"), strings.Replace(fn, "appsvc-render", path, 1))
		for _, target := range []struct{ from, folder string }{{dir, "above"}, {filepath.Join(dir, "above"), "."}, {filepath.Join(dir, "apps"), "../above"}} {
			got := command(t, target.from, programs(t).kustomize, "build", "--enable-alpha-plugins", "--enable-exec", target.folder).ok(t)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("path %s (-bare name +path):\n%s", path, diff)
			}
		}
		if got := appsvc(t, "--enable-alpha-plugins", "--enable-exec", filepath.Join(dir, "above")).ok(t); got != want {
			t.Errorf("build, path %s (-kustomize +build):\n%s", path, cmp.Diff(want, got))
		}
	}
}

func noSchema(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "config", "kustomize", "*", "kustomization.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %d kustomizations in config/kustomize", err, len(files))
	}
	for _, file := range files {
		if regexp.MustCompile(`(?m)^(openapi|crds):`).MatchString(read(t, file)) {
			t.Errorf("%s brings a schema, which replaces that of Deployments for the whole build", file)
		}
	}
	dir := plant(t, apps+component)
	write(t, filepath.Join(dir, "apps", "web.yaml"), web+"  ports:\n  - {name: http, port: 80}\n")
	patch := "patches:\n- patch: |-\n    apiVersion: apps.kudevops.io/v1alpha1\n    kind: AppService\n    metadata: {name: web}\n    spec:\n      ports:\n      - {port: 80, $patch: delete}\n"
	write(t, filepath.Join(dir, "prod", "kustomization.yaml"), "resources: [patched]\ncomponents: [../render]\n")
	write(t, filepath.Join(dir, "prod", "patched", "kustomization.yaml"), "resources: [../../apps]\n"+patch)
	r := kustomize(t, filepath.Join(dir, "prod"))
	if r.code == 0 {
		t.Errorf("a leftover of a patch is taken for a port:\n%s", r.stdout)
	}
	contains(t, r.stderr, "spec.ports[0].$patch", "JSON 6902 patch")
}

func imagesReach(t *testing.T) {
	dir := plant(t, apps+component+`
-- stage/kustomization.yaml --
resources: [../apps]
images: [{name: nginx, newTag: "9"}]
-- stage/with/kustomization.yaml --
resources: [../../apps]
components: [../../config/kustomize/appservice]
images: [{name: nginx, newTag: "9"}]
replicas: [{name: web, count: 7}]
-- bare/kustomization.yaml --
resources: [../stage]
components: [../render]
-- told/kustomization.yaml --
resources: [../stage/with]
components: [../render]
-- above/kustomization.yaml --
resources: [../apps]
components: [../render]
images: [{name: nginx, newTag: "9"}]
`)
	contains(t, kustomize(t, filepath.Join(dir, "bare")).ok(t), "image: nginx:1.27") // what the report is about
	contains(t, kustomize(t, filepath.Join(dir, "told")).ok(t), "image: nginx:9", "replicas: 7")
	contains(t, kustomize(t, filepath.Join(dir, "above")).ok(t), "image: nginx:9")
	contains(t, appsvc(t, filepath.Join(dir, "stage")).ok(t), "image: nginx:9")
}

func hashesReach(t *testing.T) {
	dir := plant(t, apps+component+"-- plain/kustomization.yaml --\nresources: [../apps]\nnamePrefix: prod-\nnamespace: shop\n")
	hashed := regexp.MustCompile(`configMapRef:\s+name: prod-settings-[a-z0-9]{10}\n`)
	for way, out := range map[string]string{
		"kustomize": kustomize(t, filepath.Join(dir, "prod")).ok(t),
		"build":     appsvc(t, filepath.Join(dir, "plain")).ok(t),
	} {
		if !hashed.MatchString(out) {
			t.Errorf("%s: the reference has not the hashed name:\n%s", way, out)
		}
	}
}

func overlayOfGenerator(t *testing.T) {
	dir := plant(t, apps+generator)
	out := kustomize(t, filepath.Join(dir, "prod")).ok(t)
	contains(t, out, "name: prod-web", "namespace: shop", "image: nginx:1.28", "replicas: 4", "apps.kudevops.io/appservice: prod-web")
}

func noDuplicates(t *testing.T) {
	dir := pkg(t, apps+kptfile)
	for range 3 {
		files := rendered(t, dir)
		count(t, files, "kind: Deployment", 1)
		count(t, files, "kind: Service", 1)
	}
}

func itemWithoutName(t *testing.T) {
	dir := pkg(t, apps+kptfile)
	before := read(t, filepath.Join(dir, "apps", "kustomization.yaml"))
	rendered(t, dir)
	if diff := cmp.Diff(before, read(t, filepath.Join(dir, "apps", "kustomization.yaml"))); diff != "" {
		t.Errorf("kustomization.yaml (-before +after):\n%s", diff)
	}
}

func sourcesAreLocal(t *testing.T) {
	dir := pkg(t, apps+kptfile)
	rendered(t, dir)
	contains(t, read(t, filepath.Join(dir, "apps", "web.yaml")), `config.kubernetes.io/local-config: "true"`)
	for _, child := range []string{"deployment_web.yaml", "service_web.yaml"} {
		if text := read(t, filepath.Join(dir, "apps", child)); strings.Contains(text, "local-config") {
			t.Errorf("%s is for local use:\n%s", child, text)
		}
	}
}

func localSourcesAreBuilt(t *testing.T) {
	local := strings.Replace(web, "  name: web\n", "  name: web\n  annotations: {config.kubernetes.io/local-config: \"true\"}\n", 1)
	dir := plant(t, "-- kustomization.yaml --\nresources: [web.yaml]\nnamePrefix: a-\n-- web.yaml --\n"+local)
	contains(t, appsvc(t, dir).ok(t), "kind: Deployment", "name: a-web")
}

func onlyObjects(t *testing.T) {
	dir := plant(t, "-- app/web.yaml --\n"+web+"-- app/values.yaml --\nreplicaCount: 1\n-- app/empty.yaml --\n# nothing\n")
	r := appsvc(t, filepath.Join(dir, "app"))
	for _, o := range objects(t, r.ok(t)) {
		if o["kind"] == nil || o["apiVersion"] == nil {
			t.Errorf("%v is no object", o)
		}
	}
	contains(t, r.stderr, "values.yaml:1: warning:")
}

func discoverWithoutEnvironment(t *testing.T) {
	dir := plant(t, "-- app/web.yaml --\n"+web)
	cmd := exec.CommandContext(t.Context(), programs(t).appsvc, "discover", ".")
	cmd.Dir, cmd.Env = filepath.Join(dir, "app"), []string{}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "web.yaml: AppService\n" {
		t.Errorf("%v, %q, want the file that was found", err, out)
	}
}

func discoverByContent(t *testing.T) {
	dir := plant(t, "-- yes/deep/a.yml --\n"+web+
		"-- broken/a.yaml --\n"+web+"  ports: [\n"+
		"-- no/app.yaml --\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: AppService}\n# kind: AppService\n"+
		"-- nested/other/kustomization.yaml --\nresources: [web.yaml]\n-- nested/other/web.yaml --\n"+web+
		"-- chart/Chart.yaml --\nname: AppService\n")
	for folder, want := range map[string]bool{"yes": true, "broken": true, "no": false, "nested": false, "chart": false, "nested/other": true} {
		r := command(t, "", programs(t).appsvc, "discover", filepath.Join(dir, folder))
		if r.code != 0 || (r.stdout != "") != want {
			t.Errorf("%s: %+v, want exit code 0 and found: %v", folder, r, want)
		}
	}
}

func nothingIsAnError(t *testing.T) {
	dir := plant(t, "-- empty/a.yaml --\n# nothing\n-- folder/readme.md --\nhello\n-- kustomized/kustomization.yaml --\nresources: []\n"+
		"-- local/kustomization.yaml --\nresources: [a.yaml]\n-- local/a.yaml --\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {config.kubernetes.io/local-config: \"true\"}}}\n")
	for _, folder := range []string{"empty", "folder", "kustomized", "local"} {
		if r := appsvc(t, filepath.Join(dir, folder)); r.code != 1 || r.stdout != "" || r.stderr == "" {
			t.Errorf("%s: %+v, want exit code 1 and a reason", folder, r)
		}
	}
}

func fromAnyFolder(t *testing.T) {
	dir := plant(t, apps+unprefixed())
	prod := filepath.Join(dir, "prod")
	want := kustomize(t, prod).ok(t)
	for _, from := range []struct{ dir, folder string }{{prod, "."}, {dir, "prod"}, {filepath.Join(dir, "apps"), "../prod"}, {t.TempDir(), prod}} {
		for _, program := range []string{programs(t).kustomize, programs(t).appsvc} {
			got := command(t, from.dir, program, "build", "--enable-alpha-plugins", "--enable-exec", from.folder).ok(t)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s from %s (-want +got):\n%s", filepath.Base(program), from.dir, diff)
			}
		}
	}
}

func stringsStayStrings(t *testing.T) {
	words := []string{"yes", "on", "off", "n", "012", "1e3", "0x1F", "1_000", "2001-01-01", "12:30:45", "null", "~", "1.0", ".inf", "true"}
	var args strings.Builder
	for _, word := range words {
		args.WriteString("  - \"" + word + "\"\n")
	}
	source := web + "  args:\n" + args.String()
	want := make([]any, len(words))
	for i, word := range words {
		want[i] = word
	}
	dir := plant(t, parityFolders)
	for _, folder := range []string{"component", "generator/appservices", "kpt"} {
		write(t, filepath.Join(dir, folder, "input.yaml"), source)
	}
	if r := render(t, filepath.Join(dir, "kpt")); r.code != 0 {
		t.Fatal(r.stderr)
	}
	for way, stream := range map[string]string{
		"component": kustomize(t, filepath.Join(dir, "component")).ok(t),
		"generator": kustomize(t, filepath.Join(dir, "generator")).ok(t),
		"kpt":       manifests(t, filepath.Join(dir, "kpt")),
		"build":     appsvc(t, filepath.Join(dir, "component", "input.yaml")).ok(t),
	} {
		for _, o := range objects(t, stream) {
			container := object(o.at("spec", "template", "spec", "containers").([]any)[0].(map[string]any))
			if diff := cmp.Diff(want, container["args"]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", way, diff)
			}
		}
	}
}

func annotationsAreStrings(t *testing.T) {
	bare := strings.Replace(web, "  name: web\n", "  name: web\n  annotations:\n    example.com/on: true\n", 1)
	dir := plant(t, parityFolders)
	write(t, filepath.Join(dir, "kpt", "input.yaml"), bare)
	r := render(t, filepath.Join(dir, "kpt"))
	if r.code == 0 {
		t.Errorf("an annotation that is a boolean was taken:\n%s", tree(t, filepath.Join(dir, "kpt")))
	}
	if r := appsvc(t, filepath.Join(dir, "kpt", "input.yaml")); r.code != 1 || !strings.Contains(r.stderr, "input.yaml:6: AppService web: metadata.annotations[example.com/on]") {
		t.Errorf("build: %+v, want the annotation and its line", r)
	}
	// What the function writes itself is quoted: see 13.
	contains(t, read(t, filepath.Join("testdata", "stdout", "kpt.yaml")), `config.kubernetes.io/local-config: "true"`)
}

// likeKptsOwn has what the packages of kpt's own end-to-end tests are about; each is
// rendered twice, as there.
func likeKptsOwn(t *testing.T) {
	base := txtarFiles(parityFolders, "kpt/Kptfile")
	tests := []struct {
		name, reason string
		files        string
		code         int
		stderr       []string
		// there are lines of the package afterwards.
		there []string
	}{
		{
			name: "path-index-outofpackage", reason: "a child is written beside its AppService, within the package, however deep",
			files: "-- a/b/c.yaml --\n" + web,
			there: []string{"-- a/b/deployment_web.yaml --"},
		},
		{
			name: "non-krm-resource", reason: "files that hold no objects are left alone (kpt itself refuses them where .krmignore does not name them)",
			files: "-- web.yaml --\n" + web + "-- values.yaml --\na: b # c\n-- .krmignore --\nvalues.yaml\n",
			there: []string{"-- deployment_web.yaml --", "a: b # c"},
		},
		{
			name: "fn-success-with-stderr", reason: "a warning is no failure",
			files:  "-- web.yaml --\n" + web + "  replicas: 3\n  autoscaling: {maxReplicas: 3, memory: 80}\n  resources: {requests: {memory: 1Gi}}\n",
			stderr: []string{"spec.replicas"},
			there:  []string{"-- horizontalpodautoscaler_web.yaml --"},
		},
		{
			name: "preserve-comments", reason: "comments of the author stay",
			files: "-- web.yaml --\n# above\n" + web + "  replicas: 2 # beside\n",
			there: []string{"# above", "replicas: 2 # beside"},
		},
		{
			name: "exec-function-stderr", reason: "what is wrong is said, and the package stays as it was",
			files: "-- web.yaml --\n" + web + "  replicas: -2 # beside\n", code: 1,
			stderr: []string{"web.yaml", "AppService web: spec.replicas: Invalid value: -2"},
			there:  []string{"replicas: -2 # beside"},
		},
		{
			name: "fnresult-fn-failure", reason: "results say where",
			files: "-- web.yaml --\n" + web + "  replicas: -2\n", code: 1,
			there: []string{"-- results.yaml --", "path: spec.replicas", "path: web.yaml", "severity: error", "name: web"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := pkg(t, base+tt.files)
			var first string
			for i := range 2 {
				results := t.TempDir()
				r := command(t, dir, programs(t).kpt, "fn", "render", "--allow-exec", "--truncate-output=false", "--results-dir", results)
				if r.code != tt.code {
					t.Fatalf("%s: exit code %d, want %d: %s", tt.reason, r.code, tt.code, r.stderr)
				}
				contains(t, r.stderr, tt.stderr...)
				files := tree(t, dir)
				contains(t, files+tree(t, results), tt.there...)
				if i == 0 {
					first = files
				} else if diff := cmp.Diff(first, files); diff != "" {
					t.Errorf("%s: a second run changes the package (-first +second):\n%s", tt.reason, diff)
				}
				if tt.code != 0 && strings.Contains(files, "kind: Deployment") {
					t.Errorf("%s: something was rendered:\n%s", tt.reason, files)
				}
			}
		})
	}
}

// txtarFiles gives one file of an archive as an archive, in the folder above it.
func txtarFiles(archive, name string) string {
	for _, file := range txtar.Parse([]byte(archive)).Files {
		if file.Name == name {
			return "-- " + filepath.Base(name) + " --\n" + string(file.Data)
		}
	}
	return ""
}
