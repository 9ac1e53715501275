package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Begin and End are the lines between which a file is written.
const (
	Begin = "<!-- bench-peers:begin -->"
	End   = "<!-- bench-peers:end -->"
)

// Replace puts text between the lines Begin and End of a page, each of which has
// to be there once and in this order. The rest of the page stays as it is.
func Replace(page, text string) (string, error) {
	begin, err := line(page, Begin)
	if err != nil {
		return "", err
	}
	end, err := line(page, End)
	if err != nil {
		return "", err
	}
	if end < begin {
		return "", fmt.Errorf("the line %q stands before %q", End, Begin)
	}
	head, _, _ := strings.Cut(page[begin:], "\n")
	return page[:begin] + head + "\n\n" + strings.TrimSpace(text) + "\n\n" + page[end:], nil
}

// line is where the only line of the page that is want begins.
func line(page, want string) (int, error) {
	found, at, count := 0, 0, 0
	for l := range strings.Lines(page) {
		if strings.TrimSpace(l) == want {
			found = at
			count++
		}
		at += len(l)
	}
	if count != 1 {
		return 0, fmt.Errorf("the line %q is there %d times, want once", want, count)
	}
	return found, nil
}

// Check says whether Write can write to the file path.
func Check(path string) error {
	_, err := replaced(path, "")
	return err
}

// Write puts text between the markers of the file path.
func Write(path, text string) error {
	page, err := replaced(path, text)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	// Written beside it and renamed, so that the page is never half a page.
	temp, err := os.CreateTemp(filepath.Dir(path), ".bench-peers-")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	if _, err := temp.WriteString(page); err != nil {
		temp.Close()
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	if err := os.Chmod(temp.Name(), info.Mode().Perm()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

func replaced(path, text string) (string, error) {
	page, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	out, err := Replace(string(page), text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}
