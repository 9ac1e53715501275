package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"kudevops.io/appsvc/internal/krm"
	"kudevops.io/appsvc/internal/manifest"
)

const rootLong = `appsvc-render turns AppServices into the Kubernetes objects they stand for.

Without a verb it is a KRM function: it reads a ResourceList from standard input
and writes it, with the objects rendered, to standard output. kustomize and kpt
call it that way.

Exit codes: 0 all is well, 1 the input is not valid or the command was misused. Those
of diff: 0 nothing differs, 1 something differs, 2 anything else.`

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// errReported stands for faults that were printed already.
var errReported = errors.New("faults were reported")

// Main runs appsvc-render with arguments, the program's name not among them, and
// gives the exit code.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	s := streams{in: in, out: out, err: errOut}
	root := newRoot(s)
	root.SetArgs(append([]string{}, args...)) // of nil cobra would make os.Args
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errReported):
	default:
		printError(errOut, err)
	}
	return exitCode(err)
}

// printError prints an error, each of several on a line of its own. A fault of the
// input begins with its file, anything else with the name of the program.
func printError(w io.Writer, err error) {
	var exit exitError
	if errors.As(err, &exit) {
		err = exit.error
	}
	for _, e := range unjoin(err) {
		var fault *manifest.Fault
		if errors.As(e, &fault) {
			fmt.Fprintln(w, fault.Error())
		} else {
			fmt.Fprintf(w, "appsvc-render: %v\n", e)
		}
	}
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "appsvc-render",
		Short:         "Render AppServices to Kubernetes manifests",
		Long:          rootLong,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if isTerminal(s.in) {
				return cmd.Help()
			}
			return runFunction(s)
		},
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		newBuild(s),
		newDiff(s),
		newValidate(s),
		newDiscover(s),
		newParameters(s),
		newInit(s),
		newCRD(s),
		newSchema(s),
		newVersion(s),
		newCompletion(s),
	)
	return root
}

// runFunction is the KRM function.
func runFunction(s streams) error {
	ok, err := krm.Run(s.in, s.out, s.err)
	if err != nil {
		return err
	}
	if !ok {
		return errReported
	}
	return nil
}
