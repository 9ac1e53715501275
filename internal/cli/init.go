package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/manifest"
)

func newInit(s streams) *cobra.Command {
	var image string
	cmd := &cobra.Command{
		Use:     "init NAME --image IMAGE",
		Short:   "Print a commented AppService to begin with",
		Example: "  appsvc-render init web --image nginx:1.29 > web.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runInit(cmd.Context(), s, args[0], image)
		},
	}
	cmd.Flags().StringVar(&image, "image", "", "container image (required)")
	_ = cmd.MarkFlagRequired("image") // fails only for a flag that is not there
	return cmd
}

func runInit(ctx context.Context, s streams, name, image string) error {
	if msgs := validation.IsDNS1035Label(name); len(msgs) > 0 {
		return fmt.Errorf("name %q: %s", name, strings.Join(msgs, "; "))
	}
	text := fmt.Sprintf(initTemplate, v1alpha1.APIVersion, v1alpha1.Kind, name, manifest.QuoteYAML(image))

	// What is printed has to be good: build it, and say what is wrong with it.
	check := streams{in: strings.NewReader(text), out: io.Discard, err: s.err}
	if err := runBuild(ctx, check, buildOptions{output: "yaml", kustomize: kustomizeOptions{loadRestrictor: rootOnly}}, []string{"-"}); err != nil {
		return err
	}
	_, err := io.WriteString(s.out, text)
	return err
}

// initTemplate has the version, the kind, the name and the image to be filled in.
const initTemplate = `# yaml-language-server: $schema=.appservice.schema.json
# The line above lets an editor complete and check this file:
#   appsvc-render schema > .appservice.schema.json
# What it becomes:
#   appsvc-render build FILE
apiVersion: %s
kind: %s
metadata:
  name: %s
spec:
  image: %s

  # Leave replicas out when an autoscaler owns the number of pods.
  replicas: 2

  # Each port becomes one of the Service, and of the container. A kustomize
  # strategic merge patch on this list, or on env, replaces it as a whole: give all
  # of it in the patch, or use a JSON 6902 patch.
  ports:
  - name: http
    port: 80
    targetPort: 8080

  # env:
  # - name: LOG_LEVEL
  #   value: info
  # - name: DATABASE_URL
  #   valueFrom:
  #     secretKeyRef: {name: database, key: url}

  # resources:
  #   requests: {cpu: 100m, memory: 128Mi}
  #   limits: {memory: 256Mi}

  # Labels and annotations of this object go to the Deployment and the Service;
  # those of the pods stand here, because a change of one replaces the pods.
  # podLabels: {}
  # podAnnotations: {}
`
