// Command kpt is the `fn` part of kpt, github.com/kptdev/kpt, by kpt's own code.
// The whole of kpt does not build from modules: its alpha commands need
// github.com/kptdev/kpt/rollouts at a version that the module proxy does not serve.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/kptdev/kpt/commands/fn"
	"github.com/kptdev/kpt/pkg/lib/errors/resolver"
	"github.com/kptdev/kpt/pkg/printer"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
)

func main() {
	os.Exit(run())
}

// run does what kpt's own main and run.GetMain do for this part.
func run() int {
	klog.InitFlags(nil)
	root := &cobra.Command{Use: "kpt", SilenceUsage: true, SilenceErrors: true}
	root.PersistentFlags().AddGoFlagSet(flag.CommandLine)
	root.PersistentFlags().BoolVar(&printer.TruncateOutput, "truncate-output", true, "shorten long output of functions")
	ctx := printer.WithContext(context.Background(), printer.New(root.OutOrStdout(), root.ErrOrStderr()))
	root.AddCommand(fn.GetCommand(ctx, "kpt"))

	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if resolved, ok := resolver.ResolveError(err); ok {
		if resolved.Message != "" {
			fmt.Fprintln(os.Stderr, resolved.Message)
		}
		return resolved.ExitCode
	}
	fmt.Fprintln(os.Stderr, "Error:", err)
	return 1
}
