package accuracy

import (
	"fmt"
	"slices"
	"strings"

	"scrim/bench/dataset"
	"scrim/bench/internal/named"
	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// Conditions are what a method is held to.
type Conditions struct {
	Rho      float64            // for collections and their baselines: ε
	Relation estimator.Relation // replace-one: with the number of persons public
}

// Answer is what one run of a method gives.
type Answer struct {
	Values  []float64
	Refused bool // the number of persons is under the method's minimum
	Stated  Stated
}

// runner runs a method on one sample. It is safe for concurrent use, with a Noiser each.
type runner func(n noise.Noiser, s dataset.Sample) Answer

// Target is what a method estimates.
type Target uint8

// Targets.
const (
	Mean Target = iota
	Variance
	Covariance // row by row
	Totals     // sums of the persons' vectors: the answers of a GROUP BY
	Shares     // of persons below points of the range
	Ranks      // of estimated quantiles
)

// truth returns what an estimate is compared with: the distribution's, and the sample's own where
// it is at hand.
func (t Target) truth(set *dataset.Set, s dataset.Sample) (truth, own []float64) {
	switch t {
	case Variance:
		return set.Variances, nil
	case Covariance:
		return diagonal(set.Variances), nil
	case Totals:
		return nil, scaled(s.Mean, float64(s.Block.Persons()))
	case Shares:
		return nil, shares(set, s)
	case Ranks:
		return nil, ranks()
	}
	return s.Truth, s.Mean
}

func scaled(x []float64, a float64) []float64 {
	out := make([]float64, len(x))
	addScaled(out, a, x)
	return out
}

// Method is a named estimator with its parameters.
type Method struct {
	Name   string // as it was written
	Target Target
	build  func(s *dataset.Set, c Conditions) (runner, error)
	// expected is the closed form of the ℓ2 error, root mean square, NaN where there is none; nil:
	// there is none.
	expected func(s *dataset.Set, c Conditions) float64
}

// MethodKind describes a kind of method.
type MethodKind struct {
	Name   string
	Params string // its parameters with defaults, for a list
	Text   string
	open   func(n *named.Name) Method
}

// MethodKinds lists what OpenMethod knows.
func MethodKinds() []MethodKind {
	return slices.Concat(vectorMethods(), personMethods(), friendlyMethods(), groupMethods(), collectedMethods(), gaboardiMethods(), yardsticks())
}

// OpenMethod returns the method of a name.
func OpenMethod(text string) (Method, error) {
	n, err := named.Parse(text)
	if err != nil {
		return Method{}, fmt.Errorf("accuracy: method %w", err)
	}
	var known []string
	for _, k := range MethodKinds() {
		known = append(known, k.Name)
		if k.Name != n.Kind {
			continue
		}
		m := k.open(n)
		if err := n.Check(); err != nil {
			return Method{}, fmt.Errorf("accuracy: method %w", err)
		}
		m.Name = text // as written: defaults would only lengthen the tables
		return m, nil
	}
	return Method{}, fmt.Errorf("accuracy: no method %q; there are %s", n.Kind, strings.Join(known, ", "))
}

// released wraps an estimator of the core.
func released(e estimator.Estimator, input func(dataset.Sample) estimator.Input) runner {
	return func(n noise.Noiser, s dataset.Sample) Answer {
		a := e.Release(n, input(s))
		return Answer{Values: a.Values, Refused: a.Status != estimator.OK}
	}
}

// ofVectors runs an estimator of the core on the persons' vectors.
func ofVectors(e estimator.Estimator, err error) (runner, error) {
	if err != nil {
		return nil, err
	}
	return released(e, vectors), nil
}

func vectors(s dataset.Sample) estimator.Input {
	return estimator.Input{Persons: s.Block.Persons(), Vectors: s.Block}
}

// scalars is a one-dimensional sample as the two columns of a scalar estimator: rows and sums.
func scalars(s dataset.Sample) estimator.Input {
	var rows, sums []int64
	for _, ch := range s.Block.Chunks {
		for i := range ch.Persons {
			rows = append(rows, 1)
			sums = append(sums, ch.Dense[i])
		}
	}
	return estimator.Input{Persons: int64(len(rows)), Columns: [][]int64{rows, sums}}
}
