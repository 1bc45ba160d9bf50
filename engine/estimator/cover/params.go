package cover

import (
	"errors"
	"fmt"
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// Params are the public facts of the estimator. Epsilon > 0, Relation ReplaceOne and Sized are
// needed; Rho is not used.
type Params struct {
	estimator.Params
	Dim     int     // 1 or 2
	Persons int64   // the public number of persons
	Error   float64 // α: the error aimed at, in values; 0: chosen from public facts
	Moment  float64 // k >= 2; 0: 4
	Radius  float64 // R: the mean's coordinates are within ±R, in values; 0: the public range
	// σ_k: bound on the k-th root of a row's k-th central moment in any direction, in values; > 0
	Sigma float64
	Rows  float64 // m: least number of rows of a person; 0: 1
}

// maxPersons bounds the number of persons, and with it the memory: 16 bytes a person and core.
const maxPersons = 1 << 24

// check returns an error that names the first assumption that does not hold.
func (p Params) check() error {
	switch {
	case !p.Pure():
		return errors.New("cover: only for pure differential privacy: want an epsilon")
	case p.Relation != estimator.ReplaceOne:
		return fmt.Errorf("cover: the score counts exchanged persons: want the relation replace-one, have %v", p.Relation)
	case !p.Sized || p.Persons <= 0:
		return errors.New("cover: the score is defined for a public number of persons: want the whole of a table of public size, and its number of persons")
	case p.Persons > maxPersons:
		return fmt.Errorf("cover: want at most %d persons, have %d", int64(maxPersons), p.Persons)
	case p.Dim < 1 || p.Dim > 2:
		return fmt.Errorf("cover: the cover grows as a power of the dimension: want 1 or 2, have %d", p.Dim)
	case !(p.Sigma > 0) || math.IsInf(p.Sigma, 0):
		return errors.New("cover: want a declared bound sigma_k > 0 on the spread of rows")
	case p.Moment != 0 && !(p.Moment >= 2 && p.Moment <= 100):
		return fmt.Errorf("cover: want a moment from 2 to 100, have %v", p.Moment)
	case p.Rows != 0 && !(p.Rows >= 1) || math.IsInf(p.Rows, 0):
		return fmt.Errorf("cover: want rows >= 1, have %v", p.Rows)
	case !(p.Radius >= 0) || !(p.Error >= 0) || math.IsInf(p.Radius, 0) || math.IsInf(p.Error, 0):
		return fmt.Errorf("cover: want a radius and an error >= 0, have %v and %v", p.Radius, p.Error)
	}
	return scalar.CheckPure(p.Params, true)
}

// facts are what the accuracy and the cost depend on. Lengths are in units, the fractions of a step
// in which persons' means are held.
type facts struct {
	dim     int
	persons float64
	epsilon float64
	moment  float64
	// bound on the k-th root of the k-th central moment of a person's mean, in any direction
	root     float64
	variance float64 // bound on its variance
	lo, hi   int64   // the mean's coordinates
}

// facts returns the facts for checked parameters.
func (p Params) facts(means scalar.Means) (facts, error) {
	unit := means.Value(1)
	f := facts{dim: p.Dim, persons: float64(p.Persons), epsilon: min(p.Epsilon, maxEpsilon), moment: p.Moment, lo: means.Lo, hi: means.Hi}
	if f.moment == 0 {
		f.moment = 4
	}
	rows, sigma := max(1, p.Rows), p.Sigma/unit
	f.variance = sigma * sigma / rows
	f.root = sigma * min(1, math.Sqrt((f.moment-1)/rows))
	if r := math.Ceil(p.Radius / unit); p.Radius > 0 && r < 1<<61 {
		f.lo, f.hi = max(f.lo, -int64(r)), min(f.hi, int64(r))
	}
	if f.lo > f.hi {
		return f, fmt.Errorf("cover: the range of values has nothing within the radius %v", p.Radius)
	}
	return f, nil
}

// half is half the length of the mean's range.
func (f facts) half() float64 { return float64(f.hi-f.lo)/2 + 1 }

// maxEpsilon is the most of ε that is used: more would change nothing.
const maxEpsilon = 64
