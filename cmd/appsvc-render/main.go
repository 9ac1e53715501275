// Command appsvc-render renders AppServices to Kubernetes manifests: as a command,
// and as a KRM function of kustomize and kpt. See internal/cli.
package main

import (
	"context"
	"os"
	"runtime/debug"

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
	// Signals keep their default effect: the program ends at once, also while it
	// waits for standard input, and there is nothing that it would have to tidy up.
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
