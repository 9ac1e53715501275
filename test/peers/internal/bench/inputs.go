package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"kudevops.io/appsvc/test/peers/internal/measure"
	"kudevops.io/appsvc/test/peers/internal/workload"
)

// inputs are files and folders in a temporary folder.
type inputs struct {
	apps   int
	file   string // the AppServices as one file
	folder string // the same, a file each
	chart  string // a helm chart that renders the same
	list   string // a ResourceList with one AppService, for a KRM function
	stdout string // where output goes

	objects       string // what the AppServices render to, as one file
	oneDiffers    string // the same, but for one image
	allDiffer     string // the same, every object changed
	kustomization string // a folder with a kustomization of objects

	growth     []growthInput
	diffGrowth []diffInput
}

type growthInput struct {
	apps int
	file string
}

// diffInput is two files of rendered objects, of which one differs.
type diffInput struct {
	objects  int
	from, to string
}

// childrenEach is how many objects an AppService of the workload renders to.
const childrenEach = 2

// writeInputs writes what the programs read. What stands for a Git repository of rendered
// manifests is rendered by ours.
func writeInputs(ctx context.Context, launcher measure.Launcher, ours binary, temp string, o options) (inputs, error) {
	in := inputs{
		apps:          o.apps,
		file:          filepath.Join(temp, "apps.yaml"),
		folder:        filepath.Join(temp, "apps"),
		chart:         filepath.Join(temp, "chart"),
		list:          filepath.Join(temp, "list.yaml"),
		stdout:        filepath.Join(temp, "stdout"),
		kustomization: filepath.Join(temp, "kustomization"),
		oneDiffers:    filepath.Join(temp, "one-differs.yaml"),
		allDiffer:     filepath.Join(temp, "all-differ.yaml"),
	}
	in.objects = filepath.Join(in.kustomization, "objects.yaml")
	r := renderer{launcher: launcher, ours: ours, temp: temp}
	for _, step := range []func() error{
		func() error { return workload.WriteAppServiceFile(in.file, in.apps) },
		func() error { return workload.WriteAppServiceFolder(in.folder, in.apps) },
		func() error { return workload.WriteChart(in.chart, in.apps) },
		func() error { return workload.WriteResourceList(in.list) },
		func() error { return workload.WriteKustomization(in.kustomization, filepath.Base(in.objects)) },
		func() error { return r.render(ctx, in.objects, workload.WriteAppServiceFile, in.apps) },
		func() error { return r.render(ctx, in.oneDiffers, workload.WriteOneChanged, in.apps) },
		func() error { return r.render(ctx, in.allDiffer, workload.WriteAllChanged, in.apps) },
		func() error { return in.writeGrowth(ctx, r, temp, o) },
	} {
		if err := step(); err != nil {
			return inputs{}, fmt.Errorf("inputs: %w", err)
		}
	}
	return in, nil
}

func (in *inputs) writeGrowth(ctx context.Context, r renderer, temp string, o options) error {
	if o.check {
		return nil
	}
	for _, n := range o.growthSizes() {
		input := growthInput{apps: n, file: filepath.Join(temp, "apps-"+strconv.Itoa(n)+".yaml")}
		if err := workload.WriteAppServiceFile(input.file, n); err != nil {
			return err
		}
		in.growth = append(in.growth, input)

		diff := diffInput{
			objects: n,
			from:    filepath.Join(temp, "from-"+strconv.Itoa(n)+".yaml"),
			to:      filepath.Join(temp, "to-"+strconv.Itoa(n)+".yaml"),
		}
		if err := r.render(ctx, diff.from, workload.WriteAppServiceFile, n/childrenEach); err != nil {
			return err
		}
		if err := r.render(ctx, diff.to, workload.WriteOneChanged, n/childrenEach); err != nil {
			return err
		}
		in.diffGrowth = append(in.diffGrowth, diff)
	}
	return nil
}

// renderer has ours render AppServices.
type renderer struct {
	launcher measure.Launcher
	ours     binary
	temp     string
}

// render writes n AppServices and renders them to the file out.
func (r renderer) render(ctx context.Context, out string, write func(path string, n int) error, n int) error {
	apps := filepath.Join(r.temp, "to-render.yaml")
	if err := write(apps, n); err != nil {
		return err
	}
	e := r.ours.entry(out, "build", "build", apps)
	if e.Missing != "" {
		return fmt.Errorf("%s: missing: %s", e.Name, e.Missing)
	}
	if _, err := r.launcher.Run(ctx, e.Command); err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	return nil
}
