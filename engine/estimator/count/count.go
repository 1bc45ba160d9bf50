// Package count holds the private counts: of persons and of rows.
//
// Both neighbour relations are covered: a count of persons moves by one under either, and each
// estimator says what else changes. All have a pure form (estimator.Params.Epsilon), with Laplace
// noise.
package count

import (
	"fmt"
	"slices"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/clipping"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/internal/sized"
	"scrim/engine/estimator/noise"
)

// maxRadius is the largest number of rows of one person that a private bound can reach.
const maxRadius = 1 << 20

// rows counts rows, each person's number clipped at a bound.
type rows struct {
	p     estimator.Params
	clamp bool
	// least number of rows of a person in the group: 1 when all persons are in it
	least  int64
	bound  int64          // declared bound, 0 when it is searched for
	search clipping.Twice // when bound = 0
	finer  clipping.Finer // the same
	sum    float64        // loss of the sum, of finer counts too
	rest   float64        // that of the sum after finer counts
}

// NewRows returns the private number of rows. Columns: Rows. clamp shows a negative answer as 0.
//
// A person's number of rows is clipped at a bound C, and the answer is Σ min(mᵢ, C) + N_Z(0,
// ⌈Δ²/(2ρ₃)⌉), which costs ρ₃ [CKS20, Theorem 14]. Each term is in [0, C], so Δ = C both for a
// person who comes or goes and for one exchanged. With p.Sized each person has a row, the term is
// in [1, C], and Δ = C−1.
//
//	p.MaxRows = M > 0   C = M, ρ₃ = ρ; with p.Sized and M = 1 the number of rows is that of persons: exact, at no loss
//	p.MaxRows = 0       C from a noisy histogram of mᵢ (package clipping, ρ₂ = 0.35ρ), ρ₃ = 0.65ρ
//
// The histogram is released with 0.15ρ, and with 0.2ρ again where it shows few persons
// (clipping.Twice); where it shows many, ρ₃ = 0.85ρ. Where many persons stand out about C a part of
// ρ₃, 0.06ρ, is for counts by eighths of an octave (clipping.Finer), and the rest for the sum.
//
// Pure: Lap_Z(Δ/ε₃) on the sum, and Laplace noise on the histogram; the same shares, of ε.
//
// The declared bound is enforced here as well: a person who breaks it counts M. Without a declared
// bound what persons have beyond C is estimated from the histogram and added, and the interval
// allows for what it may be. When no number of rows stands out from the histogram's noise it is
// about 0 of many persons without a row (clipping.Zeros), otherwise TooFew, as when what does says
// next to nothing of the whole.
func NewRows(p estimator.Params, clamp bool) (estimator.Estimator, error) {
	if err := scalar.CheckPure(p, false); err != nil {
		return nil, err
	}
	if p.MaxRows > estimator.MaxUnits {
		return nil, fmt.Errorf("count: want max rows <= 2^50, have %d", p.MaxRows)
	}
	if p.Sized && p.MaxRows == 1 {
		return public{}, nil
	}
	r := rows{p: p, clamp: clamp, bound: p.MaxRows, sum: p.Loss()}
	if p.Sized {
		r.least = 1
	}
	if r.bound == 0 {
		finer, sum := clipping.Rest(p)
		r.search, r.finer = clipping.NewTwice(p, 0, maxRadius), clipping.NewFiner(p, finer)
		r.sum, r.rest = finer+sum, sum
	}
	return r, nil
}

func (rows) Columns() []estimator.Kind { return []estimator.Kind{estimator.Rows} }
func (r rows) Loss() privacy.Loss      { return scalar.LossOf(r.p) }

// MinPersons implements estimator.Estimator.
func (r rows) MinPersons() int64 {
	if r.bound > 0 {
		return 0
	}
	return r.search.Persons()
}

// Exchange implements estimator.Exchanging: a term is in [0, C] on both sides, and one bucket loses
// a person, another gains one.
func (r rows) Exchange() float64 {
	if r.bound > 0 {
		return 1
	}
	return r.search.Exchange(1)
}

// ExpectedError implements estimator.Estimator: it is known when the bound is declared.
func (r rows) ExpectedError() (float64, bool) {
	if r.bound == 0 {
		return 0, false
	}
	return r.noise(r.bound).Sigma(), true
}

// RelativeError implements estimator.Relative.
func (r rows) RelativeError() (float64, string, bool) {
	if r.finer.Ready() {
		r = r.after()
	}
	const far = 1 << 20 // where the rounding of noise does not matter
	return r.noise(far+r.least).Sigma() / far, r.moved(), r.bound == 0
}

// moved is what one person moves the sum by, in words.
func (r rows) moved() string {
	if r.least > 0 {
		return "(clip-1)"
	}
	return "clip"
}

// AllowsForBias implements estimator.Allowing.
func (rows) AllowsForBias() bool { return true }

// Bias implements estimator.Biased.
func (r rows) Bias() string {
	if r.bound > 0 {
		return ""
	}
	return "rows of persons beyond the bound on the rows of one person"
}

// Steps implements estimator.Estimator.
func (r rows) Steps() []estimator.Step {
	sum := estimator.Step{Name: "number of rows", Sensitivity: "l2=clip"}
	if r.least > 0 {
		sum.Sensitivity = "l2=clip-1"
	}
	if r.bound > 0 {
		sum.Sensitivity = fmt.Sprintf("l2=%d", r.bound-r.least)
		return []estimator.Step{r.noise(r.bound).Step(sum)}
	}
	steps := r.search.Steps("rows of one person")
	if !r.finer.Ready() {
		return append(steps, r.noise(1).Step(sum))
	}
	return append(steps, r.finer.Step("rows of one person, finer"), r.after().noise(1).Step(sum))
}

