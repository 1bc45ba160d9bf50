package estimator

import (
	"errors"
	"fmt"
)

// ErrNotPure says that a mechanism has no ε-DP form: it is what constructors that cannot serve
// Params.Epsilon > 0 return.
var ErrNotPure = errors.New("estimator: no pure mechanism")

// Params are the public facts under which every estimator is built. Constructors check them and
// return an error that names the first bad one; planners pass only facts that do not depend on
// rows.
type Params struct {
	Rho     float64 // zCDP of one release on one group; > 0 and finite
	Epsilon float64 // > 0: the release is ε-DP, by pure mechanisms alone, and Rho is 0
	// slack beyond Rho that a release on one group may have: privacy.Loss.DeltaTV, of a stability
	// histogram DeltaEvent; 0: none
	Delta   float64
	Grid    Grid   // lattice of the argument; the zero Grid for counts
	Lower   *int64 // declared lower bound of a row's value, in grid steps; nil when none
	Upper   *int64 // declared upper bound, in grid steps; both or neither
	MaxRows int64  // public bound on the rows of one person in one group; 0 when there is none
	Other   *Other // of an aggregate of two arguments, the second one

	Relation Relation // the neighbour relation that Rho is a loss for
	// Sized, with ReplaceOne only, says that the number of persons of the input is public: the
	// whole of a table of public size, with a value for every person. It is then used as it is, at
	// no loss. It is Input.Persons: the length of the input is private (package sized).
	Sized bool
}

// Other is the second argument of an aggregate of two: its lattice and its declared bounds, as
// those of Params are the first one's.
type Other struct {
	Grid         Grid
	Lower, Upper *int64
}

// OfOther returns the parameters with the second argument in the place of the first, and none
// besides.
func (p Params) OfOther() Params {
	p.Grid, p.Lower, p.Upper, p.Other = p.Other.Grid, p.Other.Lower, p.Other.Upper, nil
	return p
}

// Bounded reports whether both bounds are declared.
func (p Params) Bounded() bool { return p.Lower != nil && p.Upper != nil }

// Pure reports whether the release is to be ε-DP.
func (p Params) Pure() bool { return p.Epsilon != 0 }

// Loss is the number that the parameters call for: ε of a pure release, else ρ.
func (p Params) Loss() float64 {
	if p.Pure() {
		return p.Epsilon
	}
	return p.Rho
}

// Validate checks what all estimators need. Constructors without a pure mechanism refuse
// Params.Pure by themselves.
func (p Params) Validate() error {
	switch {
	case p.Pure() && (!(p.Epsilon > 0) || p.Epsilon > 1e6):
		return fmt.Errorf("estimator: want 0 < epsilon <= 1e6, have %v", p.Epsilon)
	case p.Pure() && p.Rho != 0:
		return fmt.Errorf("estimator: want epsilon or rho, have epsilon %v and rho %v", p.Epsilon, p.Rho)
	case !p.Pure() && (!(p.Rho > 0) || p.Rho > 1e6):
		return fmt.Errorf("estimator: want 0 < rho <= 1e6, have %v", p.Rho)
	case (p.Lower == nil) != (p.Upper == nil):
		return fmt.Errorf("estimator: want both bounds or neither")
	case p.Bounded() && *p.Lower >= *p.Upper:
		return fmt.Errorf("estimator: want lower < upper, have %d and %d", *p.Lower, *p.Upper)
	case p.Sized && p.Relation != ReplaceOne:
		return fmt.Errorf("estimator: a public number of persons needs the relation replace-one")
	case p.MaxRows < 0:
		return fmt.Errorf("estimator: want max rows >= 0, have %d", p.MaxRows)
	}
	return nil
}

// Relation says which databases are neighbours. The loss of a mechanism holds for the relation that
// it was built for.
type Relation uint8

// Neighbour relations.
const (
	AddRemove  Relation = iota // one person more or less, with all rows
	ReplaceOne                 // one person's rows exchanged for any others
)

// String returns the name that policies use.
func (r Relation) String() string {
	if r == ReplaceOne {
		return "replace-one"
	}
	return "add-remove"
}

// Factor is the most by which one person moves a sum of vectors of norm at most C, in units of C: 1
// or 2.
func (r Relation) Factor() int64 {
	if r == ReplaceOne {
		return 2
	}
	return 1
}
