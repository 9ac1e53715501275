// Command archive packs programs for a release: one archive for each program and
// platform, with the license and the README, and a file of checksums. "make dist" runs
// it. The same programs give the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	out := flag.String("out", "", "the folder to write into")
	version := flag.String("version", "", "version of the release, such as v0.1.0")
	modified := flag.Int64("modified", 0, "time of the files, in seconds since 1970")
	build := flag.String("build", "", "the folder with the programs, each as OS/ARCH/PROGRAM")
	flag.Parse()
	r := release{version: *version, modified: time.Unix(*modified, 0).UTC(), extras: []string{"LICENSE", "README.md"}}
	if err := r.write(*out, *build, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "archive:", err)
		os.Exit(1)
	}
}
