// Command appsvc-render renders AppServices to Kubernetes manifests: as a command,
// and as a KRM function of kustomize and kpt. See internal/cli.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"kudevops.io/appsvc/internal/cli"
)

const (
	// gcPercent and memoryLimit trade memory for time: a small run ends before the
	// first collection, a large one does not grow beyond what its result needs.
	gcPercent   = 400
	memoryLimit = 96 << 20
)

func main() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(gcPercent)
		debug.SetMemoryLimit(memoryLimit)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
