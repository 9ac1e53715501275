// Command demo shows appsvc at work: in a real Kubernetes that it starts, with the
// controller that it builds. `make demo-cluster` runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"kudevops.io/appsvc/test/controlplane"
	"kudevops.io/appsvc/test/controlplane/binaries"
	"kudevops.io/appsvc/test/controlplane/internal/guard"
	"kudevops.io/appsvc/test/controlplane/internal/shipped"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	keep := flag.Bool("keep", false, "leave the cluster running at the end, until Ctrl-C")
	flag.Parse()
	err := run(ctx, *keep, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run starts all there is to show, shows it and ends it.
func run(ctx context.Context, keep bool, stdout, stderr io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "appsvc-demo-")
	if err != nil {
		return err
	}
	group, err := guard.New(dir)
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	defer func() { err = errors.Join(err, group.Close()) }()

	fmt.Fprintln(stderr, "demo: building appsvc-controller and appsvc-render")
	controller, err := shipped.Build(ctx, dir, "appsvc-controller")
	if err != nil {
		return err
	}
	if _, err := shipped.Build(ctx, dir, "appsvc-render"); err != nil {
		return err
	}
	fmt.Fprintln(stderr, "demo: starting Kubernetes")
	cluster, err := controlplane.Start(ctx, controlplane.Options{
		Progress: stderr,
		CRDs:     []controlplane.CRDs{controlplane.AppServiceCRDs, controlplane.GatewayAPICRDs, controlplane.ServiceMonitorCRDs},
		// A busy machine's heartbeats may be late.
		ExtraArgs: map[binaries.Name][]string{binaries.ControllerManager: {"--node-monitor-grace-period=1h"}},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	process, err := installed(ctx, cluster, dir, controller, group)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, process.Stop()) }()

	repository, err := shipped.Repository(ctx)
	if err != nil {
		return err
	}
	// Commands run beside the programs, where files may be written.
	if err := os.Symlink(filepath.Join(repository, "config"), filepath.Join(dir, "config")); err != nil {
		return err
	}
	d := demo{cluster: cluster, dir: dir, out: stdout}
	if err := d.show(ctx); err != nil || !keep {
		return err
	}
	fmt.Fprintf(stdout, "\n# It runs on until Ctrl-C. In another terminal:\nexport KUBECONFIG=%s\n", cluster.Kubeconfig())
	<-ctx.Done()
	return nil
}

// installed starts the controller as `make deploy` would.
func installed(ctx context.Context, cluster *controlplane.Cluster, dir, program string, group *guard.Guard) (*shipped.Controller, error) {
	access, err := shipped.Install(ctx, cluster)
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := controlplane.WriteKubeconfig(access, kubeconfig); err != nil {
		return nil, err
	}
	c := &shipped.Controller{
		Program: program, Attr: group.Attr,
		Args: []string{"--kubeconfig", kubeconfig, "--metrics-bind-address=0", "--health-probe-bind-address=0"},
	}
	return c, c.Start()
}

// demo runs commands as a person would, and shows them.
type demo struct {
	cluster *controlplane.Cluster
	dir     string
	out     io.Writer
}

// step is something that a person does, and what it shows.
type step struct {
	title    string
	commands []string
	// until are what the last command's output has to hold; the command is repeated
	// until then.
	until []string
	// differs says that the last command finds a difference, as exit code 1.
	differs bool
}

// dump is what `appsvc-render diff` reads of a cluster.
const dump = "kubectl get appservices,deployments,services --show-managed-fields -o yaml > live.yaml"

func steps() []step {
	const name, edited = "appservice-sample", "edited.yaml"
	return []step{
		{title: "An AppService: three replicas of nginx, behind a node port", commands: []string{
			"cat config/samples/apps_v1alpha1_appservice.yaml",
			"kubectl apply -k config/samples",
			"kubectl wait --for=condition=Ready appservice/" + name + " --timeout=2m",
			"kubectl get appservices,deployments,services,pods",
		}},
		{title: "A change: what would it do? What is in the cluster stands in live.yaml", commands: []string{
			"sed 's/nginx:latest/nginx:1.29/; s/replicas: 3/replicas: 4/' config/samples/apps_v1alpha1_appservice.yaml > " + edited,
			dump,
			"appsvc-render diff --live-file live.yaml --namespace default " + edited,
		}, differs: true},
		{title: "The change rolls out, and then nothing differs", commands: []string{
			"kubectl apply -f " + edited,
			"kubectl wait --for=jsonpath={.status.updatedReplicas}=4 appservice/" + name + " --timeout=2m",
			"kubectl wait --for=condition=Ready appservice/" + name + " --timeout=2m",
			"kubectl get appservices,deployments,pods -o wide",
			dump,
			"appsvc-render diff --live-file live.yaml --namespace default " + edited,
		}},
		{title: "Somebody changes a child, and deletes another: both are put right", commands: []string{
			"kubectl set image deployment/" + name + " app=httpd",
			"kubectl delete service " + name,
			"kubectl get deployments,services -o custom-columns=KIND:.kind,NAME:.metadata.name,IMAGE:.spec.template.spec.containers[*].image,PORT:.spec.ports[*].nodePort",
		}, until: []string{"nginx:1.29", "30080"}},
		{title: "What was done is told in events", commands: []string{
			"kubectl get events --field-selector involvedObject.kind=AppService -o custom-columns=REASON:.reason,MESSAGE:.message",
		}},
		{title: "kubectl scale works on the AppService", commands: []string{
			"kubectl scale appservice " + name + " --replicas=2",
			"kubectl get deployment " + name,
		}, until: []string{"2/2"}},
		{title: "The AppService goes, and its children with it", commands: []string{
			"kubectl delete appservice " + name,
			"kubectl get appservices,deployments,services,pods -l app.kubernetes.io/instance=" + name,
		}, until: []string{"No resources found"}},
	}
}

// show goes through the steps.
func (d demo) show(ctx context.Context) error {
	for _, s := range steps() {
		fmt.Fprintf(d.out, "\n\033[1m# %s\033[0m\n", s.title)
		for i, command := range s.commands {
			last := i == len(s.commands)-1
			var until []string
			if last {
				until = s.until
			}
			if err := d.run(ctx, command, until, last && s.differs); err != nil {
				return err
			}
		}
	}
	return nil
}

// run runs a command of the shell, again and again until its output holds what is wanted,
// and shows the last attempt.
func (d demo) run(ctx context.Context, command string, until []string, differs bool) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	kubectl := d.cluster.Kubectl(ctx)
	for {
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", `kubectl() { "$KUBECTL" "$@"; }; `+command)
		cmd.Env = append(kubectl.Env, "KUBECTL="+kubectl.Path, "PATH="+d.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		cmd.Dir = d.dir
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		switch {
		case differs && errors.As(err, &exit) && exit.ExitCode() == 1:
			err = nil
		case differs && err == nil:
			err = errors.New("no difference is found")
		}
		missing := slices.IndexFunc(until, func(want string) bool { return !strings.Contains(string(out), want) })
		if err == nil && missing < 0 {
			fmt.Fprintf(d.out, "\n\033[1m$ %s\033[0m\n%s", command, out)
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", command, err, out)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w; it does not say %q:\n%s", command, context.Cause(ctx), until[missing], out)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
