package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kudevops.io/appsvc/pkg/render"
)

const parametersLong = `Parameters announces, as a JSON list, what an Application of Argo CD may say in
spec.source.plugin.parameters. Argo CD shows them in its user interface; build reads
them.`

func newParameters(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "parameters",
		Short: "Print the parameters that build takes from Argo CD",
		Long:  parametersLong,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			enc := json.NewEncoder(s.out)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			return enc.Encode(parameters())
		},
	}
}

// Environment variables that Argo CD sets for a plugin
// (docs/user-guide/build-environment.md and
// docs/operator-manual/config-management-plugins.md of argo-cd).
const (
	variableParameters  = "ARGOCD_APP_PARAMETERS"
	variableAppName     = "ARGOCD_APP_NAME"
	variableKubeVersion = "KUBE_VERSION"
	variableAPIVersions = "KUBE_API_VERSIONS"
)

// Parameters have the names of the flags that they stand for.
const (
	parameterNamespace   = "namespace"
	parameterKubeVersion = "kube-version"
	parameterAPIVersions = "api-versions"
)

// announcement is a parameter as Argo CD wants it announced (ParameterAnnouncement in
// reposerver/repository/repository.proto of argo-cd).
type announcement struct {
	Name           string `json:"name"`
	Title          string `json:"title"`
	Tooltip        string `json:"tooltip"`
	CollectionType string `json:"collectionType"` // string or array
}

func parameters() []announcement {
	return []announcement{
		{
			parameterNamespace, "Namespace",
			"namespace of objects that name none; without it Argo CD takes the destination's",
			"string",
		},
		{
			parameterKubeVersion, "Kubernetes version",
			"refuse what this version does not serve, such as 1.34; without it that of the destination, and empty for any",
			"string",
		},
		{
			parameterAPIVersions, "API versions",
			"refuse what is not among these, such as apps/v1 or apps/v1/Deployment; without it those of the destination, and empty for all",
			"array",
		},
	}
}

// takeEnvironment fills in what Argo CD says by environment variables and no flag
// says. That a flag was given, changed tells.
//
// KUBE_VERSION is a name that anybody may use for anything: it counts only where
// Argo CD names the Application too.
func (o *buildOptions) takeEnvironment(changed func(flag string) bool, getenv func(string) string) error {
	var values []parameterValue
	if getenv(variableAppName) != "" {
		values = clusterValues(getenv)
	}
	given, err := parseParameters(getenv(variableParameters))
	if err != nil {
		return fmt.Errorf("%s: %w", variableParameters, err)
	}
	values = append(values, given...)
	for i, v := range values {
		overridden := slices.ContainsFunc(values[i+1:], func(later parameterValue) bool { return later.name == v.name })
		if overridden || changed(v.name) {
			continue
		}
		if err := o.take(v); err != nil {
			return fmt.Errorf("%s: %w", v.source, err)
		}
	}
	return nil
}

// parameterValue is a value of a parameter, with where it comes from.
type parameterValue struct {
	name, source string
	text         string
	list         []string
}

// clusterValues are what Argo CD says of the destination.
func clusterValues(getenv func(string) string) []parameterValue {
	var values []parameterValue
	if text := getenv(variableKubeVersion); text != "" {
		values = append(values, parameterValue{name: parameterKubeVersion, source: variableKubeVersion, text: text})
	}
	if text := getenv(variableAPIVersions); text != "" {
		values = append(values, parameterValue{name: parameterAPIVersions, source: variableAPIVersions, list: strings.Split(text, ",")})
	}
	return values
}

func (o *buildOptions) take(v parameterValue) error {
	var err error
	switch v.name {
	case parameterNamespace:
		o.namespace = v.text
		err = checkNamespace(v.text)
	case parameterKubeVersion:
		o.target.kubeVersion = v.text
		_, err = render.NewTarget(v.text, nil)
	case parameterAPIVersions:
		o.target.apiVersions = v.list
		_, err = render.NewTarget("", v.list)
	}
	return err
}

// givenParameter is a parameter as an Application gives it, in one of three forms. A
// list that is empty arrives as null: between the parts of Argo CD it has no other
// way to be there and empty (ApplicationSourcePluginParameter in
// pkg/apis/application/v1alpha1/types.go of argo-cd).
type givenParameter struct {
	Name   string          `json:"name"`
	String json.RawMessage `json:"string"`
	Array  json.RawMessage `json:"array"`
	Map    json.RawMessage `json:"map"`
}

// parseParameters reads a JSON list of parameters. An Application that gives none
// says null or nothing.
func parseParameters(text string) ([]parameterValue, error) {
	if text == "" {
		return nil, nil
	}
	var given []givenParameter
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		return nil, fmt.Errorf("is no JSON list of parameters: %w", err)
	}
	values := make([]parameterValue, 0, len(given))
	for _, g := range given {
		if slices.ContainsFunc(values, func(v parameterValue) bool { return v.name == g.Name }) {
			return nil, fmt.Errorf("parameter %q is there twice", g.Name)
		}
		v, err := g.value()
		if err != nil {
			return nil, fmt.Errorf("parameter %q: %w", g.Name, err)
		}
		values = append(values, v)
	}
	return values, nil
}

func (g givenParameter) value() (parameterValue, error) {
	known := parameters()
	i := slices.IndexFunc(known, func(a announcement) bool { return a.Name == g.Name })
	if i < 0 {
		names := make([]string, len(known))
		for i, a := range known {
			names[i] = a.Name
		}
		return parameterValue{}, fmt.Errorf("there is none of this name, only %s", strings.Join(names, ", "))
	}
	v := parameterValue{name: g.Name, source: fmt.Sprintf("%s: parameter %q", variableParameters, g.Name)}
	want, form, into := known[i].CollectionType, g.String, any(&v.text)
	if want == "array" {
		form, into = g.Array, &v.list
	}
	if form == nil {
		return v, fmt.Errorf("has no %s, which is its form", want)
	}
	if err := json.Unmarshal(form, into); err != nil {
		return v, fmt.Errorf("is no %s: %w", want, err)
	}
	return v, nil
}
