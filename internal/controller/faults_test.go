package controller

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	faultRow = regexp.MustCompile(`(?m)^\| (\d+) \|[^|]+\|[^|]+\|(.+)\|$`)
	faultRef = regexp.MustCompile("`([^`]+)`")
)

// TestFaultsPage: docs/faults.md has each row once, in order, and each test that a row
// names is there.
func TestFaultsPage(t *testing.T) {
	t.Parallel()
	const root, rows = "../..", 74
	page, err := os.ReadFile(filepath.Join(root, "docs", "faults.md"))
	if err != nil {
		t.Fatal(err)
	}
	next := 1
	for _, row := range faultRow.FindAllStringSubmatch(string(page), -1) {
		if row[1] != strconv.Itoa(next) {
			t.Fatalf("row %s follows row %d", row[1], next-1)
		}
		next++
		refs := faultRef.FindAllStringSubmatch(row[2], -1)
		if len(refs) == 0 {
			t.Errorf("row %s names no test", row[1])
		}
		for _, ref := range refs {
			if err := thereIs(root, ref[1]); err != nil {
				t.Errorf("row %s: %v", row[1], err)
			}
		}
	}
	if next-1 != rows {
		t.Errorf("the page has %d rows, want %d", next-1, rows)
	}
}

// thereIs says what is missing of a test, a row of a test's table or a golden case.
func thereIs(root, ref string) error {
	file, name, isTest := strings.Cut(ref, ":")
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	switch {
	case !isTest:
		_, err = os.Stat(filepath.Join(root, filepath.FromSlash(file), "input.yaml"))
		return err
	case err != nil:
		return err
	}
	want := "func " + name + "("
	if strings.HasPrefix(name, `"`) {
		want = name
	}
	if !strings.Contains(string(text), want) {
		return fmt.Errorf("%s has no %s", file, name)
	}
	return nil
}
