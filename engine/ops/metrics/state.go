package metrics

import (
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/engine/observe/watch"
)

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
