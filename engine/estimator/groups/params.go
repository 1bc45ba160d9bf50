package groups

import (
	"fmt"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// Measure is what is told of each group.
type Measure uint8

// Measures, with the columns that a person has for each group.
const (
	Persons Measure = iota // number of persons: 1
	Rows                   // number of rows: the person's rows
	Sum                    // sum over rows: the sum of k(x)
	RowMean                // mean over rows: the sum of k(x), the number of rows with x
	// mean of the persons' means in the group: the sum of k(x), the number of rows with x
	PersonMean
)

// Columns is the number of a measure's columns.
func (m Measure) Columns() int {
	if m.mean() {
		return 2
	}
	return 1
}

// Kinds lists what a person has for each group.
func (m Measure) Kinds() []estimator.Kind {
	switch {
	case m.count():
		return []estimator.Kind{estimator.Rows}
	case m == Sum:
		return []estimator.Kind{estimator.Sum}
	}
	return []estimator.Kind{estimator.Sum, estimator.Rows}
}

// mean reports whether a measure is a mean.
func (m Measure) mean() bool { return m == RowMean || m == PersonMean }

// count reports whether a measure is a count, which has no grid.
func (m Measure) count() bool { return m == Persons || m == Rows }

// Aggregate is one aggregate of all groups.
type Aggregate struct {
	Measure      Measure
	Grid         estimator.Grid // of x
	Lower, Upper *int64         // declared bounds of a row's x, in steps; both or neither
}

// Params are the public facts of a release. Its input is a sparse block of Groups·Width entries,
// Width the number of all columns: entry g·Width + c of a person is column c of group g, the
// aggregates' columns in order; signed; what is 0 may be left out. Its answer has
// Groups·len(Aggregates) values: g·len(Aggregates) + a; NaN where a group has too few rows or
// persons for a mean, and for all sums and means where there are too few persons in all, which
// leaves the counts, or TooFew where there are none.
//
// What breaks a promise is brought into its range, person by person: a number of rows beyond
// MaxRows, a total beyond bounds. A sum of k(x) without rows is taken for none in a mean; entries
// out of order or of an index that comes twice are left out.
type Params struct {
	Rho        float64
	Relation   estimator.Relation
	Groups     int
	Aggregates []Aggregate
	MaxGroups  int64 // public bound on the groups of one person; 0: none
	MaxRows    int64 // public bound on the rows of one person in one group; 0: none
}

// Width is the number of columns of a group.
func (p Params) Width() int {
	w := 0
	for _, a := range p.Aggregates {
		w += a.Measure.Columns()
	}
	return w
}

// maxDim bounds Groups·Width: every coordinate gets noise, which takes a microsecond.
const maxDim = 1 << 22

// check validates the parameters.
func (p Params) check() error {
	switch {
	case len(p.Aggregates) == 0:
		return fmt.Errorf("groups: want an aggregate")
	case p.Groups < 0 || p.Groups > maxDim || p.Groups*p.Width() > maxDim:
		return fmt.Errorf("groups: want at most %d groups times columns, have %d times %d", maxDim, p.Groups, p.Width())
	case p.MaxGroups < 0 || p.MaxRows < 0:
		return fmt.Errorf("groups: want bounds >= 0, have %d groups and %d rows", p.MaxGroups, p.MaxRows)
	}
	for _, a := range p.Aggregates {
		if a.Measure > PersonMean {
			return fmt.Errorf("groups: unknown measure %d", a.Measure)
		}
		if err := scalar.Check(p.scalar(a, p.Rho), !a.Measure.count()); err != nil {
			return err
		}
	}
	return nil
}

// scalar are the parameters of an estimator of one number of each person.
func (p Params) scalar(a Aggregate, rho float64) estimator.Params {
	out := estimator.Params{Rho: rho, Relation: p.Relation, Grid: a.Grid}
	if !a.Measure.count() {
		out.Lower, out.Upper = a.Lower, a.Upper
	}
	return out
}
