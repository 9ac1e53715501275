package bench

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	"kudevops.io/appsvc/test/peers/internal/measure"
	"kudevops.io/appsvc/test/peers/internal/report"
	"kudevops.io/appsvc/test/peers/internal/same"
	"kudevops.io/appsvc/test/peers/internal/workload"
)

// verdict says whether the programs did the same work.
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

// check has every comparison checked. The error is that of ctx.
func check(ctx context.Context, launcher measure.Launcher, p programs, in inputs) ([]verdict, error) {
	var all []verdict
	for _, f := range []func(context.Context, measure.Launcher, programs, inputs) (verdict, error){compare, checkDiff, checkFunction} {
		v, err := f(ctx, launcher, p, in)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

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
		text:     fmt.Sprintf("all render the same %s objects, compared field by field", report.Thousands(len(theirs))),
		compared: true,
	}, nil
}

// diffCase is a diff, and how many objects it has to find.
type diffCase struct {
	entry measure.Entry
	count func(output string) int
	want  int
}

// checkDiff wants ours and dyff to name exactly the objects that differ. The error is that
// of ctx.
func checkDiff(ctx context.Context, launcher measure.Launcher, p programs, in inputs) (verdict, error) {
	all := childrenEach * in.apps
	for _, c := range []diffCase{
		{oursDiff(p, in, "diff, one differs", in.objects, in.oneDiffers, "-o", "names"), lines, 1},
		{oursDiff(p, in, "diff, all differ", in.objects, in.allDiffer, "-o", "names"), lines, all},
		{dyffBetween(p, in, in.oneDiffers), dyffObjects, 1},
		{dyffBetween(p, in, in.allDiffer), dyffObjects, all},
	} {
		v, err := checkDiffCase(ctx, launcher, c)
		if err != nil || !v.good() {
			return v, err
		}
	}
	return verdict{
		text:     fmt.Sprintf("both find the one object that differs, and all %s", report.Thousands(all)),
		compared: true,
	}, nil
}

func checkDiffCase(ctx context.Context, launcher measure.Launcher, c diffCase) (verdict, error) {
	output, err := outputOf(ctx, launcher, c.entry)
	if ctx.Err() != nil {
		return verdict{}, ctx.Err()
	}
	if err != nil {
		return verdict{text: fmt.Sprintf("whether all find the same differences was not compared: %s: %v", c.entry.Name, err)}, nil
	}
	if got := c.count(string(output)); got != c.want {
		return verdict{
			text:        fmt.Sprintf("NOT COMPARABLE: %s finds other differences", c.entry.Name),
			differences: fmt.Sprintf("%s: %d objects differ, want %d\n", c.entry.Name, got, c.want),
			compared:    true,
		}, nil
	}
	return verdict{compared: true}, nil
}

// lines of an output.
func lines(output string) int { return strings.Count(output, "\n") }

// dyffObjects counts the objects that dyff names beside each path.
func dyffObjects(output string) int {
	objects := map[string]bool{}
	for _, object := range regexp.MustCompile(`\(\S+/`+workload.Namespace+`/\S+\)`).FindAllString(output, -1) {
		objects[object] = true
	}
	return len(objects)
}

// checkFunction wants the KRM function to add the children. The error is that of ctx.
func checkFunction(ctx context.Context, launcher measure.Launcher, p programs, in inputs) (verdict, error) {
	e := startUp(p, in).entries[0]
	output, err := outputOf(ctx, launcher, e)
	if ctx.Err() != nil {
		return verdict{}, ctx.Err()
	}
	var list struct {
		Items []struct {
			Kind string `json:"kind"`
		} `json:"items"`
	}
	if err == nil {
		err = yaml.Unmarshal(output, &list)
	}
	if err != nil {
		return verdict{text: fmt.Sprintf("what the KRM function adds was not looked at: %s: %v", e.Name, err)}, nil
	}
	kinds := map[string]int{}
	for _, item := range list.Items {
		kinds[item.Kind]++
	}
	if kinds["Deployment"] != 1 || kinds["Service"] != 1 {
		return verdict{
			text:        "NOT COMPARABLE: the KRM function does not add a Deployment and a Service",
			differences: fmt.Sprintf("%s: items of the kinds %v\n", e.Name, kinds),
			compared:    true,
		}, nil
	}
	return verdict{text: "the KRM function adds a Deployment and a Service", compared: true}, nil
}

func objectsOf(ctx context.Context, launcher measure.Launcher, e measure.Entry) (same.Objects, error) {
	stream, err := outputOf(ctx, launcher, e)
	if err != nil {
		return nil, err
	}
	return same.Read(stream)
}

func outputOf(ctx context.Context, launcher measure.Launcher, e measure.Entry) ([]byte, error) {
	if e.Missing != "" {
		return nil, fmt.Errorf("missing: %s", e.Missing)
	}
	if _, err := launcher.Run(ctx, e.Command); err != nil {
		return nil, err
	}
	return os.ReadFile(e.Command.Stdout)
}
