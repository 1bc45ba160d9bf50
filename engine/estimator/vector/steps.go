package vector

import (
	"fmt"
	"math"
	"math/big"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/internal/sized"
	"scrim/engine/estimator/noise"
)

// core is a mean once the number of persons is released: what follows may depend on that number.
// A core is built with the loss that it may spend and is immutable.
type core interface {
	// needs is the number of persons under which the core is not used.
	needs() int64
	// steps describes the noisy steps; their losses add up to the core's.
	steps() []estimator.Step
	// release answers a group of count >= needs() persons, a released number.
	release(n noise.Noiser, g group, count float64) estimator.Estimate
}

// group is one group on its way through a core: a vector a person, in units of 2^-shift grid steps.
type group struct {
	*estimator.Block
	shift  uint
	totals *block.Totals // of dense vectors, nil where they are not known
}

// persons is the number of persons: released at loss rho with sensitivity 1, which holds for one
// person more or less and for one exchanged that comes into or goes out of the group; or known,
// where Params.Sized says so.
type persons struct {
	scalar.Persons
	known bool
	share float64 // of the loss of the steps after it, by which these cover it; 0: it has its own
}

// newPersons returns the number of persons of a group at loss rho, which is 0 where it is known.
func newPersons(p Params, rho float64) persons {
	if p.Sized {
		return persons{known: true}
	}
	return persons{Persons: scalar.NewPersons(rho)}
}

// countLoss takes the loss of the number of persons, nothing if it is public.
func (p Params) countLoss(b *budget) float64 { return b.take(p.countShare()) }

// counted returns the number of persons of a mean, and what is left of p.Rho for the steps after
// it.
//
// Under replace-one that is all of p.Rho: the number is covered by these steps
// (scalar.CoveredPersons). A person who comes or goes costs each of them a quarter or a half of
// what an exchange does, but for matched pairs and for the search of a radius by its tails
// (sensitivity 1 for both), which have 0.14 and 0.25 of the loss at most, and all together 0.70 at
// most; with a radius about the public middle 0.63. The number has 0.06, and 0.25 there. Scales
// from matched pairs may have more: then the number has a loss of its own. So do the columns of a
// core that have numbers of persons of their own: see apart.
func (p Params) counted() (c persons, rho float64) {
	share := p.countShare()
	if p.Relation == estimator.ReplaceOne && !p.Sized && p.Scale != Pairs {
		c, share = persons{Persons: scalar.CoveredPersons(p.Rho, 1-share), share: share}, 0
	}
	left := newBudget(p.Rho)
	if own := left.take(share); c.share == 0 {
		c = newPersons(p, own)
	}
	return c, left.rest()
}

// apart is what is left of the loss of the steps after the number for steps that cover numbers of
// persons of their own: a person who comes or goes costs these all of it.
func (c persons) apart(rho float64) float64 { return rho * (1 - c.share) }

// release returns a number of at least 1.
func (c persons) release(n noise.Noiser, in estimator.Input) float64 {
	if c.known {
		return float64(max(1, in.Persons))
	}
	return c.Release(n, in.Vectors.Persons())
}

// whole returns the input of an estimator: with a block, and with as many persons as are public.
func (p Params) whole(in estimator.Input) estimator.Input {
	in = sized.Vectors(p.Params, p.Dim, p.Sparse, in)
	if in.Vectors == nil {
		in.Vectors = &estimator.Block{Dim: p.Dim, Sparse: p.Sparse}
	}
	return in
}

// enough is the number of persons that makes the noise at most a fifth of it.
func (c persons) enough() int64 {
	if c.known {
		return 0
	}
	return c.Enough()
}

// sigma is the standard deviation of the noise, 0 when the number is known.
func (c persons) sigma() float64 {
	if c.known {
		return 0
	}
	return c.Sigma()
}

// told adds what the noise of a released number does to an answer about a centre from which the
// mean is moved, in values, by a vector of the given length.
func (c persons) told(e estimator.Estimate, count, moved float64) estimator.Estimate {
	if g := c.sigma() / count; g > 0 {
		e.Error.Under, e.Error.Shift = []float64{g}, g*moved
	}
	return e
}

