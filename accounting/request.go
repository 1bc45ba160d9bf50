package accounting

import (
	"strings"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/internal/invalid"
	"scrim/accounting/privacy"
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
	Loss    privacy.Loss
	Events  []privacy.Event // what Loss is the sum of, in the order of the mechanisms
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

// check refuses a request that no account could book.
func (r *Request) check() error {
	if err := budget.CheckName("principal", r.Principal); err != nil {
		return err
	}
	if r.Principal == budget.All || r.Principal == budget.Default {
		return invalid.New("principal %q names a budget, not an account", r.Principal)
	}
	if strings.HasPrefix(r.Principal, budget.RolePrefix) {
		return invalid.New("principal %q names a role, not an account", r.Principal)
	}
	for _, role := range r.Roles {
		if err := budget.CheckName("role", budget.RolePrefix+role); err != nil || role == "" {
			return invalid.New("role %q is not a name", role)
		}
	}
	if len(r.Charges) == 0 {
		return invalid.New("no charges")
	}
	for _, c := range r.Charges {
		if err := budget.CheckName("account", c.Account); err != nil {
			return err
		}
		if err := c.Loss.Check(); err != nil {
			return err
		}
		for _, e := range c.Events {
			if err := e.Check(); err != nil {
				return err
			}
		}
	}
	return nil
}
