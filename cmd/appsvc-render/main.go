// Command appsvc-render renders AppServices to Kubernetes manifests: as a command,
// and as a KRM function of kustomize and kpt. See internal/cli.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"kudevops.io/appsvc/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
