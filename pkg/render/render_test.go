package render_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/render"
)

// app is a valid AppService that a test changes.
func app(change func(*v1alpha1.AppService)) *v1alpha1.AppService {
	a := &v1alpha1.AppService{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       v1alpha1.AppServiceSpec{Image: "nginx:1.29"},
	}
	if change != nil {
		change(a)
	}
	return a
}

func port(number int32, change func(*v1alpha1.ServicePort)) v1alpha1.ServicePort {
	p := v1alpha1.ServicePort{Port: number}
	if change != nil {
		change(&p)
	}
	return p
}

func named(name string) func(*v1alpha1.ServicePort) {
	return func(p *v1alpha1.ServicePort) { p.Name = name }
}

func target(v intstr.IntOrString) *intstr.IntOrString { return &v }

// TestFaults: both sides of each rule. Nothing wanted means: accepted.
func TestFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*v1alpha1.AppService)
		want   []string
	}{
		"plain":            {nil, nil},
		"no name":          {func(a *v1alpha1.AppService) { a.Name = "" }, []string{"metadata.name: Required value: the children have this name"}},
		"name of 63":       {func(a *v1alpha1.AppService) { a.Name = strings.Repeat("a", 63) }, nil},
		"name of 64":       {func(a *v1alpha1.AppService) { a.Name = strings.Repeat("a", 64) }, []string{"metadata.name: Invalid value"}},
		"leading digit":    {func(a *v1alpha1.AppService) { a.Name = "1web" }, []string{"metadata.name: Invalid value"}},
		"dots":             {func(a *v1alpha1.AppService) { a.Name = "web.v1" }, []string{"metadata.name: Invalid value"}},
		"bad namespace":    {func(a *v1alpha1.AppService) { a.Namespace = "a.b" }, []string{"metadata.namespace: Invalid value"}},
		"bad label":        {func(a *v1alpha1.AppService) { a.Labels = map[string]string{"a b": "c"} }, []string{"metadata.labels[a b]: Invalid value"}},
		"bad annotation":   {func(a *v1alpha1.AppService) { a.Annotations = map[string]string{"a b": "c"} }, []string{"metadata.annotations[a b]: Invalid value"}},
		"no image":         {func(a *v1alpha1.AppService) { a.Spec.Image = "" }, []string{"spec.image: Required value"}},
		"space in image":   {func(a *v1alpha1.AppService) { a.Spec.Image = "nginx :1" }, []string{"spec.image: Invalid value"}},
		"no replicas":      {func(a *v1alpha1.AppService) { a.Spec.Replicas = new(int32) }, nil},
		"minus a replica":  {func(a *v1alpha1.AppService) { n := int32(-1); a.Spec.Replicas = &n }, []string{"spec.replicas: Invalid value: -1"}},
		"profile v1":       {func(a *v1alpha1.AppService) { a.Spec.Profile = v1alpha1.ProfileV1 }, nil},
		"profile v2":       {func(a *v1alpha1.AppService) { a.Spec.Profile = "v2" }, []string{`spec.profile: Unsupported value: "v2": supported values: "v1"`}},
		"drift policy":     {func(a *v1alpha1.AppService) { a.Spec.DriftPolicy = "Ignore" }, []string{"spec.driftPolicy: Unsupported value"}},
		"pull policy":      {func(a *v1alpha1.AppService) { a.Spec.ImagePullPolicy = "always" }, []string{"spec.imagePullPolicy: Unsupported value"}},
		"container name":   {func(a *v1alpha1.AppService) { a.Spec.ContainerName = "a_b" }, []string{"spec.containerName: Invalid value"}},
		"empty selector":   {func(a *v1alpha1.AppService) { a.Spec.Selector = map[string]string{} }, []string{"spec.selector: Invalid value"}},
		"own selector":     {func(a *v1alpha1.AppService) { a.Spec.Selector = map[string]string{"app": "web"} }, nil},
		"pod label":        {func(a *v1alpha1.AppService) { a.Spec.PodLabels = map[string]string{"team": "a"} }, nil},
		"engine's label":   {func(a *v1alpha1.AppService) { a.Spec.PodLabels = map[string]string{v1alpha1.NameLabel: "other"} }, []string{"spec.podLabels[app.kubernetes.io/name]: Forbidden"}},
		"selector's label": {func(a *v1alpha1.AppService) { a.Spec.PodLabels = map[string]string{v1alpha1.SelectorLabel: "other"} }, []string{"spec.podLabels[apps.kudevops.io/appservice]: Forbidden"}},
		"engine's label, selected by": {func(a *v1alpha1.AppService) {
			a.Spec.Selector = map[string]string{v1alpha1.NameLabel: "other"}
			a.Spec.PodLabels = map[string]string{v1alpha1.NameLabel: "other"}
		}, nil},
		"two secrets of one name": {func(a *v1alpha1.AppService) {
			a.Spec.ImagePullSecrets = []v1alpha1.ImagePullSecret{{Name: "a"}, {Name: "a"}, {}}
		}, []string{"spec.imagePullSecrets[1].name: Duplicate value", "spec.imagePullSecrets[2].name: Required value"}},

		"a port":     {func(a *v1alpha1.AppService) { a.Spec.Ports = []v1alpha1.ServicePort{port(80, nil)} }, nil},
		"port 0":     {func(a *v1alpha1.AppService) { a.Spec.Ports = []v1alpha1.ServicePort{port(0, nil)} }, []string{"spec.ports[0].port: Invalid value: 0"}},
		"port 65536": {func(a *v1alpha1.AppService) { a.Spec.Ports = []v1alpha1.ServicePort{port(65536, nil)} }, []string{"spec.ports[0].port: Invalid value: 65536"}},
		"two nameless ports": {func(a *v1alpha1.AppService) {
			a.Spec.Ports = []v1alpha1.ServicePort{port(80, named("a")), port(81, nil)}
		}, []string{"spec.ports[1].name: Required value"}},
		"two ports of a name": {func(a *v1alpha1.AppService) {
			a.Spec.Ports = []v1alpha1.ServicePort{port(80, named("a")), port(81, named("a"))}
		}, []string{"spec.ports[1].name: Duplicate value"}},
		"a port twice": {func(a *v1alpha1.AppService) {
			a.Spec.Ports = []v1alpha1.ServicePort{port(80, named("a")), port(80, named("b"))}
		}, []string{`spec.ports[1]: Duplicate value: "80/TCP"`}},
		"port name of 63": {func(a *v1alpha1.AppService) {
			a.Spec.Ports = []v1alpha1.ServicePort{port(80, named(strings.Repeat("a", 63)))}
		}, nil},
		"port name of 64": {func(a *v1alpha1.AppService) {
			a.Spec.Ports = []v1alpha1.ServicePort{port(80, named(strings.Repeat("a", 64)))}
		}, []string{"spec.ports[0].name: Invalid value"}},
		"one number, two protocols": {func(a *v1alpha1.AppService) {
			a.Spec.Ports = []v1alpha1.ServicePort{port(53, named("tcp")), port(53, func(p *v1alpha1.ServicePort) { p.Name, p.Protocol = "udp", corev1.ProtocolUDP })}
		}, nil},
		"unknown protocol": {func(a *v1alpha1.AppService) {
			a.Spec.Ports = []v1alpha1.ServicePort{port(80, func(p *v1alpha1.ServicePort) { p.Protocol = "HTTP" })}
		}, []string{"spec.ports[0].protocol: Unsupported value"}},
		"101 ports": {func(a *v1alpha1.AppService) {
			for i := range int32(101) {
				a.Spec.Ports = append(a.Spec.Ports, port(i+1, named("p"+strings.Repeat("x", int(i%60))+string('a'+rune(i/60)))))
			}
		}, []string{"spec.ports: Too many: 101"}},
		"node port, ClusterIP": {func(a *v1alpha1.AppService) {
			a.Spec.Service = &v1alpha1.ServiceSpec{Type: corev1.ServiceTypeClusterIP}
			a.Spec.Ports = []v1alpha1.ServicePort{port(80, func(p *v1alpha1.ServicePort) { p.NodePort = 30080 })}
		}, []string{"spec.ports[0].nodePort: Forbidden"}},
		"node port, LoadBalancer": {func(a *v1alpha1.AppService) {
			a.Spec.Service = &v1alpha1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}
			a.Spec.Ports = []v1alpha1.ServicePort{port(80, func(p *v1alpha1.ServicePort) { p.NodePort = 30080 })}
		}, nil},
		"a node port twice": {func(a *v1alpha1.AppService) {
			at := func(name string) func(*v1alpha1.ServicePort) {
				return func(p *v1alpha1.ServicePort) { p.Name, p.NodePort = name, 30080 }
			}
			a.Spec.Ports = []v1alpha1.ServicePort{port(80, at("a")), port(81, at("b"))}
		}, []string{"spec.ports[1].nodePort: Duplicate value"}},
		"ExternalName": {func(a *v1alpha1.AppService) {
			a.Spec.Service = &v1alpha1.ServiceSpec{Type: corev1.ServiceTypeExternalName}
		}, []string{"spec.service.type: Unsupported value"}},
		"unknown target name": {func(a *v1alpha1.AppService) {
			a.Spec.Ports = []v1alpha1.ServicePort{port(80, func(p *v1alpha1.ServicePort) { p.TargetPort = target(intstr.FromString("web")) })}
		}, []string{"spec.ports[0].targetPort: Invalid value"}},
		"target names itself": {func(a *v1alpha1.AppService) {
			a.Spec.Ports = []v1alpha1.ServicePort{port(80, func(p *v1alpha1.ServicePort) { p.Name, p.TargetPort = "web", target(intstr.FromString("web")) })}
		}, nil},
		"target names itself, too long": {func(a *v1alpha1.AppService) {
			long := strings.Repeat("w", 16)
			a.Spec.Ports = []v1alpha1.ServicePort{port(80, func(p *v1alpha1.ServicePort) { p.Name, p.TargetPort = long, target(intstr.FromString(long)) })}
		}, []string{"spec.ports[0].targetPort: Invalid value"}},
		"target of another protocol": {func(a *v1alpha1.AppService) {
			a.Spec.ContainerPorts = []corev1.ContainerPort{{Name: "dns", ContainerPort: 53, Protocol: corev1.ProtocolUDP}}
			a.Spec.Ports = []v1alpha1.ServicePort{port(53, func(p *v1alpha1.ServicePort) { p.TargetPort = target(intstr.FromString("dns")) })}
		}, []string{"spec.ports[0].targetPort: Invalid value"}},
		"target 70000": {func(a *v1alpha1.AppService) {
			a.Spec.Ports = []v1alpha1.ServicePort{port(80, func(p *v1alpha1.ServicePort) { p.TargetPort = target(intstr.FromInt32(70000)) })}
		}, []string{"spec.ports[0].targetPort: Invalid value: 70000"}},
		"container port twice": {func(a *v1alpha1.AppService) {
			a.Spec.ContainerPorts = []corev1.ContainerPort{{ContainerPort: 80}, {ContainerPort: 80, Protocol: corev1.ProtocolTCP}}
		}, []string{`spec.containerPorts[1]: Duplicate value: "80/TCP"`}},
		"container port name": {func(a *v1alpha1.AppService) {
			a.Spec.ContainerPorts = []corev1.ContainerPort{{Name: strings.Repeat("a", 16), ContainerPort: 80}}
		}, []string{"spec.containerPorts[0].name: Invalid value"}},

		"env twice":        {func(a *v1alpha1.AppService) { a.Spec.Env = []corev1.EnvVar{{Name: "A"}, {Name: "A"}} }, []string{`spec.env[1].name: Duplicate value: "A"`}},
		"env with =":       {func(a *v1alpha1.AppService) { a.Spec.Env = []corev1.EnvVar{{Name: "A=B"}} }, []string{"spec.env[0].name: Invalid value"}},
		"env without name": {func(a *v1alpha1.AppService) { a.Spec.Env = []corev1.EnvVar{{}} }, []string{"spec.env[0].name: Required value"}},
		"env without source": {func(a *v1alpha1.AppService) {
			a.Spec.Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{}}}
		}, []string{"spec.env[0].valueFrom: Required value"}},
		"env with two": {func(a *v1alpha1.AppService) {
			a.Spec.Env = []corev1.EnvVar{{Name: "A", Value: "x", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}}
		}, []string{"spec.env[0].valueFrom: Forbidden"}},
		"env key missing": {func(a *v1alpha1.AppService) {
			a.Spec.Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}}}}
		}, []string{"spec.env[0].valueFrom.secretKeyRef.key: Required value"}},
		"envFrom nothing":     {func(a *v1alpha1.AppService) { a.Spec.EnvFrom = []corev1.EnvFromSource{{}} }, []string{"spec.envFrom[0]: Required value"}},
		"request above limit": {func(a *v1alpha1.AppService) { a.Spec.Resources = amounts("2", "1") }, []string{"spec.resources.requests[cpu]: Invalid value"}},
		"request at limit":    {func(a *v1alpha1.AppService) { a.Spec.Resources = amounts("1000m", "1") }, nil},
		"negative amount":     {func(a *v1alpha1.AppService) { a.Spec.Resources = amounts("-1", "1") }, []string{"spec.resources.requests[cpu]: Invalid value"}},
		"unknown resource": {func(a *v1alpha1.AppService) {
			a.Spec.Resources.Limits = corev1.ResourceList{"gpu": resource.MustParse("1")}
		}, []string{"spec.resources.limits[gpu]: Invalid value"}},
		"extended resource": {func(a *v1alpha1.AppService) {
			a.Spec.Resources.Limits = corev1.ResourceList{"example.com/gpu": resource.MustParse("1")}
		}, nil},
		"half an extended resource": {func(a *v1alpha1.AppService) {
			a.Spec.Resources.Limits = corev1.ResourceList{"example.com/gpu": resource.MustParse("500m")}
		}, []string{"spec.resources.limits[example.com/gpu]: Invalid value"}},
		"extended resource, request alone": {func(a *v1alpha1.AppService) {
			a.Spec.Resources.Requests = corev1.ResourceList{"example.com/gpu": resource.MustParse("1")}
		}, []string{"spec.resources.limits[example.com/gpu]: Required value"}},
		"all at once, in order": {func(a *v1alpha1.AppService) {
			a.Spec.Image = ""
			for range 11 {
				a.Spec.Env = append(a.Spec.Env, corev1.EnvVar{})
			}
		}, []string{
			"spec.env[0].name", "spec.env[1].name", "spec.env[2].name", "spec.env[3].name", "spec.env[4].name", "spec.env[5].name",
			"spec.env[6].name", "spec.env[7].name", "spec.env[8].name", "spec.env[9].name", "spec.env[10].name", "spec.image",
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, errs := render.Render(app(tc.change), render.Options{})
			if (len(result.Objects) > 0) != (len(errs) == 0) {
				t.Errorf("objects exactly when there is no fault: got %d objects, %d faults", len(result.Objects), len(errs))
			}
			again, _ := render.Validate(app(tc.change), render.Options{})
			if !reflect.DeepEqual(errs, again) && len(errs)+len(again) > 0 {
				t.Errorf("Validate says %v, Render %v", again, errs)
			}
			if len(errs) != len(tc.want) {
				t.Fatalf("got %v, want %d faults", errs, len(tc.want))
			}
			for i, want := range tc.want {
				if got := errs[i].Error(); !strings.HasPrefix(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
}

func amounts(request, limit string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request)},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit)},
	}
}

