package controller_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/pkg/apply"
	"kudevops.io/appsvc/test/controlplane"
	"kudevops.io/appsvc/test/controlplane/binaries"
	"kudevops.io/appsvc/test/controlplane/internal/shipped"
)

// TestFaultyNetwork: a fifth of all requests fails in one of five ways while AppServices
// are created, edited and deleted. All is as it should be in the end, and nothing was
// given up meanwhile.
func TestFaultyNetwork(t *testing.T) {
	t.Parallel()
	cluster := bareCluster(t)
	k := kubectl{t: t, cluster: cluster, namespace: cluster.Namespace(t)}
	foreign := k.foreign()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	proxy, err := cluster.FaultProxy(seed)
	if err != nil {
		t.Fatal(err)
	}
	m := ends(t, proxy.Config(bare.access), "--namespaces="+k.namespace, "--max-backoff=5s")
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	// It has started before anything fails: a program that cannot reach the API server at
	// its start ends, and is started again by the kubelet.
	k.apply(appServiceOf("first", "replicas: 0"))
	k.ready()
	if err := proxy.Set(
		controlplane.Fault{Percent: 4, Status: 409},
		controlplane.Fault{Percent: 4, Status: 429},
		controlplane.Fault{Percent: 4, Status: 500},
		controlplane.Fault{Percent: 4, Cut: controlplane.CutRequest},
		controlplane.Fault{Percent: 4, Cut: controlplane.CutReply},
	); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	var editing sync.WaitGroup
	editing.Go(func() { k.churn(ctx, rand.New(rand.NewPCG(seed, 1)), 50) })
	editing.Wait()
	// The faults go on.
	k.converges()
	for i, n := range proxy.Hits() {
		if n == 0 {
			t.Errorf("fault %d has hit nothing", i+1)
		}
	}
	if !m.Running() {
		t.Error("the controller has ended")
	}
	if d := foreign.changed(); d != "" {
		t.Errorf("objects of others were touched: %s", d)
	}
}

// TestClusterWithLimits goes through what stops a whole cluster, one after the other.
func TestClusterWithLimits(t *testing.T) {
	t.Parallel()
	limits := patient()
	// Room for five Services beside the API server's own.
	limits[binaries.APIServer] = []string{"--service-cluster-ip-range=10.96.0.0/29"}
	cluster := controlplane.StartForTest(t, controlplane.Options{CRDs: []controlplane.CRDs{controlplane.AppServiceCRDs}, ExtraArgs: limits})
	access, err := shipped.Install(t.Context(), cluster)
	if err != nil {
		t.Fatal(err)
	}
	m := ends(t, access)
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name string
		run  func(kubectl)
	}{
		{"a kind that is not served", kubectl.kindIsInstalledLater},
		{"the API server is restarted", kubectl.apiServerRestarts},
		{"no address is left for a Service", kubectl.addressesRunOut},
	} {
		t.Run(step.name, func(t *testing.T) {
			step.run(kubectl{t: t, cluster: cluster, namespace: cluster.Namespace(t)})
		})
	}
}

// kindIsInstalledLater: the cluster knows no HTTPRoute. All else is applied, the missing
// kind is named, and looked for slowly. When it is there, it is used.
func (k kubectl) kindIsInstalledLater() {
	k.apply(appServiceOf("web", "replicas: 0, ports: [{port: 80}], route: {parentRefs: [{name: gateway}]}"))
	app := k.reaches("web", metav1.ConditionFalse, v1alpha1.ReasonKindNotServed)
	says(k.t, condition(app, v1alpha1.ConditionReady).Message, "HTTPRoute", "gateway.networking.k8s.io/v1")
	k.shows("80", "service", "web", "{.spec.ports[0].port}")
	k.settled()
	all := k.requests()
	time.Sleep(2 * time.Second)
	if more := k.requests().Since(all); more.Total() > 0 {
		k.t.Errorf("requests meanwhile:\n%s", more)
	}
	if err := k.cluster.InstallCRDs(k.t.Context(), controlplane.GatewayAPICRDs); err != nil {
		k.t.Fatal(err)
	}
	k.run("annotate", "appservice", "web", v1alpha1.ReconcileAnnotation+"=now")
	k.reaches("web", metav1.ConditionTrue, v1alpha1.ReasonScaledToZero)
	// It is watched from then on.
	uid := k.run("get", "httproute", "web", "-o", "jsonpath={.metadata.uid}")
	k.run("delete", "httproute", "web")
	eventually(k.t, func(context.Context) error {
		now, err := k.try("get", "httproute", "web", "-o", "jsonpath={.metadata.uid}")
		if err == nil && now == uid {
			err = fmt.Errorf("it is the old one")
		}
		return err
	})
	k.apply(appServiceOf("web", "replicas: 0"))
	eventually(k.t, func(context.Context) error { return wants(k.run("get", "httproutes,services", "-o", "name"), "") })
}

