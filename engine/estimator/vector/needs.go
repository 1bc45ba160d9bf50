package vector

import (
	"fmt"
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
)

// mostPrepared is the largest share of the loss for centre and scales together.
const mostPrepared = 0.6

// leastPersons is the number under which nothing is answered.
const leastPersons = 20

// needs implements core.
func (d dense) needs() int64 { return least(d.enough) }

// least returns the least number from leastPersons on that is enough; 2^50 if none is.
func least(enough func(count float64) bool) int64 {
	lo, hi := int64(leastPersons), int64(1)<<50
	for lo < hi {
		if mid := lo + (hi-lo)/2; enough(float64(mid)) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// shares are the shares of the loss before the sum, as planned for a number of persons.
type shares struct{ spread, apart, reach, centre, scales, radius float64 }

// plan computes the shares for count persons. scaled says whether coordinates are scaled where that
// is open.
func (d dense) plan(count float64, scaled bool) shares {
	var s shares
	scaled = d.scaled == always || d.scaled == maybe && scaled
	if (d.centred != never || d.scaled != never) && d.sigma == nil && !d.statistical() {
		s.spread = d.spreadShare(count)
	}
	if d.centred != never {
		if s.centre = min(d.find.share(d.places(), plannedRounds, d.rho, count), 1); !d.statistical() {
			s.reach = d.lookShare(count)
		}
	}
	if d.centred == maybe && d.sigma == nil {
		s.apart = d.lookShare(count)
	}
	if scaled && d.sigma == nil {
		s.scales = min(d.scalesNeed(count), 1)
	}
	left := 1 - s.spread - s.apart - s.reach - s.centre - s.scales
	rho := d.rho * max(left, 0.01)
	s.radius = left * d.radiusShare(rho, d.target(d.factor2(), rho, count), count, d.factor2())
	return s
}

// left is the share of the sum.
func (s shares) left() float64 {
	return 1 - s.spread - s.apart - s.reach - s.centre - s.scales - s.radius
}

// enough reports whether count persons are enough: the first histograms see the bulk of the data,
// no search turns the wrong way for want of persons, and the radius leaves out a quarter of them at
// most, and sees the bulk.
func (d dense) enough(count float64) bool {
	s := d.plan(count, false)
	delta2 := float64(d.delta2())
	seen := func(count, delta2, share, z float64) bool { // 70 % of count numbers stand out
		return 0.7*count >= z*math.Sqrt(firstpass.BulkBuckets*delta2/(2*share*d.rho))
	}
	if s.spread > 0 && !seen(d.pairs(count), 2, s.spread, firstpass.BulkZ) || s.reach > 0 && !seen(count, delta2, s.reach, firstpass.BulkZ) {
		return false
	}
	if s.centre > mostCentre || s.centre+s.scales > mostPrepared || s.left() < 0.1 {
		return false
	}
	target := firstpass.TailTarget(d.p.Dim, d.factor2(), d.rho*s.left())
	if d.p.Clip == Tails {
		return count >= 4*newTails(d.norms(), s.radius*d.rho).beyond(target)
	}
	return count >= 4*target && seen(count, delta2, s.radius, firstpass.FarZ)
}

// norms are the public radii, of an unweighted norm.
func (d dense) norms() firstpass.Octaves {
	return firstpass.NewOctaves(firstpass.RadiiPer(d.p.Dim), firstpass.Farthest(d.lo, d.hi, d.p.Dim))
}

// factor2 is that of the sum where the centre is public.
func (d dense) factor2() int64 {
	return block.Factor2(d.p.Relation, d.centred == never && d.middle <= d.lo)
}

// scalesFrom is the number of persons from which coordinates are scaled where that is open.
func (d dense) scalesFrom() int64 {
	return max(d.needs(), least(func(count float64) bool { return d.affordable(count) && d.scaleShare(count) < fewScale }))
}

// steps implements core, with the shares planned for the least number of persons with which all
// steps may be taken. With more persons the steps before the sum get less.
func (d dense) steps() []estimator.Step {
	count := d.needs()
	if d.scaled == maybe {
		count = d.scalesFrom()
	}
	s := d.plan(float64(count), d.p.Dim >= leastScaled)
	var steps []estimator.Step
	add := func(name string, m estimator.Mechanism, use, sensitivity string, queries int, share float64) {
		if share > 0 {
			steps = append(steps, estimator.Step{Name: name, Mechanism: m, Use: use, Sensitivity: sensitivity, Queries: max(1, queries), Rho: d.rho * share})
		}
	}
	l2 := map[int64]string{1: "l2=1", 2: "l2=√2"}
	histogram := func(name string, per int, limit float64, delta2 int64, share float64) {
		add(name, estimator.DiscreteGaussian, "histogram", l2[delta2], firstpass.NewOctaves(per, limit).Buckets, share)
	}
	search := func(name string, m medians, dim, rounds int, share float64) {
		if m.search == Exponential {
			add(name, estimator.Exponential, "", fmt.Sprintf("range=%d", 2*m.delta), dim, share)
			return
		}
		add(name, estimator.DiscreteGaussian, "bisection", fmt.Sprintf("l2=%d", m.delta), dim*rounds, share)
	}
	norms := firstpass.Farthest(d.lo, d.hi, d.p.Dim)
	histogram("spread", firstpass.NormsPer(d.p.Dim), norms, 2, s.spread)
	histogram("distance from the middle", firstpass.NormsPer(d.p.Dim), norms, d.delta2(), s.apart)
	histogram("reach", reachPer, firstpass.Farthest(d.lo, d.hi, 1), d.delta2(), s.reach)
	search("centre", d.find, d.places(), plannedRounds, s.centre)
	search("scales", d.scale, d.p.Dim, d.scaleRounds(), s.scales)
	if d.p.Clip == Tails {
		add("clip", estimator.DiscreteGaussian, "bisection", "l2=1", d.norms().Rounds(), s.radius)
	} else {
		histogram("clip", firstpass.RadiiPer(d.p.Dim), norms, d.delta2(), s.radius)
	}
	add("clipped sum", estimator.DiscreteGaussian, "", sumSensitivity(d.factor2()), d.p.Dim, s.left())
	return steps
}
