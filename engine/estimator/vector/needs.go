package vector

import (
	"math"

	"scrim/engine/estimator"
)

// mostPrepared is the largest share of the loss for centre and scales together.
const mostPrepared = 0.6

// leastPersons is the number under which nothing is answered.
const leastPersons = 20

// needs implements core.
func (d dense) needs() int64 {
	lo, hi := int64(leastPersons), int64(1)<<50
	for lo < hi {
		if mid := lo + (hi-lo)/2; d.enough(float64(mid)) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// enough reports whether count persons are enough: the first histograms see the bulk of the data, no search turns the wrong way for
// want of persons, and the radius cuts off a quarter of them at most.
func (d dense) enough(count float64) bool {
	left, delta2 := 1.0, histogramDelta2(d.p.Relation, false)
	if d.centred == always || d.scaled == always {
		if d.sigma == nil {
			share := lookShare(d.rho, count/2, 2)
			left -= share
			if count/2 < 2*bulkZ*math.Sqrt(2/(2*share*d.rho)) {
				return false
			}
		}
	}
	prepared := 0.0
	if d.centred == always {
		share := lookShare(d.rho, count, delta2)
		left -= share
		if count < 2*bulkZ*math.Sqrt(float64(delta2)/(2*share*d.rho)) {
			return false
		}
		x := d.find.share(d.p.Dim, plannedRounds, d.rho, count)
		if x > mostCentre {
			return false
		}
		prepared += x
	}
	if d.scaled == always && d.sigma == nil {
		prepared += d.scaleShare(count)
	}
	if left -= prepared; prepared > mostPrepared {
		return false
	}
	target := tailTarget(d.p.Dim, factor2(d.p.Relation, d.nonNegative()), d.rho*left)
	share := radiusShare(d.rho*left, target, count, d.p.Relation)
	target = tailTarget(d.p.Dim, factor2(d.p.Relation, d.nonNegative()), d.rho*left*(1-share))
	return count >= 4*max(target, farZ*math.Sqrt(float64(delta2)/(2*share*left*d.rho)))
}

// nonNegative reports whether all vectors x − c have coordinates >= 0.
func (d dense) nonNegative() bool { return d.centred == never && d.middle <= d.lo }

// steps implements core, with the shares that they have at the least number of persons; with more, preparation gets less.
func (d dense) steps() []estimator.Step { return nil }
