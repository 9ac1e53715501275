package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"kudevops.io/appsvc/test/controlplane/internal/gocmd"
)

// CRDs are CustomResourceDefinitions that go together.
type CRDs string

// The CRDs that a cluster can be given. Those of others are read out of the
// modules that manifests/go.mod names, each in the version there.
const (
	// AppServiceCRDs are this project's, from config/crd.
	AppServiceCRDs CRDs = "AppService"
	// GatewayAPICRDs are the standard channel of the Gateway API.
	GatewayAPICRDs CRDs = "Gateway API"
	// ServiceMonitorCRDs are the Prometheus operator's ServiceMonitor.
	ServiceMonitorCRDs CRDs = "ServiceMonitor"
)

const (
	modulePath       = "kudevops.io/appsvc/test/controlplane"
	gatewayModule    = "sigs.k8s.io/gateway-api"
	prometheusModule = "github.com/prometheus-operator/prometheus-operator"
)

// Files are the files of the CRDs. Modules that are not in the module cache are
// fetched.
func (crds CRDs) Files(ctx context.Context) ([]string, error) {
	pattern, err := crds.pattern(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the CRDs of %s: %w", crds, err)
	}
	files, err := filepath.Glob(pattern)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("find the CRDs of %s: no file is called %s", crds, pattern)
	}
	return files, err
}

func (crds CRDs) pattern(ctx context.Context) (string, error) {
	gocmd, err := gocmd.New(ctx, os.Environ())
	if err != nil {
		return "", err
	}
	dir, err := gocmd.SourceDir(ctx, modulePath)
	if err != nil {
		return "", err
	}
	manifests := filepath.Join(dir, "manifests")
	switch crds {
	case AppServiceCRDs:
		return filepath.Join(dir, "..", "..", "config", "crd", "bases", "*.yaml"), nil
	case GatewayAPICRDs:
		dir, err := gocmd.Download(ctx, manifests, gatewayModule)
		return filepath.Join(dir, "config", "crd", "standard", "gateway.networking.k8s.io_*s.yaml"), err
	case ServiceMonitorCRDs:
		dir, err := gocmd.Download(ctx, manifests, prometheusModule)
		return filepath.Join(dir, "example", "prometheus-operator-crd", "*_servicemonitors.yaml"), err
	}
	return "", fmt.Errorf("nothing is known of CRDs called %q", string(crds))
}

// InstallCRDs applies CRDs and waits until the API server serves them.
func (c *Cluster) InstallCRDs(ctx context.Context, sets ...CRDs) error {
	var names []string
	for _, crds := range sets {
		files, err := crds.Files(ctx)
		if err != nil {
			return err
		}
		for _, file := range files {
			objects, err := readCRDs(file)
			if err != nil {
				return err
			}
			for _, object := range objects {
				if err := c.Apply(ctx, object); err != nil {
					return err
				}
				names = append(names, object.GetName())
			}
		}
	}
	for _, name := range names {
		if err := c.waitEstablished(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// readCRDs reads the CRDs of a file; the Gateway API's folder has an admission
// policy too.
func readCRDs(path string) ([]*unstructured.Unstructured, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	objects, err := ReadObjects(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var crds []*unstructured.Unstructured
	for _, object := range objects {
		if crd := object.(*unstructured.Unstructured); crd.GetKind() == "CustomResourceDefinition" {
			crds = append(crds, crd)
		}
	}
	return crds, nil
}

// waitEstablished waits until the API server serves a CRD.
func (c *Cluster) waitEstablished(ctx context.Context, name string) error {
	crds := c.dynamic.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		crd, err := crds.Get(ctx, name, metav1.GetOptions{})
		return err == nil && established(crd), err
	})
	if err != nil {
		return fmt.Errorf("wait for CustomResourceDefinition %s: %w", name, err)
	}
	return nil
}

func established(crd *unstructured.Unstructured) bool {
	conditions, _, err := unstructured.NestedSlice(crd.Object, "status", "conditions")
	if err != nil {
		return false
	}
	for _, condition := range conditions {
		if c, ok := condition.(map[string]any); ok && c["type"] == "Established" && c["status"] == "True" {
			return true
		}
	}
	return false
}