// TestLimits: what is counted, at its limit and one above; the limits are those of
// the CRD.
func TestLimits(t *testing.T) {
	t.Parallel()
	names := func(n int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("h%d.example", i)
		}
		return list
	}
	withPort := func(change func(*v1alpha1.AppServiceSpec, int)) func(*v1alpha1.AppServiceSpec, int) {
		return func(s *v1alpha1.AppServiceSpec, n int) {
			s.Ports = []v1alpha1.ServicePort{{Port: 80}}
			s.Route = &v1alpha1.RouteSpec{ParentRefs: []v1alpha1.RouteParent{{Name: "a"}}}
			s.Ingress = &v1alpha1.IngressSpec{}
			change(s, n)
		}
	}
	match := func(s *v1alpha1.AppServiceSpec) *v1alpha1.RouteRule {
		s.Route.Rules = []v1alpha1.RouteRule{{Matches: []v1alpha1.RouteMatch{{}}}}
		return &s.Route.Rules[0]
	}
	for field, tc := range map[string]struct {
		limit  int
		change func(*v1alpha1.AppServiceSpec, int)
	}{
		"spec.ports": {100, func(s *v1alpha1.AppServiceSpec, n int) {
			for i := range n {
				s.Ports = append(s.Ports, v1alpha1.ServicePort{Name: fmt.Sprintf("p%d", i), Port: int32(i + 1)})
			}
		}},
		"spec.files": {200, func(s *v1alpha1.AppServiceSpec, n int) {
			s.Files = make(map[string]string)
			for i := range n {
				s.Files[fmt.Sprintf("/f%d", i)] = ""
			}
		}},
		"spec.patches": {50, func(s *v1alpha1.AppServiceSpec, n int) {
			s.Patches = slices.Repeat([]v1alpha1.Patch{{Target: v1alpha1.PatchTarget{Kind: "Deployment"}, Patch: "spec: {paused: true}"}}, n)
		}},
		"spec.ingress.hosts": {50, withPort(func(s *v1alpha1.AppServiceSpec, n int) { s.Ingress.Hosts = names(n) })},
		"spec.ingress.paths": {50, withPort(func(s *v1alpha1.AppServiceSpec, n int) { s.Ingress.Paths = make([]v1alpha1.IngressPath, n) })},
		"spec.route.parentRefs": {32, withPort(func(s *v1alpha1.AppServiceSpec, n int) {
			s.Route.ParentRefs = nil
			for _, name := range names(n) {
				s.Route.ParentRefs = append(s.Route.ParentRefs, v1alpha1.RouteParent{Name: name})
			}
		})},
		"spec.route.hostnames":        {16, withPort(func(s *v1alpha1.AppServiceSpec, n int) { s.Route.Hostnames = names(n) })},
		"spec.route.rules":            {16, withPort(func(s *v1alpha1.AppServiceSpec, n int) { s.Route.Rules = make([]v1alpha1.RouteRule, n) })},
		"spec.route.rules[0].matches": {8, withPort(func(s *v1alpha1.AppServiceSpec, n int) { match(s).Matches = make([]v1alpha1.RouteMatch, n) })},
		"spec.route.rules[0].matches[0].headers": {16, withPort(func(s *v1alpha1.AppServiceSpec, n int) {
			headers := make(map[string]string)
			for i := range n {
				headers[fmt.Sprintf("h%d", i)] = "x"
			}
			match(s).Matches[0].Headers = headers
		})},
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			for n, want := range map[int]string{tc.limit: "", tc.limit + 1: field + ": Too many"} {
				_, errs := render.Render(app(func(a *v1alpha1.AppService) { tc.change(&a.Spec, n) }), render.Options{})
				switch {
				case want == "" && len(errs) > 0:
					t.Errorf("%d: got %v", n, errs)
				case want != "" && (len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), want)):
					t.Errorf("%d: got %v, want %q", n, errs, want)
				}
			}
		})
	}
}

