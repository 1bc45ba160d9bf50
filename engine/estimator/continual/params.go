package continual

import (
	"fmt"
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// MaxDays bounds the days of a series: ten years.
const MaxDays = 3660

// Measure is what is added up.
type Measure struct {
	Sum          bool           // of k(x) over rows; else the number of rows
	Grid         estimator.Grid // of x
	Lower, Upper *int64         // declared bounds of a row's x, in steps; both or neither
	// Bound is the most that one person counts for over the whole span: rows, or steps of the grid.
	// From 1 to MaxUnits.
	Bound int64
}

// Signed reports whether a row may take something away.
func (m Measure) Signed() bool {
	lo, _ := m.Range()
	return lo < 0
}

// Range is that of one row, in steps; 1 where rows are counted.
func (m Measure) Range() (lo, hi int64) {
	if !m.Sum {
		return 1, 1
	}
	return scalar.Range(estimator.Params{Grid: m.Grid, Lower: m.Lower, Upper: m.Upper})
}

// Value is a number of steps as it is shown.
func (m Measure) Value(steps float64) float64 {
	if m.Sum {
		return scalar.Scale(m.Grid, steps)
	}
	return steps
}

// Params are the public facts of a series. The input of a release of all days at once is a sparse
// block of days times len(Measures) entries: entry t·len(Measures) + m of a person is measure m on
// day t; what is 0 may be left out.
type Params struct {
	Rho      float64
	Relation estimator.Relation
	Days     int
	Measures []Measure
}

// check names the first parameter that is bad.
func (p Params) check() error {
	if p.Days < 1 || p.Days > MaxDays {
		return fmt.Errorf("continual: want 1 to %d days, have %d", MaxDays, p.Days)
	}
	if len(p.Measures) == 0 {
		return fmt.Errorf("continual: want a measure")
	}
	for _, m := range p.Measures {
		q := estimator.Params{Rho: p.Rho, Relation: p.Relation}
		if m.Sum {
			q.Grid, q.Lower, q.Upper = m.Grid, m.Lower, m.Upper
		}
		if err := scalar.Check(q, m.Sum); err != nil {
			return err
		}
		if m.Signed() {
			return fmt.Errorf("continual: want numbers of at least 0")
		}
		if m.Bound < 1 || m.Bound > estimator.MaxUnits {
			return fmt.Errorf("continual: want a bound of 1 to 2^%v, have %d", math.Log2(estimator.MaxUnits), m.Bound)
		}
	}
	return nil
}
