package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"kudevops.io/appsvc/test/peers/internal/measure"
	"kudevops.io/appsvc/test/peers/internal/report"
	"kudevops.io/appsvc/test/peers/internal/workload"
)

// scenario is what one table measures.
type scenario struct {
	title   string
	entries []measure.Entry
	base    int
}

// inputs are files and folders in a temporary folder.
type inputs struct {
	apps   int
	file   string // the AppServices as one file
	folder string // the same, a file each
	chart  string // a helm chart that renders the same
	growth []growthInput
	stdout string // where output goes
}

type growthInput struct {
	apps int
	file string
}

func writeInputs(temp string, o options) (inputs, error) {
	in := inputs{
		apps:   o.apps,
		file:   filepath.Join(temp, "apps.yaml"),
		folder: filepath.Join(temp, "apps"),
		chart:  filepath.Join(temp, "chart"),
		stdout: filepath.Join(temp, "stdout"),
	}
	if err := workload.WriteAppServiceFile(in.file, in.apps); err != nil {
		return inputs{}, fmt.Errorf("inputs: %w", err)
	}
	if err := workload.WriteAppServiceFolder(in.folder, in.apps); err != nil {
		return inputs{}, fmt.Errorf("inputs: %w", err)
	}
	if err := workload.WriteChart(in.chart, in.apps); err != nil {
		return inputs{}, fmt.Errorf("inputs: %w", err)
	}
	if o.check {
		return in, nil
	}
	for _, n := range growthSizes(o.large) {
		input := growthInput{apps: n, file: filepath.Join(temp, "apps-"+strconv.Itoa(n)+".yaml")}
		if err := workload.WriteAppServiceFile(input.file, n); err != nil {
			return inputs{}, fmt.Errorf("inputs: %w", err)
		}
		in.growth = append(in.growth, input)
	}
	return in, nil
}

// growthBase is the size that the others are compared with.
const growthBase = 1000

func growthSizes(large bool) []int {
	sizes := []int{100, growthBase, 10_000}
	if large {
		sizes = append(sizes, 100_000)
	}
	return sizes
}

func scenarios(p programs, in inputs) []scenario {
	return []scenario{buildFile(p, in), buildFolder(p, in), growth(p, in), startUp(p, in)}
}

func buildFile(p programs, in inputs) scenario {
	return scenario{
		title:   "build: " + thousands(in.apps) + " AppServices in one file",
		entries: []measure.Entry{oursFromFile(p, in), helmTemplate(p, in)},
		base:    1,
	}
}

func buildFolder(p programs, in inputs) scenario {
	return scenario{
		title:   "build: " + thousands(in.apps) + " AppServices in as many files",
		entries: []measure.Entry{oursFromFolder(p, in), helmTemplate(p, in)},
		base:    1,
	}
}

func growth(p programs, in inputs) scenario {
	s := scenario{title: "build: growth with the number of AppServices in one file"}
	for _, g := range in.growth {
		s.entries = append(s.entries, p.ours.entry(in.stdout, "build, "+thousands(g.apps), "build", g.file))
	}
	s.base = slices.IndexFunc(in.growth, func(g growthInput) bool { return g.apps == growthBase })
	return s
}

func startUp(p programs, in inputs) scenario {
	return scenario{
		title:   "start-up",
		entries: []measure.Entry{p.ours.entry(in.stdout, "version", "version")},
		base:    report.NoBase,
	}
}

func oursFromFile(p programs, in inputs) measure.Entry {
	return p.ours.entry(in.stdout, "build apps.yaml", "build", in.file)
}

func oursFromFolder(p programs, in inputs) measure.Entry {
	return p.ours.entry(in.stdout, "build apps/", "build", in.folder)
}

func helmTemplate(p programs, in inputs) measure.Entry {
	return p.helm.entry(in.stdout, "template", "template", "apps", in.chart, "--namespace", workload.Namespace)
}

// thousands writes a number with a comma before every three digits.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
