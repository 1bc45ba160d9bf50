package groups

import "scrim/engine/estimator"

// Measure is what is told of each group.
type Measure uint8

// Measures, with the columns that a person has for each group.
const (
	Persons    Measure = iota // number of persons: 1
	Rows                      // number of rows: the person's rows
	Sum                       // sum over rows: the sum of k(x)
	RowMean                   // mean over rows: the sum of k(x), the number of rows with x
	PersonMean                // mean of the persons' means in the group: the sum of k(x), the number of rows with x
)

// Columns is the number of a measure's columns.
func (m Measure) Columns() int {
	if m == RowMean || m == PersonMean {
		return 2
	}
	return 1
}

// Aggregate is one aggregate of all groups.
type Aggregate struct {
	Measure      Measure
	Grid         estimator.Grid // of x
	Lower, Upper *int64         // declared bounds of a row's x, in steps; both or neither
}

// Params are the public facts of a release. Its input is a sparse block of Groups·Width entries, Width the number of all columns: entry
// g·Width + c of a person is column c of group g, the aggregates' columns in order; signed; what is 0 may be left out.
// Its answer has Groups·len(Aggregates) values: g·len(Aggregates) + a; NaN where a group has too few rows or persons for a mean.
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
