package accounting

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"scrim/accounting/budget"
	"scrim/accounting/internal/index"
	"scrim/accounting/record"
)

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
