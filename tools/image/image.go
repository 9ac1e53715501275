package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// user is neither root nor a user of any distribution. By number, since
	// runAsNonRoot can judge no other, and since there is no /etc/passwd.
	user = "65532:65532"
	// folder is where the program is; it is all of PATH.
	folder = "usr/local/bin"
)

// description is what the labels of an image say.
type description struct {
	title, description, version, revision, licenses, source string
	created                                                 time.Time
}

// labels are those of the OCI image specification's annotations.md; none is empty.
func (d description) labels() map[string]string {
	labels := map[string]string{
		"org.opencontainers.image.title":       d.title,
		"org.opencontainers.image.description": d.description,
		"org.opencontainers.image.version":     d.version,
		"org.opencontainers.image.revision":    d.revision,
		"org.opencontainers.image.licenses":    d.licenses,
		"org.opencontainers.image.source":      d.source,
		"org.opencontainers.image.created":     d.created.Format(time.RFC3339),
	}
	for key, value := range labels {
		if value == "" {
			delete(labels, key)
		}
	}
	return labels
}

// platformImage is the image for one platform.
type platformImage struct {
	v1.Image
	platform v1.Platform
}

// newPlatformImage makes an image of nothing but a program, given as OS/ARCH=FILE.
func newPlatformImage(arg string, d description) (platformImage, error) {
	name, file, ok := strings.Cut(arg, "=")
	if !ok {
		return platformImage{}, fmt.Errorf("not of the form OS/ARCH=FILE")
	}
	platform, err := v1.ParsePlatform(name)
	if err != nil {
		return platformImage{}, err
	}
	layer, err := programLayer(file, d)
	if err != nil {
		return platformImage{}, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{
		Layer:   layer,
		History: v1.History{CreatedBy: "tools/image", Created: v1.Time{Time: d.created}},
	})
	if err != nil {
		return platformImage{}, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return platformImage{}, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = platform.OS, platform.Architecture, platform.Variant
	config.Created = v1.Time{Time: d.created}
	config.Config = v1.Config{
		User:       user,
		Entrypoint: []string{"/" + folder + "/" + d.title},
		Env:        []string{"PATH=/" + folder},
		WorkingDir: "/",
		Labels:     d.labels(),
	}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return platformImage{}, err
	}
	return platformImage{Image: image, platform: *platform}, nil
}

// programLayer is a layer with the program and the folders that it is in.
func programLayer(file string, d description) (v1.Layer, error) {
	program, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	for i := range len(folder) + 1 {
		if i < len(folder) && folder[i] != '/' {
			continue
		}
		header := &tar.Header{Typeflag: tar.TypeDir, Name: folder[:i] + "/", Mode: 0o755, ModTime: d.created}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
	}
	header := &tar.Header{
		Typeflag: tar.TypeReg, Name: folder + "/" + d.title, Size: int64(len(program)), Mode: 0o755, ModTime: d.created,
	}
	if err := w.WriteHeader(header); err != nil {
		return nil, err
	}
	if _, err := w.Write(program); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(layer.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
}