// steps describes the release: nothing when the number is known.
func (c persons) steps() []estimator.Step {
	if c.known {
		return nil
	}
	return []estimator.Step{c.Step()}
}

// budget is what is left of a loss, in shares of the whole.
type budget struct{ rho, left float64 }

func newBudget(rho float64) *budget { return &budget{rho, 1} }

// take returns the loss of a share of the whole and reduces what is left. Each part is rounded down
// by one part in 10^12, far more than the error of the differences, so that the exact sum of all
// parts is at most rho.
func (b *budget) take(share float64) float64 {
	share = min(share, b.left)
	b.left -= share
	return b.rho * share * (1 - 1e-12)
}

// rest takes what is left.
func (b *budget) rest() float64 { return b.take(b.left) }

// addNoise releases sums of clipped vectors (block.ClipSum) at loss rho: to coordinate j it adds
// N_Z(0, σ_j²) with
//
//	σ_j² = ⌈factor2·C²·2^(2·ClipBits) / (2ρ·w_j)⌉
//
// exact but for the rounding up. One person moves the sums by a vector Δ with Σ_j w_j·Δ_j² ≤
// factor2·C²·2^(2·ClipBits), so Σ_j Δ_j²/(2σ_j²) ≤ ρ [CKS20, Theorem 14]. weights nil means 1. Sums
// and standard deviations come back in the units of the block's values. C = 0 leaves a variance of
// 1.
func addNoise(n noise.Noiser, sums []*big.Int, weights []float64, radius float64, factor2 int64, rho float64) (noisy, sigma []float64) {
	v := newVariances(radius, factor2, rho)
	noisy, sigma = make([]float64, len(sums)), make([]float64, len(sums))
	var same *big.Int
	if weights == nil {
		same = v.of(1)
	}
	for j, s := range sums {
		sigma2 := same
		if sigma2 == nil {
			sigma2 = v.of(weights[j])
		}
		noisy[j] = math.Ldexp(scalar.Float(n.Gaussian(s, sigma2)), -block.ClipBits)
		sigma[j] = math.Ldexp(scalar.Root(sigma2), -block.ClipBits)
	}
	return noisy, sigma
}

// variances computes the variances of one noisy sum: num/den is the variance of weight 1, before
// rounding.
type variances struct{ num, den *big.Int }

// newVariances panics on a radius that is not finite: radii are released numbers within public
// ends.
func newVariances(radius float64, factor2 int64, rho float64) variances {
	c, r := new(big.Rat).SetFloat64(radius), new(big.Rat).SetFloat64(rho)
	c.Mul(c, c).Quo(c, r)
	num := new(big.Int).Mul(c.Num(), big.NewInt(factor2))
	return variances{num.Lsh(num, 2*block.ClipBits-1), c.Denom()}
}

// of returns ⌈num/(den·w)⌉, at least 1, for a finite w > 0.
func (v variances) of(w float64) *big.Int {
	frac, exp := math.Frexp(w)
	num := new(big.Int).Set(v.num)
	// w = that integer · 2^(exp−53)
	den := new(big.Int).Mul(v.den, big.NewInt(int64(math.Ldexp(frac, 53))))
	if exp -= 53; exp >= 0 {
		den.Lsh(den, uint(exp))
	} else {
		num.Lsh(num, uint(-exp))
	}
	return scalar.Variance(num, den)
}

// estimate turns a mean in units of the group into an answer, with the standard deviation of its
// noise. The answer is brought into the public range of the values, which can only bring it nearer
// to the truth.
func (p Params) estimate(g group, mean, sigma []float64) estimator.Estimate {
	lo, hi := scalar.Range(p.Params)
	e := estimator.Estimate{Values: make([]float64, len(mean)), StdErr: make([]float64, len(mean))}
	for j, m := range mean {
		steps := min(max(math.Ldexp(m, -int(g.shift)), float64(lo)), float64(hi))
		e.Values[j] = scalar.Finite(scalar.Scale(p.Grid, steps))
		e.StdErr[j] = min(scalar.Scale(p.Grid, math.Ldexp(sigma[j], -int(g.shift))), math.MaxFloat64)
	}
	e.Error = &estimator.Error{Form: estimator.Quotient}
	return e
}

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
