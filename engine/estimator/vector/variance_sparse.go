package vector

import (
	"fmt"
	"math"
	"slices"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// sparseVariance is the variance of sparse vectors from the means of x and of x², each released by
// NewMean at half of the loss: the mean of x² less the square of that of x. Of vectors of 0 and 1,
// whose squares are themselves, the first mean has all of it.
//
// The factor n/(n−1) of a sample is left out: the number of persons is not to hand, and is hundreds
// at least.
//
// A square is brought to a coarser lattice where it would not fit, x² >> shift: a map of one person
// at a time, as squaring is, so the means' sensitivities hold as they stand.
type sparseVariance struct {
	p             Params
	shown         shown
	first, second estimator.Estimator // second nil: x² = x
	shift         uint
	hi            int64 // of a square, shifted
}

func newSparseVariance(p Params, o shown) (estimator.Estimator, error) {
	s := sparseVariance{p: p, shown: o}
	_, hi := scalar.Range(p.Params)
	if hi != 1 && p.MaxRows != 1 {
		return nil, fmt.Errorf("vector: the variance of sparse vectors other than of 0 and 1 wants one row a person")
	}
	b := newBudget(p.Rho)
	x, y := p, p
	if hi == 1 {
		x.Rho = b.rest()
	} else {
		x.Rho, y.Rho = b.take(0.5), b.rest()
	}
	var err error
	if s.first, err = NewMean(x); err != nil || hi == 1 {
		return s, err
	}
	for s.hi = square(hi, s.shift); s.hi > estimator.MaxUnits; s.hi = square(hi, s.shift) {
		s.shift++
	}
	lo := int64(0)
	y.Grid.Lo, y.Grid.Hi, y.Lower, y.Upper = 0, s.hi, nil, nil
	if p.Bounded() {
		y.Lower, y.Upper = &lo, &s.hi
	}
	y.Grid.Decimal, y.Grid.Step = false, 1 // squares are read in steps² · 2^shift
	y.Radius, y.SigmaMin, y.SigmaMax = 0, 0, 0
	s.second, err = NewMean(y)
	return s, err
}

// square returns x²·2^-shift cut toward zero, or more than 2^50 if that is more.
func square(x int64, shift uint) int64 {
	q := math.Ldexp(float64(x)*float64(x), -int(shift)) // a function of x alone, monotone in it
	if q > 2*estimator.MaxUnits {
		return 2 * estimator.MaxUnits
	}
	return int64(q)
}

func (sparseVariance) Columns() []estimator.Kind      { return []estimator.Kind{estimator.Vector} }
func (sparseVariance) ExpectedError() (float64, bool) { return 0, false }

// Loss implements estimator.Estimator.
func (s sparseVariance) Loss() privacy.Loss {
	l := scalar.Loss(s.p.Rho)
	for _, m := range s.means() {
		l.DeltaTV += m.Loss().DeltaTV
	}
	return l
}

func (s sparseVariance) means() []estimator.Estimator {
	if s.second == nil {
		return []estimator.Estimator{s.first}
	}
	return []estimator.Estimator{s.first, s.second}
}

// MinPersons implements estimator.Estimator.
func (s sparseVariance) MinPersons() int64 {
	n := int64(leastPersons)
	for _, m := range s.means() {
		n = max(n, m.MinPersons())
	}
	return n
}

// Steps implements estimator.Estimator.
func (s sparseVariance) Steps() []estimator.Step {
	var steps []estimator.Step
	for i, m := range s.means() {
		for _, step := range m.Steps() {
			step.Name = []string{"mean: ", "mean of squares: "}[i] + step.Name
			steps = append(steps, step)
		}
	}
	return steps
}

// Release implements estimator.Estimator.
func (s sparseVariance) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = s.p.whole(in)
	e := s.first.Release(n, in)
	if e.Status != estimator.OK {
		return scalar.TooFew(s.p.Dim, s.MinPersons())
	}
	step := scalar.Scale(s.p.Grid, 1)
	second := estimator.Estimate{Values: e.Values, StdErr: e.StdErr}
	unit := step
	if s.second != nil {
		second = s.second.Release(n, estimator.Input{Persons: in.Persons, Vectors: s.squared(in.Vectors)})
		if unit = math.Ldexp(step*step, int(s.shift)); second.Status != estimator.OK {
			return scalar.TooFew(s.p.Dim, s.MinPersons())
		}
	}
	return s.answer(e, second, unit, step)
}

// answer combines the released means. Those of the squares are in unit, or, of 0 and 1, those of x
// itself.
func (s sparseVariance) answer(first, second estimator.Estimate, unit, step float64) estimator.Estimate {
	d := s.p.Dim
	e := estimator.Estimate{Values: make([]float64, d), StdErr: make([]float64, d)}
	for j := range d {
		m, tau, tau2 := first.Values[j], first.StdErr[j], second.StdErr[j]*unit
		v := second.Values[j]*unit - m*m
		deviation := math.Hypot(tau2, 2*m*tau)
		if s.second == nil {
			deviation = math.Abs(step-2*m) * tau
		}
		e.Values[j], e.StdErr[j] = s.shown.show(v, deviation, 1, math.Inf(1))
	}
	return e
}

// squared returns the block of squares.
func (s sparseVariance) squared(b *estimator.Block) *estimator.Block {
	_, hi := scalar.Range(s.p.Params)
	out := *b
	out.Chunks = slices.Clone(b.Chunks)
	for i := range out.Chunks {
		ch := &out.Chunks[i]
		x := ch.Values
		if x == nil {
			x = estimator.Make[int64](b.Memory, len(ch.Index))
			for e := range x {
				x[e] = 1
			}
		}
		ch.Values = estimator.Make[int64](b.Memory, len(x))
		for e, v := range x {
			ch.Values[e] = square(min(max(v, 0), hi), s.shift)
		}
	}
	return &out
}
