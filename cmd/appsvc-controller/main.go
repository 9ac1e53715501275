// Command appsvc-controller keeps the children of AppServices in a cluster as their specs
// say. See internal/controller.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"

	"kudevops.io/appsvc/internal/controller"
)

func main() {
	var opts controller.Options
	cmd := &cobra.Command{
		Use:           "appsvc-controller",
		Short:         "Keep the children of AppServices as their specs say",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := ctrl.GetConfig()
			if err != nil {
				return err
			}
			return controller.Run(cmd.Context(), config, opts, os.Stderr)
		},
	}
	opts.AddFlags(cmd.Flags())
	// --kubeconfig is controller-runtime's own.
	cmd.Flags().AddGoFlagSet(flag.CommandLine)
	if err := cmd.ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "appsvc-controller:", err)
		os.Exit(1)
	}
}
