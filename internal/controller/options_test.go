package controller

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func parsed(t *testing.T, args ...string) Options {
	t.Helper()
	var opts Options
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	opts.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return opts
}

// TestDefaultsAreComplete: the flags' defaults are options that can be run with.
func TestDefaultsAreComplete(t *testing.T) {
	t.Parallel()
	opts := parsed(t)
	if err := opts.complete(); err != nil {
		t.Error(err)
	}
	if opts.PprofAddress != "" || !opts.MetricsSecure || opts.Concurrency < 4 || opts.MaxBackoff > 15*time.Minute {
		t.Errorf("%+v", opts)
	}
}

// TestOptionsThatMakeNoSense: each fault is named by its flag, all at once.
func TestOptionsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	opts := parsed(t, "--concurrency=0", "--max-backoff=10ms", "--log-format=xml", "--log-level=loud", "--selector=a in", "--namespaces=shop, ")
	err := opts.complete()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"--concurrency: 0", "--max-backoff: 10ms", `--log-format: "xml"`, `--log-level: "loud"`, "--selector: ", "--namespaces: "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

// TestLeaseOfAShard: each selector has its own, however it is written; none has the one
// that has always been.
func TestLeaseOfAShard(t *testing.T) {
	t.Parallel()
	lease := func(args ...string) string {
		opts := parsed(t, args...)
		if err := opts.complete(); err != nil {
			t.Fatal(err)
		}
		return opts.leaseName()
	}
	if got := lease(); got != "appsvc-controller.apps.kudevops.io" {
		t.Errorf("without a selector: %s", got)
	}
	a, b := lease("--selector=shard=a"), lease("--selector=shard=b")
	if a == b || a == lease() {
		t.Errorf("%s and %s", a, b)
	}
	if again := lease("--selector=shard==a"); again != a {
		t.Errorf("the same selector has %s and %s", a, again)
	}
}

// TestReconcilesThatGoWrong: a panic is an error and no end, and a reconcile that hangs
// ends some time.
func TestReconcilesThatGoWrong(t *testing.T) {
	t.Parallel()
	opts := parsed(t)
	options := controllerOptions(&opts, reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("a reconcile may take for ever")
		}
		panic("a bug")
	}))
	ctl, err := controller.NewUnmanaged("test-"+t.Name(), options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ctl.Reconcile(t.Context(), reconcile.Request{}); err == nil || !strings.Contains(err.Error(), "a bug") {
		t.Errorf("%v", err)
	}
	for range 30 {
		if wait := options.RateLimiter.When(reconcile.Request{}); wait > opts.MaxBackoff {
			t.Errorf("the next attempt is %s away", wait)
		}
	}
}