// requests are those of the controller in the namespace, reads too.
func (k kubectl) requests() controlplane.Requests {
	k.t.Helper()
	requests, err := k.cluster.Requests(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	return requests.By(user).In(k.namespace)
}

// apiServerRestarts: what was changed while nobody could see it is handled afterwards.
func (k kubectl) apiServerRestarts() {
	server := k.cluster.Process(binaries.APIServer)
	for i := range 10 {
		k.apply(appServiceOf(fmt.Sprint("web-", i), "replicas: 1, files: {/etc/a: b}"))
	}
	restart := func() {
		k.t.Helper()
		// Killed, since it waits a minute for its watches when it is asked to end.
		if err := server.Kill(); err != nil {
			k.t.Fatal(err)
		}
		if err := server.Start(k.t.Context()); err != nil {
			k.t.Fatal(err)
		}
	}
	restart() // in the middle of the work
	k.converges()
	k.settled()
	writes := k.writes()
	restart()
	k.run("delete", "deployment", "web-3")
	k.run("patch", "appservice", "web-4", "--type=merge", "-p", `{"spec": {"image": "nginx:2"}}`)
	k.shows("nginx:2", "deployment", "web-4", "{.spec.template.spec.containers[0].image}")
	k.shows("1", "deployment", "web-3", "{.status.readyReplicas}")
	k.converges()
	k.settled()
	touched := k.writes().Since(writes).Where(func(r controlplane.Request) bool { return r.Resource == "deployments.apps" })
	if touched.Total() != 2 {
		k.t.Errorf("%d writes of Deployments, want the two that were needed:\n%s", touched.Total(), touched)
	}
	k.run("delete", "appservices", "--all")
}

// addressesRunOut: the API server has no address for another Service. That is said, the
// attempts become rare, and when there is one again it is used.
func (k kubectl) addressesRunOut() {
	const apps = 8
	for i := range apps {
		k.apply(appServiceOf(fmt.Sprint("web-", i), "replicas: 0, ports: [{port: 80}]"))
	}
	start := time.Now()
	var full []string
	eventually(k.t, func(context.Context) error {
		full = nil
		ready := 0
		for i := range apps {
			app := k.app(fmt.Sprint("web-", i))
			switch c := condition(app, v1alpha1.ConditionReady); {
			case c.Status == metav1.ConditionTrue:
				ready++
			case c.Reason == string(apply.ReasonUnavailable) || c.Reason == string(apply.ReasonInvalid):
				says(k.t, c.Message, "Service", app.Name)
				if !strings.Contains(c.Message, "range is full") {
					return fmt.Errorf("%s: %s: %s", app.Name, c.Reason, c.Message)
				}
				full = append(full, app.Name)
			}
		}
		if len(full) == 0 || ready == 0 || ready+len(full) != apps {
			return fmt.Errorf("%d are Ready and %d have no address", ready, len(full))
		}
		return nil
	})
	time.Sleep(5 * time.Second)
	// Ten attempts in a minute, beginning at a tenth of a second and doubling.
	refused := k.writes().Where(func(r controlplane.Request) bool { return r.Resource == "services" && r.Code >= 400 })
	if most := 10 * len(full) * (1 + int(time.Since(start)/time.Minute)); refused.Total() > most {
		k.t.Errorf("%d attempts, want at most %d:\n%s", refused.Total(), most, refused)
	}
	for i := range apps {
		name := fmt.Sprint("web-", i)
		if condition(k.app(name), v1alpha1.ConditionReady).Status == metav1.ConditionTrue {
			k.run("patch", "appservice", name, "--type=merge", "-p", `{"spec": {"ports": null}}`)
		}
	}
	for _, name := range full {
		k.run("annotate", "appservice", name, v1alpha1.ReconcileAnnotation+"=now")
	}
	k.ready()
}
