// Command bundle writes what the Operator Lifecycle Manager installs from: a
// ClusterServiceVersion beside the CRD, and what the two are called. "make bundle" runs
// it on what config/default builds, so that both ways to install are of one source.
//
//	kustomize build config/default | bundle -base FILE -sample FILE -version V -out DIR
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	var o options
	flag.StringVar(&o.base, "base", "", "the part of the ClusterServiceVersion that is written by hand")
	flag.StringVar(&o.sample, "sample", "", "an AppService to begin with")
	flag.StringVar(&o.version, "version", "", "version of the bundle, such as v0.1.0")
	flag.StringVar(&o.out, "out", "", "the folder to write, which is emptied first")
	flag.Parse()
	if err := run(os.Stdin, o); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

type options struct{ base, sample, version, out string }

func run(in io.Reader, o options) error {
	if o.base == "" || o.sample == "" || o.version == "" || o.out == "" {
		return fmt.Errorf("-base, -sample, -version and -out are needed")
	}
	objects, err := readObjects(in)
	if err != nil {
		return err
	}
	base, err := readFile(o.base)
	if err != nil {
		return err
	}
	sample, err := readFile(o.sample)
	if err != nil {
		return err
	}
	files, err := bundleOf(objects, base, sample, o.version)
	if err != nil {
		return err
	}
	return writeFiles(o.out, files)
}
