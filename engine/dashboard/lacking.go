package dashboard

import (
	"time"

	"scrim/accounting"
	"scrim/internal/remark"
)

// Lacking counts the answers that were charged lately, and those of them that were empty or NULL.
type Lacking struct {
	Count, Of int
	More      bool // than were looked at
}

// maxLooked bounds the charges that are looked at for answers that were empty or NULL.
const maxLooked = 2_000

// lacks reports whether the answer that a charge paid for was empty or NULL. The remark in the
// ledger follows from released numbers.
func lacks(e *accounting.Entry) bool { return remark.Lacks(e.Remark) }

// lacking counts them since a moment.
func (f *facts) lacking(since time.Time) (l Lacking, err error) {
	list, err := f.d.o.Ledger.Entries(f.ctx, accounting.Filter{
		Kinds: []accounting.EntryKind{accounting.ChargeEntry}, Since: since, Descending: true, Limit: maxLooked,
	})
	for i := range list {
		if lacks(&list[i]) {
			l.Count++
		}
	}
	l.Of, l.More = len(list), len(list) == maxLooked
	return l, err
}

// lackingOf returns the latest such entries of a filter, and the entry before which it stopped to
// look, 0 where there are no more.
func (f *facts) lackingOf(filter accounting.Filter, limit int) (out []Charged, before uint64, err error) {
	filter.Kinds, filter.Limit = []accounting.EntryKind{accounting.ChargeEntry}, maxLooked
	list, err := f.d.o.Ledger.Entries(f.ctx, filter)
	for i := range list {
		if !lacks(&list[i]) {
			continue
		}
		if len(out) == limit {
			return out, out[limit-1].ID, err
		}
		out = append(out, f.charged(list[i]))
	}
	if len(list) == maxLooked {
		before = list[len(list)-1].ID
	}
	return out, before, err
}
