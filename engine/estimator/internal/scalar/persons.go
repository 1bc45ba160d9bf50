package scalar

import (
	"fmt"
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// Persons releases the number of persons of a group: sensitivity 1, σ² = ⌈1/(2ρ)⌉.
type Persons struct {
	rho    float64
	per    int64
	sigma2 noise.Variance
}

// NewPersons returns the noisy number of persons at loss rho.
func NewPersons(rho float64) Persons { return NewCount(rho, 1) }

// NewCount returns the noisy number of entries at loss rho, where a person has at most per of them: sensitivity per.
func NewCount(rho float64, per int64) Persons { return Persons{rho, per, SmallSigma2(per, 1, rho)} }

// Present returns the number of persons with at least one row.
func Present(rows []int64) int64 {
	n := int64(0)
	for _, m := range rows {
		if m > 0 {
			n++
		}
	}
	return n
}

// Release returns max(1, n + N_Z(0, σ²)).
func (p Persons) Release(n noise.Noiser, persons int64) float64 {
	return float64(max(1, n.GaussianInt(persons, p.sigma2)))
}

// Sigma is the standard deviation of the noise.
func (p Persons) Sigma() float64 { return Root(p.sigma2.Big()) }

// Enough is the number of persons that makes the noise at most a fifth of it.
func (p Persons) Enough() int64 { return int64(math.Ceil(5 * p.Sigma())) }

// Step describes the release.
func (p Persons) Step() estimator.Step {
	return estimator.Step{Name: "number of persons", Mechanism: "discrete-gaussian", Sensitivity: fmt.Sprintf("l2=%d", p.per), Queries: 1, Rho: p.rho}
}
