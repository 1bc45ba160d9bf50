package vector

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// dense is the mean of dense vectors c + S/n̂, S the noisy sum of the vectors x_i − c, clipped to a
// ball about a centre c:
//
//	clipped   c is the public middle                                       [HLY21] sections 3.1 and 3.2
//	shifted   c is the vector of the coordinates' medians                  [HLY21] section 3.3; [ALP24] section 6
//	plan      and the ball is the ellipsoid that suits the coordinates' spreads  [ALP24] Algorithm 1
//
// Steps: the spread and the reach of the values (firstpass.go), the centre (centre.go), the scales
// (scales.go), the radius (firstpass.Histogram), the sum. Each takes a share of the loss that
// depends on the number of persons and on released numbers only, and the sum takes what is left, so
// the loss is rho whatever the branch. [HLY21] and [ALP24] spend a quarter on the preparation and a
// quarter of the rest on the radius; here it is as much as the persons at hand make useful
// (centring, scaleShare).
type dense struct {
	p              Params
	rho            float64
	count          persons
	centred        choice
	scaled         choice
	shift          uint
	lo, hi, middle int64     // public range and middle, in units
	gain           float64   // units in a unit of the group
	sigma          []float64 // declared scales, in units; nil: none
	find, scale    medians
	turned         *rotation     // of the search for a centre; nil: none
	sizes          sizes         // of samples that do for the steps before the sum
	totals         *block.Totals // of the persons of one release, where they are known
}

// choice is whether a step is taken.
type choice uint8

const (
	never choice = iota
	always
	maybe // decided from released numbers
)

func newDense(p Params, count persons, rho float64, centred, scaled choice) dense {
	d := dense{p: p, count: count, rho: rho, centred: centred, scaled: scaled, shift: p.shift(), gain: 1}
	lo, hi := scalar.Range(p.Params)
	d.lo, d.hi, d.middle = lo<<d.shift, hi<<d.shift, middleOf(p, d.shift)
	d.find, d.scale = newMedians(p, false), newMedians(p, p.Scale == Pairs)
	if p.Scale == Unscaled {
		d.scaled = never
	}
	if p.Scale == Declared && scaled != never {
		d.sigma = make([]float64, p.Dim)
		for j := range d.sigma {
			d.sigma[j] = min(max(0.5, d.units(p.Sigma[min(j, len(p.Sigma)-1)])), 0x1p100)
		}
		d.scaled = always
	}
	if p.Rotate && centred != never {
		d.turned = newRotation(d)
	}
	d.sizes = d.enoughFor()
	return d
}

// places is the number of coordinates that a centre is searched in.
func (d dense) places() int {
	if d.turned != nil {
		return d.turned.d.p.Dim
	}
	return d.p.Dim
}

// units turns a value into units.
func (d dense) units(v float64) float64 {
	return d.gain * math.Ldexp(v/scalar.Scale(d.p.Grid, 1), int(d.shift))
}

// release implements core.
func (d dense) release(n noise.Noiser, g group, count float64) estimator.Estimate {
	d.totals = g.totals
	mean, sigma, moved := d.mean(n, g.Block, count)
	return d.count.told(d.p.estimate(g, mean, sigma), count, scalar.Scale(d.p.Grid, math.Ldexp(moved, -int(g.shift))))
}

// mean releases the mean, with the standard deviations of its noise and how far it is from the
// centre of the sum, in units.
func (d dense) mean(n noise.Noiser, b *estimator.Block, count float64) (mean, sigma []float64, moved float64) {
	left := newBudget(d.rho)
	var s spread
	if d.centred != never || d.scaled != never {
		s = d.spread(n, b, count, left)
	}
	all := d.lots(n, b, count)
	scaled := d.useScales(s, all.number(d.sizes.scales))
	centre, fixed := d.choose(n, all, s, scaled, left)
	var weights []float64
	if scaled {
		weights = d.p.weights(d.scales(n, all, centre, s.norm, left))
	}
	return d.sum(n, b, centre, weights, count, fixed && d.middle <= d.lo, left)
}

// useScales decides whether coordinates are scaled. Where that is open it is done if scales may be
// unequal and can be afforded: a tenth of a loss where they are a little unequal, up to mostScale
// where very much so.
func (d dense) useScales(s spread, count float64) bool {
	if d.scaled != maybe {
		return d.scaled == always
	}
	if d.p.Dim < leastScaled || s.flat > nearlyFlat || !d.affordable(count) {
		return false
	}
	return s.flat < unequal || d.scaleShare(count) < fewScale
}

// Constants of the choice between shifted and plan.
const (
	leastScaled = 4 // coordinates: of fewer there is little to balance
	// of spread.flat: scales of (d/j)^(1/4) have 0.64 and would gain 6 % of noise
	nearlyFlat = 0.75
	unequal    = 0.3  // of (d/j)^(1/2), where a quarter is gained, 0.05 to 0.1
	fewScale   = 0.15 // shares of the loss
	mostScale  = 0.4
)

