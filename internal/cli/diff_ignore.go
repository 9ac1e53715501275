package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"kudevops.io/appsvc/internal/manifest"
	"kudevops.io/appsvc/pkg/diff"
)

// readIgnoreFiles reads the files of --ignore. All that is wrong is reported.
func readIgnoreFiles(files []string) ([]diff.IgnoreRule, error) {
	var rules []diff.IgnoreRule
	var errs []error
	for _, file := range files {
		text, err := readLimited(file, manifest.MaxDocument)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s", file, readError(err)))
			continue
		}
		more, err := diff.ParseIgnore(file, text)
		if err != nil {
			errs = append(errs, unjoin(err)...)
		}
		rules = append(rules, more...)
	}
	return rules, located(errs)
}

// located makes faults of errors that begin with a place in a file.
func located(errs []error) error {
	faults := make([]error, len(errs))
	for i, err := range errs {
		faults[i] = &manifest.Fault{Message: err.Error()}
	}
	return errors.Join(faults...)
}

// readLimited reads a file that may hold so many bytes.
func readLimited(file string, limit int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("is larger than %d MiB", limit>>20)
	}
	return text, err
}
