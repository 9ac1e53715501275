// Command gen turns the CustomResourceDefinition that controller-gen writes
// into the one that is applied. It is a step of make generate:
//
//	go run ./internal/crd/gen -in RAW_CRD.yaml -out FILE [FILE...]
//
// The result goes, byte for byte the same, to every FILE: one for config/crd and
// one for internal/crd, since go:embed does not reach outside its own folder.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("gen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var in string
	var outs []string
	flags.StringVar(&in, "in", "", "the CustomResourceDefinition as controller-gen wrote it")
	flags.Func("out", "a file to write; more may follow", func(name string) error {
		outs = append(outs, name)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	outs = append(outs, flags.Args()...)
	if in == "" || len(outs) == 0 {
		return errors.New("usage: gen -in RAW_CRD.yaml -out FILE [FILE...]")
	}

	raw, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	out, err := transform(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	for _, name := range outs {
		if err := os.WriteFile(name, out, 0o644); err != nil {
			return err
		}
	}
	return nil
}
