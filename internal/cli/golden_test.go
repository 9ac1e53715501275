package cli_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "sigs.k8s.io/json"

	"kudevops.io/appsvc/internal/cli"
	"kudevops.io/appsvc/internal/manifest"
)

var update = flag.Bool("update", false, "write what is seen into the golden files")

// TestGolden runs every case of testdata. A case is a folder:
//
//	input.yaml     what is read; its first line is a comment that says what the
//	               case shows. A ResourceList goes to the KRM function, anything
//	               else to build.
//	expected.yaml  what is printed, where it succeeds, or where the function fails
//	errors.txt     what is said on standard error, where it fails
//	warnings.txt   what is said on standard error, where it succeeds and is not silent
func TestGolden(t *testing.T) {
	t.Parallel()
	const root = "../../testdata"
	cases, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name(), func(t *testing.T) {
			t.Parallel()
			golden{dir: filepath.Join(root, c.Name())}.run(t)
		})
	}
}

type golden struct{ dir string }

func (g golden) run(t *testing.T) {
	input := g.read(t, "input.yaml")
	if !bytes.HasPrefix(input, []byte("# ")) {
		t.Error("input.yaml does not begin with a comment that says what the case shows")
	}
	isFunction := bytes.Contains(input, []byte("\nkind: ResourceList\n"))
	args := []string{"build", "input.yaml"}
	if isFunction {
		args = nil
	}
	code, stdout, stderr := g.exec(t, args, input)

	files := map[string]string{}
	if stdout != "" {
		files["expected.yaml"] = stdout
	}
	switch {
	case code == 0 && stderr != "":
		files["warnings.txt"] = stderr
	case code != 0:
		files["errors.txt"] = stderr
		if stdout != "" && !isFunction {
			t.Errorf("failed with output on stdout:\n%s", stdout)
		}
	}
	if code != 0 && code != 1 {
		t.Errorf("exit code %d", code)
	}
	g.compare(t, files)

	if isFunction {
		// Orchestrators run a function again and again. What it says of a run, such
		// as that it removed something, is about that run.
		if code == 0 {
			_, again, _ := g.exec(t, nil, []byte(stdout))
			if diff := cmp.Diff(withoutResults(stdout), withoutResults(again)); diff != "" {
				t.Errorf("a second run on its own output changes it, -first +second:\n%s", diff)
			}
		}
		return
	}
	strictDecode(t, []byte(stdout))
}

// withoutResults cuts off the results, which the function writes last.
func withoutResults(list string) string {
	list, _, _ = strings.Cut(list, "\nresults:\n")
	return strings.TrimSuffix(list, "\n")
}

// exec runs the command with the case's folder in place of the names that it is
// called by in messages.
func (g golden) exec(t *testing.T, args []string, stdin []byte) (code int, stdout, stderr string) {
	t.Helper()
	for i, a := range args {
		if a == "input.yaml" {
			args[i] = filepath.Join(g.dir, a)
		}
	}
	var out, errOut bytes.Buffer
	code = cli.Main(t.Context(), args, bytes.NewReader(stdin), &out, &errOut)
	return code, out.String(), strings.ReplaceAll(errOut.String(), g.dir+string(filepath.Separator), "")
}

func (g golden) read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// compare demands that the folder holds these files and no other.
func (g golden) compare(t *testing.T, files map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(g.dir)
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"input.yaml", "expected.yaml", "errors.txt", "warnings.txt"}
	for _, e := range entries {
		_, wanted := files[e.Name()]
		switch {
		case e.Name() == "input.yaml" || wanted:
		case *update && slices.Contains(known, e.Name()):
			if err := os.Remove(filepath.Join(g.dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("stray file %s: nothing of that kind was printed", e.Name())
		}
	}
	for name, got := range files {
		file := filepath.Join(g.dir, name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%v; with -update it is written:\n%s", err, got)
			continue
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (go test ./internal/cli -update writes it anew), -want +got:\n%s", name, diff)
		}
	}
}

// strictDecode demands that every rendered object is one that the types of
// k8s.io/api take, without a field that they do not know.
func strictDecode(t *testing.T, stream []byte) {
	t.Helper()
	for _, o := range objectsOf(t, stream) {
		if o.StringAt("metadata", "labels", "app.kubernetes.io/managed-by") != "appsvc" {
			continue // passed through
		}
		var into runtime.Object
		switch o.Kind {
		case "Deployment":
			into = &appsv1.Deployment{}
		case "Service":
			into = &corev1.Service{}
		case "ConfigMap":
			into = &corev1.ConfigMap{}
		case "NetworkPolicy":
			into = &networkingv1.NetworkPolicy{}
		case "Ingress":
			into = &networkingv1.Ingress{}
		case "ServiceMonitor", "HTTPRoute":
			continue // custom resources: the real API server checks them (test/controlplane)
		case "ServiceAccount":
			into = &corev1.ServiceAccount{}
		case "HorizontalPodAutoscaler":
			into = &autoscalingv2.HorizontalPodAutoscaler{}
		case "PodDisruptionBudget":
			into = &policyv1.PodDisruptionBudget{}
		default:
			t.Errorf("%s: this test does not know the type", o.ID)
			continue
		}
		text, faults := o.JSON()
		if len(faults) > 0 {
			t.Fatal(faults[0])
		}
		strict, err := utiljson.UnmarshalStrict(text, into)
		if err != nil || len(strict) > 0 {
			t.Errorf("%s: %v %v", o.ID, err, strict)
		}
	}
}

func objectsOf(t *testing.T, stream []byte) []*manifest.Object {
	t.Helper()
	var all []*manifest.Object
	r := manifest.NewReader("stdout", bytes.NewReader(stream))
	for {
		doc, err := r.Next()
		if err != nil {
			return all
		}
		objects, _, faults := manifest.Objects(doc)
		if len(faults) > 0 {
			t.Fatal(faults[0])
		}
		all = append(all, objects...)
	}
}
