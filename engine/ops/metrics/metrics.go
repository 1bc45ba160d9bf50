// Package metrics is what the server tells Prometheus: statements, refusals, releases, budgets, the
// ledger, connections and the Go runtime.
//
// Names of accounts of the server are never labels, nor are statements: labels are words of the
// product, and the names of protected tables and entities. How many series there are is bounded,
// whatever clients send.
//
// [Metrics] is told about every statement ([watch.Observer]). Durations are rounded up to the end
// of their bucket before they are counted or summed, so that two readings around one statement tell
// its bucket and nothing finer. Budgets, ledger and connections are read when Prometheus asks, at
// most once in [stale]. What is told of budgets follows from public facts alone, as the charges do.
package metrics

import (
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"scrim/engine/observe/watch"
	"scrim/internal/panics"
)

// commitBuckets are finer: a commit's time depends on the disk and on no row.
var commitBuckets = []float64{0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5}

// Metrics counts statements and offers everything to Prometheus. It is safe for concurrent use.
type Metrics struct {
	registry   *prometheus.Registry
	statements *prometheus.CounterVec
	refusals   *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	releases   *prometheus.CounterVec
	logins     *prometheus.CounterVec
	attempts   *prometheus.CounterVec
	delayed    prometheus.Counter
	commits    prometheus.Histogram
	causes     words
}

var _ watch.Observer = (*Metrics)(nil)

// New returns metrics in a registry of their own.
func New(s Sources) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		statements: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "scrim_statements_total", Help: "Statements that ended, by whether they read protected tables and by how they ended.",
		}, []string{"kind", "outcome"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "scrim_refusals_total", Help: "Refused statements, by the code of the refusal in dp.errors or the rule.",
		}, []string{"cause"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "scrim_statement_seconds", Help: "How long statements took. Each is counted and summed as the end of its bucket.", Buckets: decades(),
		}, []string{"kind"}),
		releases: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "scrim_releases_total", Help: "Releases of answered statements: charged to budgets, or replays of stored answers at no cost.",
		}, []string{"how"}),
		logins: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "scrim_dashboard_logins_total", Help: "Attempts to log in to the dashboard, by result.",
		}, []string{"result"}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "scrim_logins_total", Help: "Attempts to log in by the MySQL protocol: accepted, refused, or limited, which is refused without a look because too many were refused before.",
		}, []string{"result"}),
		delayed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "scrim_logins_delayed_total", Help: "Attempts to log in by the MySQL protocol that were made to wait before the password was looked at.",
		}),
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "scrim_ledger_commit_seconds", Help: "How long charges waited until their records were on disk.", Buckets: commitBuckets,
		}),
		causes: words{limit: 128},
	}
	defects := prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "scrim_recovered_panics_total", Help: "Statements and connections that ended with a panic: defects of the server, whose stacks are in its log.",
	}, func() float64 { return float64(panics.Total()) })
	m.registry.MustRegister(m.statements, m.refusals, m.seconds, m.releases, m.logins, m.attempts, m.delayed, m.commits, defects, &state{s: s},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.begin()
	return m
}

// begin makes the series that are known beforehand, so that the first event is an increase and not
// a new series.
func (m *Metrics) begin() {
	for _, kind := range []string{"private", "other"} {
		for _, o := range []watch.Outcome{watch.Answered, watch.Refused, watch.Failed, watch.TimedOut, watch.Cancelled} {
			m.statements.WithLabelValues(kind, string(o))
		}
		m.seconds.WithLabelValues(kind)
	}
	for _, how := range []string{"charged", "replayed"} {
		m.releases.WithLabelValues(how)
	}
	for _, result := range []string{"accepted", "refused", "limited"} {
		m.logins.WithLabelValues(result)
		m.attempts.WithLabelValues(result)
	}
}

// Statement implements watch.Observer.
func (m *Metrics) Statement(e watch.Event) {
	kind := "other"
	if e.Private {
		kind = "private"
	}
	m.statements.WithLabelValues(kind, string(e.Outcome)).Inc()
	m.seconds.WithLabelValues(kind).Observe(coarse(e.Duration))
	if e.Outcome == watch.Refused {
		m.refusals.WithLabelValues(m.causes.known(e.Cause)).Inc()
	}
	m.releases.WithLabelValues("charged").Add(float64(max(0, e.Charged)))
	m.releases.WithLabelValues("replayed").Add(float64(max(0, e.Replayed)))
}

// Login counts an attempt to log in to the dashboard: accepted, refused or limited.
func (m *Metrics) Login(result string) { m.logins.WithLabelValues(result).Inc() }

// Attempt counts an attempt to log in by the MySQL protocol: accepted, refused or limited, and
// whether it was made to wait.
func (m *Metrics) Attempt(result string, delayed bool) {
	m.attempts.WithLabelValues(result).Inc()
	if delayed {
		m.delayed.Inc()
	}
}

// Committed counts a charge that waited so long until its record was on disk.
func (m *Metrics) Committed(d time.Duration) { m.commits.Observe(d.Seconds()) }

// Handler answers Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// decades are the upper ends, in seconds, of the buckets of durations. See the package
// documentation.
func decades() (out []float64) {
	for _, d := range watch.Decades {
		out = append(out, d.Seconds())
	}
	return out
}

// coarse rounds a duration up to the end of its decade, in seconds.
func coarse(d time.Duration) float64 {
	_, to := watch.Decade(d)
	return to.Seconds()
}

// words bounds the values of a label: the first limit different ones are kept, the others become
// "other".
type words struct {
	limit int
	mu    sync.Mutex
	seen  map[string]bool
}

func (w *words) known(s string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case s == "":
		return "unknown"
	case w.seen[s]:
		return s
	case len(w.seen) >= w.limit:
		return "other"
	}
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[s] = true
	return s
}
