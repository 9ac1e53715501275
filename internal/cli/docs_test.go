package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocs runs every console block of the README and of docs/ in a copy of the
// repository's examples, and demands the output that stands there. A line that
// begins with "$ " is a command, "[exit 1]" its exit code where that is not 0, and
// a line of "..." stands for any lines. A block of yaml whose first line is
// "# FILE", such as "# web.yaml", is written to that file first.
func TestDocs(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	bin := buildProgram(t)
	var blocks atomic.Int64
	t.Run("pages", func(t *testing.T) {
		for _, page := range append(pages, "../../README.md") {
			t.Run(filepath.Base(page), func(t *testing.T) {
				t.Parallel()
				blocks.Add(runPage(t, page, bin))
			})
		}
	})
	if blocks.Load() == 0 {
		t.Error("no page has a console block: this test looks for them in the wrong way")
	}
}

// runPage gives the number of blocks that it ran.
func runPage(t *testing.T, page, bin string) int64 {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, folder := range []string{"config", "examples"} {
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS("../../"+folder)); err != nil {
			t.Fatal(err)
		}
	}
	count := int64(0)
	for _, b := range codeBlocks(string(text)) {
		switch b.language {
		case "yaml":
			name, _, _ := strings.Cut(b.text, "\n")
			if name, ok := strings.CutPrefix(name, "# "); ok && !strings.Contains(name, " ") && filepath.Ext(name) == ".yaml" && filepath.IsLocal(name) {
				file := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(b.text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		case "console":
			count++
			got := runConsole(t, dir, bin, b.text)
			if want := b.text; !sameOutput(want, got) {
				t.Errorf("%s:%d: the output is not what the page says, -page +output:\n%s", page, b.line, cmp.Diff(want, got))
			}
		}
	}
	return count
}

type codeBlock struct {
	language, text string
	line           int
}

func codeBlocks(page string) []codeBlock {
	var blocks []codeBlock
	var current *codeBlock
	for i, line := range strings.Split(page, "\n") {
		fence, ok := strings.CutPrefix(line, "```")
		switch {
		case ok && current == nil:
			current = &codeBlock{language: fence, line: i + 1}
		case ok:
			blocks = append(blocks, *current)
			current = nil
		case current != nil:
			current.text += line + "\n"
		}
	}
	return blocks
}

// runConsole runs the commands of a block and gives the block as it should be.
func runConsole(t *testing.T, dir, bin, text string) string {
	t.Helper()
	var out bytes.Buffer
	for _, line := range strings.Split(text, "\n") {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		out.WriteString(line + "\n")
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			exit, ok := err.(*exec.ExitError)
			if !ok {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "[exit %d]\n", exit.ExitCode())
		}
	}
	return out.String()
}

// sameOutput compares line by line; a line of "..." in want stands for any number
// of lines.
func sameOutput(want, got string) bool {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for len(w) > 0 {
		if strings.TrimSpace(w[0]) == "..." {
			for skip := range len(g) + 1 {
				if sameOutput(strings.Join(w[1:], "\n"), strings.Join(g[skip:], "\n")) {
					return true
				}
			}
			return false
		}
		if len(g) == 0 || w[0] != g[0] {
			return false
		}
		w, g = w[1:], g[1:]
	}
	return len(g) == 0
}

// buildProgram builds appsvc-render and gives the folder it is in.
func buildProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "appsvc-render"), "kudevops.io/appsvc/cmd/appsvc-render")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building appsvc-render: %v\n%s", err, out)
	}
	return dir
}
