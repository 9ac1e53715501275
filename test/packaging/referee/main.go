// Command referee judges what this repository gives away by the code of those who read
// it: the Operator Lifecycle Manager and Prometheus.
//
//	referee bundle DIR   prints each finding of OLM's validators on its line
//	referee rules FILE   prints the metrics that the rules of a Prometheus rule file use
//	referee queries      prints the metrics that the queries on standard input use, one a line
//
// The exit code is 1 for what cannot be read, and for findings.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "referee:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	switch {
	case len(args) == 2 && args[0] == "bundle":
		return judgeBundle(args[1], out)
	case len(args) == 2 && args[0] == "rules":
		return judgeRules(args[1], out)
	case len(args) == 1 && args[0] == "queries":
		return judgeQueries(in, out)
	}
	return errors.New("usage: referee bundle DIR | rules FILE | queries")
}

// judgeBundle runs the validators of `operator-sdk bundle validate`, and those of good
// practice. That of APIs which are gone is left out: it takes a rule of RBAC, which has
// no version, for one of the versions that are gone.
func judgeBundle(dir string, out io.Writer) error {
	bundle, err := manifests.GetBundleFromDir(dir)
	if err != nil {
		return err
	}
	validators := slices.Concat(validation.DefaultBundleValidators, interfaces.Validators{
		validation.GoodPracticesValidator, validation.StandardCapabilitiesValidator, validation.StandardCategoriesValidator,
	})
	findings := 0
	for _, result := range validators.Validate(bundle.ObjectsToValidate()...) {
		for _, finding := range slices.Concat(result.Errors, result.Warnings) {
			findings++
			fmt.Fprintln(out, finding)
		}
	}
	if findings > 0 {
		return fmt.Errorf("%s: %d findings", dir, findings)
	}
	return nil
}

func judgeRules(file string, out io.Writer) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	reader := newParser()
	groups, errs := rulefmt.Parse(text, false, model.LegacyValidation, reader)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			if err := printMetrics(reader, rule.Expr, out); err != nil {
				return err
			}
		}
	}
	return nil
}

func judgeQueries(in io.Reader, out io.Writer) error {
	reader := newParser()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if err := printMetrics(reader, lines.Text(), out); err != nil {
			return err
		}
	}
	return lines.Err()
}

func newParser() parser.Parser { return parser.NewParser(parser.Options{}) }

// printMetrics prints the names of the metrics in a query.
func printMetrics(reader parser.Parser, query string, out io.Writer) error {
	tree, err := reader.ParseExpr(query)
	if err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	parser.Inspect(tree, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			fmt.Fprintln(out, selector.Name)
		}
		return nil
	})
	return nil
}
