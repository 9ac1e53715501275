// Command controlplane builds a Kubernetes control plane from Go modules and runs
// it. See docs/controlplane.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"kudevops.io/appsvc/test/controlplane"
	"kudevops.io/appsvc/test/controlplane/binaries"
)

const usage = `usage: controlplane build           build what is not built yet and print where each program is
       controlplane up [flags]      run a cluster until it is interrupted
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs one verb and returns the exit code: 0, 1 for a failure, 2 for arguments
// that make no sense.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	verbs := map[string]func(context.Context, []string, io.Writer, io.Writer) error{"build": build, "up": up}
	if len(args) == 0 || verbs[args[0]] == nil {
		fmt.Fprint(stderr, usage)
		return 2
	}
	err := verbs[args[0]](ctx, args[1:], stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "controlplane:", err)
		return 1
	}
	return 0
}

// build prints a line per program: its name and its file.
func build(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		return fmt.Errorf("build takes no arguments: %q", args)
	}
	paths, err := binaries.Ensure(ctx, binaries.Options{Progress: stderr})
	if err != nil {
		return err
	}
	var lines []string
	for name, path := range paths {
		lines = append(lines, fmt.Sprintf("%-24s %s\n", name, path))
	}
	slices.Sort(lines)
	_, err = io.WriteString(stdout, strings.Join(lines, ""))
	return err
}

// up prints the setting by which kubectl and others find the cluster.
func up(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	flags.SetOutput(stderr)
	opts := controlplane.Options{Progress: stderr}
	flags.IntVar(&opts.Nodes, "nodes", 1, "number of fake nodes")
	flags.BoolVar(&opts.Keep, "keep", false, "keep the cluster's folder, with its logs, at the end")
	all := flags.Bool("crds", true, "install the CRDs of AppService, Gateway API and ServiceMonitor")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *all {
		opts.CRDs = []controlplane.CRDs{controlplane.AppServiceCRDs, controlplane.GatewayAPICRDs, controlplane.ServiceMonitorCRDs}
	}
	fmt.Fprintln(stderr, "controlplane: starting")
	cluster, err := controlplane.Start(ctx, opts)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, "controlplane: ready; Ctrl-C ends it")
	fmt.Fprintf(stdout, "export KUBECONFIG=%s\n", cluster.Kubeconfig())
	<-ctx.Done()
	return cluster.Stop()
}
