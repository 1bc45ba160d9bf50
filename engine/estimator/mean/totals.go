package mean

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

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
