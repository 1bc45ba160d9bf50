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

// chosen is quantiles by the exponential mechanism.
//
// Up to two quantiles are chosen independently, at 0.92ρ/m each [S11]; three or more by the
// recursion of [KSS22], at 0.92ρ for the ⌊log2 m⌋+1 levels together. Its parts are told apart
// inside frequent values by secret random bits (exponential.Many), so that 0.9 of a column that is
// 92 % zeros is zero here also. The rest of ρ goes to the number of values; all of ρ goes to the
// choices where that is public: Params.Sized, with one value a person.
//
// Pure: the same shares of ε; the choices are ε-DP without slack (exponential.NewPureQuantile,
// NewPureMany), the number of values has Laplace noise. What is spent on the choices is
// bounded-range in each level, so ε_k²/8 each of zCDP.
//
// With Options.Interval a fifth of the loss goes to noisy ranks around the answers, in equal parts
// (scalar.Ladder), and the choices have the rest of their share.
//
// The sensitivities of both neighbour relations are those of exponential.NewQuantile and
// exponential.NewMany.
type chosen struct {
	quantiles
	count   scalar.Persons
	single  []exponential.Quantile
	many    *exponential.Many
	cells   uint64
	minimum int64
	loss    privacy.Loss
	ladders []scalar.Ladder // with Options.Interval: one a fraction
}

// intervalShare is the share of the loss that an interval takes.
const intervalShare = 0.2

// singly is the largest number of quantiles that are chosen independently.
const singly = 2

// newChosen completes checked quantiles of at most perUnit values a person. It returns an error
// where a pure loss is too small.
func newChosen(q quantiles, perUnit int64) (estimator.Estimator, error) {
	_, hi := scalar.Range(q.p)
	e := chosen{quantiles: q, cells: uint64(q.axis.Cell(hi)) + 1}
	count, share := 0.08, 0.92
	if e.sized() {
		count, share = 0, 1
	}
	ranks := 0.0
	if q.o.Interval {
		ranks = intervalShare
	}
	shares := scalar.Split(q.p.Loss(), count, share*(1-ranks), share*ranks)
	if count, share, ranks = shares[0], shares[1], shares[2]; count > 0 {
		e.count = scalar.CountOf(q.p, count, perUnit)
		e.minimum = e.count.Enough()
	}
	if ranks > 0 {
		for _, f := range q.fractions {
			e.ladders = append(e.ladders, scalar.NewLadder(q.p, q.axis, f.Num, f.Den, perUnit, ranks/float64(len(q.fractions))*(1-1e-12)))
		}
	}
	var err error
	if len(q.fractions) > singly {
		err = e.chooseMany(perUnit, share)
	} else {
		err = e.chooseSingly(perUnit, share)
	}
	if err != nil {
		return nil, err
	}
	e.loss = e.total(count, share, ranks)
	return e, nil
}

// chooseMany plans the recursion at a loss.
func (e *chosen) chooseMany(perUnit int64, loss float64) (err error) {
	pairs := make([][2]int64, len(e.fractions))
	for i, f := range e.fractions {
		pairs[i] = [2]int64{f.Num, f.Den}
	}
	if e.p.Pure() {
		if e.many, err = exponential.NewPureMany(pairs, e.cells, perUnit, loss, e.p.Relation); err != nil {
			return err
		}
	} else {
		e.many = exponential.NewMany(pairs, e.cells, perUnit, loss, e.p.Relation)
	}
	e.minimum = max(e.minimum, e.many.Persons())
	return nil
}

// chooseSingly plans independent choices at a loss together.
func (e *chosen) chooseSingly(perUnit int64, loss float64) error {
	share := loss / float64(len(e.fractions)) * (1 - 1e-12)
	for _, f := range e.fractions {
		var c exponential.Quantile
		if e.p.Pure() {
			var err error
			if c, err = exponential.NewPureQuantile(f.Num, f.Den, perUnit, share, e.p.Relation); err != nil {
				return err
			}
		} else {
			c = exponential.NewQuantile(f.Num, f.Den, perUnit, share, e.p.Relation)
		}
		e.single = append(e.single, c)
		e.minimum = max(e.minimum, c.Persons(float64(e.cells)))
	}
	return nil
}

