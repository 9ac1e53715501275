package bench

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudevops.io/appsvc/test/peers/internal/measure"
)

// printVariable makes this test's own program print the file that it names, as a
// program under measurement would print what it renders.
const printVariable = "BENCH_TEST_PRINT"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == measure.LaunchArg {
		os.Exit(measure.Launch(context.Background(), os.Args[2], os.Stdout))
	}
	if path := os.Getenv(printVariable); path != "" {
		os.Exit(printFile(path))
	}
	os.Exit(m.Run())
}

func printFile(path string) int {
	text, err := os.ReadFile(path)
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
		return 1
	}
	return 0
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// printer is a program that prints text whatever its arguments are.
func printer(t *testing.T, name, text string) binary {
	t.Helper()
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return binary{name: name, path: self(t), env: []string{printVariable + "=" + path}}
}

const (
	web     = "kind: A\nmetadata: {name: web}\nspec: {replicas: 3}\n"
	webToo  = "metadata:\n  name: web\nspec:\n  replicas: 3\nkind: A\n"
	webMore = "kind: A\nmetadata: {name: web}\nspec: {replicas: 4}\n"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		reason   string
		programs programs
		good     bool
		text     string
		differs  string
	}{
		{
			name:     "same",
			reason:   "one object, written in two ways",
			programs: programs{ours: printer(t, "ours", web), helm: printer(t, "helm", webToo)},
			good:     true,
			text:     "all render the same 1 objects",
		},
		{
			name:     "different",
			reason:   "figures would be about different work",
			programs: programs{ours: printer(t, "ours", web), helm: printer(t, "helm", webMore)},
			text:     "NOT COMPARABLE: ours build apps.yaml and helm template render different objects",
			differs:  `"replicas"`,
		},
		{
			name:     "peer missing",
			reason:   "not a difference, and not the same either",
			programs: programs{ours: printer(t, "ours", web), helm: binary{name: "helm", missing: "does not build"}},
			text:     "not compared: helm template: missing: does not build",
		},
		{
			name:     "ours fails",
			reason:   "with the reason",
			programs: programs{ours: binary{name: "ours", path: "/no/such/program"}, helm: printer(t, "helm", web)},
			text:     "not compared: ours build apps.yaml: fork/exec /no/such/program: no such file",
		},
		{
			name:     "broken output",
			reason:   "exit status 0 is not enough",
			programs: programs{ours: printer(t, "ours", "a: b: c\n"), helm: printer(t, "helm", web)},
			text:     "not compared: ours build apps.yaml: document 1: ",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := inputs{stdout: filepath.Join(t.TempDir(), "stdout")}
			got, err := compare(t.Context(), measure.Launcher{Path: self(t)}, tt.programs, in)
			if err != nil {
				t.Fatal(err)
			}
			if got.good() != tt.good || !strings.Contains(got.text, tt.text) {
				t.Errorf("good %v: %q, want %v: %q (%s)", got.good(), got.text, tt.good, tt.text, tt.reason)
			}
			if (got.differences == "") != (tt.differs == "") || !strings.Contains(got.differences, tt.differs) {
				t.Errorf("differences %q, want some with %q", got.differences, tt.differs)
			}
		})
	}
}

func TestCheckDiffCase(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		reason  string
		program binary
		count   func(string) int
		want    int
		good    bool
		text    string
		differs string
	}{
		{
			name: "ours", reason: "a line for each object", program: printer(t, "ours", "update A bench/a\nupdate A bench/b\n"),
			count: lines, want: 2, good: true,
		},
		{
			name: "ours finds too many", reason: "figures would be about other differences", program: printer(t, "ours", "update A bench/a\nupdate A bench/b\n"),
			count: lines, want: 1, text: "NOT COMPARABLE: ours diff finds other differences", differs: "ours diff: 2 objects differ, want 1\n",
		},
		{
			name: "dyff", reason: "two paths of one object are one object", program: printer(t, "dyff", "spec.x  (v1/A/bench/a)\nspec.y  (v1/A/bench/a)\nspec.x  (v1/B/bench/a)\n"),
			count: dyffObjects, want: 2, good: true,
		},
		{
			name: "dyff finds none", reason: "it has to name the object", program: printer(t, "dyff", "returned no differences\n"),
			count: dyffObjects, want: 1, text: "NOT COMPARABLE: dyff diff finds other differences", differs: "dyff diff: 0 objects differ, want 1\n",
		},
		{
			name: "missing", reason: "not a difference, and not the same either", program: binary{name: "dyff", missing: "does not build"},
			count: dyffObjects, want: 1, text: "not compared: dyff diff: missing: does not build",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := diffCase{tt.program.entry(filepath.Join(t.TempDir(), "stdout"), "diff"), tt.count, tt.want}
			got, err := checkDiffCase(t.Context(), measure.Launcher{Path: self(t)}, c)
			if err != nil {
				t.Fatal(err)
			}
			if got.good() != tt.good || !strings.Contains(got.text, tt.text) || got.differences != tt.differs {
				t.Errorf("good %v: %q, %q, want %v: %q, %q (%s)", got.good(), got.text, got.differences, tt.good, tt.text, tt.differs, tt.reason)
			}
		})
	}
}