// full uses every field that is rendered.
func full() *v1alpha1.AppService {
	return app(func(a *v1alpha1.AppService) {
		replicas := int32(2)
		h2c := "kubernetes.io/h2c"
		a.Namespace = "shop"
		a.Labels = map[string]string{"team": "a", "helm.sh/chart": "x"}
		a.Annotations = map[string]string{"note": "b"}
		a.Spec.Replicas = &replicas
		a.Spec.PodLabels = map[string]string{"tier": "front"}
		a.Spec.PodAnnotations = map[string]string{"scrape": "true"}
		a.Spec.ImagePullSecrets = []v1alpha1.ImagePullSecret{{Name: "registry"}}
		a.Spec.Command, a.Spec.Args, a.Spec.WorkingDir = []string{"sh"}, []string{"-c", "true"}, "/srv"
		a.Spec.Env = []corev1.EnvVar{
			{Name: "A", Value: "x"},
			{Name: "B", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
			{Name: "C", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}},
		}
		a.Spec.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}}
		a.Spec.Resources = amounts("500m", "1")
		a.Spec.ContainerPorts = []corev1.ContainerPort{{Name: "metrics", ContainerPort: 9090}}
		a.Spec.Ports = []v1alpha1.ServicePort{port(80, func(p *v1alpha1.ServicePort) { p.Name, p.AppProtocol = "http", &h2c })}
		a.Spec.Service = &v1alpha1.ServiceSpec{Labels: map[string]string{"s": "1"}, Annotations: map[string]string{"t": "2"}}
	})
}

