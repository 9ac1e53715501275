package gitops

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOverlaysSelectTheirOwn puts two overlays of the same AppServices, each with a
// prefix of its own, into one namespace, in every form of a kustomize build. Whatever
// selects pods or Services, or names one, means those of its own overlay, and the
// same ones as in what `appsvc-render build` makes of the overlays.
func TestOverlaysSelectTheirOwn(t *testing.T) {
	t.Parallel()
	const overlay = "namespace: shop\nnamePrefix: PREFIX-\n"
	tests := []struct {
		name, reason string
		// files of an overlay, whose folder and prefix stand as PREFIX.
		files string
		// plain are those of the overlay for `build`.
		plain string
		// apart builds the overlays one by one.
		apart bool
		// except are parts of the keys that are not compared.
		except []string
	}{
		{
			name: "component", reason: "the prefix comes after rendering, and names.yaml follows it",
			files: "-- PREFIX/kustomization.yaml --\nresources: [../apps, ../extra]\ncomponents: [../config/kustomize/component]\n" + overlay,
			plain: "-- PREFIX/kustomization.yaml --\nresources: [../apps, ../extra]\n" + overlay,
		},
		{
			name: "generator", reason: "the prefix comes after the generators, and the names of `generated` follow it",
			files: "-- PREFIX/kustomization.yaml --\ngenerators: [appservices]\nresources: [../extra]\ncomponents: [../config/kustomize/generated]\n" + overlay +
				"-- PREFIX/appservices/kustomization.yaml --\nresources: [../../apps]\ncomponents: [../../config/kustomize/generator]\n",
			plain: "-- PREFIX/kustomization.yaml --\nresources: [../apps, ../extra]\n" + overlay,
		},
		{
			name: "generator of prefixed AppServices", reason: "the prefix comes before rendering; kustomize fixes no names within the configurations of generators, so what an AppService says of others is left out here",
			except: []string{".affinity.", ".topologySpreadConstraints[1]", "[0].podSelector"},
			files: "-- PREFIX/kustomization.yaml --\ngenerators: [appservices]\n" +
				"-- PREFIX/appservices/kustomization.yaml --\nresources: [../../apps]\ncomponents: [../../config/kustomize/generator, ../../config/kustomize/appservice]\n" + overlay,
			plain: "-- PREFIX/kustomization.yaml --\nresources: [../apps]\n" + overlay,
		},
		{
			name: "two stages", reason: "the prefix comes in the stage before rendering; what is rendered after it has no prefix that kustomize knows of, so in one build it could not tell which of two AppServices of the same former name is meant",
			apart: true,
			files: "-- PREFIX/kustomization.yaml --\nresources: [stage]\ncomponents: [../config/kustomize/component]\n" +
				"-- PREFIX/stage/kustomization.yaml --\nresources: [../../apps, ../../extra]\ncomponents: [../../config/kustomize/appservice]\n" + overlay,
			plain: "-- PREFIX/kustomization.yaml --\nresources: [../apps, ../extra]\n" + overlay,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			both := func(files string) string {
				return plant(t, everything+strings.ReplaceAll(files, "PREFIX", "blue")+strings.ReplaceAll(files, "PREFIX", "green")+
					"-- both/kustomization.yaml --\nresources: [../blue, ../green]\n")
			}
			dir, stream := both(tt.files), ""
			if tt.apart {
				stream = kustomize(t, filepath.Join(dir, "blue")).ok(t) + "---\n" + kustomize(t, filepath.Join(dir, "green")).ok(t)
			} else {
				stream = kustomize(t, filepath.Join(dir, "both")).ok(t)
			}
			got := selections(objects(t, stream))
			want := selections(objects(t, appsvc(t, filepath.Join(both(tt.plain), "both")).ok(t)))
			if len(want) < 20 {
				t.Fatalf("%d selectors and references, want those of two overlays of everything", len(want))
			}
			for from, targets := range want {
				if strings.HasSuffix(from, "-own Deployment.spec.selector") {
					continue // labels of the user's, in both overlays: nobody's to change
				}
				overlay, _, _ := strings.Cut(from, "-")
				if len(targets) == 0 || slices.ContainsFunc(targets, func(name string) bool { return !strings.HasPrefix(name, overlay+"-") }) {
					t.Errorf("build: %s leads to %q", from, targets)
				}
			}
			for _, m := range []map[string][]string{want, got} {
				maps.DeleteFunc(m, func(from string, _ []string) bool {
					return slices.ContainsFunc(tt.except, func(part string) bool { return strings.Contains(from, part) })
				})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-build +kustomize):\n%s", tt.reason, diff)
			}
		})
	}
}

