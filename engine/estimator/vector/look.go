package vector

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// A first look at the data, at a few thousandths of the loss, replaces declared bounds and spreads: how far the
// values reach and how far persons are apart. Everything here is in units of the group.

// Buckets per octave of the largest coordinates: they decide only how many rounds a search has.
const reachPer = 2

// normsPer is the number of buckets per octave for norms of d coordinates. Norms of independent normal coordinates have a
// relative standard deviation of 1/√(2d): the buckets are two thirds of that, so that more can be told from their width.
func normsPer(dim int) int { return min(max(4, int(1.5*math.Sqrt(float64(dim)))), 64) }

// lookShare is the share of a loss rho for a histogram of count numbers of which the fullest bucket has, say, a tenth: that
// bucket should be 10 standard deviations. From 0.2 % to 4 %, and more in low dimension, where the sum has little noise and the
// number of persons that the look needs is what counts.
func lookShare(rho, count float64, delta2 int64, dim int) float64 {
	s := max(1, count/100)
	return min(max(float64(delta2)/(2*rho*s*s), leastLook), 0.04+0.1/float64(dim))
}

// leastLook is the least share of a histogram.
const leastLook = 0.002

// mostPairs bounds the matched pairs of a spread: more would not make it better.
const mostPairs = 1 << 14

// farthest is a number that no distance of two vectors within the range passes.
func farthest(lo, hi int64, dim int) float64 {
	return float64(hi-lo+1) * math.Sqrt(float64(dim))
}

// distances returns the distances of matched persons. It works on two pairs at a time, as each addition waits for the last.
func distances(b *estimator.Block, pairs []int32) []float64 {
	r, out := newReader(b), make([]float64, len(pairs)/2)
	for g := 0; g < len(out); g += 2 {
		h := min(g+1, len(out)-1)
		out[g], out[h] = r.twoDistances(pairs[2*g:2*g+2], pairs[2*h:2*h+2])
	}
	return out
}

// twoDistances returns the distances of two pairs.
func (r reader) twoDistances(one, other []int32) (float64, float64) {
	x, y := r.vector(int(one[0])), r.vector(int(one[1]))
	z, w := r.vector(int(other[0])), r.vector(int(other[1]))
	y, z, w = y[:len(x)], z[:len(x)], w[:len(x)]
	p, q := 0.0, 0.0
	for j, v := range x {
		d, e := float64(v-y[j]), float64(z[j]-w[j])
		p += float64(d * d)
		q += float64(e * e)
	}
	return math.Sqrt(p), math.Sqrt(q)
}

// spread is what the distances of persons tell.
type spread struct {
	norm float64 // the root mean square distance √(Σ_j σ_j²) of a person from the mean, in units
	flat float64 // (Σσ_j²)²/(d·Σσ_j⁴): 1 for equal scales, less for unequal ones or coordinates that depend on each other
}

// spread releases the spread, from a histogram of the distances of secretly matched persons, which are √2 times the
// norms of x − μ. For normal coordinates the logarithm of such a distance has variance Σσ_j⁴/(2(Σσ_j²)²) about, which gives flat.
func (d dense) spread(n noise.Noiser, b *estimator.Block, count float64, left *budget) spread {
	if d.sigma != nil {
		return spread{norm: norm(d.sigma)}
	}
	if d.statistical() {
		return spread{norm: d.units(d.p.SigmaMin) * math.Sqrt(float64(b.Dim))}
	}
	h := d.histogram(normsPer(b.Dim), farthest(d.lo, d.hi, b.Dim), 2, left.take(d.spreadShare(count)))
	noisy := h.release(n, distances(b, match(n, int(b.Persons()), 2, mostPairs)))
	pairs := pairsOf(count)
	quarter, half, rest := h.quantile(noisy, pairs, 0.25), h.quantile(noisy, pairs, 0.5), h.quantile(noisy, pairs, 0.75)
	iqr := math.Log(rest/quarter) / (2 * normalMedian)
	return spread{max(1, half/math.Sqrt2), 1 / max(2*iqr*iqr*float64(b.Dim), 1e-9)}
}

// pairsOf is the number of matched pairs of count persons.
func pairsOf(count float64) float64 { return min(math.Floor(count/2), mostPairs) }

// reach releases R such that most persons have all coordinates within ±R of the middle: then so are the medians.
// From a histogram of max_j |x_ij − middle|; a bucket is added, as values that lie close together may all be at the end of theirs.
func (d dense) reach(n noise.Noiser, some sample, left *budget) int64 {
	if d.statistical() {
		return int64(min(d.units(d.p.Radius), 0x1p61)) + 1
	}
	h := d.histogram(reachPer, farthest(d.lo, d.hi, 1), d.delta2(), left.take(d.lookShare(some.count)))
	r := h.quantile(h.release(n, largest(some.Block, d.middle)), some.count, 0.8) * math.Exp2(1.0/reachPer)
	return int64(min(r, 0x1p62)) + 1
}

// apart releases the median distance from the middle.
func (d dense) apart(n noise.Noiser, some sample, left *budget) float64 {
	h := d.histogram(normsPer(d.p.Dim), farthest(d.lo, d.hi, d.p.Dim), d.delta2(), left.take(d.lookShare(some.count)))
	return h.quantile(h.release(n, block.Norms(some.Block, same(d.middle, d.p.Dim), nil)), some.count, 0.5)
}

func (d dense) histogram(per int, limit float64, delta2 int64, rho float64) histogram {
	return newHistogram(newOctaves(per, limit), delta2, rho)
}

// delta2 is the squared sensitivity of a histogram of persons.
func (d dense) delta2() int64 { return histogramDelta2(d.p.Relation, false) }

// lookShare, spreadShare are the shares of the loss of a first histogram.
func (d dense) lookShare(count float64) float64 { return lookShare(d.rho, count, d.delta2(), d.p.Dim) }
func (d dense) spreadShare(count float64) float64 {
	return lookShare(d.rho, pairsOf(count), 2, d.p.Dim)
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

// middleOf is the public point that distances are measured from before there is a centre: 0 where the range holds it,
// otherwise the middle of declared bounds, or the end nearest to 0.
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
