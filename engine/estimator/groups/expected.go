package groups

import (
	"math"

	"scrim/engine/estimator"
)

// Expectation is what a release is expected to do for a person in some number of groups, by public
// facts alone. Standard deviations are those of the noise on one group's answer, in units of the
// aggregate's scale: what a person adds to one group that should be counted whole, 1 for persons,
// the bound of a total for sums. For means, whose noise is divided by the group's rows, they are
// those of the sum of differences per κ.
type Expectation struct {
	Vector  float64 // of this release
	Bounded float64 // of a mechanism for each group, with bounded persons
	Kept    float64 // share of the person's groups that a bound keeps; this release keeps all
}

// Better reports whether the release is expected to have less error than bounding: if it has less
// noise, or, where bounding drops groups, hardly more noise with a radius that is that of the
// bound. Everyone's groups are then shortened by less than what bounding drops.
func (e Expectation) Better() bool {
	if e.Kept < 1 {
		return e.Vector*math.Sqrt(e.Kept) <= 1.1*e.Bounded
	}
	return e.Vector <= e.Bounded
}

// Expected returns what is expected for a person in perPerson groups, against a mechanism for each
// group and aggregate that keeps a person in maxGroups groups. With A aggregates, of which one
// person moves all:
//
//	this release    C = √(A·perPerson) scales        f·C/√(2ρ₃)            ρ₃ what the looks leave of ρ
//	each group      a part of the loss for each      √(A·maxGroups·e/(2ρ))   e = 1; under replace-one, where a person exchanged goes out
//	                group kept                                               of groups and comes into others, 2 of counts, else 4
//
// The mechanism for each group is taken to have a scale given to it, at no loss: its own searches
// cost about what the looks here do.
func Expected(p Params, perPerson, maxGroups int) (Expectation, error) {
	if err := p.check(); err != nil {
		return Expectation{}, err
	}
	e, err := New(p)
	if err != nil {
		return Expectation{}, err
	}
	r := e.(release)
	a, l, most := float64(len(p.Aggregates)), float64(max(perPerson, 1)), float64(max(maxGroups, 1))
	exchange := 1.0
	if p.Relation == estimator.ReplaceOne {
		exchange = 2
		for _, a := range p.Aggregates {
			if !a.Measure.count() {
				exchange = 4 // estimator.ExchangeCost at most
			}
		}
	}
	return Expectation{
		Vector:  math.Sqrt(float64(r.factor2) * a * l / (2 * (r.first + r.sum))),
		Bounded: math.Sqrt(a * most * exchange / (2 * p.Rho)),
		Kept:    min(1, most/l),
	}, nil
}
