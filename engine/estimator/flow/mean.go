package flow

import (
	"errors"
	"math"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// ofResults is the estimator of a mean over results.
type ofResults struct {
	p          estimator.Params
	sum, count release
	shift      int64
}

// Shift is what is subtracted from the value of each result before a mean adds them up, in grid
// steps: the least value where it is known, so that none is negative.
func Shift(p estimator.Params) int64 {
	if p.Bounded() || p.Grid.Lo >= 0 {
		return p.Grid.Lo
	}
	return 0
}

// roundings is more than what two losses that are rounded up in the account's units are rounded by.
const roundings = 4e-12

// NewMean returns the private mean of a value over the results of pairs, of the shapes Two and
// Self. Columns: Pair, with Weights, the sum of the values less Shift, and Counts, of the results
// that have a value.
//
//	Shift + Q_sum(τ)/Q_count(τ′), each with noise of its own, brought into the grid's range
//
// They are two releases as New has them, of one half of the loss each, with a cap and a flow of its
// own: a sum that were read off the flow of the number could move by any amount. Relation, NaN,
// ties and persons with all results are as there. TooFew where the number is not clear of its
// noise, or what is missing outweighs either. What the caps take away of sum and number partly
// makes up for each other in the quotient, so that neither end of an interval is certain: the upper
// one allows for what is missing of the sum, the lower one for what is missing of the number.
//
// Source: docs/proofs/flow.md.
func NewMean(p estimator.Params, s Shape) (estimator.Estimator, error) {
	if s != Two && s != Self {
		return nil, errors.New("flow: want a mean of results of two persons")
	}
	m := ofResults{p: p, shift: Shift(p)}
	half := scalar.Split(p.Loss()-roundings, 1, 1)
	part := func(loss float64, o Options) (release, error) {
		q := p
		if q.Pure() {
			q.Epsilon = loss
		} else {
			q.Rho = loss
		}
		q.Lower, q.Upper, q.MaxRows = nil, nil, 0
		q.Grid.Lo, q.Grid.Hi = 0, estimator.MaxUnits // of what is shifted
		e, err := New(q, o)
		if err != nil {
			return release{}, err
		}
		return e.(release), nil
	}
	if err := scalar.CheckPure(p, true); err != nil {
		return nil, err
	}
	var err error
	if m.sum, err = part(half[0], Options{Shape: s, Sum: true, Signed: m.shift == 0 && p.Grid.Lo < 0}); err != nil {
		return nil, err
	}
	m.sum.quotient, m.sum.ofMean = true, true
	m.count, err = part(half[1], Options{Shape: s})
	m.count.ofMean = true
	return m, err
}

// Columns implements estimator.Estimator.
func (ofResults) Columns() []estimator.Kind { return []estimator.Kind{estimator.Pair} }

// Loss implements estimator.Estimator: it is that of a person of either entity.
func (m ofResults) Loss() privacy.Loss {
	return scalar.LossOf(m.p)
}

// Events implements estimator.Itemised.
func (m ofResults) Events() []privacy.Event { return estimator.StepEvents(m) }

// MinPersons implements estimator.Estimator.
func (m ofResults) MinPersons() int64 { return m.count.MinPersons() }

// ExpectedError implements estimator.Estimator: it depends on the number that is released.
func (ofResults) ExpectedError() (float64, bool) { return 0, false }

// Bias implements estimator.Biased.
func (m ofResults) Bias() string { return m.count.Bias() }

// AllowsForBias implements estimator.Allowing.
func (ofResults) AllowsForBias() bool { return true }

// Steps implements estimator.Estimator.
func (m ofResults) Steps() []estimator.Step {
	steps := m.sum.Steps()
	for i := range steps {
		if last := len(steps) - 1; i < last {
			steps[i].Name += ", of the sum"
		}
	}
	return append(steps, m.count.Steps()...)
}

// Release implements estimator.Estimator. It panics with the error of in.Pairs.Context where that
// has ended.
func (m ofResults) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	var sums, counts estimator.Pairs
	if in.Pairs != nil {
		sums, counts = *in.Pairs, *in.Pairs
		counts.Weights = in.Pairs.Counts
	}
	sum := m.sum.Release(n, estimator.Input{Pairs: &sums})
	count := m.count.Release(n, estimator.Input{Pairs: &counts})
	if sum.Status != estimator.OK || count.Status != estimator.OK {
		return scalar.TooFew(1, scalar.Twice(float64(m.MinPersons())))
	}
	return m.told(sum, count)
}

// told is the mean by its two releases. The number is above its noise.
func (m ofResults) told(sum, count estimator.Estimate) estimator.Estimate {
	c := count.Values[0]
	ratio := sum.Values[0] / c
	grid := func(k int64) float64 { return scalar.Scale(m.p.Grid, float64(k)) }
	centre := grid(m.shift)
	raw := centre + ratio
	v := min(max(raw, grid(m.p.Grid.Lo)), grid(m.p.Grid.Hi))
	x := estimator.Error{
		Law:    sum.Error.Law,
		Noise:  []float64{sum.Error.Noise[0] / c},
		Under:  []float64{count.Error.Noise[0] / c},
		Centre: []float64{centre},
		Cut:    []estimator.Cut{m.missing(sum.Error.Cut[0], count.Error.Cut[0], c, ratio)},
	}
	if v != raw {
		x.Raw = []float64{raw}
	}
	return scalar.Ratio(v, math.Hypot(sum.StdErr[0], ratio*count.StdErr[0])/c, x)
}

// missing is what the caps take away from a mean: more of the sum would raise it, more results
// would bring it towards the shift. With both signs either end has both; each then holds with a
// third of the risk at most.
func (m ofResults) missing(sum, count estimator.Cut, c, ratio float64) estimator.Cut {
	scaled := func(parts []estimator.CutPart, f float64) []estimator.CutPart {
		out := make([]estimator.CutPart, len(parts))
		for i, p := range parts {
			out[i] = estimator.CutPart{Weight: p.Weight, Mean: p.Mean, StdDev: p.StdDev * f}
			if !math.IsInf(p.Mean, 1) { // nothing is known of it, whatever the factor
				out[i].Mean *= f
			}
		}
		return out
	}
	up, down := scaled(sum.Up, 1/c), scaled(count.Up, math.Abs(ratio)/c)
	if !m.sum.o.Signed {
		return estimator.Cut{Up: up, Down: down}
	}
	const later = 3 // risks fall by half or more in so many steps
	both := make([]estimator.CutPart, min(len(up), len(down)))
	for i := range both {
		j := min(i+later, len(both)-1)
		both[i] = estimator.CutPart{Weight: up[i].Weight, Mean: up[j].Mean + down[j].Mean}
	}
	return estimator.Cut{Up: both, Down: both}
}
