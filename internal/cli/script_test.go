package cli_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"kudevops.io/appsvc/internal/cli"
)

// TestMain makes the command line a command of the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"appsvc-render": func() {
			os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

// TestScript runs the scripts of testdata/script, one topic a file. Beside the
// commands of testscript they have those of scriptCommands.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		Cmds:               scriptCommands(),
		UpdateScripts:      *update,
		RequireUniqueNames: true,
	})
}

type scriptCommand = func(ts *testscript.TestScript, neg bool, args []string)

func scriptCommands() map[string]scriptCommand {
	return map[string]scriptCommand{
		"refuse": refuse,
		"code":   code,
		"append": appendText,
	}
}

// refuse runs appsvc-render and demands what is promised of every failure: exit
// code 1, something on standard error and nothing on standard output.
//
//	refuse ARG...
func refuse(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("unsupported: ! refuse")
	}
	err := ts.Exec("appsvc-render", args...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		ts.Fatalf("appsvc-render %q: %v, want exit status 1", args, err)
	}
	if stdout := ts.ReadFile("stdout"); stdout != "" {
		ts.Fatalf("appsvc-render %q failed with output on stdout:\n%s", args, stdout)
	}
	if ts.ReadFile("stderr") == "" {
		ts.Fatalf("appsvc-render %q failed without a word", args)
	}
}

// code runs appsvc-render and demands an exit code: that of diff says what there is. With
// exit code 2 there has to be something on standard error and nothing on standard output.
//
//	code CODE ARG...
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code CODE ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	switch err := ts.Exec("appsvc-render", args[1:]...); {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("appsvc-render %q: %v", args[1:], err)
	}
	if got != want {
		ts.Fatalf("appsvc-render %q: exit code %d, want %d", args[1:], got, want)
	}
	if got == 2 && ts.ReadFile("stdout") != "" {
		ts.Fatalf("appsvc-render %q failed with output on stdout:\n%s", args[1:], ts.ReadFile("stdout"))
	}
	if got == 2 && ts.ReadFile("stderr") == "" {
		ts.Fatalf("appsvc-render %q failed without a word", args[1:])
	}
}

// appendText appends a text, in which escapes are those of Go and a double quote
// needs none, to a file, some number of times. It makes the files that an archive
// of text cannot hold.
//
//	append FILE COUNT TEXT
func appendText(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: append FILE COUNT TEXT")
	}
	count, err := strconv.Atoi(args[1])
	ts.Check(err)
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[2], `"`, `\"`) + `"`)
	ts.Check(err)
	file, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	ts.Check(err)
	w := bufio.NewWriter(file)
	for range count {
		if _, err := w.WriteString(text); err != nil {
			break // Flush reports it
		}
	}
	ts.Check(errors.Join(w.Flush(), file.Close()))
}
