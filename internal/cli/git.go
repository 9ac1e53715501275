package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// repository is a Git repository, which is read through the git program and never
// written to.
type repository struct {
	// dir is a folder in it, from where git is run.
	dir string
	// prefix is where dir is in the repository: "" or "apps/shop/".
	prefix string
	// shallow says that not all of the history was fetched.
	shallow bool
}

// openRepository finds the repository that a folder is in.
func openRepository(ctx context.Context, dir string) (*repository, error) {
	r := &repository{dir: dir}
	out, err := r.git(ctx, "rev-parse", "--is-shallow-repository", "--show-prefix")
	if err != nil {
		return nil, err
	}
	shallow, prefix, _ := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	r.shallow, r.prefix = shallow == "true", prefix
	return r, nil
}

// command makes a command of git that does nothing but read: it runs no hook and no
// program that the user has configured, asks for nothing and fetches nothing.
func (r *repository) command(ctx context.Context, args ...string) *exec.Cmd {
	fixed := []string{
		"-C", r.dir, "--no-pager", "--literal-pathspecs",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull,
	}
	cmd := exec.CommandContext(ctx, "git", append(fixed, args...)...)
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1")
	return cmd
}

// maxListing bounds what git may list of a revision, in bytes.
const maxListing = 256 << 20

// git runs a command of git and gives its output.
func (r *repository) git(ctx context.Context, args ...string) ([]byte, error) {
	cmd := r.command(ctx, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &limitedWriter{&stderr, maxGitMessage}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("running git: %w", err)
	}
	if err := cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, errors.New("git: sides need the git program, which is not installed")
		}
		return nil, fmt.Errorf("running git: %w", err)
	}
	text, readErr := io.ReadAll(io.LimitReader(out, maxListing+1))
	if len(text) > maxListing {
		_ = cmd.Process.Kill()
		readErr = fmt.Errorf("its output is larger than %d MiB", maxListing>>20)
	}
	switch err := cmd.Wait(); {
	case readErr != nil:
		return nil, fmt.Errorf("git %s: %w", args[0], readErr)
	case err != nil:
		return nil, gitError{command: args[0], message: gitMessage(stderr.String()), cause: err}
	}
	return text, nil
}

const maxGitMessage = 4 << 10

// limitedWriter drops what is beyond its limit.
type limitedWriter struct {
	w    io.Writer
	left int
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	part := p[:min(len(p), l.left)]
	l.left -= len(part)
	if _, err := l.w.Write(part); err != nil {
		return 0, err
	}
	return len(p), nil
}

// gitError is what git has to say.
type gitError struct {
	command, message string
	cause            error
}

func (e gitError) Error() string {
	if e.message == "" {
		return fmt.Sprintf("git %s: %v", e.command, e.cause)
	}
	return "git: " + e.message
}

func (e gitError) Unwrap() error { return e.cause }

// gitMessage gives what git has printed in one line.
func gitMessage(stderr string) string {
	var lines []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		line = strings.TrimPrefix(strings.TrimPrefix(line, "fatal: "), "error: ")
		if line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// tree gives the tree object of a revision. A...B is the merge base of the two, of which
// either may be left out for HEAD.
func (r *repository) tree(ctx context.Context, rev string) (string, error) {
	a, b, isBase := strings.Cut(rev, "...")
	switch {
	case isBase:
		base, err := r.mergeBase(ctx, a, b)
		if err != nil {
			return "", err
		}
		rev = base
	case strings.Contains(rev, ".."):
		return "", fmt.Errorf("revision %q is a range: a side is one revision; A...B, with three dots, is the merge base of A and B", rev)
	}
	return r.resolve(ctx, rev, "tree")
}

func (r *repository) mergeBase(ctx context.Context, a, b string) (string, error) {
	var commits [2]string
	for i, rev := range []string{a, b} {
		if rev == "" {
			rev = "HEAD"
		}
		commit, err := r.resolve(ctx, rev, "commit")
		if err != nil {
			return "", err
		}
		commits[i] = commit
	}
	out, err := r.git(ctx, "merge-base", commits[0], commits[1])
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 1 {
			err = fmt.Errorf("%q and %q have no common ancestor", a, b)
			if r.shallow {
				err = fmt.Errorf("%w here: this is a shallow clone; fetch the history: git fetch --unshallow", err)
			}
		}
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}

// resolve gives the name of the object that a revision leads to.
func (r *repository) resolve(ctx context.Context, rev, kind string) (string, error) {
	if err := checkRevision(rev); err != nil {
		return "", err
	}
	out, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{"+kind+"}")
	if err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return "", err
	}
	err = fmt.Errorf("there is no revision %q", rev)
	if rev == "HEAD" {
		err = errors.New("there is no revision \"HEAD\": nothing was committed yet")
	}
	if r.shallow {
		name := strings.TrimPrefix(rev, "origin/")
		err = fmt.Errorf("%w: this is a shallow clone; fetch it: git fetch --depth=1 origin %s, or all of the history: git fetch --unshallow", err, name)
		if name != rev {
			err = fmt.Errorf("there is no revision %q: this is a shallow clone; fetch it: git fetch --depth=1 origin %s:refs/remotes/%s, or all of the history: git fetch --unshallow", rev, name, rev)
		}
	}
	return "", err
}

