package accounting

import (
	"context"
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"

	"scrim/accounting/internal/invalid"
)

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

// lines is how many lines an entry has: one for each account that it is about, and one where it is
// about none by its kind.
func (r *record) lines() int {
	switch r.kind {
	case chargeRecord:
		return len(r.charges)
	case replayRecord:
		return len(r.tables)
	}
	return 1
}

// Countable reports whether Count can tell how many entries a filter chooses: the index holds all
// that it asks for exactly.
func (f *Filter) Countable() bool {
	return f.Digest == "" && f.Since.IsZero() && f.Until.IsZero() && f.Limit == 0
}

// Count is how many entries a filter chooses, and how many lines these have together: one for each
// account that a charge or a replay is about, and one for each note and each change of a budget. It
// reads no entry. It refuses a filter that is not Countable.
func (l *Ledger) Count(ctx context.Context, f Filter) (entries, lines uint64, err error) {
	if !f.Countable() {
		return 0, 0, invalid.New("filter: entries of a digest or a time cannot be counted")
	}
	if err := l.searchable(ctx); err != nil {
		return 0, 0, err
	}
	l.reading.RLock()
	defer l.reading.RUnlock()
	entries, lines = l.index.count(l.index.choose(&f).ids)
	return entries, lines, nil
}

func (x *index) count(ids *roaring.Bitmap) (entries, lines uint64) {
	entries = ids.GetCardinality()
	lines = entries - ids.AndCardinality(x.lines[0])
	for i, b := range x.lines[1:] {
		lines += ids.AndCardinality(b) << i
	}
	return entries, lines
}

// Charged reports whether anything was ever charged to an account, or to an entity of that name,
// also before the oldest entry.
func (l *Ledger) Charged(account string) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault != nil && l.fault != errReadOnly {
		return false, l.fault
	}
	for h := range l.state.spent {
		if h.account == account {
			return true, nil
		}
	}
	return false, nil
}
