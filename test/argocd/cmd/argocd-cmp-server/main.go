// Command argocd-cmp-server is the real config management plugin server of Argo CD,
// of the version that go.mod requires. It ends when its standard input does, so that
// none outlives the test that started it, in whatever way that ends.
//
// In Argo CD itself one program plays all roles, by the name it is called with. Here
// there is this one role, which compiles in half the time; and the program as a whole
// does not compile in v3.2.12, whose controller/cache refers to a function that is
// not there (settings.ValidateExternalURL).
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/argoproj/argo-cd/v3/cmd/argocd-cmp-server/commands"
)

func main() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	if err := commands.NewCommand().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