// after is the estimator after finer counts, which have a part of the sum's loss.
func (r rows) after() rows {
	r.sum = r.rest
	return r
}

// noise is that of the sum with each person's number within a bound.
func (r rows) noise(bound int64) scalar.Noise { return scalar.Single(r.p, bound-r.least, r.sum) }

// spread returns the standard deviation of the noise of the sum by interval, but for its rounding
// up to a lattice.
func (r rows) spread() func(_, bound int64) float64 {
	unit := r.noise(r.least+maxRadius).Sigma() / maxRadius
	return func(_, bound int64) float64 { return unit * float64(bound-r.least) }
}

// Release implements estimator.Estimator.
func (r rows) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = sized.Columns(r.p, r.Columns(), in)
	if r.bound == 0 {
		return r.searched(n, in.Columns[0], in.Groups)
	}
	hidden := r.noise(r.bound)
	return r.shown(scalar.Hidden(hidden.Of(n, r.clipped(in.Columns[0], r.bound)), hidden, 1))
}

// searched answers where no bound is declared.
func (r rows) searched(n noise.Noiser, of []int64, groups int) estimator.Estimate {
	var h clipping.Histogram
	for _, m := range of {
		h.Add(m)
	}
	counts, spared := r.search.Release(n, &h, groups)
	r.sum, r.rest = r.sum+spared, r.rest+spared
	choice, ok := counts.Choose(r.spread(), 1)
	if !ok {
		zeros := clipping.Zeros{P: r.p, Share: r.sum, Sign: 1, Limit: maxRadius}
		return r.shown(zeros.Answer(n, nil, of, 1, 2*r.search.Persons()))
	}
	if sigma := r.spread()(0, r.least+1); r.finer.Wanted(choice, sigma) {
		r = r.after()
		choice = r.finer.Release(n, choice, slices.Values(of), r.spread()(0, r.least+1), 1)
	}
	hidden := r.noise(choice.High)
	return r.shown(choice.Answer(hidden.Of(n, r.clipped(of, choice.High)), hidden, func(x float64) float64 { return x }))
}

// clipped adds up the numbers of rows, each within [least, bound].
func (r rows) clipped(of []int64, bound int64) scalar.Sum {
	var sum scalar.Sum
	for _, m := range of {
		sum.Add(min(max(m, r.least), bound))
	}
	return sum
}

// shown brings a negative answer to 0 where that is wanted.
func (r rows) shown(e estimator.Estimate) estimator.Estimate {
	if r.clamp && e.Values[0] < 0 {
		e.Error.Raw = []float64{e.Values[0]}
		e.Values[0] = 0
	}
	return e
}

// units counts persons: n with noise for sensitivity 1.
type units struct {
	p     estimator.Params
	noise scalar.Noise
	clamp bool
}

// NewUnits returns the private number of persons with at least one row. Columns: Rows. clamp shows
// a negative answer as 0.
//
// The answer is n + N_Z(0,σ²), σ² = ⌈1/(2ρ)⌉: adding or removing one person changes n by one, and
// so does an exchange at most, so the loss is ρ under both relations [CKS20, Theorem 14]. Pure: n +
// Lap_Z(1/ε), ε under both. With p.Sized n is public: the answer is n, at no loss, since a public
// number told once more tells nothing. It always answers. p.Grid, the bounds and p.MaxRows are not
// used.
func NewUnits(p estimator.Params, clamp bool) (estimator.Estimator, error) {
	if err := scalar.CheckPure(p, false); err != nil {
		return nil, err
	}
	if p.Sized {
		return public{}, nil
	}
	return units{p, scalar.Single(p, 1, p.Loss()), clamp}, nil
}

func (units) Columns() []estimator.Kind        { return []estimator.Kind{estimator.Rows} }
func (u units) Loss() privacy.Loss             { return scalar.LossOf(u.p) }
func (units) MinPersons() int64                { return 0 }
func (units) Exchange() float64                { return 1 } // estimator.Exchanging: as in NewUnits
func (u units) ExpectedError() (float64, bool) { return u.noise.Sigma(), true }
func (u units) Steps() []estimator.Step {
	return []estimator.Step{u.noise.Step(estimator.Step{Name: "number of persons", Sensitivity: "l2=1"})}
}

// NoiseAlone implements estimator.NoiseAlone: there is one draw.
func (units) NoiseAlone() bool { return true }

// Release implements estimator.Estimator.
func (u units) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	v := u.noise.Add(n, scalar.Present(in.Columns[0]))
	if u.clamp {
		v = max(v, 0)
	}
	return scalar.Hidden(float64(v), u.noise, 1)
}

// public is the number of persons where it is public. It reads no entry of the input, so that
// neither who is missing there nor who has no row shows, against the promise that there is nobody
// like that.
type public struct{}

func (public) Columns() []estimator.Kind      { return []estimator.Kind{estimator.Rows} }
func (public) Loss() privacy.Loss             { return privacy.Loss{} }
func (public) MinPersons() int64              { return 0 }
func (public) ExpectedError() (float64, bool) { return 0, true }
func (public) Steps() []estimator.Step {
	return []estimator.Step{{Name: "number of persons", Mechanism: estimator.Public, Sensitivity: "l2=0", Queries: 1}}
}

// Release implements estimator.Estimator.
func (public) Release(_ noise.Noiser, in estimator.Input) estimator.Estimate {
	return scalar.Hidden(float64(in.Persons), scalar.Noise{}, 1)
}

// Events implements estimator.Itemised.
func (r rows) Events() []privacy.Event { return estimator.StepEvents(r) }

// NoiseAlone implements estimator.NoiseAlone: both histograms and the sum are counts with noise.
func (rows) NoiseAlone() bool { return true }
