package mean

import (
	"fmt"
	"iter"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/clipping"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// sum adds the persons' totals, each clipped to an interval that holds 0.
type sum struct {
	p      estimator.Params
	sign   interval       // of a total's public range
	bound  interval       // the clip when declared
	search clipping.Twice // when the clip is searched for
	finer  clipping.Finer // the same
	share  float64        // loss of the sum itself, of finer counts too
	rest   float64        // that of the sum after finer counts
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
//	                                         With p.Sized n times the mean of the totals: see totals
//	otherwise                                a and b from a noisy histogram of tᵢ (package clipping, ρ₂ = 0.35ρ), ρ₃ = 0.65ρ.
//	                                         Where no total stands out from the histogram's noise it is 0 of many persons with a total
//	                                         of 0 (clipping.Zeros), otherwise TooFew, as when what does says next to nothing of the whole
//
// Where values may be on one side only, the histogram is released with 0.15ρ, and with 0.2ρ again
// where it shows few persons (clipping.Twice); where it shows many, ρ₃ = 0.85ρ. Where many stand
// out about the clip there, a part of ρ₃, 0.06ρ, is for counts by eighths of an octave
// (clipping.Finer), and the rest for the sum.
//
// Pure: Lap_Z(Δ/ε₃) in place of Gaussian noise, the histogram with Laplace noise; the same shares,
// of ε.
//
// The declared interval is enforced: a person who breaks the promise is clipped. Without it what
// persons have beyond C is estimated from the histogram and added, and the interval allows for what
// it may be.
//
// Under add-remove a = −b, as the noise is that of max(−a, b), but where the public range has one
// sign. Under replace-one each end is chosen.
func NewSum(p estimator.Params) (estimator.Estimator, error) {
	if err := scalar.CheckPure(p, true); err != nil {
		return nil, err
	}
	switch {
	case p.Sized && p.Bounded() && p.MaxRows > 0:
		return newTotals(p), nil
	case p.Bounded() && p.MaxRows > 0:
		return sum{p: p, bound: declaredTotal(p, 0), share: p.Loss()}, nil
	}
	lo, hi := scalar.Range(p)
	finer, rest := clipping.Rest(p)
	ends := interval{lo, hi}.clip(estimator.MaxUnits)
	s := sum{p: p, sign: interval{lo, hi}, share: finer + rest, rest: rest, search: clipping.NewTwice(p, ends.lo, ends.hi)}
	if lo >= 0 || hi <= 0 {
		s.finer = clipping.NewFiner(p, finer)
	}
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

// Exchange implements estimator.Exchanging: a clipped total moves by the length of its interval.
func (s sum) Exchange() float64 {
	clip := s.bound
	if !s.declared() {
		clip = s.sign.clip(1)
	}
	ratio := float64(clip.moves(estimator.ReplaceOne)) / float64(max(1, clip.moves(estimator.AddRemove)))
	if s.declared() {
		return ratio * ratio
	}
	return s.search.Exchange(ratio * ratio)
}

// declared reports whether the clip is declared.
func (s sum) declared() bool { return s.bound != interval{} }

// MinPersons implements estimator.Estimator.
func (s sum) MinPersons() int64 {
	if s.declared() {
		return 0
	}
	return s.search.Persons()
}

// ExpectedError implements estimator.Estimator: it is known when the bounds are declared.
func (s sum) ExpectedError() (float64, bool) {
	if !s.declared() {
		return 0, false
	}
	return scalar.Scale(s.p.Grid, s.noise(s.bound).Sigma()), true
}

// RelativeError implements estimator.Relative.
func (s sum) RelativeError() (float64, string, bool) {
	if s.declared() {
		return 0, "", false
	}
	if s.finer.Ready() {
		s = s.after()
	}
	clip, of := s.sign.clip(far), "clip"
	moves := clip.moves(s.p.Relation)
	if moves > far {
		of = "length(clip)"
	}
	return s.noise(clip).Sigma() / float64(moves), of, true
}

// AllowsForBias implements estimator.Allowing.
func (sum) AllowsForBias() bool { return true }

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
		step.Sensitivity = lengthOfClip
	}
	steps := s.search.Steps("clip")
	if !s.finer.Ready() {
		return append(steps, s.noise(s.sign.clip(1)).Step(step))
	}
	return append(steps, s.finer.Step("clip, finer"), s.after().noise(s.sign.clip(1)).Step(step))
}

// after is the estimator after finer counts, which have a part of the sum's loss.
func (s sum) after() sum {
	s.share = s.rest
	return s
}

// noise is that of the sum of numbers of an interval.
func (s sum) noise(clip interval) scalar.Noise {
	return scalar.Single(s.p, clip.moves(s.p.Relation), s.share)
}

// spread returns the standard deviation of the noise of the sum by interval, both in steps, but for
// its rounding up to a lattice.
func (s sum) spread() func(low, high int64) float64 {
	unit := s.noise(interval{0, far}).Sigma() / far
	return func(low, high int64) float64 {
		return unit * float64(interval{-low, high}.moves(s.p.Relation))
	}
}

// far is a clip at which the rounding of noise to a lattice does not matter.
const far = 1 << 20

// Release implements estimator.Estimator.
func (s sum) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	rows, totals := in.Columns[0], in.Columns[1]
	if s.declared() {
		hidden := s.noise(s.bound)
		return scalar.Hidden(scalar.Scale(s.p.Grid, hidden.Of(n, clipped(rows, totals, s.bound))), hidden, scalar.Scale(s.p.Grid, 1))
	}
	scale := func(steps float64) float64 { return scalar.Scale(s.p.Grid, steps) }
	counts, spared := s.search.Release(n, histogram(rows, totals), in.Groups)
	s.share, s.rest = s.share+spared, s.rest+spared
	choice, ok := counts.Choose(s.spread(), scale(1))
	if !ok {
		return s.zeros().Answer(n, rows, totals, scale(1), 2*s.search.Persons())
	}
	if s.finer.Ready() && s.finer.Wanted(choice, s.spread()(0, 1)) {
		s = s.after()
		choice = s.finer.Release(n, choice, present(rows, totals), s.spread()(0, 1), scale(1))
	}
	clip := interval{-choice.Low, choice.High}
	hidden := s.noise(clip)
	return choice.Answer(hidden.Of(n, clipped(rows, totals, clip)), hidden, scale)
}

