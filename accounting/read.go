package accounting

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/internal/boltfile"
	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/invalid"
	"scrim/accounting/record"
)

// Entries returns the entries that f chooses, in the order in which they were written or the
// reverse. Outcomes and remarks are part of their charge's entry. Sets in memory say which records
// to read, so that the time grows with what is found, not with what there is.
func (l *Ledger) Entries(ctx context.Context, f Filter) ([]Entry, error) {
	var list []Entry
	err := l.scan(ctx, f, func(page []Entry) error {
		list = append(list, page...)
		return nil
	})
	return list, err
}

// scan calls visit with the entries that f chooses, page by page; a page is good until visit
// returns. Nothing is held meanwhile.
func (l *Ledger) scan(ctx context.Context, f Filter, visit func([]Entry) error) error {
	left := f.Limit
	switch {
	case f.Limit < 0:
		return invalid.New("limit: want at least 0, have %d", f.Limit)
	case f.Limit == 0:
		left = math.MaxInt
	}
	var page []Entry
	return l.candidates(ctx, &f, min(readChunk, max(left, 16)), func(ids []uint32) (bool, error) {
		var err error
		if page, err = l.read(page[:0], ids, &f); err != nil {
			return false, err
		}
		page = page[:min(left, len(page))]
		left -= len(page)
		return left > 0, visit(page)
	})
}

// candidates calls visit with the numbers of the records that may match f, at most n at a time,
// until it wants no more.
func (l *Ledger) candidates(ctx context.Context, f *Filter, n int, visit func(ids []uint32) (more bool, err error)) error {
	if err := l.searchable(ctx); err != nil {
		return err
	}
	l.reading.RLock()
	c := choose(l.index, f)
	l.reading.RUnlock()
	for more := true; more; {
		if err := cmp.Or(l.usable(), ctx.Err()); err != nil {
			return err
		}
		l.reading.RLock()
		ids := next(l.index, c, n)
		l.reading.RUnlock()
		if len(ids) == 0 {
			return nil
		}
		var err error
		if more, err = visit(ids); err != nil {
			return err
		}
	}
	return nil
}

// read appends those of the records that match f.
func (l *Ledger) read(page []Entry, ids []uint32, f *Filter) ([]Entry, error) {
	if err := l.records(ids, func(id uint64, r *record.Record) { page = append(page, entryOf(id, r)) }); err != nil {
		return nil, err
	}
	var remarks []uint32
	l.reading.RLock()
	for i := range page {
		if e := &page[i]; e.Kind == ChargeEntry {
			e.Outcome = l.index.Outcome(uint32(e.ID))
			remarks = l.index.Remarks(remarks, e.ID)
		}
	}
	l.reading.RUnlock()
	if err := l.remark(page, remarks); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(page, func(e Entry) bool { return !f.match(&e) }), nil
}

// remark fills in the remarks on charges, of each the first. Other records may have the fingerprint
// of one.
func (l *Ledger) remark(page []Entry, ids []uint32) error {
	texts := map[uint64]string{}
	err := l.records(ids, func(_ uint64, r *record.Record) {
		if _, ok := texts[r.Charge]; !ok && r.Kind == record.Remark {
			texts[r.Charge] = r.Text
		}
	})
	for i := range page {
		if e := &page[i]; e.Kind == ChargeEntry {
			e.Remark = texts[e.ID]
		}
	}
	return err
}

// records reads records that are durable.
func (l *Ledger) records(ids []uint32, visit func(id uint64, r *record.Record)) error {
	return boltfile.Guard(func() error {
		return l.db.View(func(tx *bolt.Tx) error {
			records := tx.Bucket(chain.Records)
			for _, id := range ids {
				v := records.Get(chain.RecordKey(uint64(id)))
				if len(v) < len(chain.Sum{}) {
					return fmt.Errorf("%w: %s: record %d", ErrDamaged, l.path, id)
				}
				r, err := record.Decode(v[len(chain.Sum{}):])
				if err != nil {
					return fmt.Errorf("%w: %s: record %d: %v", ErrDamaged, l.path, id, err)
				}
				visit(uint64(id), r)
			}
			return nil
		})
	})
}

// match tests an entry against all of the filter.
func (f *Filter) match(e *Entry) bool {
	charged := func(is func(c *EntryCharge) bool) bool {
		return slices.ContainsFunc(e.Charges, func(c EntryCharge) bool { return is(&c) })
	}
	switch {
	case f.Principal != "" && f.Principal != e.Principal,
		f.Digest != "" && f.Digest != e.Digest,
		len(f.Kinds) > 0 && !slices.Contains(f.Kinds, e.Kind),
		len(f.Outcomes) > 0 && (e.Kind != ChargeEntry || !slices.Contains(f.Outcomes, e.Outcome)),
		!f.Since.IsZero() && e.At.Before(f.Since),
		!f.Until.IsZero() && !e.At.Before(f.Until),
		f.Table != "" && !charged(func(c *EntryCharge) bool { return c.Table == f.Table }):
		return false
	}
	return f.Account == "" || f.Account == e.Budget.Account || slices.Contains(e.Tables, f.Account) ||
		charged(func(c *EntryCharge) bool { return c.Account == f.Account })
}
