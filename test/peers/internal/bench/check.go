package bench

import (
	"context"
	"fmt"
	"os"

	"kudevops.io/appsvc/test/peers/internal/measure"
	"kudevops.io/appsvc/test/peers/internal/same"
)

// verdict says whether the programs render the same objects.
type verdict struct {
	// text says it in a line.
	text string
	// differences are for people; empty when there are none or nothing was
	// compared.
	differences string
	// compared is false when a program is missing or failed.
	compared bool
}

func (v verdict) good() bool { return v.compared && v.differences == "" }

// compare renders the AppServices from one file and from a folder, and the chart,
// and compares the objects. The error is that of ctx.
func compare(ctx context.Context, launcher measure.Launcher, p programs, in inputs) (verdict, error) {
	entries := []measure.Entry{helmTemplate(p, in), oursFromFile(p, in), oursFromFolder(p, in)}
	rendered := make([]same.Objects, len(entries))
	for i, e := range entries {
		objects, err := objectsOf(ctx, launcher, e)
		if ctx.Err() != nil {
			return verdict{}, ctx.Err()
		}
		if err != nil {
			return verdict{text: fmt.Sprintf("whether all render the same objects was not compared: %s: %v", e.Name, err)}, nil
		}
		rendered[i] = objects
	}
	theirs := rendered[0]
	for i, ours := range rendered[1:] {
		if differences := same.Compare(ours, theirs); differences != "" {
			return verdict{
				text:        fmt.Sprintf("NOT COMPARABLE: %s and %s render different objects", entries[i+1].Name, entries[0].Name),
				differences: differences,
				compared:    true,
			}, nil
		}
	}
	return verdict{
		text:     fmt.Sprintf("all render the same %s objects, compared field by field", thousands(len(theirs))),
		compared: true,
	}, nil
}

func objectsOf(ctx context.Context, launcher measure.Launcher, e measure.Entry) (same.Objects, error) {
	if e.Missing != "" {
		return nil, fmt.Errorf("missing: %s", e.Missing)
	}
	if _, err := launcher.Run(ctx, e.Command); err != nil {
		return nil, err
	}
	stream, err := os.ReadFile(e.Command.Stdout)
	if err != nil {
		return nil, err
	}
	return same.Read(stream)
}
