package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const gitopsExample = "../../examples/gitops"

// gitRepository is a copy of examples/gitops, cloned from a bare repository.
type gitRepository struct {
	dir string
	env []string
}

func newGitRepository(t *testing.T, bin string) gitRepository {
	t.Helper()
	root := t.TempDir()
	r := gitRepository{dir: filepath.Join(root, "clone")}
	r.env = append(os.Environ(),
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		// What the machine's user set must not count.
		"HOME="+root, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		// What GitHub sets.
		"RUNNER_TEMP="+root, "GITHUB_STEP_SUMMARY="+filepath.Join(root, "summary.md"), "GITHUB_BASE_REF=main", "GITHUB_SHA=0123456",
	)
	if err := os.CopyFS(r.dir, os.DirFS(gitopsExample)); err != nil {
		t.Fatal(err)
	}
	r.git(t, "init", "--quiet", "--initial-branch=main")
	r.git(t, "init", "--quiet", "--bare", filepath.Join(root, "origin"))
	r.git(t, "remote", "add", "origin", filepath.Join(root, "origin"))
	r.commit(t)
	r.git(t, "push", "--quiet", "origin", "main")
	return r
}

func (r gitRepository) commit(t *testing.T) {
	t.Helper()
	r.git(t, "add", "apps", ".github", ".pre-commit-config.yaml", "clusters")
	r.git(t, "commit", "--quiet", "--message", "change")
}

func (r gitRepository) git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := r.run(t, "git", args...)
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(out)
}

