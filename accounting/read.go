package accounting

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	bolt "go.etcd.io/bbolt"

	"scrim/accounting/budget"
	"scrim/accounting/internal/boltfile"
	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/index"
	"scrim/accounting/internal/invalid"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
	"scrim/internal/lists"
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

// selection is the records that may match a filter, in the order asked for. All that match are
// among them.
type selection struct {
	ids    *roaring.Bitmap // its own
	filter *Filter
	asc    roaring.IntPeekable
	desc   roaring.IntIterable
}

// choose intersects the sets that the filter names, from the smallest.
func choose(x *index.Index, f *Filter) *selection {
	sets := []*roaring.Bitmap{x.Entries}
	for _, by := range []struct {
		sets map[string]*roaring.Bitmap
		name string
	}{{x.Principals, f.Principal}, {x.Accounts, f.Account}, {x.Tables, f.Table}} {
		if by.name == "" {
			continue
		}
		b := by.sets[by.name]
		if b == nil {
			return &selection{ids: roaring.New(), filter: f}
		}
		sets = append(sets, b)
	}
	if f.Digest != "" {
		b := x.Digests[record.Fingerprint(f.Digest)%index.DigestSets]
		if b == nil {
			return &selection{ids: roaring.New(), filter: f}
		}
		sets = append(sets, b)
	}
	if len(f.Kinds) > 0 {
		sets = append(sets, ofKinds(x, f.Kinds))
	}
	if len(f.Outcomes) > 0 {
		sets = append(sets, withOutcomes(x, f.Outcomes))
	}
	slices.SortFunc(sets, func(a, b *roaring.Bitmap) int { return int(a.GetCardinality()) - int(b.GetCardinality()) })
	from, to := between(x, f)
	ids := roaring.New()
	if from < to {
		ids.AddRange(from, to)
	}
	for _, b := range sets {
		ids.And(b)
	}
	return &selection{ids: ids, filter: f}
}

func ofKinds(x *index.Index, kinds []EntryKind) *roaring.Bitmap {
	u := roaring.New()
	for kind, name := range kindNames {
		if name != "" && slices.Contains(kinds, name) {
			u.Or(x.Kinds[kind])
		}
	}
	return u
}

func withOutcomes(x *index.Index, outcomes []record.Outcome) *roaring.Bitmap {
	u := roaring.New()
	for _, o := range outcomes {
		if int(o) < len(x.Outcomes) {
			u.Or(x.Outcomes[o])
		}
	}
	return u
}

// between returns the range of records [from, to) that a filter allows. A record made at or after a
// time is of its day or later.
func between(x *index.Index, f *Filter) (from, to uint64) {
	from, to = max(1, uint64(x.First)), uint64(x.Last)+1
	if f.AfterID > 0 {
		from = max(from, min(f.AfterID, index.MaxRecords)+1)
	}
	if f.BeforeID > 0 {
		to = min(to, f.BeforeID)
	}
	if !f.Since.IsZero() {
		from = max(from, x.Before(budget.DateOf(f.Since))+1)
	}
	// The blocks at the ends that lie wholly outside.
	for from < to && !f.overlaps(x.Block(uint32(from))) {
		from = (from/index.BlockSize + 1) * index.BlockSize
	}
	for from < to && !f.overlaps(x.Block(uint32(to)-1)) {
		to = (to - 1) / index.BlockSize * index.BlockSize
	}
	return from, to
}

// next returns the records that come next and may match, at most n; none at the end.
func next(x *index.Index, c *selection, n int) []uint32 {
	var ids []uint32
	if c.asc == nil && c.desc == nil {
		if c.filter.Descending {
			c.desc = c.ids.ReverseIterator()
		} else {
			c.asc = c.ids.Iterator()
		}
	}
	print := record.Fingerprint(c.filter.Digest)
	for len(ids) < n && c.more() {
		id := c.take()
		if c.filter.Digest != "" && x.Prints[id-x.First] != print {
			continue
		}
		if !c.filter.overlaps(x.Block(id)) {
			continue
		}
		ids = append(ids, id)
	}
	return ids
}

func (c *selection) more() bool {
	if c.desc != nil {
		return c.desc.HasNext()
	}
	return c.asc.HasNext()
}

func (c *selection) take() uint32 {
	if c.desc != nil {
		return c.desc.Next()
	}
	return c.asc.Next()
}

// overlaps reports whether a record made within v may match.
func (f *Filter) overlaps(v index.Interval) bool {
	return (f.Since.IsZero() || v.To >= f.Since.UnixNano()) && (f.Until.IsZero() || v.From < f.Until.UnixNano())
}

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
	if l, ok := lists.Find(c.Left, func(l record.Left) bool { return l.Scope == scope }); ok {
		return l.Epsilon
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
	e.Roles = append(e.Roles, lists.Map(r.Roles, func(role string) string { return role[len(budget.RolePrefix):] })...)
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
