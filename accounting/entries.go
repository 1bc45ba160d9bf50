package accounting

import (
	"math"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// EntryKind says what an Entry tells.
type EntryKind string

// The kinds of entries.
const (
	ChargeEntry       EntryKind = "charge"
	NoteEntry         EntryKind = "note"
	SetBudgetEntry    EntryKind = "set-budget"
	RemoveBudgetEntry EntryKind = "remove-budget"
	ResetBudgetEntry  EntryKind = "reset-budget"
	ReplayEntry       EntryKind = "replay"
)

// Entry is one line of the ledger.
type Entry struct {
	ID        uint64
	Kind      EntryKind
	At        time.Time
	Day       budget.Date // of the ledger, which never goes back
	Principal string      // who paid, who asked, who is noted, or who set the budget

	// Charges and replays; a replay has no mechanisms, charges and roles:
	Statement, Digest, Mechanisms string
	Roles                         []string
	Charges                       []EntryCharge
	Outcome                       record.Outcome
	Remark                        string // of charges: what there is to say of the answer; or ""
	// replays: the entry of the charge that paid; 0: not known
	ReplayOf uint64
	Tables   []string // replays: the accounts

	// Notes:
	NoteKind, Text string

	// Budgets set, removed or reset; a removal and a reset have account, entity, principal and
	// reason only:
	Budget budget.Budget
}

// EntryCharge is one account's part of a charge.
type EntryCharge struct {
	Charge
	Left []record.Left // of every budget that capped it
}

// CountsAfter is the day after which the windows began that a renewal counts in; "" for all.
func (c *EntryCharge) CountsAfter() string {
	if c.Since == 0 {
		return ""
	}
	return c.Since.Time().Format(time.DateOnly)
}

// kindNames are the kinds of entries by the kinds of their records; outcomes and remarks have none.
var kindNames = [...]EntryKind{
	record.Charge: ChargeEntry, record.Note: NoteEntry, record.SetBudget: SetBudgetEntry,
	record.RemoveBudget: RemoveBudgetEntry, record.ResetBudget: ResetBudgetEntry, record.Replay: ReplayEntry,
}

// RemainingAll returns what the charge left of the budget of all principals, in ε at its δ; NaN
// where there is none, or one in ρ.
func (c *EntryCharge) RemainingAll() privacy.Epsilon { return c.remaining(budget.All) }

// RemainingOwn returns the same of the principal's own or default budget.
func (c *EntryCharge) RemainingOwn() privacy.Epsilon { return c.remaining(record.Own) }

func (c *EntryCharge) remaining(scope string) privacy.Epsilon {
	for _, l := range c.Left {
		if l.Scope == scope {
			return l.Epsilon
		}
	}
	return privacy.Epsilon(math.NaN())
}

// Filter chooses entries. Zero fields choose all.
type Filter struct {
	Principal string
	Account   string // charged, read by a replay, or of the budget
	Table     string // schema.table, as charged
	Digest    string
	Kinds     []EntryKind
	Outcomes  []record.Outcome // of charges: other kinds have none
	Since     time.Time        // only entries at or after it
	Until     time.Time        // only entries before it

	AfterID, BeforeID uint64 // only entries with greater, smaller IDs
	Descending        bool   // the last first
	Limit             int    // at most so many, the first that match in the order asked for
}

// entryOf returns what a record shows, which is not an outcome or a remark: those are shown with
// their charge.
func entryOf(id uint64, r *record.Record) Entry {
	e := Entry{
		ID: id, Kind: kindNames[r.Kind], At: r.At, Day: r.Day, Principal: r.Principal, Statement: r.Statement, Digest: r.Digest,
		Mechanisms: r.Mechanisms, NoteKind: r.NoteKind, Text: r.Text, Budget: r.Budget,
	}
	for _, role := range r.Roles {
		e.Roles = append(e.Roles, role[len(budget.RolePrefix):])
	}
	if r.Kind == record.Replay {
		e.ReplayOf, e.Tables = r.Charge, r.Tables
	}
	if len(r.Charges) > 0 {
		e.Charges = make([]EntryCharge, len(r.Charges))
	}
	for i := range r.Charges {
		c := &r.Charges[i]
		e.Charges[i] = EntryCharge{Charge{Account: c.Account, Entity: c.Entity, Table: c.Table, Blocks: c.Blocks, Loss: c.Loss.Loss(), Events: c.Events, Since: c.Since}, c.Left}
	}
	return e
}