func (r gitRepository) run(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = r.dir, r.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (r gitRepository) replace(t *testing.T, name, old, now string) {
	t.Helper()
	path := filepath.Join(r.dir, name)
	text := readText(t, path)
	if !strings.Contains(text, old) {
		t.Fatalf("%s has no %q", name, old)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(text, old, now, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// workflow is what the tests know of a workflow of GitHub.
type workflow struct {
	Jobs map[string]struct {
		Env   map[string]string
		Steps []struct{ Name, Uses, Run string }
	}
}

func readWorkflow(t *testing.T, name string) workflow {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(readText(t, filepath.Join(gitopsExample, ".github/workflows", name))), &w); err != nil {
		t.Fatal(err)
	}
	if len(w.Jobs) != 1 {
		t.Fatalf("%s has %d jobs, this test knows one", name, len(w.Jobs))
	}
	return w
}

// runSteps runs the steps of a workflow the way GitHub does, until one fails. Those
// that need the network, by go install or gh, are left out. It gives what was printed
// and the name of the step that failed.
func (w workflow) runSteps(t *testing.T, r gitRepository) (output, failed string) {
	t.Helper()
	ran := 0
	for _, job := range w.Jobs {
		for name, value := range job.Env {
			r.env = append(r.env, name+"="+value)
		}
		for _, step := range job.Steps {
			if step.Run == "" || strings.HasPrefix(step.Run, "go install ") || strings.HasPrefix(step.Run, "gh ") {
				continue
			}
			ran++
			out, err := r.run(t, "bash", "-e", "-c", step.Run)
			output += out
			if err != nil {
				return output, step.Name
			}
		}
	}
	if ran == 0 {
		t.Fatal("the workflow has no step to run")
	}
	return output, ""
}

// TestWorkflowActions: an action is named by a commit, since a tag can be moved.
func TestWorkflowActions(t *testing.T) {
	t.Parallel()
	pinned := regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40}$`)
	for _, name := range []string{"pull-request.yaml", "rendered-manifests.yaml"} {
		for _, job := range readWorkflow(t, name).Jobs {
			for _, step := range job.Steps {
				if step.Uses != "" && !pinned.MatchString(step.Uses) {
					t.Errorf("%s: %s is not pinned", name, step.Uses)
				}
			}
		}
	}
}

// TestGitOps runs what examples/gitops and .pre-commit-hooks.yaml tell others to run.
func TestGitOps(t *testing.T) {
	t.Parallel()
	bin := buildProgram(t)
	t.Run("pull request", func(t *testing.T) { t.Parallel(); testPullRequest(t, bin) })
	t.Run("rendered manifests", func(t *testing.T) { t.Parallel(); testRenderedManifests(t, bin) })
	t.Run("pre-commit", func(t *testing.T) { t.Parallel(); testPreCommit(t, bin) })
}

// testPullRequest runs the steps of the workflow on pull requests.
func testPullRequest(t *testing.T, bin string) {
	w := readWorkflow(t, "pull-request.yaml")
	tests := []struct {
		name, reason string
		old, now     string // in apps/shop.yaml
		failed       string // the step
		output, diff []string
	}{
		{"a change", "the comment shows what it does to the Deployment", "replicas: 2", "replicas: 5", "", nil, []string{"Deployment", "replicas"}},
		{"no change", "that is no failure", "name: http\n", "name: http # as ever\n", "", nil, nil},
		{"an invalid AppService", "the finding is where the line is", "port: 80\n", "port: 80000\n", "validate", []string{"::error file=apps/shop.yaml,line=11,"}, nil},
		{"twice the same", "validate says so too", "name: shop\n", "name: cart\n", "validate", []string{"occurs twice"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newGitRepository(t, bin)
			r.git(t, "switch", "--quiet", "--create", "feature")
			r.replace(t, "apps/shop.yaml", tt.old, tt.now)
			r.commit(t)
			output, failed := w.runSteps(t, r)
			if failed != tt.failed {
				t.Fatalf("%s: the step %q failed, want %q:\n%s", tt.reason, failed, tt.failed, output)
			}
			for _, want := range tt.output {
				if !strings.Contains(output, want) {
					t.Errorf("%s: the output has no %q:\n%s", tt.reason, want, output)
				}
			}
			if failed != "" {
				return
			}
			summary := readText(t, filepath.Join(filepath.Dir(r.dir), "summary.md"))
			if strings.TrimSpace(summary) == "" {
				t.Error("the comment would be empty, which GitHub refuses")
			}
			for _, want := range tt.diff {
				if !strings.Contains(summary, want) {
					t.Errorf("%s: the difference has no %q:\n%s", tt.reason, want, summary)
				}
			}
		})
	}
}

// testRenderedManifests runs the steps of the workflow on one push after the other.
// The branch is the one that the example for Flux follows.
func testRenderedManifests(t *testing.T, bin string) {
	const branch = "rendered/production"
	if !strings.Contains(readText(t, filepath.Join(gitopsExample, "clusters/production/shop.yaml")), "\n    branch: "+branch+"\n") {
		t.Errorf("Flux does not follow the branch %s", branch)
	}
	r := newGitRepository(t, bin)
	w := readWorkflow(t, "rendered-manifests.yaml")
	origin := func(args ...string) string {
		t.Helper()
		return r.git(t, append([]string{"--git-dir", "../origin"}, args...)...)
	}
	// want runs the workflow and looks at the branch. GitHub begins each time with a
	// fresh clone: what the last run left is removed.
	want := func(step, commits, files string) {
		t.Helper()
		if output, failed := w.runSteps(t, r); failed != "" {
			t.Fatalf("%s: the step %q failed:\n%s", step, failed, output)
		}
		r.git(t, "worktree", "remove", "--force", "rendered")
		if r.git(t, "branch", "--list", branch) != "" {
			r.git(t, "branch", "--quiet", "-D", branch)
		}
		got := origin("rev-list", "--count", branch) + "\n" + origin("ls-tree", "-r", "--name-only", branch)
		if diff := cmp.Diff(commits+"\n"+files, got); diff != "" {
			t.Errorf("%s: commits and files -want +got:\n%s", step, diff)
		}
	}
	const shop = "shop/deployment_shop.yaml\nshop/service_shop.yaml"
	const both = "shop/deployment_cart.yaml\nshop/deployment_shop.yaml\nshop/service_cart.yaml\nshop/service_shop.yaml"
	want("the first time", "1", both)
	want("without a change", "1", both)

	r.replace(t, "apps/shop.yaml", "replicas: 2", "replicas: 5")
	r.commit(t)
	want("a change", "2", both)
	if text := origin("show", branch+":shop/deployment_shop.yaml"); !strings.Contains(text, "\n  replicas: 5\n") {
		t.Errorf("the branch has\n%s", text)
	}

	r.git(t, "rm", "--quiet", "apps/cart.yaml")
	r.git(t, "commit", "--quiet", "--message", "no cart")
	want("an AppService less", "3", shop)

	// What cannot be rendered changes nothing.
	before := origin("rev-parse", branch)
	r.replace(t, "apps/shop.yaml", "port: 80\n", "port: 80000\n")
	r.commit(t)
	if _, failed := w.runSteps(t, r); failed != "render" {
		t.Errorf("the step %q failed, want render", failed)
	}
	if origin("rev-parse", branch) != before {
		t.Error("a broken AppService changed the branch")
	}
}

// testPreCommit runs the hooks with the arguments of the example.
func testPreCommit(t *testing.T, bin string) {
	var hooks []struct {
		ID, Entry, Language string
		PassFilenames       *bool `json:"pass_filenames"`
		Files               string
	}
	if err := yaml.Unmarshal([]byte(readText(t, "../../.pre-commit-hooks.yaml")), &hooks); err != nil {
		t.Fatal(err)
	}
	var config struct {
		Repos []struct {
			Hooks []struct {
				ID   string
				Args []string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(readText(t, filepath.Join(gitopsExample, ".pre-commit-config.yaml"))), &config); err != nil {
		t.Fatal(err)
	}
	r := newGitRepository(t, bin)
	ran := 0
	for _, repo := range config.Repos {
		for _, used := range repo.Hooks {
			for _, hook := range hooks {
				if hook.ID != used.ID {
					continue
				}
				ran++
				// pre-commit builds what "go install ./..." in the repository of the
				// hook gives, and adds the names of files unless it is told not to.
				if hook.Language != "golang" || hook.PassFilenames == nil || *hook.PassFilenames {
					t.Errorf("the hook %s is not run as this test does it", hook.ID)
				}
				for name, is := range map[string]bool{"apps/shop.yaml": true, "apps/shop.yml": true, "apps/shop.json": true, "README.md": false} {
					if regexp.MustCompile(hook.Files).MatchString(name) != is {
						t.Errorf("the hook %s is run for %s: %t", hook.ID, name, !is)
					}
				}
				command := append(strings.Fields(hook.Entry), used.Args...)
				if out, err := r.run(t, command[0], command[1:]...); err != nil {
					t.Errorf("%q: %v\n%s", command, err, out)
				}
				r.replace(t, "apps/shop.yaml", "port: 80\n", "port: 80000\n")
				if out, err := r.run(t, command[0], command[1:]...); err == nil || !strings.Contains(out, "apps/shop.yaml:11: ") {
					t.Errorf("%q on a broken AppService: %v\n%s", command, err, out)
				}
			}
		}
	}
	if ran != len(hooks) || ran == 0 {
		t.Errorf("the example uses %d of %d hooks", ran, len(hooks))
	}
}
