// Package watch is what the server tells about itself while it runs: one [Event] for each statement
// that ended, handed to whoever watches. An event holds nothing of rows and no literal of the
// statement. The audit log, the metrics and the dashboard are made of events.
package watch

import (
	"slices"
	"time"
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
