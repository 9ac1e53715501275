package controller

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudevops.io/appsvc/pkg/apply"
)

// Names of the metrics, beside controller-runtime's own; see docs/operations.md.
const (
	MetricAppliedObjects  = "appsvc_applied_objects_total"
	MetricPrunedObjects   = "appsvc_pruned_objects_total"
	MetricRenderErrors    = "appsvc_render_errors_total"
	MetricAppServices     = "appsvc_appservices"
	MetricDrifted         = "appsvc_drifted_appservices"
	MetricContestedFields = "appsvc_contested_fields"
)

// metrics counts what was done, and knows how each AppService does. The gauges are added
// up when they are asked for, so that an AppService that goes takes its share along.
type metrics struct {
	applied *prometheus.CounterVec
	pruned  prometheus.Counter
	invalid prometheus.Counter

	appServices, drifted, contested *prometheus.Desc

	mu     sync.Mutex
	states map[types.NamespacedName]appState
}

// appState is what the gauges need of one AppService.
type appState struct {
	ready     metav1.ConditionStatus
	drifted   bool
	contested int
}

func newMetrics() *metrics {
	return &metrics{
		applied: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: MetricAppliedObjects, Help: "Objects that were applied, by what that did; unchanged ones cost no request.",
		}, []string{"result"}),
		pruned:  prometheus.NewCounter(prometheus.CounterOpts{Name: MetricPrunedObjects, Help: "Objects that were deleted because they are no longer desired."}),
		invalid: prometheus.NewCounter(prometheus.CounterOpts{Name: MetricRenderErrors, Help: "Reconciles of an AppService that cannot be rendered."}),

		appServices: prometheus.NewDesc(MetricAppServices, "AppServices by their condition Ready.", []string{"ready"}, nil),
		drifted:     prometheus.NewDesc(MetricDrifted, "AppServices of which a child differs and is left so (driftPolicy Warn).", nil, nil),
		contested:   prometheus.NewDesc(MetricContestedFields, "Fields that another field manager keeps changing back.", nil, nil),
		states:      make(map[types.NamespacedName]appState),
	}
}

// observe notes what a reconcile did.
func (m *metrics) observe(name types.NamespacedName, o *outcome) {
	state := appState{ready: o.judge().ready}
	if len(o.invalid) > 0 {
		m.invalid.Inc()
	}
	for i := range o.result.Objects {
		r := &o.result.Objects[i]
		if r.Action == apply.Pruned {
			m.pruned.Inc()
			continue
		}
		m.applied.WithLabelValues(string(r.Action)).Inc()
		switch r.Action {
		case apply.Drifted:
			state.drifted = true
		case apply.Contested:
			state.contested += len(r.Fields) + r.More
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.states[name] = state
}

func (m *metrics) forget(name types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.states, name)
}

// Describe is part of prometheus.Collector.
func (m *metrics) Describe(out chan<- *prometheus.Desc) {
	m.applied.Describe(out)
	m.pruned.Describe(out)
	m.invalid.Describe(out)
	out <- m.appServices
	out <- m.drifted
	out <- m.contested
}

// Collect is part of prometheus.Collector.
func (m *metrics) Collect(out chan<- prometheus.Metric) {
	m.applied.Collect(out)
	m.pruned.Collect(out)
	m.invalid.Collect(out)

	var drifted, contested float64
	byReady := map[metav1.ConditionStatus]float64{metav1.ConditionTrue: 0, metav1.ConditionFalse: 0, metav1.ConditionUnknown: 0}
	m.mu.Lock()
	for _, s := range m.states {
		byReady[s.ready]++
		contested += float64(s.contested)
		if s.drifted {
			drifted++
		}
	}
	m.mu.Unlock()
	for status, label := range map[metav1.ConditionStatus]string{
		metav1.ConditionTrue: "true", metav1.ConditionFalse: "false", metav1.ConditionUnknown: "unknown",
	} {
		out <- prometheus.MustNewConstMetric(m.appServices, prometheus.GaugeValue, byReady[status], label)
	}
	out <- prometheus.MustNewConstMetric(m.drifted, prometheus.GaugeValue, drifted)
	out <- prometheus.MustNewConstMetric(m.contested, prometheus.GaugeValue, contested)
}
