package accounting

import (
	"github.com/RoaringBitmap/roaring/v2"
)

// index finds the entries that a filter chooses without reading the others. It holds sets of record
// numbers, and for what sets cannot hold briefly, columns by record number. It knows durable
// records only.
type index struct {
	columns

	entries    *roaring.Bitmap // all records that are entries: not outcomes
	kinds      [replayRecord + 1]*roaring.Bitmap
	outcomes   [Cancelled + 1]*roaring.Bitmap // charges by their outcome
	principals map[string]*roaring.Bitmap
	accounts   map[string]*roaring.Bitmap
	tables     map[string]*roaring.Bitmap

	digests map[uint32]*roaring.Bitmap // by the fingerprint's last bits: digests may be as many as records

	lines [lineSets]*roaring.Bitmap // entries by how many lines they have, where that is not one

	late []outcomeOf // of charges before the first record
}

// digestSets is how many sets the records with digests are spread over.
const digestSets = 1 << 12

// maxRecords is how many records a ledger can have.
const maxRecords = 1<<32 - 2

func newIndex() *index { return newIndexAfter(0) }

// newIndexAfter makes the index of the records after one.
func newIndexAfter(last uint64) *index {
	x := &index{
		columns:    columns{first: columnsBegin(last + 1), last: uint32(last)},
		entries:    roaring.New(),
		principals: map[string]*roaring.Bitmap{}, accounts: map[string]*roaring.Bitmap{}, tables: map[string]*roaring.Bitmap{},
		digests: map[uint32]*roaring.Bitmap{},
	}
	for i := range x.kinds {
		x.kinds[i] = roaring.New()
	}
	for i := range x.outcomes {
		x.outcomes[i] = roaring.New()
	}
	for i := range x.lines {
		x.lines[i] = roaring.New()
	}
	return x
}

// add takes in the record that follows the last one.
func (x *index) add(r *record) {
	id := x.last + 1
	x.made(id, r.at.UnixNano(), r.day)
	x.prints[id-x.first] = r.print
	if r.kind == outcomeRecord {
		for _, o := range r.outcomes {
			x.finish(o)
		}
		return
	}
	x.entries.Add(id)
	x.kinds[r.kind].Add(id)
	into(x.principals, r.principal, id)
	if r.print != 0 {
		into(x.digests, r.print%digestSets, id)
	}
	eachLineSet(r.lines(), func(set uint32) { x.lines[set].Add(id) })
	switch r.kind {
	case chargeRecord:
		x.outcomes[Unfinished].Add(id)
		for i := range r.charges {
			into(x.accounts, r.charges[i].account, id)
			if t := r.charges[i].table; t != "" {
				into(x.tables, t, id)
			}
		}
	case replayRecord:
		for _, t := range r.tables {
			into(x.accounts, t, id)
		}
	case setBudgetRecord, removeBudgetRecord, resetBudgetRecord:
		into(x.accounts, r.budget.Account, id)
	}
}

// into adds a record to the set of a name or a number.
func into[K comparable](m map[K]*roaring.Bitmap, name K, id uint32) { setOf(m, name).Add(id) }

// setOf returns the set of a name or a number.
func setOf[K comparable](m map[K]*roaring.Bitmap, name K) *roaring.Bitmap {
	b := m[name]
	if b == nil {
		b = roaring.New()
		m[name] = b
	}
	return b
}

// finish notes the outcome of a charge, if it is one.
func (x *index) finish(o outcomeOf) {
	id := uint32(o.charge)
	if id < x.first {
		x.late = append(x.late, o)
		return
	}
	if !x.kinds[chargeRecord].Contains(id) {
		return
	}
	if !x.outcomes[Unfinished].CheckedRemove(id) {
		for _, b := range x.outcomes {
			b.Remove(id)
		}
	}
	if int(o.outcome) < len(x.outcomes) {
		x.outcomes[o.outcome].Add(id)
	}
}

// outcome returns that of a charge.
func (x *index) outcome(id uint32) Outcome {
	for o, b := range x.outcomes {
		if o != int(Unfinished) && b.Contains(id) {
			return Outcome(o)
		}
	}
	return Unfinished
}
