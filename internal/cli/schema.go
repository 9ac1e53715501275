package cli

import (
	"github.com/spf13/cobra"

	"kudevops.io/appsvc/internal/crd"
)

func newSchema(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of AppService, for editors",
		Long: `Schema prints a JSON schema with which an editor completes and checks AppServices.
With yaml-language-server, write it to a file and name that in the first line:

  # yaml-language-server: $schema=.appservice.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := crd.JSONSchema()
			if err != nil {
				return err
			}
			_, err = s.out.Write(text)
			return err
		},
	}
}