// zeros answers where no total stands out.
func (s sum) zeros() clipping.Zeros {
	z := clipping.Zeros{P: s.p, Share: s.share, Limit: estimator.MaxUnits}
	if clip := s.sign.clip(1); clip.lo == 0 || clip.hi == 0 {
		z.Sign = clip.lo + clip.hi
	}
	if s.p.MaxRows > 0 {
		z.Limit = scalar.Times(min(max(-s.sign.lo, s.sign.hi), estimator.MaxUnits), s.p.MaxRows)
	}
	return z
}

// clipped adds up the totals of those who have rows, each brought into the interval.
func clipped(rows, totals []int64, clip interval) scalar.Sum {
	var sum scalar.Sum
	for i, m := range rows {
		if m > 0 {
			sum.Add(clip.of(totals[i]))
		}
	}
	return sum
}

// histogram counts the persons by their total.
func histogram(rows, totals []int64) *clipping.Histogram {
	h := new(clipping.Histogram)
	for t := range present(rows, totals) {
		h.Add(t)
	}
	return h
}

// present are the totals of those who have rows.
func present(rows, totals []int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i, m := range rows {
			if m > 0 && !yield(min(max(totals[i], -estimator.MaxUnits), estimator.MaxUnits)) {
				return
			}
		}
	}
}

// totals is the sum over rows where the number of persons is public, and so are the range of a
// row's value and the number of a person's rows: n times the mean of the persons' totals.
//
// The totals of 1 to p.MaxRows rows are in an interval that need not hold 0. Clipped about its
// middle their sum moves by its length, which is less than its distance from 0 where the bounds are
// on one side of it. Since n is public, n times the middle is no statistic of the data.
type totals struct{ persons }

func newTotals(p estimator.Params) totals {
	r := declaredTotal(p, 1)
	p.MaxRows, p.Grid.Lo, p.Grid.Hi = 1, r.lo, r.hi // one number a person
	p.Lower, p.Upper = &r.lo, &r.hi
	e := totals{fixedPersons(p)}
	e.centred.Totals, e.declared.Totals = true, true
	return e
}

// ExpectedError implements estimator.Estimator.
func (e totals) ExpectedError() (float64, bool) {
	_, radius := e.declared.Middle()
	return e.centred.Value(e.noise(interval{-radius, radius}).Sigma()), true
}

// Release implements estimator.Estimator.
func (e totals) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	a := e.persons.Release(n, in)
	if a.Status != estimator.OK {
		return a
	}
	return a.Times(float64(in.Persons))
}
