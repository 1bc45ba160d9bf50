package mean

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// totals is the sum over rows where the number of persons is public: n times the mean of the
// persons' totals.
//
// Under replace-one a sum of totals clipped to ±C about 0 moves by 2C, and one of totals clipped to
// ±C about a centre by 2C as well; but the second C is the spread of the totals, which is less than
// their size. Since n is public, n·c is no statistic of the data beyond c. Shares and conditions
// are those of NewMean with p.Sized, and so is what is said of the clip. With both bounds and
// p.MaxRows = M declared the range of a total of 1 to M rows takes the place of the searches, and Δ
// is its length.
type totals struct{ persons }

func newTotals(p estimator.Params) totals {
	q, most := p, int64(estimator.MaxUnits)
	if p.MaxRows > 0 {
		most = p.MaxRows
	}
	q.MaxRows = most
	lo, hi := scalar.Range(p)
	q.Lower, q.Upper = &lo, &hi
	r := declaredTotal(q, 1)
	q.MaxRows, q.Grid.Lo, q.Grid.Hi = 1, r.lo, r.hi // one number a person
	q.Lower, q.Upper = nil, nil
	if p.Bounded() && p.MaxRows > 0 {
		q.Lower, q.Upper = &r.lo, &r.hi
	}
	e := totals{newPersons(q)}
	e.centred.Totals = true
	return e
}

// ExpectedError implements estimator.Estimator: it is known when the bounds are declared.
func (e totals) ExpectedError() (float64, bool) {
	if !e.centred.Bounded() {
		return 0, false
	}
	_, radius := e.centred.Middle()
	return e.centred.Value(e.noise(radius).Sigma()), true
}

// Release implements estimator.Estimator.
func (e totals) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	a := e.persons.Release(n, in)
	if a.Status != estimator.OK {
		return a
	}
	return a.Times(float64(in.Persons))
}
