package cli

import (
	"github.com/spf13/cobra"

	"kudevops.io/appsvc/internal/crd"
)

func newCRD(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "crd",
		Short: "Print the CustomResourceDefinition of AppService",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := s.out.Write(crd.YAML())
			return err
		},
	}
}
