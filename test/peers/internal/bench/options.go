package bench

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
)

// options are what the command line says.
type options struct {
	runs           int
	apps           int
	controllerApps int
	large          bool
	smoke          bool
	build          bool
	check          bool
	write          string
	appsvcRender   string

	// given are the flags as they were given, without write.
	given []string
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench-peers", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, "Measures appsvc-render beside its peers, whole processes by turns, and prints a Markdown table.\n\n"+
			"  go -C test/peers run ./cmd/bench-peers [flags]\n\n"+
			"Peers are built once and kept in appsvc/peers of the user's cache folder, or in $"+cacheVariable+".\n\n")
		flags.PrintDefaults()
	}
	flags.IntVar(&o.runs, "runs", 15, "`times` that each program is measured, after one run to warm up")
	flags.IntVar(&o.apps, "apps", 1000, "`number` of AppServices in the comparison with peers")
	flags.IntVar(&o.controllerApps, "controller-apps", 10_000, "`number` of AppServices that the memory of the controller is looked at with; 0 leaves the controller out")
	flags.BoolVar(&o.large, "large", false, "let the growth go on to 100,000 AppServices and objects")
	flags.BoolVar(&o.smoke, "smoke", false, "one run of tiny sizes: shows that each comparison works, and figures that mean nothing")
	flags.BoolVar(&o.build, "build", false, "build the peers and do nothing else")
	flags.BoolVar(&o.check, "check", false, "measure nothing: compare what the programs render, object by object, and fail when anything differs")
	flags.StringVar(&o.write, "write", "", "also write the report between the marker lines of `FILE`, relative to test/peers, and the plot beside it")
	flags.StringVar(&o.appsvcRender, "appsvc-render", "", "measure the program at `PATH` instead of building this repository's; not with -write")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if err := o.validate(flags.Args()); err != nil {
		fmt.Fprintln(stderr, "bench-peers:", err)
		return options{}, err
	}
	flags.Visit(func(f *flag.Flag) {
		if f.Name != "write" {
			o.given = append(o.given, "-"+f.Name+"="+f.Value.String())
		}
	})
	if o.smoke {
		o.runs, o.apps, o.controllerApps, o.large = 1, smokeApps, smokeApps, false
	}
	return o, nil
}

func (o options) validate(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case o.runs < 1:
		return errors.New("-runs has to be at least 1")
	case o.apps < 1:
		return errors.New("-apps has to be at least 1")
	case o.controllerApps < 0:
		return errors.New("-controller-apps has to be at least 0")
	case o.write != "" && o.appsvcRender != "":
		return errors.New("-write publishes figures of what this repository builds, which -appsvc-render replaces")
	case o.write != "" && (o.check || o.build):
		return errors.New("-check and -build measure nothing that -write could publish")
	}
	return nil
}

// smokeApps is the size of everything under -smoke.
const smokeApps = 3

// growthSizes are numbers of AppServices, and of objects.
func (o options) growthSizes() []int {
	if o.smoke {
		return []int{2, 4}
	}
	sizes := []int{100, growthBase, 10_000}
	if o.large {
		sizes = append(sizes, 100_000)
	}
	return sizes
}

// libraryRuns are how often each benchmark of the library runs, and for how long.
func (o options) libraryRuns() (runs int, time string) {
	if o.smoke {
		return 1, "1x"
	}
	return 5, "0.3s"
}

func (o options) controllerSizes() controllerSizes {
	if o.smoke {
		return controllerSizes{apps: smokeApps, runs: 1, growth: []int{smokeApps}, steady: time.Second}
	}
	s := controllerSizes{apps: 300, runs: 3, growth: []int{100, 1000, plotted}, steady: 10 * time.Second}
	if o.controllerApps > 0 {
		s.growth = append(s.growth, o.controllerApps)
	}
	return s
}

// plotFile is where the plot goes: beside the page, under its name.
func (o options) plotFile() string {
	return strings.TrimSuffix(o.write, filepath.Ext(o.write)) + ".svg"
}

// command repeats a run with these options from the root of the repository. It
// names no folder of this machine: dir is that of the module.
func (o options) command(dir string) (string, error) {
	words := append([]string{"go -C test/peers run ./cmd/bench-peers"}, o.given...)
	if o.write != "" {
		path, err := filepath.Abs(o.write)
		if err != nil {
			return "", err
		}
		if path, err = filepath.Rel(dir, path); err != nil {
			return "", err
		}
		words = append(words, "-write="+filepath.ToSlash(path))
	}
	return strings.Join(words, " "), nil
}
