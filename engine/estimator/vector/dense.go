package vector

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// dense is the mean of dense vectors c + S/n̂, S the noisy sum of the vectors x_i − c, clipped to a ball about a centre c:
//
//	clipped   c is the public middle                                       [HLY21] sections 3.1 and 3.2
//	shifted   c is the vector of the coordinates' medians                  [HLY21] section 3.3; [ALP24] section 6
//	plan      and the ball is the ellipsoid that suits the coordinates' spreads  [ALP24] Algorithm 1
//
// Steps, each on what is left of the loss: the spread and the reach of the values (look.go), the centre, the scales, the radius, the
// sum. How much each gets depends on the number of persons and other released numbers only.
type dense struct {
	p              Params
	rho            float64
	centred        choice
	scaled         choice
	shift          uint
	lo, hi, middle int64     // public range and middle, in units
	sigma          []float64 // declared scales, in units; nil: none
	find, scale    medians
	count          persons
}

// choice is whether a step is taken.
type choice uint8

const (
	never choice = iota
	always
	maybe // decided from released numbers
)

func newDense(p Params, count persons, rho float64, centred, scaled choice) dense {
	d := dense{p: p, count: count, rho: rho, centred: centred, scaled: scaled, shift: p.shift()}
	lo, hi := scalar.Range(p.Params)
	d.lo, d.hi, d.middle = lo<<d.shift, hi<<d.shift, middleOf(p, d.shift)
	d.find, d.scale = newMedians(p, false), newMedians(p, p.Scale == Pairs)
	if p.Scale == Declared {
		d.sigma = make([]float64, p.Dim)
		for j := range d.sigma {
			d.sigma[j] = max(0.5, math.Ldexp(p.Sigma[min(j, len(p.Sigma)-1)]/scalar.Scale(p.Grid, 1), int(d.shift)))
		}
	}
	return d
}

// release implements core.
func (d dense) release(n noise.Noiser, g group, count float64) estimator.Estimate {
	left := newBudget(d.rho)
	var centre []int64
	var weights []float64
	spread := 1.0
	if d.centred != never || d.scaled != never {
		spread = d.spread(n, g.Block, count, left)
	}
	centre = d.choose(n, g.Block, count, spread, left)
	if d.scaled == always {
		weights = d.p.weights(d.scales(n, g.Block, centre, spread, d.scaleShare(count), left))
	}
	mean, sigma := d.sum(n, g, centre, weights, count, left)
	return d.p.estimate(g, mean, sigma)
}

// choose releases the centre, or takes the middle.
func (d dense) choose(n noise.Noiser, b *estimator.Block, count, spread float64, left *budget) []int64 {
	if d.centred == never {
		return same(d.middle, b.Dim)
	}
	fine := 3
	if d.scaled != never {
		fine = 6
	}
	c := d.centring(count, spread, d.reach(n, b, count, left), fine)
	return d.centre(n, b, c, left)
}

// sum releases the mean about a centre with what is left of the loss: a radius, then the sum.
func (d dense) sum(n noise.Noiser, g group, centre []int64, weights []float64, count float64, left *budget) (mean, sigma []float64) {
	f2 := factor2(d.p.Relation, d.nonNegative())
	target := tailTarget(d.p.Dim, f2, left.rho*left.left)
	norms := block.Norms(g.Block, centre, weights)
	limit := farthest(d.lo, d.hi, d.p.Dim)
	if weights != nil {
		limit *= math.Sqrt(maximum(weights))
	}
	share := left.left * radiusShare(left.rho*left.left, target, count, d.p.Relation)
	h := newHistogram(newOctaves(radiusPer, limit), histogramDelta2(d.p.Relation, false), left.take(share))
	radius := h.radius(h.release(n, norms), d.target(target, count))
	mean, sigma = addNoise(n, block.ClipSum(g.Block, centre, norms, radius), weights, radius, f2, left.rest())
	for j, s := range mean {
		s /= count
		mean[j] = s
		if centre != nil {
			mean[j] += float64(centre[j])
		}
		sigma[j] = math.Hypot(sigma[j], s*d.count.sigma()) / count
	}
	return mean, sigma
}

// target is the number of persons beyond the radius.
func (d dense) target(optimal, count float64) float64 {
	if d.p.Tail == SqrtN {
		return math.Sqrt(count)
	}
	return min(optimal, count/4)
}

func maximum(x []float64) float64 {
	m := x[0]
	for _, v := range x {
		m = max(m, v)
	}
	return m
}

// slack is the total-variation slack of the searches.
func (d dense) slack() float64 {
	s := 0.0
	if d.centred != never {
		s += d.find.slack(d.p.Dim)
	}
	if d.scaled != never && d.sigma == nil {
		s += d.scale.slack(d.p.Dim)
	}
	return s
}