// total is the loss of a count, of choices and of ranks at the losses given.
func (e chosen) total(count, choices, ranks float64) privacy.Loss {
	if !e.p.Pure() {
		return scalar.Loss(e.p.Rho)
	}
	l, parts := scalar.LossOf(e.p), len(e.single)
	if e.many != nil {
		parts = e.many.Levels()
	}
	// Each part is (choices/parts)-bounded-range: one choice, or a level, whose choices are
	// independent given those above.
	rho := privacy.BoundedRangeLoss(choices / float64(parts)).Times(parts)
	for _, eps := range []float64{count, ranks} {
		if eps > 0 {
			rho = rho.Add(privacy.PureLoss(eps))
		}
	}
	l.Rho = min(l.Rho, rho.Rho)
	return l
}

// Loss implements estimator.Estimator.
func (e chosen) Loss() privacy.Loss { return e.loss }

// sized reports whether the number of values is public.
func (e chosen) sized() bool { return e.p.Sized && !e.o.Rows }

func (e chosen) MinPersons() int64 { return e.minimum }

// RankError returns, for each fraction, the number of values by which the rank of the answer is off
// at most with probability 95 %.
func (e chosen) RankError() []float64 {
	if e.many != nil {
		return e.many.RankError(0.05)
	}
	out := make([]float64, len(e.single))
	for i, c := range e.single {
		out[i] = c.RankError(float64(e.cells), 0.05)
	}
	return out
}

// Steps implements estimator.Estimator.
func (e chosen) Steps() []estimator.Step {
	var steps []estimator.Step
	if !e.sized() {
		steps = append(steps, e.count.Step())
	}
	if e.many != nil {
		steps = append(steps, e.many.Steps("quantiles")...)
	}
	for i, c := range e.single {
		steps = append(steps, c.Step(fmt.Sprintf("quantile %v", e.fractions[i].Float()), 1))
	}
	for i, l := range e.ladders {
		steps = append(steps, l.Step(fmt.Sprintf("interval of %v", e.fractions[i].Float())))
	}
	return steps
}

// Release implements estimator.Estimator.
func (e chosen) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = sized.Columns(e.p, e.Columns(), in)
	cells := e.quantiles.cells(in)
	defer estimator.Free(in.Memory, cells)
	count := float64(in.Persons)
	if !e.sized() {
		count = e.count.Release(n, int64(len(cells)))
	}
	if count < float64(e.minimum) {
		return scalar.TooFew(len(e.fractions), e.minimum)
	}
	out := estimator.Estimate{}
	found := e.search(n, in.Memory, cells)
	for _, cell := range found {
		out.Values = append(out.Values, scalar.Finite(scalar.Scale(e.p.Grid, float64(e.axis.Value(cell)))))
		out.StdErr = append(out.StdErr, math.NaN())
	}
	e.order(out.Values)
	if e.ladders != nil {
		out.Error = e.around(n, cells, found)
	}
	return out
}

// around releases ranks around the cells that were found.
func (e chosen) around(n noise.Noiser, cells, found []uint32) *estimator.Error {
	x := &estimator.Error{Form: estimator.Quantile}
	for i, l := range e.ladders {
		x.Rounds = max(x.Rounds, l.Rounds())
		x.Ranks = append(x.Ranks, e.told(l.Ranks(n, cells, found[i])))
	}
	return x
}

// search returns the cell of each quantile.
func (e chosen) search(n noise.Noiser, m estimator.Memory, cells []uint32) []uint32 {
	if e.many != nil {
		return e.many.Search(n, m, cells)
	}
	out := make([]uint32, len(e.single))
	for i := range e.single {
		out[i] = e.single[i].Choose(n, m, cells, e.cells)
	}
	return out
}
