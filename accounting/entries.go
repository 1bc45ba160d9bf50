package accounting

import (
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
)

// Entry is one line of the ledger.
type Entry struct {
	ID        uint64
	Kind      EntryKind
	At        time.Time
	Principal string // who paid, who is noted, or who set the budget

	// Charges:
	Statement, Digest, Mechanisms string
	Charges                       []EntryCharge
	Outcome                       Outcome

	// Notes:
	NoteKind, Text string

	// Budgets set or removed; a removal has account, entity and principal only:
	Budget Budget
}

// EntryCharge is one account's part of a charge.
type EntryCharge struct {
	Charge
	// What the charge left, in ε at the budget's δ: of the budget of all principals, and of the
	// principal's own or default budget. NaN where there was none.
	RemainingAll, RemainingOwn Epsilon
}

// Filter chooses entries. Zero fields choose all.
type Filter struct {
	Principal string
	Account   string // charged, or of the budget
	SinceID   uint64 // only entries with greater IDs
	Limit     int    // at most so many, the first that match
}

// readChunk is how many records one read transaction visits. A writer may have to wait for readers
// when the file grows, so none is kept open for long.
const readChunk = 4096

// Entries returns the entries that f chooses, in the order in which they were written. It reads the
// file, not memory: time grows with the number of records after SinceID. Outcomes are part of their
// charge's entry.
func (l *Ledger) Entries(f Filter) ([]Entry, error) {
	if f.Limit < 0 {
		return nil, invalid("limit: want at least 0, have %d", f.Limit)
	}
	if f.Limit == 0 {
		f.Limit = math.MaxInt
	}
	var list []Entry
	for next, more := f.SinceID+1, f.SinceID != math.MaxUint64; more; {
		if err := l.Err(); err != nil {
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
					if e, ok := r.entry(id); ok && f.match(&e) {
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
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range list {
		if e := &list[i]; e.Kind == ChargeEntry {
			e.Outcome = l.state.outcomes[e.ID]
		}
	}
	return list, nil
}

func (f *Filter) match(e *Entry) bool {
	if f.Principal != "" && f.Principal != e.Principal {
		return false
	}
	return f.Account == "" || f.Account == e.Budget.Account ||
		slices.ContainsFunc(e.Charges, func(c EntryCharge) bool { return c.Account == f.Account })
}

// entry returns what a record shows; false for an outcome, which is shown with its charge.
func (r *record) entry(id uint64) (Entry, bool) {
	e := Entry{ID: id, At: r.at, Principal: r.principal}
	switch r.kind {
	case chargeRecord:
		e.Kind = ChargeEntry
		e.Statement, e.Digest, e.Mechanisms = r.statement, r.digest, r.mechanisms
		for _, c := range r.charges {
			e.Charges = append(e.Charges, EntryCharge{
				Charge{c.account, c.entity, c.table, c.loss.loss()}, Epsilon(c.allLeft), Epsilon(c.ownLeft),
			})
		}
	case noteRecord:
		e.Kind, e.NoteKind, e.Text = NoteEntry, r.noteKind, r.text
	case setBudgetRecord:
		e.Kind, e.Budget = SetBudgetEntry, r.budget
	case removeBudgetRecord:
		e.Kind, e.Budget = RemoveBudgetEntry, r.budget
	default:
		return Entry{}, false
	}
	return e, true
}
