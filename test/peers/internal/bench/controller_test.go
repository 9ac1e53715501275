package bench

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kudevops.io/appsvc/test/peers/internal/report"
)

func sizes() controllerSizes {
	return controllerSizes{apps: 300, runs: 2, growth: []int{100, 10_000}, steady: 10 * time.Second}
}

func seen() trialReport {
	const mebibyte = 1 << 20
	return trialReport{
		Comparison: []trialResult{
			{Name: oursController, Apps: 300, Samples: []map[string]float64{
				{seconds: 4, creationSeconds: 1, writes: 1200, steadyWrites: 0, restartSeconds: 1, restartWrites: 0, resident: 60 * mebibyte},
				{seconds: 6, creationSeconds: 2, writes: 1200, steadyWrites: 3, restartSeconds: 1, restartWrites: 0, resident: 60 * mebibyte},
			}},
			{Name: kroController, Apps: 300, Samples: []map[string]float64{{seconds: 20, writes: 2460, steadyWrites: 0, resident: 90 * mebibyte}}},
			{Name: kubectlApply, Apps: 300, Samples: []map[string]float64{{seconds: 4, writes: 600}}},
		},
		Growth: []trialResult{
			{Name: oursController, Apps: 100, Samples: []map[string]float64{{seconds: 2, writes: 400, restartSeconds: 0.5, restartWrites: 0, steadyWrites: 0, resident: 50 * mebibyte, peak: 55 * mebibyte}}},
			{Name: oursController, Apps: 10_000, Samples: []map[string]float64{{seconds: 200, writes: 40_000, restartSeconds: 5, restartWrites: 0, steadyWrites: 0, resident: 300 * mebibyte, peak: 410 * mebibyte}}},
		},
	}
}

// verdicts are the last cells of the aims of sections, by what they are about.
func verdicts(all []section) map[string]string {
	out := map[string]string{}
	for _, s := range all {
		for _, r := range s.reached {
			row := report.Aims([]report.Reached{r}).Rows[0]
			if row.Missing != "" {
				out[row.Name] = "missing: " + row.Missing
				continue
			}
			out[row.Name] = row.Cells[0] + " " + row.Cells[3]
		}
	}
	return out
}

func TestControllerSections(t *testing.T) {
	t.Parallel()
	all := controllerSections(seen(), sizes(), binary{name: "kro v0.9.4"}, nil)
	want := map[string]string{
		"controller: 300 AppServices, time to that of kro":                                        "0.250 x reached",
		"controller: 300 AppServices, writes to those of kro":                                     "0.488 x reached",
		"controller: 300 AppServices, time to that of kubectl apply --server-side of the objects": "1.25 x MISSED",
		"controller: 300 AppServices, writes in 10s of rest":                                      "3 MISSED", // the worst run, not the median
		"controller: 300 AppServices, writes by a restart":                                        "0 reached",
		"controller: 10,000 AppServices, resident memory":                                         "300 MiB reached, less than hoped for",
		"controller: 10,000 AppServices, writes by a restart":                                     "0 reached",
	}
	if diff := cmp.Diff(want, verdicts(all)); diff != "" {
		t.Errorf("aims (-want +got):\n%s", diff)
	}
	wantRows := []report.Row{
		{Name: "appsvc-controller", Cells: []string{"5.00 s", "4.50 s to 5.50 s", "1.50 s", "1,200", "4", "0.250 x", "0.488 x", "1.50", "0", "60.0 MiB"}},
		{Name: "kro v0.9.4", Cells: []string{"20.0 s", "20.0 s to 20.0 s", "", "2,460", "8.20", "", "", "0", "", "90.0 MiB"}},
		{Name: "kubectl apply --server-side", Cells: []string{"4.00 s", "4.00 s to 4.00 s", "", "600", "2", "0.200 x", "0.244 x", "", "", ""}},
	}
	if diff := cmp.Diff(wantRows, all[0].grid.Rows); diff != "" {
		t.Errorf("beside the peers (-want +got):\n%s", diff)
	}
	wantRows = []report.Row{
		{Name: "appsvc-controller, 100", Cells: []string{"2.00 s", "", "20.0 ms", "4", "50.0 MiB", "55.0 MiB", "500 ms", "0", "0"}},
		{Name: "appsvc-controller, 10,000", Cells: []string{"200 s", "", "20.0 ms", "4", "300 MiB", "410 MiB", "5.00 s", "0", "0"}},
	}
	if diff := cmp.Diff(wantRows, all[1].grid.Rows); diff != "" {
		t.Errorf("growth (-want +got):\n%s", diff)
	}
	if points := all[1].line.Points; len(points) != 1 || points[0].X != 100 {
		t.Errorf("the plot has %v, want what is no more than %d", points, plotted)
	}
}

func TestControllerIsMissing(t *testing.T) {
	t.Parallel()
	kro := binary{name: "kro v0.9.4", missing: "peer kro: does not build"}
	withoutKro := seen()
	withoutKro.Comparison[1] = trialResult{Name: kroController, Apps: 300, Missing: "no program was given"}
	tests := []struct {
		name   string
		reason string
		seen   trialReport
		err    error
		want   []string
	}{
		{
			name: "a peer", reason: "the reason is that of the build, and ours keeps its figures",
			seen: withoutKro, want: []string{"kro v0.9.4: peer kro: does not build"},
		},
		{
			name: "all", reason: "each row says so, and says why in one line",
			err: errors.New("bench-controller: exit status 1\nits log"),
			want: []string{
				"appsvc-controller: bench-controller: exit status 1", "kro v0.9.4: peer kro: does not build", "kubectl apply --server-side: bench-controller: exit status 1",
				"appsvc-controller, 100: bench-controller: exit status 1", "appsvc-controller, 10,000: bench-controller: exit status 1",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			all := controllerSections(tt.seen, sizes(), kro, tt.err)
			for _, s := range all {
				for _, r := range s.grid.Rows {
					if r.Missing != "" {
						got = append(got, r.Name+": "+r.Missing)
					}
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if v := verdicts(all)["controller: 300 AppServices, time to that of kro"]; !strings.HasPrefix(v, "missing: ") {
				t.Errorf("the aim that needs kro is %q", v)
			}
		})
	}
}

func TestTrialFailure(t *testing.T) {
	t.Parallel()
	s := seen()
	s.Comparison[1] = trialResult{Name: kroController, Missing: "it broke"}
	if err := trialFailure(s); err != nil {
		t.Errorf("%v, want none: a missing peer is no failure", err)
	}
	s.Growth[1] = trialResult{Name: oursController, Apps: 10_000, Missing: "it broke"}
	if err := trialFailure(s); err == nil || err.Error() != "appsvc-controller, 10,000 AppServices: it broke" {
		t.Errorf("error %v, want that of ours", err)
	}
}

func TestControllerArguments(t *testing.T) {
	t.Parallel()
	got := sizes().args(binary{path: "/cache/kro", source: "/modules/kro"})
	want := []string{"-apps=300", "-runs=2", "-steady=10s", "-growth=100,10000", "-kro=/cache/kro", "-kro-crds=/modules/kro/helm/crds"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := sizes().args(binary{missing: "no"}); len(got) != 4 {
		t.Errorf("%q, want no kro where it is missing", got)
	}
}

func TestKubernetesVersion(t *testing.T) {
	t.Parallel()
	dir, err := moduleFolder()
	if err != nil {
		t.Fatal(err)
	}
	got, err := kubernetesVersion(dir)
	if err != nil || !strings.HasPrefix(got, "v1.") {
		t.Errorf("%q, %v, want the version of the control plane", got, err)
	}
}
