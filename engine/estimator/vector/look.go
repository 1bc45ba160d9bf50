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

// reach is the number R such that most persons have all coordinates within ±R of the public middle: then so are the
// coordinates' medians. From a histogram of max_j |x_ij − middle|, in half octaves.
type reach struct{ histogram }

// spread is the root mean square distance √(Σ_j σ_j²) of a person from the mean, from a histogram of the distances of
// secretly matched persons, which is √2 times that.
type spread struct{ histogram }

// Buckets per octave: a reach decides only how many rounds a search has, a spread how fine its cells are; finer where a
// centre may be left out on the strength of the ratio of two norms.
const (
	reachPer  = 2
	spreadPer = 16
)

// lookShare is the share of a loss rho for a histogram of count numbers of which the fullest bucket has, say, a tenth: that
// bucket should be 10 standard deviations. From 0.2 % to 4 %.
func lookShare(rho, count float64, delta2 int64) float64 {
	s := max(1, count/100)
	return min(max(float64(delta2)/(2*rho*s*s), 0.002), 0.04)
}

// mostPairs bounds the matched pairs of a spread: more would not make it better.
const mostPairs = 1 << 14

// farthest is a number that no distance of two vectors within the range passes.
func farthest(lo, hi int64, dim int) float64 {
	return float64(hi-lo+1) * math.Sqrt(float64(dim))
}

// largest returns max_j |x_ij − middle| of each person.
func largest(b *estimator.Block, middle int64) []float64 {
	out := make([]float64, b.Persons())
	eachChunk(b, func(ch *estimator.Chunk, at int) {
		for i := range ch.Persons {
			m := int64(0)
			for _, v := range ch.Dense[i*b.Dim : (i+1)*b.Dim] {
				v -= middle
				m = max(m, v, -v)
			}
			out[at+i] = float64(m)
		}
	})
	return out
}

// distances returns the distances of matched persons.
func distances(b *estimator.Block, pairs []int32) []float64 {
	r, out := newReader(b), make([]float64, len(pairs)/2)
	for g := range out {
		x, y := r.vector(int(pairs[2*g])), r.vector(int(pairs[2*g+1]))
		q := 0.0
		for j, v := range x {
			d := float64(v - y[j])
			q += float64(d * d)
		}
		out[g] = math.Sqrt(q)
	}
	return out
}

// look releases the spread.
func (d dense) spread(n noise.Noiser, b *estimator.Block, count float64, left *budget) float64 {
	if d.sigma != nil {
		return norm(d.sigma)
	}
	pairs := min(count/2, mostPairs)
	h := newHistogram(newOctaves(spreadPer, farthest(d.lo, d.hi, b.Dim)), 2, left.take(lookShare(left.rho, pairs, 2)))
	w := h.quantile(h.release(n, distances(b, match(n, int(b.Persons()), 2, mostPairs))), pairs, 0.5)
	return max(1, w/math.Sqrt2)
}

// reach releases the largest distance of coordinates from the middle that most persons keep.
func (d dense) reach(n noise.Noiser, b *estimator.Block, count float64, left *budget) int64 {
	delta2 := histogramDelta2(d.p.Relation, false)
	h := newHistogram(newOctaves(reachPer, farthest(d.lo, d.hi, 1)), delta2, left.take(lookShare(left.rho, count, delta2)))
	r := h.quantile(h.release(n, largest(b, d.middle)), count, 0.8)
	return int64(min(r, float64(d.hi-d.lo)+1)) + 1
}

// apart releases the median distance from the middle.
func (d dense) apart(n noise.Noiser, b *estimator.Block, count float64, left *budget) float64 {
	delta2 := histogramDelta2(d.p.Relation, false)
	h := newHistogram(newOctaves(spreadPer, farthest(d.lo, d.hi, b.Dim)), delta2, left.take(lookShare(left.rho, count, delta2)))
	return h.quantile(h.release(n, block.Norms(b, same(d.middle, b.Dim), nil)), count, 0.5)
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
