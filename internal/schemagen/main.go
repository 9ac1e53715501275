// Command schemagen writes what pkg/diff has to know of the types that Kubernetes
// ships: how each list is keyed, what is replaced as a whole, where quantities,
// times and bytes are, and which empty values a round trip through the Go type
// drops. It takes the first from the schema that client-go carries for server-side
// apply and the rest from the Go types, by reflection.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"log"
	"os"
)

func main() {
	log.SetFlags(0)
	out := flag.String("out", "", "the Go file to write")
	flag.Parse()

	table, err := build()
	if err != nil {
		log.Fatalf("schemagen: %v", err)
	}
	var source bytes.Buffer
	table.write(&source)
	formatted, err := format.Source(source.Bytes())
	if err != nil {
		log.Fatalf("schemagen: formatting: %v", err)
	}
	if err := os.WriteFile(*out, formatted, 0o644); err != nil {
		log.Fatal(fmt.Errorf("schemagen: %w", err))
	}
}
