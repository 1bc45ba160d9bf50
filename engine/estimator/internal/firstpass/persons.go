package firstpass

import (
	"math"

	"scrim/engine/estimator"
)

// NormsPer is the number of buckets per octave for norms of d coordinates. Norms of independent
// normal coordinates have a relative standard deviation of 1/√(2d): the buckets are two thirds of
// that, so that more can be told from their width.
func NormsPer(dim int) int { return min(max(4, int(1.5*math.Sqrt(float64(dim)))), 64) }

// Share is the share of a loss rho for a histogram of count numbers of which the fullest bucket
// has, say, a tenth: that bucket should be 10 standard deviations. From 0.2 % to 4 %, and more in
// low dimension, where the sum has little noise and the number of persons that the look needs is
// what counts.
func Share(rho, count float64, delta2 int64, dim int) float64 {
	s := max(1, count/100)
	return min(max(float64(delta2)/(2*rho*s*s), LeastShare), 0.04+0.1/float64(dim))
}

// LeastShare is the least share of a histogram.
const LeastShare = 0.002

// MostPairs bounds the matched pairs of a spread: more would not make it better.
const MostPairs = 1 << 14

// PairsOf is the number of matched pairs of count persons.
func PairsOf(count float64) float64 { return min(math.Floor(count/2), MostPairs) }

// Farthest is a number that no distance of two vectors within the range passes.
func Farthest(lo, hi int64, dim int) float64 {
	return float64(hi-lo+1) * math.Sqrt(float64(dim))
}

// Distances returns the distances of matched persons. It works on two pairs at a time, as each
// addition waits for the last.
func Distances(b *estimator.Block, pairs []int32) []float64 {
	r, out := NewReader(b), estimator.Make[float64](b.Memory, len(pairs)/2)
	for g := 0; g < len(out); g += 2 {
		h := min(g+1, len(out)-1)
		out[g], out[h] = r.twoDistances(pairs[2*g:2*g+2], pairs[2*h:2*h+2])
	}
	return out
}

// twoDistances returns the distances of two pairs.
func (r Reader) twoDistances(one, other []int32) (float64, float64) {
	x, y := r.Vector(int(one[0])), r.Vector(int(one[1]))
	z, w := r.Vector(int(other[0])), r.Vector(int(other[1]))
	y, z, w = y[:len(x)], z[:len(x)], w[:len(x)]
	p, q := 0.0, 0.0
	for j, v := range x {
		d, e := float64(v-y[j]), float64(z[j]-w[j])
		p += float64(d * d)
		q += float64(e * e)
	}
	return math.Sqrt(p), math.Sqrt(q)
}