// checkRevision refuses what git could take for something else than a revision.
func checkRevision(rev string) error {
	switch {
	case rev == "":
		return errors.New("names no revision: write git:REV or git:REV:PATH")
	case strings.HasPrefix(rev, "-"):
		return fmt.Errorf("revision %q begins with a dash", rev)
	case strings.ContainsFunc(rev, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return fmt.Errorf("revision %q holds a control character", rev)
	}
	return nil
}

// gitEntry is a file, a symbolic link or a submodule of a revision.
type gitEntry struct {
	mode, object, name string
}

func (e gitEntry) isLink() bool      { return e.mode == "120000" }
func (e gitEntry) isSubmodule() bool { return e.mode == "160000" }

// list lists all that a tree holds, by name.
func (r *repository) list(ctx context.Context, tree string) ([]gitEntry, error) {
	out, err := r.git(ctx, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	entries := make([]gitEntry, 0, bytes.Count(out, []byte{0}))
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if line == "" {
			continue
		}
		about, name, ok := strings.Cut(line, "\t")
		fields := strings.Fields(about)
		if !ok || len(fields) != 3 {
			return nil, fmt.Errorf("git ls-tree has printed %q", line)
		}
		entries = append(entries, gitEntry{mode: fields[0], object: fields[2], name: name})
	}
	slices.SortFunc(entries, func(a, b gitEntry) int { return strings.Compare(a.name, b.name) })
	return entries, nil
}

// blobs hands the content of each entry to take, which has to read what it needs of it
// before it returns.
func (r *repository) blobs(ctx context.Context, entries []gitEntry, take func(e gitEntry, size int64, content io.Reader) error) error {
	if len(entries) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := r.command(ctx, "cat-file", "--batch", "--buffer")
	var names strings.Builder
	for _, e := range entries {
		names.WriteString(e.object + "\n")
	}
	cmd.Stdin = strings.NewReader(names.String())
	var stderr bytes.Buffer
	cmd.Stderr = &limitedWriter{&stderr, maxGitMessage}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("running git: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("running git: %w", err)
	}
	err = readBlobs(bufio.NewReaderSize(out, 64<<10), entries, take)
	if err != nil {
		cancel()
		_ = cmd.Wait() // it was ended
		return err
	}
	if err := cmd.Wait(); err != nil {
		return gitError{command: "cat-file", message: gitMessage(stderr.String()), cause: err}
	}
	return nil
}

func readBlobs(out *bufio.Reader, entries []gitEntry, take func(gitEntry, int64, io.Reader) error) error {
	for _, e := range entries {
		header, err := out.ReadString('\n')
		if err != nil {
			return fmt.Errorf("%s: reading it from git: %w", e.name, err)
		}
		var object, kind string
		var size int64
		if n, _ := fmt.Sscanf(header, "%s %s %d", &object, &kind, &size); n != 3 || size < 0 {
			return fmt.Errorf("%s: its content is not in this clone, and nothing is fetched here: git fetch --refetch, without a filter, brings it", e.name)
		}
		content := io.LimitReader(out, size)
		if err := take(e, size, content); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, content); err != nil {
			return fmt.Errorf("%s: reading it from git: %w", e.name, err)
		}
		if _, err := out.Discard(1); err != nil {
			return fmt.Errorf("%s: reading it from git: %w", e.name, err)
		}
	}
	return nil
}

// pathIn gives a path as Git has it: from the root of the repository, with slashes. Like
// git itself it takes a path that begins with ./ or ../ from the folder you are in, and
// any other from the root.
func (r *repository) pathIn(name string) (string, error) {
	p := name
	if name == "." || name == ".." || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		p = path.Join(r.prefix, name)
	}
	if p = path.Clean(p); p == "." {
		return "", nil
	}
	if strings.HasPrefix(p, "/") || p == ".." || strings.HasPrefix(p, "../") {
		return "", fmt.Errorf("path %q leads out of the repository", name)
	}
	return p, nil
}
