package vector

import (
	"math"
	"slices"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/fork"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// sum adds the persons' totals, each clipped to a ball about 0.
type sum struct {
	p       Params
	lo, hi  int64 // public range of a coordinate of a person's total
	count   persons
	norms   firstpass.Histogram
	factor2 int64
	sumRho  float64
	target  float64 // persons that the radius leaves out on purpose
	beyond  float64 // what the radius found is multiplied by
}

// NewSum returns the private sum of the rows' vectors. Columns: Vector.
//
// The total T_i of a person's rows is clipped to norm C and the answer is Σ clip(T_i) plus noise,
// the clipped mean of [HLY21] section 3.1 without its division. Sensitivity in ℓ2: C for one person
// more or less; 2C for one exchanged, √2·C where the public range of a row's value, or a sparse
// block, has no negative numbers (factor2; a negative coordinate of a total then counts as 0). A
// person's whole vector is bounded, so a GROUP BY that is laid out as one vector costs no more the
// more groups a person is in.
//
// Steps: the number of persons (3 %, for TooFew alone), a histogram of ‖T_i‖ for C (f₂ of the rest,
// from 2 % to 25 %), the sum. C leaves out about K* persons [HLY21, Theorem 2], or as many as the
// histogram does not see, K = 6σ; in the latter case, which is that of few dimensions, it is taken
// up to 4 times larger, (K/K*)^(1/3), as a tail that falls with the third power goes on. TooFew
// under MinPersons, or where no norm stands out: a sum with a radius far too small would be wrong
// by any factor.
//
// Where the number of persons is public (Params.Sized) the answer is n times the mean of the totals
// (Params.Method): a sum about a centre has less noise, and n is then no secret.
func NewSum(p Params) (estimator.Estimator, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.Sized {
		return newTotals(p)
	}
	s := sum{p: p}
	s.lo, s.hi = p.totals()
	s.factor2 = block.Factor2(p.Relation, s.lo >= 0)
	delta2 := firstpass.Delta2(p.Relation, false)
	b := newBudget(p.Rho)
	s.count = newPersons(p, b.take(0.03))
	share := min(max(firstpass.FarZ*firstpass.FarZ*float64(delta2)/float64(s.factor2*int64(p.Dim)), 0.02), 0.25)
	limit := float64(max(s.hi, -s.lo)) * math.Sqrt(float64(p.Dim)) * (1 + 0x1p-20)
	s.norms = firstpass.NewHistogram(firstpass.NewOctaves(firstpass.RadiusPer, limit), delta2, b.take(b.left*share))
	s.sumRho = b.rest()
	s.target = firstpass.TailTarget(p.Dim, s.factor2, s.sumRho)
	s.beyond = min(math.Cbrt(max(1, firstpass.FarZ*s.norms.Sigma/s.target)), 4)
	return s, nil
}

// totals is the public range of a coordinate of a person's total.
func (p Params) totals() (lo, hi int64) {
	lo, hi = scalar.Range(p.Params)
	if lo < 0 {
		lo = -times(-lo, p.MaxRows)
	}
	if hi > 0 {
		hi = times(hi, p.MaxRows)
	}
	if p.Sparse {
		lo = 0 // what is not there is 0
	}
	return lo, max(lo, hi)
}

// times returns x·rows, at most 2^50, for x >= 0; 2^50 if the number of rows is not bounded.
func times(x, rows int64) int64 {
	if rows == 0 || x > estimator.MaxUnits/rows {
		return estimator.MaxUnits
	}
	return x * rows
}

func (sum) Columns() []estimator.Kind { return []estimator.Kind{estimator.Vector} }
func (s sum) Loss() privacy.Loss      { return scalar.Loss(s.p.Rho) }

// MinPersons implements estimator.Estimator: what the radius leaves out should be a quarter at
// most.
func (s sum) MinPersons() int64 {
	return max(s.count.enough(), int64(math.Ceil(min(4*max(s.target, firstpass.FarZ*s.norms.Sigma), 1<<62))))
}

// Bias implements estimator.Biased.
func (sum) Bias() string { return "what persons beyond the joint clip lose" }

// ExpectedError implements estimator.Estimator: the radius is not known before the data are read.
func (sum) ExpectedError() (float64, bool) { return 0, false }

// Steps implements estimator.Estimator.
func (s sum) Steps() []estimator.Step {
	return append(s.count.steps(),
		normsStep(s.norms),
		estimator.Step{
			Name: "clipped sum", Mechanism: estimator.DiscreteGaussian, Sensitivity: sumSensitivity(s.factor2),
			Queries: s.p.Dim, Rho: s.sumRho,
		})
}

// normsStep describes the histogram that a radius is chosen from.
func normsStep(h firstpass.Histogram) estimator.Step {
	sensitivity := "l2=1"
	if h.Delta2 == 2 {
		sensitivity = "l2=√2"
	}
	return estimator.Step{
		Name: "clip radius", Mechanism: estimator.DiscreteGaussian, Use: "histogram", Sensitivity: sensitivity, Queries: h.Buckets, Rho: h.Rho,
	}
}

// NoiseAlone implements estimator.NoiseAlone: the number of persons, the histogram and the sum have
// noise.
func (s sum) NoiseAlone() bool { return true }

// Release implements estimator.Estimator.
func (s sum) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = s.p.whole(in)
	if s.count.release(n, in) < float64(s.MinPersons()) {
		return scalar.TooFew(s.p.Dim, s.MinPersons())
	}
	b := confined(in.Vectors, s.lo, s.hi)
	norms := block.Norms(b, nil, nil)
	counts := s.norms.Release(n, norms)
	if _, ok := s.norms.Top(counts); !ok {
		return scalar.TooFew(s.p.Dim, s.MinPersons())
	}
	radius := s.norms.Radius(counts, s.target) * s.beyond
	values, sigma := addNoise(n, block.ClipSum(b, nil, norms, radius), nil, radius, s.factor2, s.sumRho)
	return s.p.answer(values, sigma, s.lo >= 0)
}

// answer scales a sum of steps, which is at least 0 where nonNegative.
func (p Params) answer(values, sigma []float64, nonNegative bool) estimator.Estimate {
	e := estimator.Estimate{Values: values, StdErr: sigma, Error: &estimator.Error{Form: estimator.Quotient}}
	for j, v := range values {
		if nonNegative {
			v = max(v, 0)
		}
		e.Values[j] = scalar.Finite(scalar.Scale(p.Grid, v))
		e.StdErr[j] = min(scalar.Scale(p.Grid, sigma[j]), math.MaxFloat64)
	}
	return e
}

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
	return clampedValues(m, x, lo, hi)
}
