package accounting

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
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
	Principal string // who paid, who asked, who is noted, or who set the budget

	// Charges and replays; a replay has no mechanisms, charges and roles:
	Statement, Digest, Mechanisms string
	Roles                         []string
	Charges                       []EntryCharge
	Outcome                       Outcome
	ReplayOf                      uint64   // replays: the entry of the charge that paid; 0: not known
	Tables                        []string // replays: the accounts

	// Notes:
	NoteKind, Text string

	// Budgets set, removed or reset; a removal and a reset have account, entity, principal and reason only:
	Budget Budget
}

// EntryCharge is one account's part of a charge.
type EntryCharge struct {
	Charge
	Left []Left // of every budget that capped it
}

// Own is the Scope of a Left for the principal's own budget, or the default one where there is none.
const Own = "own"

// Left is what a charge left of one budget.
type Left struct {
	Scope   string  // All, RolePrefix and a role's name, or Own
	Epsilon Epsilon // in ε at the budget's δ; NaN for a budget in ρ
	Rho     Rho     // of a budget in ρ
}

// RemainingAll returns what the charge left of the budget of all principals, in ε at its δ; NaN where there is none, or one in ρ.
func (c *EntryCharge) RemainingAll() Epsilon { return c.remaining(All) }

// RemainingOwn returns the same of the principal's own or default budget.
func (c *EntryCharge) RemainingOwn() Epsilon { return c.remaining(Own) }

func (c *EntryCharge) remaining(scope string) Epsilon {
	for _, l := range c.Left {
		if l.Scope == scope {
			return l.Epsilon
		}
	}
	return Epsilon(math.NaN())
}

// Filter chooses entries. Zero fields choose all.
type Filter struct {
	Principal string
	Account   string // charged, read by a replay, or of the budget
	Table     string // schema.table, as charged
	Digest    string
	Kinds     []EntryKind
	Outcomes  []Outcome // of charges: other kinds have none
	Since     time.Time // only entries at or after it
	Until     time.Time // only entries before it

	AfterID, BeforeID uint64 // only entries with greater, smaller IDs
	Descending        bool   // the last first
	Limit             int    // at most so many, the first that match in the order asked for
}

// readChunk is how many records one read transaction visits. A writer may have to wait for readers
// when the file grows, so none is kept open for long.
const readChunk = 4096

// Entries returns the entries that f chooses, in the order in which they were written or the reverse. Outcomes are part of their
// charge's entry.
func (l *Ledger) Entries(ctx context.Context, f Filter) ([]Entry, error) {
	if f.Limit < 0 {
		return nil, invalid("limit: want at least 0, have %d", f.Limit)
	}
	if f.Descending {
		limit := f.Limit
		f.Descending, f.Limit = false, 0
		list, err := l.Entries(ctx, f)
		slices.Reverse(list)
		if limit > 0 && len(list) > limit {
			list = list[:limit]
		}
		return list, err
	}
	if f.Limit == 0 {
		f.Limit = math.MaxInt
	}
	var list []Entry
	for next, more := f.AfterID+1, f.AfterID != math.MaxUint64; more; {
		if err := cmp.Or(l.Err(), ctx.Err()); err != nil {
			return nil, err
		}
		more = false
		err := guard(func() error {
			return l.db.View(func(tx *bolt.Tx) error {
				c := tx.Bucket(recordsBucket).Cursor()
				visited := 0
				for k, v := c.Seek(binary.BigEndian.AppendUint64(nil, next)); k != nil && len(list) < f.Limit; k, v = c.Next() {
					if len(k) != 8 || len(v) < len(sum{}) {
						return fmt.Errorf("%w: %s: record after %d", ErrDamaged, l.path, next)
					}
					id := binary.BigEndian.Uint64(k)
					if visited++; visited > readChunk {
						next, more = id, true
						return nil
					}
					r, err := decodeRecord(v[len(sum{}):])
					if err != nil {
						return fmt.Errorf("%w: %s: record %d: %v", ErrDamaged, l.path, id, err)
					}
					if f.BeforeID > 0 && id >= f.BeforeID {
						return nil
					}
					if e, ok := r.entry(id); ok && l.match(&f, &e) {
						list = append(list, e)
					}
				}
				return nil
			})
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// match completes an entry with its outcome and tests it.
func (l *Ledger) match(f *Filter, e *Entry) bool {
	if e.Kind == ChargeEntry {
		l.mu.Lock()
		e.Outcome = l.state.outcomes[e.ID]
		l.mu.Unlock()
	}
	return f.match(e)
}

func (f *Filter) match(e *Entry) bool {
	switch {
	case f.Principal != "" && f.Principal != e.Principal,
		f.Digest != "" && f.Digest != e.Digest,
		len(f.Kinds) > 0 && !slices.Contains(f.Kinds, e.Kind),
		len(f.Outcomes) > 0 && (e.Kind != ChargeEntry || !slices.Contains(f.Outcomes, e.Outcome)),
		!f.Since.IsZero() && e.At.Before(f.Since),
		!f.Until.IsZero() && !e.At.Before(f.Until),
		f.Table != "" && !slices.ContainsFunc(e.Charges, func(c EntryCharge) bool { return c.Table == f.Table }):
		return false
	}
	return f.Account == "" || f.Account == e.Budget.Account || slices.Contains(e.Tables, f.Account) ||
		slices.ContainsFunc(e.Charges, func(c EntryCharge) bool { return c.Account == f.Account })
}

// entry returns what a record shows; false for an outcome, which is shown with its charge.
func (r *record) entry(id uint64) (Entry, bool) {
	e := Entry{ID: id, At: r.at, Principal: r.principal}
	switch r.kind {
	case chargeRecord:
		e.Kind = ChargeEntry
		e.Statement, e.Digest, e.Mechanisms, e.Roles = r.statement, r.digest, r.mechanisms, r.roles
		for _, c := range r.charges {
			e.Charges = append(e.Charges, EntryCharge{Charge{c.account, c.entity, c.table, c.loss.loss(), c.events}, c.left})
		}
	case replayRecord:
		e.Kind, e.Statement, e.Digest, e.ReplayOf, e.Tables = ReplayEntry, r.statement, r.digest, r.charge, r.tables
	case noteRecord:
		e.Kind, e.NoteKind, e.Text = NoteEntry, r.noteKind, r.text
	case setBudgetRecord:
		e.Kind, e.Budget = SetBudgetEntry, r.budget
	case removeBudgetRecord:
		e.Kind, e.Budget = RemoveBudgetEntry, r.budget
	case resetBudgetRecord:
		e.Kind, e.Budget = ResetBudgetEntry, r.budget
	default:
		return Entry{}, false
	}
	return e, true
}
