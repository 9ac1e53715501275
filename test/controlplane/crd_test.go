package controlplane_test

import (
	"context"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/test/controlplane"
)

// sampleFile is the AppService that people know from the tutorial.
const sampleFile = "../../config/samples/apps_v1alpha1_appservice.yaml"

// TestAppServiceCRD is about what the API server makes of our CRD. The CRD comes
// by plain kubectl apply, as with most users, whose annotation has a limit of
// 262,144 bytes that a large CRD is over.
func TestAppServiceCRD(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	files, err := controlplane.AppServiceCRDs.Files(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		out := kubectl(t, cluster, "apply", "-f", file)
		if want := "customresourcedefinition.apiextensions.k8s.io/appservices.apps.kudevops.io created\n"; out != want {
			t.Fatalf("kubectl apply of the CRD: %q, want %q", out, want)
		}
	}
	t.Cleanup(func() {
		// Not the test's context, which is done by now.
		out, err := cluster.Kubectl(context.Background(), "delete", "crd", "appservices.apps.kudevops.io").CombinedOutput()
		if err != nil {
			t.Errorf("kubectl delete of the CRD: %v\n%s", err, out)
		}
	})
	// Not by kubectl wait, which fails on a CRD that has no conditions yet.
	eventually(t, func(context.Context) error {
		_, err := cluster.Client().Discovery().ServerResourcesForGroupVersion(v1alpha1.GroupVersion.String())
		return err
	})

	t.Run("sample", func(t *testing.T) {
		t.Parallel()
		testSample(t, cluster)
	})
	t.Run("explain", func(t *testing.T) {
		t.Parallel()
		out := kubectl(t, cluster, "explain", "appservice.spec")
		for _, want := range []string{"KIND:       AppService", "FIELD: spec <Object>", "replicas\t<integer>", "image\t<string> -required-", "ports\t<[]Object>"} {
			if !strings.Contains(out, want) {
				t.Errorf("kubectl explain lacks %q:\n%s", want, out)
			}
		}
	})
	t.Run("refusals", func(t *testing.T) {
		t.Parallel()
		testRefusals(t, cluster)
	})
}

// testSample has the sample stored, listed and scaled.
func testSample(t *testing.T, cluster *controlplane.Cluster) {
	namespace := cluster.Namespace(t)
	if out, want := kubectl(t, cluster, "apply", "-n", namespace, "-f", sampleFile), "appservice.apps.kudevops.io/appservice-sample created\n"; out != want {
		t.Fatalf("kubectl apply of the sample: %q, want %q", out, want)
	}
	out := kubectl(t, cluster, "get", "appsvc", "-n", namespace)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "NAME") || !strings.HasPrefix(lines[1], "appservice-sample") {
		t.Fatalf("kubectl get appsvc:\n%s", out)
	}
	if columns := strings.Fields(lines[0]); strings.Join(columns, " ") != "NAME READY REPLICAS AGE" {
		t.Errorf("the columns are %q", columns)
	}
	if out := kubectl(t, cluster, "get", "all", "-n", namespace, "-o", "name"); !strings.Contains(out, "appservice.apps.kudevops.io/appservice-sample") {
		t.Errorf("kubectl get all:\n%s", out)
	}

	services := cluster.Dynamic().Resource(v1alpha1.GroupVersion.WithResource("appservices")).Namespace(namespace)
	stored, err := services.Get(t.Context(), "appservice-sample", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if observed, found, err := unstructured.NestedInt64(stored.Object, "status", "observedGeneration"); !found || observed != -1 || err != nil {
		t.Errorf("status.observedGeneration is %d (%t, %v), want -1: nobody has reconciled it", observed, found, err)
	}

	if out, want := kubectl(t, cluster, "scale", "-n", namespace, "appservice/appservice-sample", "--replicas=5"), "appservice.apps.kudevops.io/appservice-sample scaled\n"; out != want {
		t.Errorf("kubectl scale: %q, want %q", out, want)
	}
	if out := kubectl(t, cluster, "get", "-n", namespace, "appsvc/appservice-sample", "-o", "jsonpath={.spec.replicas}"); out != "5" {
		t.Errorf("after kubectl scale there are %s replicas, want 5", out)
	}
}

// testRefusals has wrong AppServices refused, each with the path of what is wrong.
func testRefusals(t *testing.T, cluster *controlplane.Cluster) {
	namespace := cluster.Namespace(t)
	sample, err := os.ReadFile(sampleFile)
	if err != nil {
		t.Fatal(err)
	}
	const port = "  - name: http\n    port: 80\n    targetPort: 80\n    nodePort: 30080\n"
	for _, test := range []struct {
		name, reason, old, new string
		want                   []string
	}{
		{
			"long name", "a Service's name has at most 63 characters",
			"name: appservice-sample", "name: " + strings.Repeat("a", v1alpha1.MaxNameLength+1),
			[]string{"metadata.name: Too long: may not be more than 63"},
		},
		{
			"name that begins with a digit", "a Service's name may not",
			"name: appservice-sample", "name: 1sample",
			[]string{`metadata.name: Invalid value: "1sample": metadata.name in body should match`},
		},
		{
			"duplicate port", "80/TCP twice, once by the default of the protocol",
			port, port + "  - name: again\n    port: 80\n    protocol: TCP\n",
			[]string{"spec.ports[1]: Duplicate value:", `"port":80`, `"protocol":"TCP"`},
		},
		{
			"unknown field", "kubectl validates strictly",
			"  replicas: 3\n", "  replicas: 3\n  replcias: 3\n",
			[]string{"strict decoding error", `unknown field "spec.replcias"`},
		},
		{
			"no image", "there is nothing to run",
			"  image: nginx:latest\n", "",
			[]string{"spec.image: Required value"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cmd := cluster.Kubectl(t.Context(), "create", "-n", namespace, "-f", "-")
			manifest := strings.Replace(string(sample), test.old, test.new, 1)
			cmd.Stdin = strings.NewReader(manifest)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatalf("%s, and it was accepted:\n%s", test.reason, manifest)
			}
			for _, want := range test.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("the refusal (%s) lacks %q:\n%s", test.reason, want, out)
				}
			}
		})
	}
}

// kubectl runs kubectl and returns what it printed.
func kubectl(t *testing.T, cluster *controlplane.Cluster, args ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	cmd := cluster.Kubectl(t.Context(), args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String()
}
