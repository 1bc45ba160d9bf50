package vector

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// A first look at the data, at a few thousandths of the loss, replaces declared bounds and spreads:
// how far the values reach and how far persons are apart. Everything here is in units of the group.

// Buckets per octave of the largest coordinates: they decide only how many rounds a search has.
const reachPer = 2

// spread is what the distances of persons tell.
type spread struct {
	norm float64 // the root mean square distance √(Σ_j σ_j²) of a person from the mean, in units
	// (Σσ_j²)²/(d·Σσ_j⁴): 1 for equal scales, less for unequal ones or coordinates that depend on
	// each other
	flat float64
}

// spread releases the spread, from a histogram of the distances of secretly matched persons, which
// are √2 times the norms of x − μ. For normal coordinates the logarithm of such a distance has
// variance Σσ_j⁴/(2(Σσ_j²)²) about, which gives flat.
func (d dense) spread(n noise.Noiser, b *estimator.Block, count float64, left *budget) spread {
	if d.sigma != nil {
		return spread{norm: norm(d.sigma)}
	}
	if d.statistical() {
		return spread{norm: d.units(d.p.SigmaMin) * math.Sqrt(float64(b.Dim))}
	}
	h := d.histogram(firstpass.NormsPer(b.Dim), firstpass.Farthest(d.lo, d.hi, b.Dim), 2, left.take(d.spreadShare(count)))
	noisy := h.Release(n, firstpass.Distances(b, firstpass.Match(n, b.Memory, int(b.Persons()), 2, d.mostPairs())))
	pairs := d.pairs(count)
	quarter, half, rest := h.Quantile(noisy, pairs, 0.25), h.Quantile(noisy, pairs, 0.5), h.Quantile(noisy, pairs, 0.75)
	iqr := math.Log(rest/quarter) / (2 * normalMedian)
	return spread{max(1, half/math.Sqrt2), 1 / max(2*iqr*iqr*float64(b.Dim), 1e-9)}
}

// pairs is the number of matched pairs of count persons.
func (d dense) pairs(count float64) float64 {
	return min(firstpass.PairsOf(count), float64(d.mostPairs()))
}

// mostPairs bounds the matched pairs: more than make the share of their histogram the least would
// only take time.
func (d dense) mostPairs() int {
	return int(min(firstpass.MostPairs, max(leastLooked, 100*math.Sqrt(1/(firstpass.LeastShare*d.rho)))))
}

// reach releases R such that most persons have all coordinates within ±R of the middle: then so are
// the medians. From a histogram of max_j |x_ij − middle|; a bucket is added, as values that lie
// close together may all be at the end of theirs.
func (d dense) reach(n noise.Noiser, some sample, left *budget) int64 {
	if d.statistical() {
		return int64(min(d.units(d.p.Radius), 0x1p61)) + 1
	}
	h := d.histogram(reachPer, firstpass.Farthest(d.lo, d.hi, 1), d.delta2(), left.take(d.lookShare(some.count)))
	r := h.Quantile(h.Release(n, largest(some.Block, d.middle)), some.count, 0.8) * math.Exp2(1.0/reachPer)
	return int64(min(r, 0x1p62)) + 1
}

// apart releases the median distance from the middle.
func (d dense) apart(n noise.Noiser, some sample, left *budget) float64 {
	h := d.histogram(firstpass.NormsPer(d.p.Dim), firstpass.Farthest(d.lo, d.hi, d.p.Dim), d.delta2(), left.take(d.lookShare(some.count)))
	return h.Quantile(h.Release(n, block.Norms(some.Block, same(d.middle, d.p.Dim), nil)), some.count, 0.5)
}

func (d dense) histogram(per int, limit float64, delta2 int64, rho float64) firstpass.Histogram {
	return firstpass.NewHistogram(firstpass.NewOctaves(per, limit), delta2, rho)
}

// delta2 is the squared sensitivity of a histogram of persons.
func (d dense) delta2() int64 { return firstpass.Delta2(d.p.Relation, false) }

// lookShare, spreadShare are the shares of the loss of a first histogram.
func (d dense) lookShare(count float64) float64 {
	return firstpass.Share(d.rho, count, d.delta2(), d.p.Dim)
}
func (d dense) spreadShare(count float64) float64 {
	return firstpass.Share(d.rho, d.pairs(count), 2, d.p.Dim)
}

// same returns a vector of one number, nil for 0.
func same(x int64, dim int) []int64 {
	if x == 0 {
		return nil
	}
	c := make([]int64, dim)
	for j := range c {
		c[j] = x
	}
	return c
}

func norm(x []float64) float64 {
	q := 0.0
	for _, v := range x {
		q += v * v
	}
	return math.Sqrt(q)
}

// middleOf is the public point that distances are measured from before there is a centre: 0 where
// the range holds it, otherwise the middle of declared bounds, or the end nearest to 0.
func middleOf(p Params, shift uint) int64 {
	lo, hi := scalar.Range(p.Params)
	switch {
	case lo <= 0 && hi >= 0:
		return 0
	case p.Bounded():
		return (lo + (hi-lo)/2) << shift
	}
	return min(max(0, lo), hi) << shift
}
