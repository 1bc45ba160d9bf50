package accounting

import (
	"time"

	"github.com/RoaringBitmap/roaring/v2"
)

// index finds the entries that a filter chooses without reading the others. It holds sets of record numbers, and for what sets cannot
// hold briefly, columns by record number. It knows durable records only.
type index struct {
	first uint32 // where the columns begin: 0, or the first record of a part
	last  uint32 // the highest record

	entries    *roaring.Bitmap // all records that are entries: not outcomes
	kinds      [replayRecord + 1]*roaring.Bitmap
	outcomes   [Cancelled + 1]*roaring.Bitmap // charges by their outcome
	principals map[string]*roaring.Bitmap
	accounts   map[string]*roaring.Bitmap
	tables     map[string]*roaring.Bitmap

	digests map[uint32]*roaring.Bitmap // by the fingerprint's last bits: digests may be as many as records

	prints []uint32   // the fingerprint of the digest, by record
	times  []interval // the earliest and the latest time, by block of records
	days   []firstOf  // where each day begins

	late []outcomeOf // outcomes of charges before the first record of a part
}

// firstOf is a day and its first record.
type firstOf struct {
	day day
	id  uint32
}

// interval is a range of times, in nanoseconds, both ends included.
type interval struct{ from, to int64 }

// digestSets is how many sets the records with digests are spread over.
const digestSets = 1 << 12

// blockSize is how many records share an interval of times.
const blockSize = 256

// maxRecords is how many records a ledger can have.
const maxRecords = 1<<32 - 2

// newIndex returns the index of the records from first on, a multiple of blockSize; record 0 does not exist.
func newIndex(first uint32) *index {
	x := &index{
		first: first, last: max(first, 1) - 1,
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
	return x
}

// add takes in the record that follows the last one.
func (x *index) add(r *record) {
	x.last++
	id := x.last
	x.time(id, r.at, r.day)
	for uint32(len(x.prints)) <= id-x.first {
		x.prints = append(x.prints, r.print)
	}
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
func into[K comparable](m map[K]*roaring.Bitmap, name K, id uint32) {
	b := m[name]
	if b == nil {
		b = roaring.New()
		m[name] = b
	}
	b.Add(id)
}

// time notes when a record was made.
func (x *index) time(id uint32, at time.Time, d day) {
	t, block := at.UnixNano(), int(id-x.first)/blockSize
	if block == len(x.times) {
		x.times = append(x.times, interval{t, t})
	}
	v := &x.times[block]
	v.from, v.to = min(v.from, t), max(v.to, t)
	if n := len(x.days); n == 0 || x.days[n-1].day < d {
		x.days = append(x.days, firstOf{d, id})
	}
}

// finish notes the outcome of a charge; of a charge that is not there, for later.
func (x *index) finish(o outcomeOf) {
	id := uint32(o.charge)
	if !x.kinds[chargeRecord].Contains(id) {
		x.late = append(x.late, o)
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

// join takes in the index of the records that follow.
func (x *index) join(y *index) {
	x.last = y.last
	x.entries.Or(y.entries)
	for i, b := range y.kinds {
		x.kinds[i].Or(b)
	}
	for i, b := range y.outcomes {
		x.outcomes[i].Or(b)
	}
	joinSets(x.principals, y.principals)
	joinSets(x.accounts, y.accounts)
	joinSets(x.tables, y.tables)
	joinSets(x.digests, y.digests)
	x.prints, x.times = append(x.prints, y.prints...), append(x.times, y.times...)
	for _, d := range y.days {
		if n := len(x.days); n == 0 || x.days[n-1].day < d.day {
			x.days = append(x.days, d)
		}
	}
	for _, o := range y.late {
		x.finish(o)
	}
	x.late = nil // what is left names no charge
}

func joinSets[K comparable](x, y map[K]*roaring.Bitmap) {
	for name, b := range y {
		if x[name] == nil {
			x[name] = roaring.New()
		}
		x[name].Or(b)
	}
}