func TestCheckFunction(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		reason string
		output string
		good   bool
		text   string
	}{
		{
			name: "both", reason: "beside its own AppService", output: "items:\n- kind: AppService\n- kind: Service\n- kind: Deployment\n",
			good: true, text: "adds a Deployment and a Service",
		},
		{name: "nothing", reason: "it did no work", output: "items: []\n", text: "NOT COMPARABLE"},
		{name: "broken", reason: "it is no ResourceList", output: "items: x\n", text: "was not looked at: ours as a KRM function"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := inputs{stdout: filepath.Join(t.TempDir(), "stdout"), list: os.DevNull}
			got, err := checkFunction(t.Context(), measure.Launcher{Path: self(t)}, programs{ours: printer(t, "ours", tt.output)}, in)
			if err != nil {
				t.Fatal(err)
			}
			if got.good() != tt.good || !strings.Contains(got.text, tt.text) {
				t.Errorf("good %v: %q, want %v: %q (%s)", got.good(), got.text, tt.good, tt.text, tt.reason)
			}
		})
	}
}

func TestMissingPeerHasARow(t *testing.T) {
	t.Parallel()
	const reason = "peer helm: does not build"
	p := programs{
		ours:      printer(t, "appsvc-render", web),
		helm:      binary{name: "helm v3.22.0", missing: reason},
		dyff:      binary{name: "dyff v1.12.0", missing: "peer dyff: does not build"},
		kustomize: printer(t, "kustomize v5.8.2", web),
	}
	in := inputs{
		apps:   1000,
		stdout: filepath.Join(t.TempDir(), "stdout"),
		list:   os.DevNull,
		growth: []growthInput{{apps: 100}, {apps: 1000}},
	}
	var all []scenario
	for _, s := range scenarios(p, in) {
		// The printers end with 0, and not with 1 as what finds differences.
		for i := range s.entries {
			s.entries[i].Command.Status = 0
		}
		all = append(all, s)
	}
	var progress bytes.Buffer
	groups, err := measureAll(t.Context(), measure.Launcher{Path: self(t)}, all, 1, &progress)
	if err != nil {
		t.Fatal(err)
	}
	var titles, missing []string
	for i, s := range sections(all, groups, p.ours) {
		if s.err != nil {
			t.Errorf("%v, want none: a missing peer is no failure", s.err)
		}
		titles = append(titles, s.grid.Title)
		for _, r := range groups[i].Results {
			if r.Missing != "" {
				missing = append(missing, r.Name)
			}
		}
		if !strings.Contains(progress.String(), s.grid.Title) {
			t.Errorf("no progress for %q", s.grid.Title)
		}
		for _, r := range s.reached {
			if needs := strings.Contains(r.Figure, "helm") || strings.Contains(r.Figure, "dyff"); needs && r.Missing == "" {
				t.Errorf("%q is %v without that peer", r.Figure, r.Value)
			}
		}
	}
	wantTitles := []string{
		"build: 1,000 AppServices in one file",
		"build: 1,000 AppServices in as many files",
		"build: 1,000 AppServices, and kustomize build of what they render to",
		"build: growth with the number of AppServices in one file",
		"diff: 2,000 objects, one image differs",
		"diff: 2,000 objects, all differ",
		"diff: growth with the number of objects in each of two files, one image differs",
		"start-up",
	}
	if diff := cmp.Diff(wantTitles, titles); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"helm v3.22.0 template", "helm v3.22.0 template", "dyff v1.12.0 between", "dyff v1.12.0 between"}, missing); diff != "" {
		t.Errorf("missing rows (-want +got):\n%s", diff)
	}
	if table := groups[0].Grid().Markdown(); !strings.Contains(table, "| helm v3.22.0 template | missing: "+reason+" |") {
		t.Errorf("the table does not show why the peer is missing:\n%s", table)
	}
	if table := groups[3].Grid().Markdown(); !strings.Contains(table, "against appsvc-render build, 1,000") {
		t.Errorf("growth is not against 1,000:\n%s", table)
	}
}

