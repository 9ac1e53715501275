package packaging

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"

	"kudevops.io/appsvc/internal/controller"
)

// foreignMetrics are those of controller-runtime, client-go and Go's runtime that the
// alerts and the dashboard may use.
func foreignMetrics() sets.Set[string] {
	return sets.New(
		// controller-runtime, pkg/internal/controller/metrics/metrics.go
		"controller_runtime_reconcile_total",
		"controller_runtime_reconcile_errors_total",
		"controller_runtime_terminal_reconcile_errors_total",
		"controller_runtime_reconcile_panics_total",
		"controller_runtime_reconcile_time_seconds_bucket",
		// controller-runtime, pkg/metrics/{workqueue,leaderelection,client_go_adapter}.go
		"workqueue_depth",
		"leader_election_master_status",
		"rest_client_requests_total",
		// prometheus/client_golang, collectors
		"process_resident_memory_bytes",
		"go_memstats_heap_inuse_bytes",
	)
}

// TestAlerts: Prometheus takes the rules, they use metrics that exist, and the page on
// operations tells what each is about.
func TestAlerts(t *testing.T) {
	t.Parallel()
	var rules *unstructured.Unstructured
	for _, o := range build(t, "config/prometheus") {
		if o.GetKind() == "PrometheusRule" {
			rules = o
		}
	}
	if rules == nil {
		t.Fatal("no PrometheusRule")
	}
	text, err := yaml.Marshal(rules.Object["spec"])
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	writeFile(t, file, string(text))
	checkMetrics(t, run(t, "", referee(t), "rules", file))

	page := string(readFile(t, filepath.Join(root, "docs/operations.md")))
	groups, _, err := unstructured.NestedSlice(rules.Object, "spec", "groups")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		for _, r := range g.(map[string]any)["rules"].([]any) {
			if alert := r.(map[string]any)["alert"].(string); !strings.Contains(page, "`"+alert+"`") {
				t.Errorf("docs/operations.md says nothing of the alert %s", alert)
			}
		}
	}
}

// TestDashboard: Prometheus takes the queries, they use metrics that exist, and each
// metric of the controller's own is shown.
func TestDashboard(t *testing.T) {
	t.Parallel()
	type panel struct {
		ID      int
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ Expr string }
	}
	var dashboard struct {
		UID           string
		Title         string
		SchemaVersion int
		Panels        []panel
		Templating    struct{ List []struct{ Name string } }
	}
	if err := json.Unmarshal(readFile(t, filepath.Join(root, "config/grafana/dashboard.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	if dashboard.UID == "" || dashboard.Title == "" || dashboard.SchemaVersion == 0 || len(dashboard.Templating.List) != 3 {
		t.Errorf("the dashboard lacks what Grafana needs: %+v", dashboard)
	}
	ids := sets.New[int]()
	var queries strings.Builder
	for i, p := range dashboard.Panels {
		ids.Insert(p.ID)
		if p.Title == "" || len(p.Targets) == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d is incomplete, or too far to the right: %+v", p.ID, p)
		}
		for _, other := range dashboard.Panels[:i] {
			a, b := p.GridPos, other.GridPos
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("panels %q and %q overlap", p.Title, other.Title)
			}
		}
		for _, target := range p.Targets {
			// Grafana's own variables for a range are durations when Prometheus sees them.
			queries.WriteString(strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h").Replace(target.Expr) + "\n")
		}
	}
	if ids.Len() != len(dashboard.Panels) {
		t.Error("two panels have one id")
	}
	used := checkMetrics(t, run(t, queries.String(), referee(t), "queries"))
	for name := range ownMetrics(t).Difference(used) {
		t.Errorf("no panel shows %s", name)
	}
}

// TestOperationsPage names every flag and every metric of the controller's own.
func TestOperationsPage(t *testing.T) {
	t.Parallel()
	page := string(readFile(t, filepath.Join(root, "docs/operations.md")))
	var options controller.Options
	flags := pflag.NewFlagSet("appsvc-controller", pflag.ContinueOnError)
	options.AddFlags(flags)
	flags.VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(page, "`--"+f.Name+"`") {
			t.Errorf("docs/operations.md says nothing of --%s", f.Name)
		}
	})
	for name := range ownMetrics(t) {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/operations.md says nothing of %s", name)
		}
	}
}

// checkMetrics takes names, one a line, and gives them as a set.
func checkMetrics(t *testing.T, lines string) sets.Set[string] {
	t.Helper()
	names := sets.New(strings.Fields(lines)...)
	if names.Len() == 0 {
		t.Error("no metric is used")
	}
	known := ownMetrics(t).Union(foreignMetrics())
	for name := range names.Difference(known) {
		t.Errorf("there is no metric %s", name)
	}
	return names
}

// ownMetrics are the constants of internal/controller/metrics.go, as they stand there:
// one that is added there is asked for here.
func ownMetrics(t *testing.T) sets.Set[string] {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "internal/controller/metrics.go"), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := sets.New[string]()
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !slices.ContainsFunc(spec.Names, func(i *ast.Ident) bool { return strings.HasPrefix(i.Name, "Metric") }) {
			return true
		}
		for _, v := range spec.Values {
			if literal, ok := v.(*ast.BasicLit); ok {
				name, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				names.Insert(name)
			}
		}
		return true
	})
	if !names.Has(controller.MetricAppServices) || names.Len() < 6 {
		t.Fatalf("the metrics of the controller were looked for in the wrong way: %v", sets.List(names))
	}
	return names
}
