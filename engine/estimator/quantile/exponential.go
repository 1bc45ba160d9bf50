package quantile

import (
	"fmt"
	"math"
	"slices"

	"scrim/accounting"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/exponential"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// chosen is quantiles by the exponential mechanism on the same axis (Options.Exponential).
//
// Up to two quantiles are chosen independently, at 0.92ρ/m each [S11]; three or more by the recursion of [KSS22], at
// 0.92ρ for the ⌊log2 m⌋+1 levels together. Its parts are told apart inside frequent values by secret random bits
// (exponential.Many), so that 0.9 of a column that is 92 % zeros is zero here also. The rest of ρ goes to the number of
// values; all of ρ goes to the choices where that is public: Params.Sized, with one value a person.
//
// The sensitivities of both neighbour relations are those of exponential.NewQuantile and exponential.NewMany. Every choice adds
// exponential.Slack to the loss's DeltaTV.
type chosen struct {
	quantiles
	count   scalar.Persons
	single  []exponential.Quantile
	many    *exponential.Many
	cells   uint64
	draws   int
	minimum int64
}

// singly is the largest number of quantiles that are chosen independently.
const singly = 2

// newChosen completes checked quantiles of at most perUnit values a person.
func newChosen(q quantiles, perUnit int64) chosen {
	_, hi := scalar.Range(q.p)
	e := chosen{quantiles: q, cells: uint64(q.axis.Cell(hi)) + 1, draws: len(q.fractions)}
	shares := scalar.Split(q.p.Rho, 0.08, 0.92)
	rho := shares[1]
	if e.sized() {
		rho = q.p.Rho * (1 - 1e-12)
	} else {
		e.count = scalar.NewCount(shares[0], perUnit)
		e.minimum = e.count.Enough()
	}
	if len(q.fractions) > singly {
		pairs := make([][2]int64, len(q.fractions))
		for i, f := range q.fractions {
			pairs[i] = [2]int64{f.Num, f.Den}
		}
		e.many = exponential.NewMany(pairs, e.cells, perUnit, rho, q.p.Relation)
		e.draws = e.many.Draws()
		e.minimum = max(e.minimum, e.many.Persons())
		return e
	}
	for _, f := range q.fractions {
		share := rho / float64(len(q.fractions)) * (1 - 1e-12)
		c := exponential.NewQuantile(f.Num, f.Den, perUnit, share, q.p.Relation)
		e.single = append(e.single, c)
		e.minimum = max(e.minimum, c.Persons(float64(e.cells)))
	}
	return e
}

// Loss implements estimator.Estimator.
func (e chosen) Loss() accounting.Loss {
	l := scalar.Loss(e.p.Rho)
	l.DeltaTV = float64(e.draws) * exponential.Slack
	return l
}

// sized reports whether the number of values is public.
func (e chosen) sized() bool { return e.p.Sized && !e.o.Rows }

func (e chosen) MinPersons() int64 { return e.minimum }

// RankError returns, for each fraction, the number of values by which the rank of the answer is off at most
// with probability 95 %.
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
		return append(steps, e.many.Steps("quantiles")...)
	}
	for i, c := range e.single {
		steps = append(steps, c.Step(fmt.Sprintf("quantile %v", e.fractions[i].Float()), 1))
	}
	return steps
}

// Release implements estimator.Estimator.
func (e chosen) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	cells := e.quantiles.cells(in)
	count := float64(len(cells))
	if !e.sized() {
		count = e.count.Release(n, int64(len(cells)))
	}
	if count < float64(e.minimum) {
		return scalar.TooFew(len(e.fractions), e.minimum)
	}
	out := estimator.Estimate{}
	for _, cell := range e.search(n, cells) {
		out.Values = append(out.Values, scalar.Finite(scalar.Scale(e.p.Grid, float64(e.axis.Value(cell)))))
		out.StdErr = append(out.StdErr, math.NaN())
	}
	e.order(out.Values)
	return out
}

// search returns the cell of each quantile. It reorders cells.
func (e chosen) search(n noise.Noiser, cells []uint32) []uint32 {
	if e.many != nil {
		return e.many.Search(n, cells)
	}
	slices.Sort(cells)
	out := make([]uint32, len(e.single))
	for i := range e.single {
		out[i] = e.single[i].Choose(n, cells, e.cells)
	}
	return out
}
