package accounting

import (
	"math"
	"strings"
	"time"
)

// Request asks for the charges of one statement: all of them, or none.
type Request struct {
	Principal  string   // who pays: a MySQL account, user@host
	Roles      []string // the roles granted to them, without RolePrefix: what each spends on an account counts for every one
	Statement  string   // without its literals, which can be values of rows; the record keeps its first 16 KiB
	Digest     string   // of Statement
	Mechanisms string   // what runs, for the record
	Charges    []Charge
}

// Charge is a loss on one account.
type Charge struct {
	Account string // a table's account (it outlives renaming), or an entity's name
	Entity  bool   // Account names an entity
	Table   string // schema.table for messages; empty for an entity
	Loss    Loss
	Events  []Event // what Loss is the sum of, in the order of the mechanisms
}

// Receipt says that a charge is durable.
type Receipt struct {
	ID uint64    // of the charge's record
	At time.Time // when it was made
}

// Outcome is how the execution of a charged statement ended. It never changes what is spent.
type Outcome uint8

// The outcomes. Unfinished stands for a charge whose end was not recorded: it is running, or the
// process died.
const (
	Unfinished Outcome = iota
	Answered
	Failed
	TimedOut
	Cancelled
)

// String returns the word that the ledger shows.
func (o Outcome) String() string {
	switch o {
	case Unfinished:
		return "unfinished"
	case Answered:
		return "answered"
	case Failed:
		return "failed"
	case TimedOut:
		return "timeout"
	case Cancelled:
		return "cancelled"
	}
	return "unknown"
}

// maxStatement is how many bytes of a statement a record keeps: enough to recognise a generated
// query, little enough that a flood of long ones does not fill the disk.
const maxStatement = 16 << 10

// check refuses a request that no account could book.
func (r *Request) check() error {
	if err := checkName("principal", r.Principal); err != nil {
		return err
	}
	if r.Principal == All || r.Principal == Default {
		return invalid("principal %q names a budget, not an account", r.Principal)
	}
	if strings.HasPrefix(r.Principal, RolePrefix) {
		return invalid("principal %q names a role, not an account", r.Principal)
	}
	for _, role := range r.Roles {
		if err := checkName("role", RolePrefix+role); err != nil || role == "" {
			return invalid("role %q is not a name", role)
		}
	}
	if len(r.Charges) == 0 {
		return invalid("no charges")
	}
	for _, c := range r.Charges {
		if err := checkName("account", c.Account); err != nil {
			return err
		}
		if err := c.Loss.check(); err != nil {
			return err
		}
		for _, e := range c.Events {
			if err := e.check(); err != nil {
				return err
			}
		}
	}
	return nil
}

// check refuses a loss that is not one, by name.
func (l Loss) check() error {
	if l.Rho > MaxRho {
		return invalid("rho: want at most %v, have %v", MaxRho.Float(), l.Rho.Float())
	}
	if l.Pure > MaxPure {
		return invalid("pure epsilon: want at most %v, have %v", MaxPure.Float(), l.Pure.Float())
	}
	if l.Pure > 0 && l.Rho == 0 {
		return invalid("a loss with pure epsilon %v has no rho", l.Pure.Float())
	}
	if l.Pure > 0 && (l.DeltaEvent != 0 || l.DeltaTV != 0) {
		return invalid("a loss with a pure epsilon has no delta, this one has %v and %v", l.DeltaEvent, l.DeltaTV)
	}
	if d := l.DeltaEvent; math.IsNaN(d) || d < 0 || d > 1 {
		return invalid("event delta: want within [0, 1], have %v", d)
	}
	if d := l.DeltaTV; math.IsNaN(d) || d < 0 || d > 1 {
		return invalid("total-variation delta: want within [0, 1], have %v", d)
	}
	return nil
}
