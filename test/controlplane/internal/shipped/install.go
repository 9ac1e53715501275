package shipped

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"

	"kudevops.io/appsvc/test/controlplane"
	"kudevops.io/appsvc/test/controlplane/internal/gocmd"
)

const (
	// Namespace and Account are those of config/default.
	Namespace = "appsvc-system"
	Account   = "appsvc-controller"
	// User is whom the API server takes the controller for.
	User = "system:serviceaccount:" + Namespace + ":" + Account
)

// Repository is the root of this repository.
func Repository(ctx context.Context) (string, error) {
	command, err := gocmd.New(ctx, os.Environ())
	if err != nil {
		return "", err
	}
	dir, err := command.SourceDir(ctx, "kudevops.io/appsvc/test/controlplane")
	return filepath.Join(dir, "..", ".."), err
}

// Build builds a command of this repository into dir, and gives its path.
func Build(ctx context.Context, dir, name string) (string, error) {
	command, err := gocmd.New(ctx, os.Environ())
	if err != nil {
		return "", err
	}
	root, err := Repository(ctx)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	if out, err := command.Command(ctx, root, "build", "-o", path, "./cmd/"+name).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return path, nil
}

// Install installs what the controller needs, as `make deploy` does it, all but what runs
// it, and gives the access of its ServiceAccount.
func Install(ctx context.Context, cluster *controlplane.Cluster) (*rest.Config, error) {
	root, err := Repository(ctx)
	if err != nil {
		return nil, err
	}
	manifests, err := cluster.Kubectl(ctx, "kustomize", filepath.Join(root, "config", "without-crd")).Output()
	if err != nil {
		return nil, fmt.Errorf("build config/without-crd: %w", err)
	}
	objects, err := controlplane.ReadObjects(bytes.NewReader(manifests))
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		switch object.GetObjectKind().GroupVersionKind().Kind {
		case "Deployment", "PodDisruptionBudget", "Service":
			continue
		}
		if err := cluster.Apply(ctx, object); err != nil {
			return nil, err
		}
	}
	return cluster.ServiceAccount(ctx, Namespace, Account)
}
