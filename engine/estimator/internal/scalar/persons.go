package scalar

import (
	"fmt"
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// Persons is the number of persons of a group: released with noise, or public.
//
// One person who comes, goes or is exchanged changes it by Δ = 1 at most, under both neighbour
// relations; where the entries counted are values of which a person has at most M, by Δ = M.
type Persons struct {
	per     int64
	noise   Noise
	public  bool // Params.Sized: known, at no loss
	covered bool // its loss is covered by that of the other steps (Shares)
}

// NewPersons returns the noisy number of persons at loss rho.
func NewPersons(rho float64) Persons { return NewCount(rho, 1) }

// NewCount returns the noisy number of entries at loss rho, where a person has at most per of them:
// sensitivity per.
func NewCount(rho float64, per int64) Persons {
	return CountOf(estimator.Params{Rho: rho}, rho, per)
}

// CountOf returns the noisy number of entries of p's kind at a share of its loss.
func CountOf(p estimator.Params, share float64, per int64) Persons {
	return Persons{per: per, noise: Single(p, per, share)}
}

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

// Of returns the number of persons of a group, not yet released: those present, or the public
// number, which does not follow from the columns. The first column is Rows.
func (p Persons) Of(in estimator.Input) int64 {
	if p.public {
		return in.Persons
	}
	return Present(in.Columns[0])
}

// Release returns max(1, n + noise), or max(1, n) where n is public.
func (p Persons) Release(n noise.Noiser, persons int64) float64 {
	if p.public {
		return float64(max(1, persons))
	}
	return float64(max(1, p.noise.Add(n, persons)))
}

// Sigma is the standard deviation of the noise, 0 where the number is public.
func (p Persons) Sigma() float64 { return p.noise.Sigma() }

// Enough is the number of persons that makes the noise at most a fifth of it.
func (p Persons) Enough() int64 { return int64(math.Ceil(5 * p.Sigma())) }

// Step describes the release.
func (p Persons) Step() estimator.Step {
	s := p.noise.Step(estimator.Step{Name: "number of persons", Sensitivity: fmt.Sprintf("l2=%d", p.per)})
	if p.covered {
		s.Sensitivity, s.Rho, s.Epsilon = s.Sensitivity+" (covered by the other steps)", 0, 0
	}
	return s
}

// Steps describes the release: none where the number is public.
func (p Persons) Steps() []estimator.Step {
	if p.public {
		return nil
	}
	return []estimator.Step{p.Step()}
}
