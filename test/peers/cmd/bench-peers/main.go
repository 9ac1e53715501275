// Command bench-peers measures appsvc-render, pkg/diff and appsvc-controller beside
// their peers, by turns on this machine, and writes what it saw as Markdown tables and
// a plot:
//
//	go -C test/peers run ./cmd/bench-peers -large -write ../../docs/benchmarks.md
//
// With -check it measures nothing and compares what the programs render and find; with
// -smoke it does everything once, with tiny sizes.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"kudevops.io/appsvc/test/peers/internal/bench"
	"kudevops.io/appsvc/test/peers/internal/measure"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) == 3 && os.Args[1] == measure.LaunchArg {
		return measure.Launch(ctx, os.Args[2], os.Stdout)
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-peers:", err)
		return 1
	}
	return bench.Run(ctx, self, os.Args[1:], os.Stdout, os.Stderr)
}
