// Package watch is what the server tells about itself while it runs: one [Event] for each statement
// that ended, handed to whoever watches. An event holds nothing of rows and no literal of the
// statement. The audit log, the metrics and the dashboard are made of events.
package watch

import (
	"math"
	"slices"
	"time"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// Outcome says how a statement ended.
type Outcome string

// The outcomes.
const (
	Answered  Outcome = "answered"
	Refused   Outcome = "refused" // by a rule, a privilege or a budget: nothing ran
	Failed    Outcome = "failed"
	TimedOut  Outcome = "timeout"
	Cancelled Outcome = "cancelled"
)

// Event is one statement that ended.
type Event struct {
	ID        string // also in the client's error text and in the operators' log
	At        time.Time
	Duration  time.Duration
	Client    uint32 // connection id
	Principal string // user@host
	Database  string
	Statement string // its literals and comments replaced
	Digest    string
	Outcome   Outcome
	Errno     int    // MySQL error number; 0 when answered
	SQLState  string // with Errno
	Cause     string // refuse.Code, or the name of the refusal's rule; "" when answered
	Private   bool   // it read protected tables
	// Of a private statement that was answered: releases that were replays, and releases that were
	// charged.
	Replayed, Charged int
	Tables            []string // protected tables that it touches, schema.table

	// Where the server notes steps:
	Steps   []Step   // in the order in which they began
	Charges []uint64 // the ledger's entries of what was charged
	Parent  string   // the trace that the client says it is part of, as a W3C traceparent; "" without
	Public  bool     // its durations follow from public rows alone
}

// Observer is told about statements. It must not block and is called by many goroutines at once.
type Observer interface{ Statement(Event) }

// Observers hands every event to each of them.
type Observers []Observer

// Statement implements Observer.
func (o Observers) Statement(e Event) {
	e.Tables = slices.Clip(e.Tables)
	for _, x := range o {
		x.Statement(e)
	}
}

// Step is a part of a statement, in offsets from its begin.
type Step struct {
	Name     string // public: it follows from the statement's plan
	From, To time.Duration
	Within   int // index of the step that it is a part of; -1: of the statement
}

// Decades are the upper ends of what is told of durations that follow from rows of persons: a
// decade each, so that a watcher learns no more of a statement than that.
var Decades = [...]time.Duration{10 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second, time.Minute}

// Decade returns the ends of the decade that a duration is in; beyond the last one it is a whole
// minute.
func Decade(d time.Duration) (from, to time.Duration) {
	for _, to := range Decades {
		if d <= to {
			return from, to
		}
		from = to
	}
	from = (d - 1).Truncate(time.Minute)
	return from, from + time.Minute
}

// Unit is what a budget is stated in.
type Unit string

// The units.
const (
	Epsilon Unit = "ε"
	Pure    Unit = "pure ε"
	Rho     Unit = "ρ"
)

// Measure tells losses in the unit of one budget.
type Measure struct {
	Unit  Unit
	Limit float64
	// Delta is the δ at which losses are converted to ε; 0 for the other units.
	Delta privacy.Delta
}

// MeasureOf returns the measure of a budget.
func MeasureOf(b budget.Budget) Measure {
	if b.Rho > 0 {
		return Measure{Unit: Rho, Limit: b.Rho.Float()}
	}
	if b.Delta == 0 {
		return Measure{Unit: Pure, Limit: float64(b.Epsilon)}
	}
	return Measure{Unit: Epsilon, Limit: float64(b.Epsilon), Delta: b.Delta}
}

// Of returns a loss in the unit of the measure, rounded up; +Inf where it has none.
func (m Measure) Of(l privacy.Loss) float64 {
	if m.Unit == Rho {
		return l.Rho.Float()
	}
	return float64(privacy.EpsilonOf(l, m.Delta))
}

// Spent returns what is spent of a budget in the unit of the measure: in ε the least that one of
// several conversions proves.
func (m Measure) Spent(b *accounting.BudgetStatus) float64 {
	amount := m.Of(b.Spent)
	if m.Unit == Epsilon && b.SpentEpsilon > 0 {
		amount = math.Min(amount, float64(b.SpentEpsilon))
	}
	return amount
}

// Share returns the part of the limit that an amount is, within [0, 1].
func (m Measure) Share(amount float64) float64 {
	if !(m.Limit > 0) {
		return 1
	}
	return math.Min(1, math.Max(0, amount/m.Limit))
}
