package vector

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// medianShare is the share of the loss for the centre of the shifted mean.
const medianShare = 0.25

// medianRounds is the most rounds of the search for a median.
const medianRounds = 20

// medianAxis returns the finest axis of [0, top] with at most medianRounds rounds. Values 0 and 1
// have one.
func medianAxis(top int64) block.Axis {
	for b := 62; ; b-- {
		// 2^b cells up to 2^b, as many again for each octave beyond.
		if octaves := max(0, math.Ilogb(float64(top))-b) + 1; b < medianRounds && octaves<<b <= 1<<medianRounds {
			return block.NewAxis(0, top, 0, b)
		}
	}
}

// medianSigma2 is the variance of each of the d·T answers 2·#{x ≤ m} − n of a search, which one
// person moves by 1 when it comes or goes and by 2 when it is exchanged.
func (s sparse) medianSigma2(axis block.Axis, rho float64) noise.Variance {
	queries := int64(s.p.Dim) * int64(max(axis.Rounds(), 1))
	return scalar.SmallSigma2(s.p.Relation.Factor(), queries, rho)
}

// medians releases a median of every coordinate at loss rho.
func (s sparse) medians(n noise.Noiser, r entries, rho float64) []int64 {
	axis := medianAxis(r.top)
	sigma2, persons := s.medianSigma2(axis, rho), r.Persons()
	cells := block.Bisect(r.Block, axis, nil, func(_ int, atMost int64) bool {
		return n.GaussianInt(2*atMost-persons, sigma2) < 0
	})
	centre := make([]int64, len(cells))
	for j, c := range cells {
		centre[j] = axis.Value(c)
	}
	return centre
}

// medianPersons is the number of persons with which no answer far from the median turns the wrong
// way, with probability 95 %: there it is n or −n before noise.
func (s sparse) medianPersons() int64 {
	axis := medianAxis(s.hi << s.p.shift())
	answers := float64(s.p.Dim * max(axis.Rounds(), 1))
	v := s.medianSigma2(axis, s.rho*medianShare)
	return int64(math.Ceil(scalar.Root(v.Big()) * math.Sqrt2 * math.Erfcinv(2*0.05/answers)))
}

// needs implements core: the radius should cut off a quarter of the persons at most if all of them
// count, and a window of the histogram of norms should show.
func (s sparse) needs() int64 {
	rho, delta2 := s.rho, float64(firstpass.Delta2(s.p.Relation, false))
	switch s.method {
	case Shifted:
		rho *= 1 - medianShare
	case Plan:
		rho *= 1 - firstShare
	}
	target := firstpass.TailTarget(s.p.Dim, block.Factor2(s.p.Relation, s.method != Shifted), rho)
	window := firstpass.FarZ * math.Sqrt(delta2/(2*rho*firstpass.RadiusShare(rho, target, 0, s.p.Relation)))
	need := max(leastPersons, int64(math.Ceil(4*target)), int64(math.Ceil(2*window)))
	if s.method == Shifted {
		need = max(need, s.medianPersons())
	}
	return need
}

// steps implements core. The shares of histogram and sum depend on the number of persons; they are
// stated together.
func (s sparse) steps() []estimator.Step {
	parts := newBudget(s.rho)
	clipped := func(name string, rho float64) estimator.Step {
		return estimator.Step{Name: name, Mechanism: estimator.DiscreteGaussian, Sensitivity: "l2=clip", Queries: s.p.Dim, Rho: rho}
	}
	switch s.method {
	case Shifted:
		axis := medianAxis(s.hi << s.p.shift())
		return []estimator.Step{
			{Name: "centre", Mechanism: estimator.DiscreteGaussian, Use: "bisection", Sensitivity: "l2=1", Queries: s.p.Dim * max(axis.Rounds(), 1), Rho: parts.take(medianShare)},
			clipped("clip and sum", parts.rest()),
		}
	case Clipped:
		return []estimator.Step{clipped("clip and sum", parts.rest())}
	}
	return []estimator.Step{clipped("first mean", parts.take(firstShare)), clipped("weighted clip and sum", parts.rest())}
}
