package cli

import (
	"github.com/spf13/pflag"

	"kudevops.io/appsvc/pkg/render"
)

// targetOptions say which cluster manifests are meant for.
type targetOptions struct {
	kubeVersion string
	apiVersions []string
}

func (o *targetOptions) addTo(f *pflag.FlagSet) {
	f.StringVar(&o.kubeVersion, "kube-version", "", "Kubernetes version of the target cluster, such as 1.34 (default: the newest)")
	f.StringSliceVar(&o.apiVersions, "api-versions", nil, "API versions that the target cluster serves, such as apps/v1 or apps/v1/Deployment (default: all)")
}

func (o *targetOptions) renderOptions() (render.Options, error) {
	if o.kubeVersion == "" && len(o.apiVersions) == 0 {
		return render.Options{}, nil
	}
	target, err := render.NewTarget(o.kubeVersion, o.apiVersions)
	return render.Options{Target: target}, err
}
