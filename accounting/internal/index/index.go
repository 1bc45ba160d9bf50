// Package index finds records without reading them: sets of record numbers by principal, account,
// table, kind, outcome, digest and number of lines, and columns by record number. The index of a
// part of the records is made apart, is kept in a file as a segment, and joined in its order.
package index

import (
	"math"
	"math/bits"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"

	"scrim/accounting/budget"
	"scrim/accounting/record"
)

// Index finds the entries that a filter chooses without reading the others. It holds sets of record
// numbers, and for what sets cannot hold briefly, columns by record number. It knows durable
// records only.
type Index struct {
	Columns

	Entries    *roaring.Bitmap // all records that are entries: not outcomes and remarks
	Kinds      [record.Replay + 1]*roaring.Bitmap
	Outcomes   [record.Cancelled + 1]*roaring.Bitmap // charges by their outcome
	Principals map[string]*roaring.Bitmap
	Accounts   map[string]*roaring.Bitmap
	Tables     map[string]*roaring.Bitmap

	// by the fingerprint's last bits: digests may be as many as records
	Digests map[uint32]*roaring.Bitmap

	lines [lineSets]*roaring.Bitmap // entries by how many lines they have, where that is not one

	late []record.OutcomeOf // of charges before the first record
}

// DigestSets is how many sets the records with digests are spread over.
const DigestSets = 1 << 12

// MaxRecords is how many records a ledger can have.
const MaxRecords = 1<<32 - 2

// New makes the index of the records after one.
func New(last uint64) *Index {
	x := &Index{
		Columns:    Columns{First: ColumnsBegin(last + 1), Last: uint32(last)},
		Entries:    roaring.New(),
		Principals: map[string]*roaring.Bitmap{}, Accounts: map[string]*roaring.Bitmap{}, Tables: map[string]*roaring.Bitmap{},
		Digests: map[uint32]*roaring.Bitmap{},
	}
	for i := range x.Kinds {
		x.Kinds[i] = roaring.New()
	}
	for i := range x.Outcomes {
		x.Outcomes[i] = roaring.New()
	}
	for i := range x.lines {
		x.lines[i] = roaring.New()
	}
	return x
}

