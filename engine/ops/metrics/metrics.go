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
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"scrim/accounting"
	"scrim/accounting/budget"
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

// Sources are what is read when Prometheus asks. All are required.
type Sources struct {
	Version string
	// Status is where the budgets stand.
	Status func() (accounting.Status, error)
	// Names gives the names that the tables of an account have now; an account without one is shown
	// as itself.
	Names func() map[string][]string
	// Ledger tells of the ledger's file.
	Ledger func() Ledger
	// Audit reports whether the audit log can be written, and how many records it lacks.
	Audit func() (up bool, missing uint64)
	// Connections is the number of open connections, MaxConnections their limit.
	Connections, MaxConnections func() int
	// Ready is nil while the server answers private statements.
	Ready func() error
	Now   func() time.Time
}

// Ledger is the state of the ledger's file.
type Ledger struct {
	Up      bool
	Records uint64
	Bytes   int64
	// records that the start took from a checkpoint and that were not verified yet
	Unverified uint64
	Damaged    bool
	Checkpoint uint64 // records that the newest checkpoint covers
}

// stale is how old what is told of budgets may be: reading them costs some 50 µs a budget, and who
// may read /metrics may read often.
const stale = 2 * time.Second

// maxBudgets bounds the series of budgets. The first in the order of dp.budgets are told.
const maxBudgets = 1000

// state collects what is read on demand.
type state struct {
	s Sources

	mu     sync.Mutex
	at     time.Time
	status accounting.Status
	err    error
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	info           = describe("scrim_info", "1, with the version of the server.", "version")
	ready          = describe("scrim_ready", "1 while private statements can be answered, as /readyz.")
	connections    = describe("scrim_connections", "Open MySQL connections.")
	maxConnections = describe("scrim_connections_max", "Limit of open MySQL connections.")

	ledgerUp      = describe("scrim_ledger_up", "1 while the ledger writes; 0 after a failed write, until the server is started again.")
	ledgerRecords = describe("scrim_ledger_records", "Records in the ledger.")
	ledgerBytes   = describe("scrim_ledger_bytes", "Size of the ledger's file.")

	ledgerUnverified = describe("scrim_ledger_unverified_records", "Records that the start took from a checkpoint and that are not verified yet.")
	ledgerDamaged    = describe("scrim_ledger_damaged", "1 after damage was found in the ledger while the server runs: nothing private is answered any more.")
	ledgerCheckpoint = describe("scrim_ledger_checkpoint_records", "Records that the newest checkpoint covers; a start reads those behind it.")

	auditUp      = describe("scrim_audit_up", "1 while the audit log can be written, or is off.")
	auditMissing = describe("scrim_audit_missing_total", "Records that the audit log lacks because it could not be written.")

	limitEpsilon     = describe("scrim_budget_limit_epsilon", "Limit of the budget of all principals together, as epsilon; absent where it is stated in rho.", "scope", "name")
	spentEpsilon     = describe("scrim_budget_spent_epsilon", "Spent of it in its window, as epsilon at its delta.", "scope", "name")
	remainingEpsilon = describe("scrim_budget_remaining_epsilon", "What remains of it, as epsilon; absent where it is stated in rho.", "scope", "name")
	spentRho         = describe("scrim_budget_spent_rho", "Spent of it in its window, as rho.", "scope", "name")
	remainingRho     = describe("scrim_budget_remaining_rho", "What remains of it, as rho.", "scope", "name")
	usedRatio        = describe("scrim_budget_used_ratio", "Share of it that is spent, from 0 to 1.", "scope", "name")
	windowEnd        = describe("scrim_budget_window_end_seconds", "When its window ends, in seconds since 1970; +Inf for never.", "scope", "name")
	entityBound      = describe("scrim_entity_bound_epsilon", "What may be spent on one person of the entity in a window, over all its tables.", "entity")
	entitySpent      = describe("scrim_entity_spent_rho", "Everything ever spent on one person of the entity, over all its tables, as rho.", "entity")
)

// Describe implements prometheus.Collector.
func (c *state) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		info, ready, connections, maxConnections, ledgerUp, ledgerRecords, ledgerBytes,
		ledgerUnverified, ledgerDamaged, ledgerCheckpoint, auditUp, auditMissing,
		limitEpsilon, spentEpsilon, remainingEpsilon, spentRho, remainingRho, usedRatio, windowEnd, entityBound, entitySpent,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *state) Collect(ch chan<- prometheus.Metric) {
	tell := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	tell(info, 1, c.s.Version)
	tell(ready, one(c.s.Ready() == nil))
	tell(connections, float64(c.s.Connections()))
	tell(maxConnections, float64(c.s.MaxConnections()))
	l := c.s.Ledger()
	tell(ledgerUp, one(l.Up))
	tell(ledgerRecords, float64(l.Records))
	tell(ledgerBytes, float64(l.Bytes))
	tell(ledgerUnverified, float64(l.Unverified))
	tell(ledgerDamaged, one(l.Damaged))
	tell(ledgerCheckpoint, float64(l.Checkpoint))
	up, missing := c.s.Audit()
	tell(auditUp, one(up))
	ch <- prometheus.MustNewConstMetric(auditMissing, prometheus.CounterValue, float64(missing))
	st, err := c.current()
	if err != nil {
		return // scrim_ledger_up says so
	}
	c.budgets(st, tell)
	for _, e := range st.Entities[:min(len(st.Entities), maxBudgets)] {
		tell(entityBound, float64(e.Epsilon), e.Entity)
		tell(entitySpent, e.Spent.Rho.Float(), e.Entity)
	}
}

// current is the state of the budgets, at most stale old.
func (c *state) current() (accounting.Status, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.s.Now(); c.at.IsZero() || now.Sub(c.at) > stale || now.Before(c.at) {
		c.status, c.err = c.s.Status()
		c.at = now
	}
	return c.status, c.err
}

// budgets tells of the budgets of all principals together, and of no other: those name persons.
func (c *state) budgets(st accounting.Status, tell func(*prometheus.Desc, float64, ...string)) {
	names, n := c.s.Names(), 0
	for i := range st.Budgets {
		b := &st.Budgets[i]
		if b.Principal != budget.All || n == maxBudgets {
			continue
		}
		n++
		scope, name := "table", nameOf(b.Account, names)
		if b.Entity {
			scope, name = "entity", b.Account
		}
		m := watch.MeasureOf(b.Budget)
		if m.Unit != watch.Rho {
			tell(limitEpsilon, m.Limit, scope, name)
			tell(remainingEpsilon, float64(b.Remaining), scope, name)
		}
		tell(spentEpsilon, float64(b.SpentEpsilon), scope, name)
		tell(spentRho, b.Spent.Rho.Float(), scope, name)
		tell(remainingRho, b.RemainingRho.Float(), scope, name)
		tell(usedRatio, m.Share(m.Spent(b)), scope, name)
		tell(windowEnd, end(b.WindowEnd), scope, name)
	}
}

// nameOf shows an account by the tables that have it now. Two accounts never have the same table.
func nameOf(account string, names map[string][]string) string {
	if list := names[account]; len(list) > 0 {
		list = slices.Clone(list)
		slices.Sort(list)
		return strings.Join(list, ", ")
	}
	return account
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// end is the end of a window in seconds since 1970.
func end(t time.Time) float64 {
	if t.IsZero() {
		return math.Inf(1)
	}
	return float64(t.Unix())
}
