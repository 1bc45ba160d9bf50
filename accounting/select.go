package accounting

import (
	"slices"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"

	"scrim/accounting/budget"
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
func (x *index) choose(f *Filter) *selection {
	sets := []*roaring.Bitmap{x.entries}
	for _, by := range []struct {
		sets map[string]*roaring.Bitmap
		name string
	}{{x.principals, f.Principal}, {x.accounts, f.Account}, {x.tables, f.Table}} {
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
		b := x.digests[fingerprint(f.Digest)%digestSets]
		if b == nil {
			return &selection{ids: roaring.New(), filter: f}
		}
		sets = append(sets, b)
	}
	if len(f.Kinds) > 0 {
		sets = append(sets, x.ofKinds(f.Kinds))
	}
	if len(f.Outcomes) > 0 {
		sets = append(sets, x.withOutcomes(f.Outcomes))
	}
	slices.SortFunc(sets, func(a, b *roaring.Bitmap) int { return int(a.GetCardinality()) - int(b.GetCardinality()) })
	from, to := x.between(f)
	ids := roaring.New()
	if from < to {
		ids.AddRange(from, to)
	}
	for _, b := range sets {
		ids.And(b)
	}
	return &selection{ids: ids, filter: f}
}

func (x *index) ofKinds(kinds []EntryKind) *roaring.Bitmap {
	u := roaring.New()
	for kind, name := range kindNames {
		if name != "" && slices.Contains(kinds, name) {
			u.Or(x.kinds[kind])
		}
	}
	return u
}

func (x *index) withOutcomes(outcomes []Outcome) *roaring.Bitmap {
	u := roaring.New()
	for _, o := range outcomes {
		if int(o) < len(x.outcomes) {
			u.Or(x.outcomes[o])
		}
	}
	return u
}

// between returns the range of records [from, to) that a filter allows. A record made at or after a
// time is of its day or later.
func (x *index) between(f *Filter) (from, to uint64) {
	from, to = max(1, uint64(x.first)), uint64(x.last)+1
	if f.AfterID > 0 {
		from = max(from, min(f.AfterID, maxRecords)+1)
	}
	if f.BeforeID > 0 {
		to = min(to, f.BeforeID)
	}
	if !f.Since.IsZero() {
		from = max(from, x.before(budget.DateOf(f.Since))+1)
	}
	// The blocks at the ends that lie wholly outside.
	for from < to && !f.overlaps(x.block(uint32(from))) {
		from = (from/blockSize + 1) * blockSize
	}
	for from < to && !f.overlaps(x.block(uint32(to)-1)) {
		to = (to - 1) / blockSize * blockSize
	}
	return from, to
}

// before returns the last record before a day.
func (x *index) before(d budget.Date) uint64 {
	i := sort.Search(len(x.days), func(i int) bool { return x.days[i].day >= d })
	if i == len(x.days) {
		return uint64(x.last)
	}
	return uint64(x.days[i].id) - 1
}

// next returns the records that come next and may match, at most n; none at the end.
func (x *index) next(c *selection, n int) []uint32 {
	var ids []uint32
	if c.asc == nil && c.desc == nil {
		if c.filter.Descending {
			c.desc = c.ids.ReverseIterator()
		} else {
			c.asc = c.ids.Iterator()
		}
	}
	print := fingerprint(c.filter.Digest)
	for len(ids) < n && c.more() {
		id := c.take()
		if c.filter.Digest != "" && x.prints[id-x.first] != print {
			continue
		}
		if !c.filter.overlaps(x.block(id)) {
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
func (f *Filter) overlaps(v interval) bool {
	return (f.Since.IsZero() || v.to >= f.Since.UnixNano()) && (f.Until.IsZero() || v.from < f.Until.UnixNano())
}