// Add takes in the record that follows the last one.
func (x *Index) Add(r *record.Record) {
	id := x.Last + 1
	x.Made(id, r.At.UnixNano(), r.Day)
	x.Prints[id-x.First] = r.Print
	switch r.Kind {
	case record.Outcomes:
		for _, o := range r.Outcomes {
			x.finish(o)
		}
		return
	case record.Remark:
		into(x.Digests, r.Print%DigestSets, id)
		return
	}
	x.Entries.Add(id)
	x.Kinds[r.Kind].Add(id)
	into(x.Principals, r.Principal, id)
	if r.Print != 0 {
		into(x.Digests, r.Print%DigestSets, id)
	}
	eachLineSet(r.Lines(), func(set uint32) { x.lines[set].Add(id) })
	switch r.Kind {
	case record.Charge:
		x.Outcomes[record.Unfinished].Add(id)
		for i := range r.Charges {
			into(x.Accounts, r.Charges[i].Account, id)
			if t := r.Charges[i].Table; t != "" {
				into(x.Tables, t, id)
			}
		}
	case record.Replay:
		for _, t := range r.Tables {
			into(x.Accounts, t, id)
		}
	case record.SetBudget, record.RemoveBudget, record.ResetBudget:
		into(x.Accounts, r.Budget.Account, id)
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
func (x *Index) finish(o record.OutcomeOf) {
	id := uint32(o.Charge)
	if id < x.First {
		x.late = append(x.late, o)
		return
	}
	if !x.Kinds[record.Charge].Contains(id) {
		return
	}
	if !x.Outcomes[record.Unfinished].CheckedRemove(id) {
		for _, b := range x.Outcomes {
			b.Remove(id)
		}
	}
	if int(o.Outcome) < len(x.Outcomes) {
		x.Outcomes[o.Outcome].Add(id)
	}
}

// Outcome returns that of a charge.
func (x *Index) Outcome(id uint32) record.Outcome {
	for o, b := range x.Outcomes {
		if o != int(record.Unfinished) && b.Contains(id) {
			return record.Outcome(o)
		}
	}
	return record.Unfinished
}

// Remarks appends the records that may be remarks on a charge.
func (x *Index) Remarks(ids []uint32, charge uint64) []uint32 {
	print := record.Fingerprint(record.RemarkDigest(charge))
	set := x.Digests[print%DigestSets]
	if set == nil {
		return ids
	}
	i := set.Iterator()
	for i.AdvanceIfNeeded(uint32(charge)); i.HasNext(); {
		if id := i.Next(); id >= x.First && x.Prints[id-x.First] == print {
			ids = append(ids, id)
		}
	}
	return ids
}

// Before returns the last record before a day.
func (x *Index) Before(d budget.Date) uint64 {
	i := sort.Search(len(x.Days), func(i int) bool { return x.Days[i].day >= d })
	if i == len(x.Days) {
		return uint64(x.Last)
	}
	return uint64(x.Days[i].id) - 1
}

// Count returns how many entries a set of records has, and how many lines they have together.
func (x *Index) Count(ids *roaring.Bitmap) (entries, lines uint64) {
	entries = ids.GetCardinality()
	lines = entries - ids.AndCardinality(x.lines[0])
	for i, b := range x.lines[1:] {
		lines += ids.AndCardinality(b) << i
	}
	return entries, lines
}

// lineSets is how many sets say how many lines entries have: the first holds those without any, and
// set 1+i those for which bit i is set in the number of lines beyond the first.
const lineSets = 1 + 32

// eachLineSet calls f with the sets of an entry of n lines.
func eachLineSet(n int, f func(set uint32)) {
	if n == 0 {
		f(0)
		return
	}
	for more := uint32(n - 1); more > 0; more &= more - 1 {
		f(1 + uint32(bits.TrailingZeros32(more)))
	}
}

// Merge takes in the index of the records that follow, which is not used any more.
func (x *Index) Merge(y *Index) {
	x.Columns.join(&y.Columns)
	x.Entries.Or(y.Entries)
	for i, b := range y.Kinds {
		x.Kinds[i].Or(b)
	}
	for i, b := range y.Outcomes {
		x.Outcomes[i].Or(b)
	}
	for i, b := range y.lines {
		x.lines[i].Or(b)
	}
	for name, b := range y.Principals {
		setOf(x.Principals, name).Or(b)
	}
	for name, b := range y.Accounts {
		setOf(x.Accounts, name).Or(b)
	}
	for name, b := range y.Tables {
		setOf(x.Tables, name).Or(b)
	}
	for n, b := range y.Digests {
		setOf(x.Digests, n).Or(b)
	}
	for _, o := range y.late {
		x.finish(o)
	}
}

// Columns are what an index knows of each record, or of each few, by record number.
type Columns struct {
	First uint32 // where they begin, a multiple of blockSize
	Last  uint32 // the highest record

	Prints []uint32   // the fingerprint of the digest; 0: none
	times  []Interval // the earliest and the latest time, by block of records
	Days   []firstOf  // where each day begins
}

// firstOf is a day and its first record.
type firstOf struct {
	day budget.Date
	id  uint32
}

// Interval is a range of times, in nanoseconds, both ends included.
type Interval struct{ From, To int64 }

// BlockSize is how many records share an interval of times.
const BlockSize = 256

// ColumnsBegin returns where the columns begin of records from first on, which is 1 or a multiple
// of blockSize.
func ColumnsBegin(first uint64) uint32 { return uint32(first / BlockSize * BlockSize) }

// Made notes when record id was made, which follows the last one. It has no digest yet.
func (c *Columns) Made(id uint32, at int64, d budget.Date) {
	c.Last = id
	for uint32(len(c.Prints)) <= id-c.First { // record 0 does not exist
		c.Prints = append(c.Prints, 0)
	}
	block := int(id-c.First) / BlockSize
	if block == len(c.times) {
		c.times = append(c.times, Interval{math.MaxInt64, math.MinInt64})
	}
	v := &c.times[block]
	v.From, v.To = min(v.From, at), max(v.To, at)
	if n := len(c.Days); n == 0 || c.Days[n-1].day < d {
		c.Days = append(c.Days, firstOf{d, id})
	}
}

// join takes in the columns of the records that follow.
func (c *Columns) join(d *Columns) {
	c.Last = max(c.Last, d.Last)
	c.Prints, c.times = append(c.Prints, d.Prints...), append(c.times, d.times...)
	for _, first := range d.Days {
		if n := len(c.Days); n == 0 || c.Days[n-1].day < first.day {
			c.Days = append(c.Days, first)
		}
	}
}

// Block returns the times of the records around one.
func (c *Columns) Block(id uint32) Interval { return c.times[(id-c.First)/BlockSize] }
