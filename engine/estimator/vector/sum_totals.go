package vector

import (
	"slices"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/fork"
	"scrim/engine/estimator/noise"
)

// totals is the sum of a public number of vectors: n times the private mean of the persons' totals.
type totals struct {
	p      Params
	lo, hi int64
	mean   estimator.Estimator
}

// newTotals returns the estimator for p.Sized. The totals are one vector a person within a public
// range, so the mean's sensitivity holds as it stands; multiplying by n is arithmetic on a released
// vector.
func newTotals(p Params) (estimator.Estimator, error) {
	t := totals{p: p}
	t.lo, t.hi = p.totals()
	q := p
	q.Lower, q.Upper, q.MaxRows = nil, nil, 1
	q.Grid.Lo, q.Grid.Hi = t.lo, t.hi
	if p.Bounded() && p.MaxRows > 0 {
		q.Lower, q.Upper = &t.lo, &t.hi
	}
	if q.Bounded() && t.lo == t.hi {
		q.Lower, q.Upper = nil, nil
	}
	var err error
	t.mean, err = NewMean(q)
	return t, err
}

func (totals) Columns() []estimator.Kind        { return []estimator.Kind{estimator.Vector} }
func (t totals) Loss() privacy.Loss             { return t.mean.Loss() }
func (t totals) MinPersons() int64              { return t.mean.MinPersons() }
func (t totals) ExpectedError() (float64, bool) { return 0, false }
func (t totals) Steps() []estimator.Step        { return t.mean.Steps() }

// Release implements estimator.Estimator.
func (t totals) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = t.p.whole(in)
	in.Vectors = withoutRows(confined(in.Vectors, t.lo, t.hi))
	e := t.mean.Release(n, in)
	if e.Status != estimator.OK {
		return e
	}
	return e.Times(float64(in.Persons))
}

// withoutRows is a block whose vectors are no longer told to be totals of several rows.
func withoutRows(b *estimator.Block) *estimator.Block {
	out := *b
	out.Chunks = slices.Clone(b.Chunks)
	for i := range out.Chunks {
		out.Chunks[i].Rows = nil
	}
	return &out
}

// confined brings every entry into [lo, hi]: a map of one person at a time. A block that is so
// already is taken as it is. The entries that a sparse block does not hold are 0, and so must lo
// be.
func confined(b *estimator.Block, lo, hi int64) *estimator.Block {
	out := *b
	out.Chunks = slices.Clone(b.Chunks)
	var all fork.Group
	for i := range out.Chunks {
		ch := &out.Chunks[i]
		all.Go(func() {
			ch.Dense, ch.Values = confinedList(b.Memory, ch.Dense, lo, hi), confinedList(b.Memory, ch.Values, lo, hi)
			if b.Sparse && ch.Values == nil && hi < 1 {
				// ones, but no value is allowed
				ch.Values = estimator.Make[int64](b.Memory, len(ch.Index))
			}
		})
	}
	all.Wait()
	return &out
}

func confinedList(m estimator.Memory, x []int64, lo, hi int64) []int64 {
	if inRange(x, lo, hi) {
		return x
	}
	out := estimator.Make[int64](m, len(x))
	for i, v := range x {
		out[i] = min(max(v, lo), hi)
	}
	return out
}
