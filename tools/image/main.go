// Command image writes a container image of one static program, without a container
// engine: an OCI layout for any number of platforms, in a tar file.
//
//	image -out FILE -name NAME -title T -description D -version V -revision R \
//	      -created UNIX [-licenses L] [-source URL] OS/ARCH=FILE...
//
// The file is what `podman load`, `ctr images import`, `kind load image-archive` and
// `skopeo copy oci-archive:` read, and, since it has Docker's manifest.json for the
// first platform too, `docker load`. The same input gives the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("image", flag.ExitOnError)
	out := flags.String("out", "", "the tar file to write")
	name := flags.String("name", "", "reference of the image, such as registry.example.com/web:v1")
	var d description
	flags.StringVar(&d.title, "title", "", "name of the program in the image")
	flags.StringVar(&d.description, "description", "", "what it does")
	flags.StringVar(&d.version, "version", "", "its version")
	flags.StringVar(&d.revision, "revision", "", "the commit that it was built from")
	flags.StringVar(&d.licenses, "licenses", "Apache-2.0", "SPDX expression")
	flags.StringVar(&d.source, "source", "", "where the source is")
	created := flags.Int64("created", 0, "time of creation and of the files, in seconds since 1970")
	if err := flags.Parse(args); err != nil {
		return err
	}
	d.created = time.Unix(*created, 0).UTC()
	if *out == "" || *name == "" || d.title == "" || flags.NArg() == 0 {
		return fmt.Errorf("-out, -name, -title and at least one OS/ARCH=FILE are needed")
	}
	images := make([]platformImage, 0, flags.NArg())
	for _, arg := range flags.Args() {
		image, err := newPlatformImage(arg, d)
		if err != nil {
			return fmt.Errorf("%s: %w", arg, err)
		}
		images = append(images, image)
	}
	return writeArchive(*out, *name, d, images)
}