// affordable reports whether count persons are enough for centre and scales both.
func (d dense) affordable(count float64) bool {
	x := d.scalesNeed(count)
	return x <= mostScale && x+d.find.share(d.places(), plannedRounds, d.rho, count) <= mostPrepared
}

// choose releases the centre, or takes the middle: nil for 0. fixed says that it is the middle.
//
// Where that is open, and all coordinates weigh the same, the squared radius about the middle is
// that about the centre times (distance from the middle / spread)²: the middle is kept if that is
// less than what a centre costs.
func (d dense) choose(n noise.Noiser, all lots, s spread, scaled bool, left *budget) (centre []int64, fixed bool) {
	if d.centred == never {
		return same(d.middle, d.p.Dim), true
	}
	few, ratio := all.some(d.sizes.look), math.Inf(1)
	if d.centred == maybe && !scaled && d.sigma == nil {
		ratio = d.apart(n, few, left) / s.norm
	}
	some := all.some(d.sizes.centre)
	if d.turned != nil {
		return d.turned.choose(n, some, s, ratio, left)
	}
	c := d.centring(some.count, s.norm, d.reach(n, few, left), scaled)
	if ratio*ratio < c.cost {
		return same(d.middle, d.p.Dim), true
	}
	return d.centre(n, some.Block, c, left), false
}

// sum releases the mean about a centre with what is left of the loss: a radius, then the sum.
func (d dense) sum(n noise.Noiser, b *estimator.Block, centre []int64, weights []float64, count float64, nonNegative bool, left *budget) (mean, sigma []float64, moved float64) {
	f2 := block.Factor2(d.p.Relation, nonNegative)
	target := d.target(f2, left.rho*left.left, count)
	norms, totals := d.measure(b, centre, weights)
	radius := d.radius(n, norms, firstpass.NewOctaves(firstpass.RadiiPer(d.p.Dim), d.farthestNorm(weights, count)), target, count, f2, left)
	mean, sigma = addNoise(n, totals.ClipSum(b, centre, norms, radius), weights, radius, f2, left.rest())
	for j, s := range mean {
		s /= count
		mean[j] = s
		if centre != nil {
			mean[j] += float64(centre[j])
		}
		sigma[j] = math.Hypot(sigma[j], s*d.count.sigma()) / count
		moved = math.Hypot(moved, s)
	}
	return mean, sigma, moved
}

// measure returns the norms, and the totals where they are known.
func (d dense) measure(b *estimator.Block, centre []int64, weights []float64) ([]float64, *block.Totals) {
	if d.totals != nil {
		return block.Norms(b, centre, weights), d.totals
	}
	return block.Measure(b, centre, weights)
}

// radius releases the radius with a share of what is left of the loss.
func (d dense) radius(n noise.Noiser, norms []float64, o firstpass.Octaves, target, count float64, f2 int64, left *budget) float64 {
	share := left.left * d.radiusShare(left.rho*left.left, target, count, f2)
	if d.p.Clip == Tails {
		return newTails(o, left.take(share)).radius(n, norms, target)
	}
	h := firstpass.NewHistogram(o, d.delta2(), left.take(share))
	return h.Extended(h.Release(n, norms), target, count)
}

// radiusShare is the share of a loss rho for the radius.
func (d dense) radiusShare(rho, target, count float64, f2 int64) float64 {
	if d.p.Clip == Tails {
		return tailsShare(d.p.Dim, f2)
	}
	return firstpass.RadiusShare(rho, target, count, d.p.Relation)
}

// target is the number of persons beyond the radius.
func (d dense) target(f2 int64, rho, count float64) float64 {
	if d.p.Tail == SqrtN {
		return math.Sqrt(count)
	}
	return min(firstpass.TailTarget(d.p.Dim, f2, rho), count/4)
}

// farthestNorm is the upper end of the radii: the farthest that two vectors of the public range can
// be apart, or, with declared spreads, two of count sub-Gaussian ones but for a probability of 1 %:
// both are within R' = 2σ_max·√(d + ln(4n/0.01)) of the mean, which is within the declared radius
// [HLY21, section 3.4].
func (d dense) farthestNorm(weights []float64, count float64) float64 {
	limit := firstpass.Farthest(d.lo, d.hi, d.p.Dim)
	if d.statistical() {
		limit = min(limit, 2*(d.units(d.p.Radius)+2*d.units(d.p.SigmaMax)*math.Sqrt(float64(d.p.Dim)+math.Log(400*count))))
	}
	if weights != nil {
		limit *= math.Sqrt(maximum(weights))
	}
	return limit
}

// statistical reports whether norm and spreads are declared, so that nothing is looked for: [HLY21]
// section 3.4.
func (d dense) statistical() bool {
	return d.p.Radius > 0 && d.p.SigmaMin > 0 && d.p.SigmaMax > 0 && d.middle == 0 && d.sigma == nil
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
		s += d.find.slack(d.places())
	}
	if d.scaled != never && d.sigma == nil {
		s += d.scale.slack(d.p.Dim)
	}
	return s
}
