package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"kudevops.io/appsvc/internal/manifest"
)

// gitScheme begins a side that is a revision: git:REV or git:REV:PATH.
const gitScheme = "git:"

// sideSpec is a side as the command line names it.
type sideSpec struct {
	// text is how messages call it.
	text string
	// path is a path on the disk, or in the revision.
	path string
	// rev is the revision, where isGit says that there is one.
	rev   string
	isGit bool
	// noPath says that a revision came without a path: it takes that of the other side.
	noPath bool
}

func parseSide(text string) (sideSpec, error) {
	rest, isGit := strings.CutPrefix(text, gitScheme)
	if !isGit {
		if text == "" {
			return sideSpec{}, errors.New(`a path is empty; write "." for the folder you are in`)
		}
		return sideSpec{text: text, path: text}, nil
	}
	rev, path, hasPath := cutRevision(rest)
	if err := checkRevision(rev); err != nil {
		return sideSpec{}, fmt.Errorf("%s: %w", text, err)
	}
	return sideSpec{text: text, rev: rev, path: path, isGit: true, noPath: !hasPath}, nil
}

// cutRevision cuts a revision from the path behind it. A colon inside of braces is part
// of the revision: HEAD^{/fix: it}.
func cutRevision(text string) (rev, path string, hasPath bool) {
	depth := 0
	for i, c := range []byte(text) {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == ':' && depth <= 0:
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

// parseSides gives the two sides that arguments name:
//
//	diff             HEAD against the folder you are in
//	diff PATH        HEAD against PATH
//	diff git:REV     REV against the folder you are in
//	diff FROM TO
func parseSides(args []string) (from, to sideSpec, err error) {
	sides := make([]sideSpec, len(args))
	var errs []error
	for i, arg := range args {
		side, err := parseSide(arg)
		errs = append(errs, err)
		sides[i] = side
	}
	if err := errors.Join(errs...); err != nil {
		return from, to, err
	}
	head := sideSpec{text: gitScheme + "HEAD", rev: "HEAD", isGit: true, noPath: true}
	here := sideSpec{text: ".", path: "."}
	switch {
	case len(sides) == 0:
		from, to = head, here
	case len(sides) == 1 && sides[0].isGit && sides[0].noPath:
		from, to = sides[0], here
	case len(sides) == 1:
		from, to = head, sides[0]
	default:
		from, to = sides[0], sides[1]
	}
	if from.path == "-" && to.path == "-" && !from.isGit && !to.isGit {
		return from, to, errors.New("standard input can be only one of the sides")
	}
	for _, s := range []sideSpec{from, to} {
		if s.path == "-" && !s.isGit && (from.noPath || to.noPath) {
			return from, to, errors.New("standard input is in no revision: name the path of the other side, git:REV:PATH")
		}
	}
	return from, to, nil
}

// location is where a side can be read from.
type location struct {
	// path is on the disk; empty where the revision has no such path.
	path string
	// name is how messages call the side.
	name string
	// hidden, when it is not empty, is the folder with the files of a revision, which
	// messages call shown.
	hidden, shown string
}

// say puts the name that people know in the place of that of a temporary folder.
func (p location) say(text string) string {
	if p.hidden == "" || !strings.Contains(text, p.hidden) {
		return text
	}
	text = strings.ReplaceAll(text, p.hidden+string(filepath.Separator), p.shown)
	return strings.ReplaceAll(text, p.hidden, p.shown)
}

// fault gives a fault with the names that people know.
func (p location) fault(f *manifest.Fault) *manifest.Fault {
	if p.hidden == "" {
		return f
	}
	named := *f
	named.File, named.Origin, named.Message = p.say(f.File), p.say(f.Origin), p.say(f.Message)
	return &named
}

// locate finds the side, and brings the files of a revision to the disk. other is the
// other side, from which a revision takes its path and its repository.
func (s sideSpec) locate(ctx context.Context, other sideSpec, scratch *scratch) (location, error) {
	if !s.isGit {
		if s.path != "-" {
			if _, err := os.Stat(s.path); err != nil {
				return location{}, fmt.Errorf("%s: %s", s.path, readError(err))
			}
		}
		return location{path: s.path, name: s.text}, nil
	}
	p, err := s.checkOut(ctx, other, scratch)
	if err != nil {
		return location{}, fmt.Errorf("%s: %w", s.text, err)
	}
	return p, nil
}

func (s sideSpec) checkOut(ctx context.Context, other sideSpec, scratch *scratch) (location, error) {
	repository, name, err := s.inRepository(ctx, other)
	if err != nil {
		return location{}, err
	}
	revision, err := repository.open(ctx, s.rev)
	if err != nil {
		return location{}, err
	}
	p := location{shown: gitScheme + s.rev + ":"}
	p.name = p.shown + name
	at, err := revision.locate(ctx, name)
	if errors.Is(err, errNotInRevision) {
		return p, nil
	}
	if err != nil {
		return location{}, err
	}
	if p.hidden, err = revision.checkOut(ctx, scratch, revision.needed(at)); err != nil {
		return location{}, err
	}
	p.path = filepath.Join(p.hidden, filepath.FromSlash(at))
	return p, nil
}

// inRepository finds the repository of a revision, and the path in it.
func (s sideSpec) inRepository(ctx context.Context, other sideSpec) (*repository, string, error) {
	if !s.noPath || other.isGit {
		repository, err := openRepository(ctx, ".")
		if err != nil {
			return nil, "", err
		}
		name := s.path
		switch {
		case s.noPath && other.noPath:
			name = "."
		case s.noPath:
			name = other.path
		}
		name, err = repository.pathIn(name)
		return repository, name, err
	}
	// The repository is that of the path on the disk.
	dir, base := other.path, ""
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		dir, base = filepath.Split(filepath.Clean(dir))
		if dir == "" {
			dir = "."
		}
	}
	repository, err := openRepository(ctx, dir)
	if err != nil {
		return nil, "", err
	}
	name, err := repository.pathIn("./" + base)
	return repository, name, err
}