func TestFailure(t *testing.T) {
	t.Parallel()
	err := failure([]measure.Result{
		{Name: "helm v3 template", Missing: "no network"},
		{Name: "ours build apps.yaml", Missing: "exit status 1"},
	}, binary{name: "ours"})
	if err == nil || err.Error() != "ours build apps.yaml: exit status 1" {
		t.Errorf("error %v, want that of ours", err)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		reason string
		args   []string
		want   options
		err    string
	}{
		{name: "defaults", reason: "the figures of the documentation", want: options{runs: 15, apps: 1000, controllerApps: 10_000}},
		{
			name: "all", reason: "what was given is kept for the command of the report",
			args: []string{"-runs", "3", "--large", "-apps=10", "-controller-apps=0", "-write", "x.md"},
			want: options{runs: 3, apps: 10, large: true, write: "x.md", given: []string{"-apps=10", "-controller-apps=0", "-large=true", "-runs=3"}},
		},
		{
			name: "smoke", reason: "it is small, whatever else is asked for",
			args: []string{"-smoke", "-large", "-runs=9"},
			want: options{runs: 1, apps: smokeApps, controllerApps: smokeApps, smoke: true, given: []string{"-large=true", "-runs=9", "-smoke=true"}},
		},
		{name: "no controllers", reason: "zero leaves them out, less is nothing", args: []string{"-controller-apps", "-1"}, err: "-controller-apps has to be at least 0"},
		{name: "no runs", reason: "no median of nothing", args: []string{"-runs", "0"}, err: "-runs has to be at least 1"},
		{name: "no apps", reason: "nothing to do", args: []string{"-apps", "-1"}, err: "-apps has to be at least 1"},
		{name: "argument", reason: "a flag without its dash", args: []string{"check"}, err: `unexpected argument "check"`},
		{name: "foreign program", reason: "its figures are not this repository's", args: []string{"-write=x.md", "-appsvc-render=/bin/x"}, err: "-appsvc-render replaces"},
		{name: "check and write", reason: "no figures", args: []string{"-write=x.md", "-check"}, err: "-check and -build measure nothing"},
		{name: "build and write", reason: "no figures either", args: []string{"-write=x.md", "-build"}, err: "-check and -build measure nothing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var stderr bytes.Buffer
			got, err := parse(tt.args, &stderr)
			if tt.err != "" {
				if err == nil || !strings.Contains(stderr.String(), tt.err) {
					t.Fatalf("error %v and %q, want %q (%s)", err, stderr.String(), tt.err, tt.reason)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(options{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestExitStatus(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		reason string
		args   []string
		want   int
	}{
		{name: "help", reason: "asked for", args: []string{"-h"}, want: 0},
		{name: "unknown flag", reason: "a wrong command line", args: []string{"-no-such-flag"}, want: 2},
		{name: "no page", reason: "found out before anything is built", args: []string{"-write", filepath.Join(t.TempDir(), "none.md")}, want: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var stdout bytes.Buffer
			if got := Run(t.Context(), self(t), tt.args, &stdout, io.Discard); got != tt.want {
				t.Errorf("exit status %d, want %d (%s)", got, tt.want, tt.reason)
			}
			if stdout.Len() != 0 {
				t.Errorf("stdout %q, want nothing", stdout.String())
			}
		})
	}
}

func TestCommandNamesNoFolderOfThisMachine(t *testing.T) {
	t.Parallel()
	dir, err := moduleFolder()
	if err != nil {
		t.Fatal(err)
	}
	o := options{given: []string{"-runs=3"}, write: filepath.Join(repository(dir), "docs", "benchmarks.md")}
	got, err := o.command(dir)
	if err != nil {
		t.Fatal(err)
	}
	const want = "go -C test/peers run ./cmd/bench-peers -runs=3 -write=../../docs/benchmarks.md"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWithoutFolders(t *testing.T) {
	t.Parallel()
	got := withoutFolders("Error: /tmp/x/chart: no; /src/repo/cmd too; /tmp/xy stays", "/tmp/x", "/src/repo")
	if want := "Error: chart: no; cmd too; /tmp/xy stays"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
