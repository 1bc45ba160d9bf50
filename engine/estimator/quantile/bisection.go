package quantile

import (
	"fmt"
	"math"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/internal/sized"
	"scrim/engine/estimator/noise"
)

// bisected is quantiles by one bisection a fraction (Options.Bisect, scalar.Bisection).
//
// Under add-remove each of the m quantiles has 0.92ρ/m; the rest goes to the noisy number of
// persons, from which TooFew is decided. Under replace-one each has ρ/m, and the number of persons
// is public or covered by the searches.
//
// That n̂ is covered (scalar.Shares) with M values, too: let the person have m values on one side
// and m−xM on the other, 0 ≤ x ≤ 1. The rank moves by at most (1−ux)·M·den with u = min(num,
// den−num)/den, as x grows from an exchange to coming and going, and n̂'s mean by xM. The loss
// (1−ux)²ρ_q + x²ρ_n is convex in x, so it is at most ρ_q or (1−u)²ρ_q + ρ_n.
//
// The rank is off by at most 3.1σ/den values with probability 95 %, σ² = TΔ²/(2ρ_q), T ≤ 24. The
// noisy ranks that the bisection went by tell an interval.
//
// The quantiles of one call are searched independently and then sorted, which keeps each answer's
// rank error no larger. The recursion that splits the data at the middle quantile [KSS] is not
// used: it rescales the fractions by the share of the data on each side, which is not what the
// fraction says where many persons share a value (0.9 of a column that is 92 % zeros would be
// searched among the other 8 %).
type bisected struct {
	quantiles
	n        scalar.Persons
	searches []scalar.Bisection
	minimum  int64
}

// newBisected completes checked quantiles of at most perUnit values a person.
func newBisected(q quantiles, perUnit int64) estimator.Estimator {
	n, each := split(q.p, q.fractions, perUnit)
	e := bisected{quantiles: q, n: n, minimum: n.Enough()}
	for i, f := range q.fractions {
		s := scalar.NewBisection(q.p.Relation, q.axis, f.Num, f.Den, perUnit, each[i])
		e.searches = append(e.searches, s)
		e.minimum = max(e.minimum, s.Persons())
	}
	return e
}

// split returns the number of values, of which a person has at most perUnit, and the loss of each
// search.
func split(p estimator.Params, fractions []Fraction, perUnit int64) (scalar.Persons, []float64) {
	return sharesOf(fractions).Of(p, perUnit)
}

func sharesOf(fractions []Fraction) scalar.Shares {
	shares := scalar.Shares{AddRemove: []float64{0.08}}
	for _, f := range fractions {
		far := f.far()
		shares.AddRemove = append(shares.AddRemove, 0.92/float64(len(fractions)))
		shares.ReplaceOne = append(shares.ReplaceOne, 1)
		shares.Joining = append(shares.Joining, far*far)
	}
	return shares
}

// far is how far one value more or less moves the centred rank, in terms of one exchanged.
func (f Fraction) far() float64 { return float64(max(f.Num, f.Den-f.Num)) / float64(f.Den) }

// Exchange implements estimator.Exchanging. With several values a person, of which one side may
// have fewer, the loss is convex in how many fewer, as above: between this and that of coming or
// going.
func (q bisected) Exchange() float64 {
	var steps []float64
	for _, f := range q.fractions {
		steps = append(steps, 1/(f.far()*f.far()))
	}
	return sharesOf(q.fractions).Exchange(steps...)
}

func (q bisected) Loss() privacy.Loss { return scalar.Loss(q.p.Rho) }
func (q bisected) MinPersons() int64  { return q.minimum }

// RankError returns, for each fraction, the number of values by which the rank of the answer is off
// at most with probability 95 %.
func (q bisected) RankError() []float64 {
	e := make([]float64, len(q.searches))
	for i, s := range q.searches {
		e[i] = s.RankError(0.05)
	}
	return e
}

// Steps implements estimator.Estimator.
func (q bisected) Steps() []estimator.Step {
	steps := q.n.Steps()
	for i, s := range q.searches {
		steps = append(steps, s.Step(fmt.Sprintf("quantile %v", q.fractions[i].Float())))
	}
	return steps
}

// Release implements estimator.Estimator.
func (q bisected) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = sized.Columns(q.p, q.Columns(), in)
	cells := q.cells(in)
	defer estimator.Free(in.Memory, cells)
	values := int64(len(cells))
	if q.p.Sized {
		values = in.Persons
	}
	if q.n.Release(n, values) < float64(q.minimum) {
		return scalar.TooFew(len(q.fractions), q.minimum)
	}
	e := estimator.Estimate{Values: make([]float64, len(q.fractions)), StdErr: make([]float64, len(q.fractions))}
	e.Error = &estimator.Error{Form: estimator.Quantile, Ranks: make([][]estimator.Rank, len(q.fractions))}
	for i, s := range q.searches {
		e.Error.Rounds = max(e.Error.Rounds, s.Rounds())
		v, ranks := s.Ranks(n, cells)
		e.Values[i], e.StdErr[i] = scalar.Finite(scalar.Scale(q.p.Grid, float64(v))), math.NaN()
		e.Error.Ranks[i] = q.told(ranks)
	}
	q.order(e.Values)
	return e
}
