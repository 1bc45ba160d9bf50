package mean

import (
	"fmt"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// sum adds the persons' totals, each clipped to an interval that holds 0.
type sum struct {
	p       estimator.Params
	sign    interval       // of a total's public range
	bound   interval       // the clip when declared
	persons scalar.Persons // when the clip is searched for
	radius  scalar.Radius
	share   float64 // loss of the sum itself
}

// sumShares are the shares of a sum whose clip is searched for. The share of its loss that the sum
// itself has for one person more or less depends on the sign of the totals.
func sumShares(sign interval, r estimator.Relation) scalar.Shares {
	unit := sign.clip(1)
	joining := float64(unit.moves(estimator.AddRemove)) / float64(max(1, unit.moves(r)))
	return scalar.Shares{
		AddRemove: []float64{8, 23, 69}, ReplaceOne: []float64{25, 75},
		Joining: []float64{scalar.JoiningHistogram, joining * joining},
	}
}

// NewSum returns the private sum over rows. Columns: Rows, Sum.
//
// The total tᵢ of a person's rows is clipped to an interval [a, b] with a ≤ 0 ≤ b, and the answer
// is Σ clip(tᵢ) + N_Z(0, ⌈Δ²/(2ρ₃)⌉) grid steps, which costs ρ₃ [CKS20, Theorem 14]:
//
//	add-remove    Δ = max(−a, b): a person who comes or goes adds a number of the interval
//	replace-one   Δ = b − a, which also bounds one who comes or goes
//
// One side of the interval is 0 where the public range of a row's value has one sign; then both are
// the same.
//
//	both bounds and p.MaxRows = M declared   the interval of M rows, ρ₃ = ρ; it always answers
//	otherwise                                [−C, C] or a half of it, C from a noisy histogram of |tᵢ| (scalar.Radius, ρ₂);
//	                                         under add-remove ρ_n = 0.08ρ for the number of persons n̂, ρ₂ = 0.23ρ, ρ₃ = 0.69ρ; under
//	                                         replace-one ρ₂ = 0.25ρ, ρ₃ = 0.75ρ, and n̂ is covered (scalar.Shares). TooFew when
//	                                         n̂ is under MinPersons, or when no radius stands out from the histogram's noise
//	p.Sized                                  n times the mean of the totals: see totals
//
// Pure: Lap_Z(Δ/ε₃) in place of Gaussian noise, the histogram and n̂ with Laplace noise; the same
// shares, of ε.
//
// A radius that does not stand out may be far too small, and a sum, unlike a mean, is then wrong by
// any factor. Both conditions are on released values.
//
// The declared interval is enforced: a person who breaks the promise is clipped. Without it the
// totals of the few persons beyond C are shortened, which is the larger error on heavy tails.
//
// One symmetric clip is used for data that lie mostly on one side as well: two searches, for C₋ and
// C₊, each with half the loss, would give the noise of max(C₋, C₊), which is what the symmetric
// clip has, and more bias.
func NewSum(p estimator.Params) (estimator.Estimator, error) {
	if err := scalar.CheckPure(p, true); err != nil {
		return nil, err
	}
	if p.Sized {
		return newTotals(p), nil
	}
	if p.Bounded() && p.MaxRows > 0 {
		return sum{p: p, bound: declaredTotal(p, 0), share: p.Loss()}, nil
	}
	lo, hi := scalar.Range(p)
	s := sum{p: p, sign: interval{lo, hi}}
	var parts []float64
	s.persons, parts = sumShares(s.sign, p.Relation).Of(p, 1)
	s.radius, s.share = scalar.RadiusOf(p, parts[0], estimator.MaxUnits), parts[1]
	return s, nil
}

// interval is a range of one person's total, in steps.
type interval struct{ lo, hi int64 }

// clip returns [−radius, radius] without a side on which the interval has nothing.
func (t interval) clip(radius int64) interval {
	c := interval{-radius, radius}
	if t.lo >= 0 {
		c.lo = 0
	}
	if t.hi <= 0 {
		c.hi = 0
	}
	return c
}

// moves is the most by which one person moves a sum of numbers of the interval, which holds 0.
func (t interval) moves(r estimator.Relation) int64 {
	if r == estimator.ReplaceOne {
		return t.hi - t.lo
	}
	return max(-t.lo, t.hi)
}

// of returns the number of the interval nearest x.
func (t interval) of(x int64) int64 { return min(max(x, t.lo), t.hi) }

// declaredTotal is the range of the total of least to p.MaxRows rows within the declared bounds,
// least being 0 or 1: its ends are at most 2^50, as the totals themselves are.
func declaredTotal(p estimator.Params, least int64) interval {
	lo, hi := *p.Lower, *p.Upper
	return interval{min(least*lo, scalar.Times(lo, p.MaxRows)), max(least*hi, scalar.Times(hi, p.MaxRows))}
}

func (sum) Columns() []estimator.Kind { return []estimator.Kind{estimator.Rows, estimator.Sum} }
func (s sum) Loss() privacy.Loss      { return scalar.LossOf(s.p) }

// declared reports whether the clip is declared.
func (s sum) declared() bool { return s.bound != interval{} }

// MinPersons implements estimator.Estimator.
func (s sum) MinPersons() int64 {
	if s.declared() {
		return 0
	}
	return max(s.persons.Enough(), 2*s.radius.Persons())
}

// ExpectedError implements estimator.Estimator: it is known when the bounds are declared.
func (s sum) ExpectedError() (float64, bool) {
	if !s.declared() {
		return 0, false
	}
	return scalar.Scale(s.p.Grid, s.noise(s.bound).Sigma()), true
}

// Bias implements estimator.Biased.
func (s sum) Bias() string {
	if s.declared() {
		return ""
	}
	return "the clip of persons' sums"
}

// Steps implements estimator.Estimator.
func (s sum) Steps() []estimator.Step {
	step := estimator.Step{Name: "sum", Sensitivity: "l2=clip"}
	if s.declared() {
		step.Sensitivity = fmt.Sprintf("l2=%v", scalar.Scale(s.p.Grid, float64(s.bound.moves(s.p.Relation))))
		return []estimator.Step{s.noise(s.bound).Step(step)}
	}
	if s.sign.clip(1).moves(s.p.Relation) > 1 {
		step.Sensitivity = "l2=2*clip"
	}
	return append(s.persons.Steps(), s.radius.Step("clip"), s.noise(s.sign.clip(1)).Step(step))
}

// noise is that of the sum of numbers of an interval.
func (s sum) noise(clip interval) scalar.Noise {
	return scalar.Single(s.p, clip.moves(s.p.Relation), s.share)
}

// Release implements estimator.Estimator.
func (s sum) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	rows, totals := in.Columns[0], in.Columns[1]
	clip := s.bound
	if !s.declared() {
		count := s.persons.Release(n, scalar.Present(rows))
		if count < float64(s.MinPersons()) {
			return scalar.TooFew(1, s.MinPersons())
		}
		radius, seen := s.radius.Choose(n, histogram(rows, totals))
		if !seen {
			return scalar.TooFew(1, scalar.Twice(count))
		}
		clip = s.sign.clip(radius)
	}
	var acc scalar.Sum
	for i, m := range rows {
		if m > 0 {
			acc.Add(clip.of(totals[i]))
		}
	}
	hidden := s.noise(clip)
	return scalar.Hidden(scalar.Scale(s.p.Grid, hidden.Of(n, acc)), hidden, scalar.Scale(s.p.Grid, 1))
}

// histogram counts the persons by the size of their total.
func histogram(rows, totals []int64) *scalar.Histogram {
	h := new(scalar.Histogram)
	for i, m := range rows {
		if m > 0 {
			t := min(max(totals[i], -estimator.MaxUnits), estimator.MaxUnits)
			h.Add(uint64(max(t, -t)))
		}
	}
	return h
}
