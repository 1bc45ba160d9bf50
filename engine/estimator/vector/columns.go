package vector

import (
	"fmt"
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	scalarmean "scrim/engine/estimator/mean"
	"scrim/engine/estimator/noise"
)

// NewColumns returns the private means of several numbers a person, one row each, which are
// different things. Columns: Vector.
//
// With persons enough for it, that is PLAN with relative errors (Plan, Relative). With fewer, each
// column is answered by an estimator of its own with an equal share of what the number of persons
// leaves of the loss: alone(j, rho) builds that of column j, whose Columns are Rows and Sum and
// whose answer is in units of p.Grid. Which of the two it is follows from the released number of
// persons; both cost the same, so the loss is p.Rho by adaptive composition, in either relation.
//
// A column whose own number of persons comes out too small is NaN in an answer with others.
func NewColumns(p Params, alone func(j int, rho float64) (estimator.Estimator, error)) (estimator.Estimator, error) {
	p.Method, p.Relative, p.P, p.Pairs = Plan, true, 2, 1
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.Sparse || p.MaxRows != 1 {
		return nil, fmt.Errorf("vector: columns want one row a person in a dense block")
	}
	count, rho := p.counted()
	m := mean{p: p, count: count}
	together, slack, _, err := p.dense(m.count, rho)
	if err != nil {
		return nil, err
	}
	s, err := newSeparate(p.Dim, count.apart(rho), alone)
	if err != nil {
		return nil, err
	}
	s.parts = true
	var a auto
	a.add(together)
	m.reason = fmt.Sprintf("together from %d persons", together.needs())
	if a.add(s) {
		m.reason += fmt.Sprintf("; from %d, each column alone", s.needs())
	}
	m.core, m.slack, m.least = a, slack, 0
	m.least = m.MinPersons()
	return m, nil
}

// separate answers each column by an estimator of its own, with an equal share of the loss.
type separate struct {
	alone []estimator.Estimator
	unit  float64 // of their answers, in values
	parts bool    // a column with too few persons is NaN; otherwise there is no answer at all then
}

// newSeparate returns the core at loss rho for dim columns.
func newSeparate(dim int, rho float64, alone func(j int, rho float64) (estimator.Estimator, error)) (s separate, err error) {
	s = separate{alone: make([]estimator.Estimator, dim), unit: 1}
	for j := range s.alone {
		if s.alone[j], err = alone(j, rho/float64(dim)*(1-1e-12)); err != nil {
			return s, err
		}
	}
	return s, nil
}

// mostSeparate is the largest dimension of vectors whose coordinates auto answers one by one where
// the persons are too few for anything else: the noise of each grows with the root of the
// dimension.
const mostSeparate = 32

// coordinates is separate for the coordinates of vectors, by the mean of one number a person; false
// where they are too many, or where persons with several rows need a finer grid than numbers have
// room for.
func (p Params) coordinates(rho float64) (separate, bool) {
	lo, hi := scalar.Range(p.Params)
	shift := p.shift()
	if p.Dim > mostSeparate || max(hi, -lo) > estimator.MaxUnits>>shift {
		return separate{}, false
	}
	one := estimator.Params{MaxRows: 1, Relation: p.Relation, Sized: p.Sized}
	one.Grid = estimator.Grid{Step: 1, Lo: lo << shift, Hi: hi << shift}
	if p.Bounded() {
		one.Lower, one.Upper = &one.Grid.Lo, &one.Grid.Hi
	}
	s, err := newSeparate(p.Dim, rho, func(_ int, rho float64) (estimator.Estimator, error) {
		q := one
		q.Rho = rho
		return scalarmean.NewMean(q)
	})
	s.unit = scalar.Scale(p.Grid, math.Ldexp(1, -int(shift)))
	return s, err == nil
}

// needs implements core.
func (s separate) needs() int64 {
	most := int64(leastPersons)
	for _, e := range s.alone {
		most = max(most, e.MinPersons())
	}
	// each column's own number of persons comes out under most by chance otherwise
	return most + most/10
}

// steps implements core.
func (s separate) steps() []estimator.Step {
	var all []estimator.Step
	for _, e := range s.alone {
		all = append(all, e.Steps()...)
	}
	return all
}

// release implements core.
func (s separate) release(n noise.Noiser, g group, _ float64) estimator.Estimate {
	out := estimator.Estimate{Values: make([]float64, len(s.alone)), StdErr: make([]float64, len(s.alone))}
	told := estimator.Error{Form: estimator.Quotient}
	for _, x := range []*[]float64{&told.Noise, &told.Step, &told.Under, &told.Centre} {
		*x = make([]float64, len(s.alone))
	}
	told.Cut = make([]estimator.Cut, len(s.alone))
	out.Error = &told
	rows, column := estimator.Make[int64](g.Memory, int(g.Persons())), estimator.Make[int64](g.Memory, int(g.Persons()))
	defer estimator.Free(g.Memory, rows)
	defer estimator.Free(g.Memory, column)
	for i := range rows {
		rows[i] = 1
	}
	few := 0
	for j, e := range s.alone {
		i := 0
		for _, ch := range g.Chunks {
			for k := range ch.Persons {
				column[i] = ch.Dense[k*g.Dim+j]
				i++
			}
		}
		one := e.Release(n, estimator.Input{Persons: g.Persons(), Columns: [][]int64{rows, column}, Memory: g.Memory})
		if one.Status == estimator.TooFew {
			out.Values[j], out.StdErr[j] = math.NaN(), math.NaN()
			out.Needed = max(out.Needed, one.Needed)
			few++
			continue
		}
		one = one.Times(s.unit)
		x := one.Error
		out.Values[j], out.StdErr[j] = one.Values[0], one.StdErr[0]
		told.Noise[j], told.Step[j] = estimator.Entry(x.Noise, 0), estimator.Entry(x.Step, 0)
		told.Under[j], told.Centre[j] = estimator.Entry(x.Under, 0), estimator.Entry(x.Centre, 0)
		if x.Cut != nil {
			told.Cut[j] = x.Cut[0]
		}
	}
	if few == len(s.alone) || few > 0 && !s.parts {
		return scalar.TooFew(len(s.alone), out.Needed)
	}
	return out
}
