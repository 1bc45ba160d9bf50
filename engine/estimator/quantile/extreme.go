package quantile

import (
	"fmt"
	"math"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/exponential"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/internal/sized"
	"scrim/engine/estimator/noise"
)

// extreme is the value that about k persons are beyond.
type extreme struct {
	p       estimator.Params
	top     bool
	axis    scalar.Axis
	cells   uint64
	k       int64
	count   scalar.Persons
	choice  exponential.Quantile
	minimum int64
	loss    privacy.Loss
}

// extremeRounds is the number of halvings of the axis of an extreme: 2^20 cells find whole numbers
// up to 2^13 and others to 1 part in 2^13. Fewer cells bring it nearer to the end: k grows with
// their logarithm.
const extremeRounds = 20

// extremeRisk is the probability with which fewer than none or more than 2k persons are beyond.
const extremeRisk = 0.002

// NewExtreme returns the private maximum (top) or minimum of a value: the one that about k persons
// are beyond, where each person has one value, its own greatest or least. k follows from the loss
// and the grid: it is the rank error that the exponential mechanism stays under on either side with
// probability 99.9 %,
//
//	k = ⌈ln(2·cells/0.002)/rate⌉    rate = √(2ρ), pure ε/2
//
// so that the answer is beyond all values, and says nothing of them, once in 1,000 times. Shifted
// Inverse [FDY22] asks for the same rank error O(log|grid|/ε). Columns: Rows, and Least or
// Greatest.
//
// Sensitivity: see exponential.NewRank. The number of persons has 0.08 of the loss where it is
// private. TooFew under 3k persons, where what is beyond k is no end: StdErr is NaN.
//
// Interval: a cell beyond all values scores k at least, and is chosen once in 1,000 times. So the
// exact end is as far out as the cell's inner end, but for that risk, and not outside declared
// bounds; without them nothing is known of the outer side.
//
// Departs from the paper: the target is a fixed rank and not shifted by a search, and the mechanism
// pays for a range of 2.
func NewExtreme(p estimator.Params, top bool) (estimator.Estimator, error) {
	if err := scalar.CheckPure(p, true); err != nil {
		return nil, err
	}
	lo, hi := scalar.Range(p)
	e := extreme{p: p, top: top, axis: scalar.NewAxis(lo, hi, extremeRounds)}
	e.cells = uint64(e.axis.Cell(hi)) + 1
	count, share := 0.08, 0.92
	if p.Sized {
		count, share = 0, 1
	}
	shares := scalar.Split(p.Loss(), count, share)
	if count, share = shares[0], shares[1]; count > 0 {
		e.count = scalar.CountOf(p, count, 1)
	}
	rate := math.Sqrt(2 * share)
	if p.Pure() {
		rate = share / 2
	}
	e.k = int64(math.Ceil(min(math.Log(2*float64(e.cells)/extremeRisk)/rate, 1<<40)))
	e.loss = scalar.LossOf(p)
	if p.Pure() {
		var err error
		if e.choice, err = exponential.NewPureRank(e.k, share); err != nil {
			return nil, err
		}
		rho := privacy.BoundedRangeLoss(share)
		if count > 0 {
			rho = rho.Add(privacy.PureLoss(count))
		}
		e.loss.Rho = min(e.loss.Rho, rho.Rho)
	} else {
		e.choice = exponential.NewRank(e.k, share)
	}
	e.minimum = max(3*e.k, e.count.Enough())
	return e, nil
}

// Columns implements estimator.Estimator.
func (e extreme) Columns() []estimator.Kind {
	if e.top {
		return []estimator.Kind{estimator.Rows, estimator.Greatest}
	}
	return []estimator.Kind{estimator.Rows, estimator.Least}
}

func (e extreme) Loss() privacy.Loss           { return e.loss }
func (e extreme) MinPersons() int64            { return e.minimum }
func (extreme) ExpectedError() (float64, bool) { return 0, false }
func (e extreme) Events() []privacy.Event      { return estimator.StepEvents(e) }

// Bias implements estimator.Biased.
func (e extreme) Bias() string { return fmt.Sprintf("the values of about %d persons beyond it", e.k) }

// AllowsForBias implements estimator.Allowing.
func (extreme) AllowsForBias() bool { return true }

// Steps implements estimator.Estimator.
func (e extreme) Steps() []estimator.Step {
	var steps []estimator.Step
	if !e.p.Sized {
		steps = append(steps, e.count.Step())
	}
	side := "below"
	if e.top {
		side = "above"
	}
	return append(steps, e.choice.Step(fmt.Sprintf("value that %d persons are %s", e.k, side), 1))
}

// Release implements estimator.Estimator.
func (e extreme) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = sized.Columns(e.p, e.Columns(), in)
	cells := estimator.Make[uint32](in.Memory, len(in.Columns[0]))[:0]
	defer estimator.Free(in.Memory, cells)
	for i, m := range in.Columns[0] {
		if m > 0 {
			cells = append(cells, e.mirrored(e.axis.Cell(in.Columns[1][i])))
		}
	}
	count := float64(in.Persons)
	if !e.p.Sized {
		count = e.count.Release(n, int64(len(cells)))
	}
	if count < float64(e.minimum) {
		return scalar.TooFew(1, e.minimum)
	}
	cell := e.mirrored(e.choice.Choose(n, in.Memory, cells, e.cells))
	out := scalar.One(scalar.Scale(e.p.Grid, float64(e.axis.Value(cell))), math.NaN())
	lo, hi := e.axis.Ends(cell)
	from, to := scalar.Range(e.p)
	inner, outer := estimator.Rank{At: lo, Z: -math.Sqrt2 * math.Erfcinv(extremeRisk)}, estimator.Rank{At: float64(to), Z: math.Inf(1)}
	if !e.top {
		inner, outer = estimator.Rank{At: hi, Z: -inner.Z}, estimator.Rank{At: float64(from), Z: math.Inf(-1)}
	}
	ranks := []estimator.Rank{inner}
	if e.p.Bounded() {
		ranks = append(ranks, outer)
	}
	for i := range ranks {
		ranks[i].At = scalar.Scale(e.p.Grid, ranks[i].At)
	}
	out.Error = &estimator.Error{Form: estimator.Quantile, Ranks: [][]estimator.Rank{ranks}, Beyond: float64(e.k), BeyondAtMost: float64(2 * e.k)}
	return out
}

// mirrored counts cells from the end that is asked for.
func (e extreme) mirrored(cell uint32) uint32 {
	if e.top {
		return uint32(e.cells-1) - cell
	}
	return cell
}