// selections lists, for everything in a list of objects that selects pods or Services
// or names an object by reference, what it leads to. The keys begin with the name of
// the object that does.
func selections(list []object) map[string][]string {
	s := selector{pods: map[string]map[string]any{}, services: map[string]map[string]any{}, found: map[string][]string{}}
	for _, o := range list {
		switch o.kind() {
		case "Deployment":
			s.pods[o.name()], _ = o.at("spec", "template", "metadata", "labels").(map[string]any)
		case "Service":
			s.services[o.name()], _ = o.at("metadata", "labels").(map[string]any)
		}
	}
	for _, o := range list {
		s.walk(o, o.name()+" "+o.kind(), map[string]any(o))
	}
	return s.found
}

type selector struct {
	pods, services map[string]map[string]any // labels by name
	found          map[string][]string
}

// walk looks for selectors and references below a value.
func (s *selector) walk(o object, path string, value any) {
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			s.walk(o, fmt.Sprintf("%s[%d]", path, i), item)
		}
	case map[string]any:
		for key, item := range value {
			below := path + "." + key
			fields, _ := item.(map[string]any)
			switch key {
			case "selector", "labelSelector", "podSelector":
				among := s.pods
				if o.kind() == "ServiceMonitor" {
					among = s.services
				}
				if labels, ok := fields["matchLabels"].(map[string]any); ok {
					fields = labels
				}
				s.found[below] = selected(fields, among)
			case "scaleTargetRef", "service": // of an HPA, of an Ingress
				if name, ok := fields["name"].(string); ok {
					s.found[below] = []string{name}
				}
			case "backendRefs": // of an HTTPRoute
				for _, ref := range item.([]any) {
					s.found[below] = append(s.found[below], fmt.Sprint(object(ref.(map[string]any))["name"]))
				}
			default:
				s.walk(o, below, item)
			}
		}
	}
}

// selected gives the names of those that have all the labels.
func selected(labels map[string]any, among map[string]map[string]any) []string {
	names := []string{}
	for name, has := range among {
		match := true
		for key, value := range labels {
			match = match && has[key] == value
		}
		if match {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// everything is AppServices with all that selects or names something, and objects of
// the user's that do.
const everything = `
-- apps/kustomization.yaml --
resources: [apps.yaml]
-- apps/apps.yaml --
apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata: {name: web}
spec:
  image: nginx:1.27
  resources: {requests: {cpu: 100m}}
  ports: [{name: http, port: 80}]
  serviceAccount: {create: true}
  files: {/etc/web.conf: hello}
  autoscaling: {minReplicas: 2, maxReplicas: 10, cpu: 80}
  disruptionBudget: {maxUnavailable: 1}
  ingress: {hosts: [shop.example.com]}
  route: {parentRefs: [{name: public, namespace: gateways}]}
  monitoring: {port: http}
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: {matchLabels: {apps.kudevops.io/appservice: web}}
  affinity:
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {apps.kudevops.io/appservice: api}}}
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 1
        podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {apps.kudevops.io/appservice: api}}}
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {apps.kudevops.io/appservice: web}}}
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 1
        podAffinityTerm: {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {apps.kudevops.io/appservice: web}}}
  networkPolicy:
    ingress: [{from: [{podSelector: {matchLabels: {apps.kudevops.io/appservice: api}}}]}]
    egress: [{to: [{podSelector: {matchLabels: {apps.kudevops.io/appservice: api}}}]}]
---
apiVersion: apps.kudevops.io/v1alpha1
kind: AppService
metadata: {name: api}
spec:
  image: nginx:1.27
  replicas: 2
  ports: [{name: http, port: 80}]
  disruptionBudget: {maxUnavailable: 1}
  monitoring: {port: http}
-- extra/kustomization.yaml --
resources: [extra.yaml]
-- extra/extra.yaml --
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: own}
spec:
  defaultBackend: {service: {name: api, port: {number: 80}}}
  rules:
  - http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: own}
spec:
  rules:
  - backendRefs: [{name: web, port: 80}, {name: api, port: 80}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: own}
spec:
  maxReplicas: 3
  scaleTargetRef: {apiVersion: apps.kudevops.io/v1alpha1, kind: AppService, name: api}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: own}
spec:
  podSelector: {matchLabels: {apps.kudevops.io/appservice: api}}
  ingress: [{from: [{podSelector: {matchLabels: {apps.kudevops.io/appservice: web}}}]}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: own}
spec:
  selector: {matchLabels: {apps.kudevops.io/appservice: api}}
---
apiVersion: v1
kind: Service
metadata: {name: own}
spec:
  ports: [{port: 81}]
  selector: {apps.kudevops.io/appservice: api}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: own}
spec:
  endpoints: [{port: http}]
  selector: {matchLabels: {app.kubernetes.io/instance: api}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: own, labels: {app.kubernetes.io/name: own}}
spec:
  selector: {matchLabels: {app.kubernetes.io/name: own, overlay: none}}
  template:
    metadata: {labels: {app.kubernetes.io/name: own, overlay: none}}
    spec:
      containers: [{name: own, image: nginx:1.27}]
      affinity:
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {apps.kudevops.io/appservice: web}}}
`