// TestRenderIsPure: it changes nothing that it was given, shares nothing with what
// it gives, and gives the same to everybody at once.
func TestRenderIsPure(t *testing.T) {
	t.Parallel()
	input := full()
	before := input.DeepCopy()
	first, errs := render.Render(input, render.Options{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	want, err := json.Marshal(first.Objects)
	if err != nil {
		t.Fatal(err)
	}

	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				result, errs := render.Render(input, render.Options{})
				if len(errs) > 0 {
					t.Error(errs)
					return
				}
				got, err := json.Marshal(result.Objects)
				if err != nil || string(got) != string(want) {
					t.Errorf("%v: got %s", err, got)
					return
				}
				for _, o := range result.Objects {
					scribble(o.Object)
				}
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(before, input); diff != "" {
		t.Errorf("the AppService was changed:\n%s", diff)
	}
}

// scribble overwrites all that can be reached.
func scribble(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, child := range v {
			scribble(child)
			v[k] = "scribbled"
		}
		v["scribbled"] = true
	case []any:
		for i, child := range v {
			scribble(child)
			v[i] = "scribbled"
		}
	}
}

// TestValuesArePlain: diff and apply take nothing but these types.
func TestValuesArePlain(t *testing.T) {
	t.Parallel()
	result, errs := render.Render(full(), render.Options{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, o := range result.Objects {
		demandPlain(t, o.GetKind(), o.Object)
	}
}

func demandPlain(t *testing.T, path string, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			t.Errorf("%s is an empty mapping", path)
		}
		for k, child := range v {
			demandPlain(t, path+"."+k, child)
		}
	case []any:
		if len(v) == 0 {
			t.Errorf("%s is an empty list", path)
		}
		for _, child := range v {
			demandPlain(t, path+"[]", child)
		}
	case string:
		if v == "" {
			t.Errorf("%s is an empty string", path)
		}
	case int64, float64, bool:
	default:
		t.Errorf("%s is a %T", path, v)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	result, errs := render.Render(app(func(a *v1alpha1.AppService) { a.Spec.Service = &v1alpha1.ServiceSpec{} }), render.Options{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	want := []render.Warning{{Field: "spec.service", Message: "has no effect: without ports there is no Service"}}
	if diff := cmp.Diff(want, result.Warnings); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTarget(t *testing.T) {
	t.Parallel()
	withPort := app(func(a *v1alpha1.AppService) { a.Spec.Ports = []v1alpha1.ServicePort{port(80, nil)} })
	tests := map[string]struct {
		version string
		apis    []string
		want    []string
	}{
		"newest":                        {"", nil, nil},
		"old enough":                    {"v1.9.0", nil, nil},
		"provider's version":            {"v1.33.1-eks-1234", nil, nil},
		"groups":                        {"", []string{"v1", "apps/v1"}, nil},
		"kinds":                         {"", []string{"v1/Service", "apps/v1/Deployment"}, nil},
		"groups and kinds":              {"", []string{"apps/v1", "apps/v1/Deployment", "v1", "v1/Service"}, nil},
		"kind missing beside its group": {"", []string{"apps/v1", "apps/v1/StatefulSet", "v1"}, []string{"spec: Forbidden: renders to a Deployment (apps/v1), which the target cluster does not serve: it is not among the 3 API versions given"}},
		"one kind missing":              {"", []string{"v1/Service", "apps/v1/StatefulSet"}, []string{"spec: Forbidden: renders to a Deployment (apps/v1), which the target cluster does not serve: it is not among the 2 API versions given"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, err := render.NewTarget(tc.version, tc.apis)
			if err != nil {
				t.Fatal(err)
			}
			_, errs := render.Render(withPort, render.Options{Target: to})
			var got []string
			for _, e := range errs {
				got = append(got, e.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	if _, err := render.NewTarget("latest", nil); err == nil {
		t.Error("accepted the version \"latest\"")
	}
	for _, api := range []string{"", "apps//v1", "/v1", "apps/v1/", "a/b/c/d", "apps/v1 v1"} {
		if _, err := render.NewTarget("", []string{api}); err == nil {
			t.Errorf("accepted the API version %q", api)
		}
	}
}
