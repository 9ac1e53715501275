package controller

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"kudevops.io/appsvc/pkg/apply"
)

// Options are the flags of appsvc-controller.
type Options struct {
	MetricsAddress string
	MetricsSecure  bool
	ProbeAddress   string
	PprofAddress   string

	LeaderElect             bool
	LeaderElectionNamespace string

	// Namespaces are the only ones that are watched; none means all.
	Namespaces []string
	// Selector makes this the controller of those AppServices only that it selects. Each
	// selector has a lease of its own.
	Selector string

	Concurrency     int
	MaxBackoff      time.Duration
	MigrateManagers []string

	LogFormat string
	LogLevel  string

	selector labels.Selector
}

// AddFlags gives each option its flag and its default.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.MetricsAddress, "metrics-bind-address", ":8443", "where metrics are served; 0 serves none")
	flags.BoolVar(&o.MetricsSecure, "metrics-secure", true, "serve metrics by HTTPS, to those only whom the API server allows to GET /metrics")
	flags.StringVar(&o.ProbeAddress, "health-probe-bind-address", ":8081", "where /healthz and /readyz are served; 0 serves none")
	flags.StringVar(&o.PprofAddress, "pprof-bind-address", "", "where profiles are served, such as 127.0.0.1:6060; empty serves none")
	flags.BoolVar(&o.LeaderElect, "leader-elect", false, "let one of several replicas work, and the others stand by with warm caches")
	flags.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "", "where the lease is; in a cluster, the pod's namespace is the default")
	flags.StringSliceVar(&o.Namespaces, "namespaces", nil, "watch these namespaces only; empty means all")
	flags.StringVar(&o.Selector, "selector", "", "handle only AppServices with these labels, such as shard=a")
	flags.IntVar(&o.Concurrency, "concurrency", 4, "how many AppServices are handled at once")
	flags.DurationVar(&o.MaxBackoff, "max-backoff", 5*time.Minute, "the longest time between two attempts at what keeps failing")
	flags.StringSliceVar(&o.MigrateManagers, "migrate-field-managers", apply.DefaultMigrateManagers(), "field managers, by exact name, whose fields are made ours at the first contact with an object")
	flags.StringVar(&o.LogFormat, "log-format", "json", "json or text")
	flags.StringVar(&o.LogLevel, "log-level", "info", "info or debug")
}

// complete checks the options, and gives every fault.
func (o *Options) complete() error {
	var errs []error
	if o.Concurrency < 1 {
		errs = append(errs, fmt.Errorf("--concurrency: %d is less than 1", o.Concurrency))
	}
	if o.MaxBackoff < time.Second {
		errs = append(errs, fmt.Errorf("--max-backoff: %s is less than a second", o.MaxBackoff))
	}
	if o.LogFormat != "json" && o.LogFormat != "text" {
		errs = append(errs, fmt.Errorf("--log-format: %q is neither json nor text", o.LogFormat))
	}
	if o.LogLevel != "info" && o.LogLevel != "debug" {
		errs = append(errs, fmt.Errorf("--log-level: %q is neither info nor debug", o.LogLevel))
	}
	if o.Selector != "" {
		selector, err := labels.Parse(o.Selector)
		if err != nil {
			errs = append(errs, fmt.Errorf("--selector: %w", err))
		}
		o.selector = selector
	}
	for _, namespace := range o.Namespaces {
		if strings.TrimSpace(namespace) == "" {
			errs = append(errs, errors.New("--namespaces: holds an empty name"))
		}
	}
	return errors.Join(errs...)
}

// leaseName is that of the shard: two shards with one lease would take turns.
func (o *Options) leaseName() string {
	const name = "appsvc-controller.apps.kudevops.io"
	if o.selector == nil {
		return name
	}
	sum := fnv.New32a()
	requirements, _ := o.selector.Requirements()
	for _, r := range requirements {
		operator := r.Operator()
		if operator == selection.DoubleEquals {
			operator = selection.Equals // another spelling
		}
		fmt.Fprintf(sum, "%s %s %q\n", r.Key(), operator, r.Values().List())
	}
	return fmt.Sprintf("appsvc-controller-%08x.apps.kudevops.io", sum.Sum32())
}

// logger writes to out, in the chosen format.
func (o *Options) logger(out io.Writer) logr.Logger {
	level := slog.LevelInfo
	if o.LogLevel == "debug" {
		level = slog.LevelDebug
	}
	handler := slog.Handler(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: level}))
	if o.LogFormat == "text" {
		handler = slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})
	}
	return logr.FromSlogHandler(handler)
}
