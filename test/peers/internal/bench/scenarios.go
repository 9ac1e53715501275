package bench

import (
	"slices"

	"kudevops.io/appsvc/test/peers/internal/measure"
	"kudevops.io/appsvc/test/peers/internal/report"
	"kudevops.io/appsvc/test/peers/internal/workload"
)

// scenario is what one table of processes measures.
type scenario struct {
	title   string
	entries []measure.Entry
	base    int
	// rounds are the most that there are; zero sets no bound.
	rounds int
	// aims are what is to be reached.
	aims []aim
	// line is what the plot calls it, and sizes are the rows' numbers of objects; none
	// where it is about no growth.
	line  string
	sizes []int
}

// growthBase is the size that the others are compared with.
const growthBase = 1000

// A process that takes seconds needs fewer rounds for a median than one that takes
// milliseconds, and one that takes a dozen is run once.
const (
	fewRounds = 5
	oneRound  = 1
)

func scenarios(p programs, in inputs) []scenario {
	return []scenario{
		buildFile(p, in), buildFolder(p, in), buildObjects(p, in), growth(p, in),
		diffOne(p, in), diffAll(p, in), diffGrowth(p, in), startUp(p, in),
	}
}

func buildFile(p programs, in inputs) scenario {
	title := "build: " + report.Thousands(in.apps) + " AppServices in one file"
	return scenario{
		title:   title,
		entries: []measure.Entry{oursFromFile(p, in), helmTemplate(p, in)},
		base:    1,
		aims:    []aim{{report.Aim{Figure: title + ", wall time to that of helm", Limit: 0.25, Goal: 0.1, Unit: report.Ratio}, wallRatio(0, 1)}},
	}
}

func buildFolder(p programs, in inputs) scenario {
	title := "build: " + report.Thousands(in.apps) + " AppServices in as many files"
	return scenario{
		title:   title,
		entries: []measure.Entry{oursFromFolder(p, in), helmTemplate(p, in)},
		base:    1,
		aims:    []aim{{report.Aim{Figure: title + ", wall time to that of helm", Limit: 0.25, Goal: 0.1, Unit: report.Ratio}, wallRatio(0, 1)}},
	}
}

// buildObjects gives kustomize what the AppServices render to: it knows no AppService.
func buildObjects(p programs, in inputs) scenario {
	return scenario{
		title: "build: " + report.Thousands(in.apps) + " AppServices, and kustomize build of what they render to",
		entries: []measure.Entry{
			oursFromFile(p, in),
			p.kustomize.entry(in.stdout, "build", "build", in.kustomization),
		},
		base:   1,
		rounds: oneRound,
	}
}

func growth(p programs, in inputs) scenario {
	const title = "build: growth with the number of AppServices in one file"
	s := scenario{title: title, rounds: fewRounds, line: "build"}
	for _, g := range in.growth {
		s.entries = append(s.entries, p.ours.entry(in.stdout, "build, "+report.Thousands(g.apps), "build", g.file))
		s.sizes = append(s.sizes, g.apps)
	}
	s.base = slices.Index(s.sizes, growthBase)
	ten, hundred := slices.Index(s.sizes, 10*growthBase), slices.Index(s.sizes, 100*growthBase)
	const mebibyte = 1 << 20
	s.aims = []aim{
		{report.Aim{Figure: "build: 10,000 AppServices, wall time to that of 1,000", Limit: 11, Goal: 11, Unit: report.Ratio}, wallRatio(ten, s.base)},
		{report.Aim{Figure: "build: 100,000 AppServices, peak memory", Limit: 150 * mebibyte, Goal: 150 * mebibyte, Unit: report.Mebibytes}, peakMemory(hundred)},
	}
	return s
}

func diffOne(p programs, in inputs) scenario {
	title := "diff: " + report.Thousands(childrenEach*in.apps) + " objects, one image differs"
	return scenario{
		title:   title,
		entries: []measure.Entry{oursDiff(p, in, "diff", in.objects, in.oneDiffers), dyffBetween(p, in, in.oneDiffers)},
		base:    1,
		aims:    []aim{{report.Aim{Figure: title + ", wall time to that of dyff", Limit: 0.1, Goal: 0.1, Unit: report.Ratio}, wallRatio(0, 1)}},
	}
}

func diffAll(p programs, in inputs) scenario {
	title := "diff: " + report.Thousands(childrenEach*in.apps) + " objects, all differ"
	return scenario{
		title:   title,
		entries: []measure.Entry{oursDiff(p, in, "diff", in.objects, in.allDiffer), dyffBetween(p, in, in.allDiffer)},
		base:    1,
		aims:    []aim{{report.Aim{Figure: title + ", wall time to that of dyff", Limit: 0.5, Goal: 0.5, Unit: report.Ratio}, wallRatio(0, 1)}},
	}
}

func diffGrowth(p programs, in inputs) scenario {
	s := scenario{title: "diff: growth with the number of objects in each of two files, one image differs", rounds: fewRounds, line: "diff"}
	for _, d := range in.diffGrowth {
		s.entries = append(s.entries, oursDiff(p, in, "diff, "+report.Thousands(d.objects), d.from, d.to))
		s.sizes = append(s.sizes, d.objects)
	}
	s.base = slices.Index(s.sizes, growthBase)
	return s
}

func startUp(p programs, in inputs) scenario {
	function := p.ours.entry(in.stdout, "as a KRM function, one AppService")
	function.Command.Stdin = in.list
	return scenario{
		title: "start-up",
		entries: []measure.Entry{
			function,
			p.ours.entry(in.stdout, "version", "version"),
			p.kustomize.entry(in.stdout, "version", "version"),
		},
		base: 2,
		aims: []aim{{report.Aim{Figure: "one AppService as a KRM function, process start included, wall time to that of kustomize version", Limit: 3, Goal: 2, Unit: report.Ratio}, wallRatio(0, 2)}},
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

// differs is the exit status of either program when it found differences.
const differs = 1

// oursDiff compares two files; options come before them.
func oursDiff(p programs, in inputs, shown, from, to string, options ...string) measure.Entry {
	e := p.ours.entry(in.stdout, shown, append(append([]string{"diff"}, options...), from, to)...)
	e.Command.Status = differs
	return e
}

func dyffBetween(p programs, in inputs, to string) measure.Entry {
	// -s sets the exit status.
	e := p.dyff.entry(in.stdout, "between", "between", "-s", in.objects, to)
	e.Command.Status = differs
	return e
}
