package friendly

import (
	"math"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// shape releases how the coordinates' spreads compare, from the differences d_p of secretly matched
// persons (firstpass.Match): the sum over the pairs of
//
//	y_pj = √|d_pj| / √(Σ_k |d_pk|)      cut to whole numbers of 2^-20; 0 where all differences are
//
// with N_Z(0, ⌈2·2^40/(2ρ)⌉) on each coordinate. y_p is a function of one pair, ≥ 0 and of norm at
// most 1. One person changes at most one pair in either neighbour relation
// (docs/proofs/matching.md): it is exchanged for another, and ‖y − y'‖² ≤ ‖y‖² + ‖y'‖² ≤ 2 as no
// product is negative; or it comes or goes, 1. So the squared ℓ2 sensitivity is 2·2^40 and the loss
// ρ, whatever the dimension.
//
// For normal coordinates the sum is about 0.82·√(σ_j/(0.8·Σσ)) a pair: a coordinate stands out from
// noise of √(1/ρ) when its part in Σσ is more than 20/(ρ·pairs²). [DJY24] learns as many, k ≈ ε²n²,
// one after the other; here all come at once, no spread has to be searched for level by level, and
// what does not stand out still says how much of Σσ it has together.
type shape struct {
	rho    float64
	top    int
	sigma2 noise.Variance
}

// shapeBits is the resolution of y.
const shapeBits = 20

func newShape(rho float64, top int) shape {
	return shape{rho, top, scalar.ToVariance(scalar.Sigma2(scalar.Square(1<<shapeBits), 2, rho))}
}

// release returns relative spreads, the largest 1.
func (s shape) release(n noise.Noiser, b *estimator.Block, pairs []int32) []float64 {
	sums := pairShapes(b, pairs)
	noisy := make([]float64, len(sums))
	for j, v := range sums {
		noisy[j] = math.Ldexp(float64(n.GaussianInt(v, s.sigma2)), -shapeBits)
	}
	return s.spreads(noisy)
}

// pairShapes returns Σ_p 2^20·y_pj.
func pairShapes(b *estimator.Block, pairs []int32) []int64 {
	sums, y, r := make([]int64, b.Dim), make([]float64, b.Dim), firstpass.NewReader(b)
	for g := 0; g < len(pairs); g += 2 {
		total, one, other := 0.0, r.Vector(int(pairs[g])), r.Vector(int(pairs[g+1]))
		for j, x := range one {
			y[j] = math.Abs(float64(x - other[j]))
			total += y[j]
		}
		if total == 0 {
			continue
		}
		addShape(sums, y, total)
	}
	return sums
}

// addShape adds 2^20·√(d_j/total) for the differences d, cut to whole numbers whose squares add up
// to 2^40 at most: the factor is smaller by more than the error of total, for up to 2^20 terms, and
// of the roots.
func addShape(sums []int64, d []float64, total float64) {
	f := (1 << shapeBits) / math.Sqrt(total) * (1 - 0x1p-30)
	for j, v := range d {
		sums[j] += int64(f * math.Sqrt(v))
	}
}

// standing is the number of standard deviations from which on a coordinate stands out.
const standing = 4

// spreads turns released sums into relative spreads: post-processing.
//
// A sum that stands out is squared, less its noise. The others share one spread: what would be best
// is the root of their mean square [DJY24], which the sums do not tell; it is at most √(m·l) with m
// their mean, which the squares of all their sums tell well, and l the least that stands out.
func (s shape) spreads(noisy []float64) []float64 {
	variance := math.Ldexp(scalar.Root(s.sigma2.Big()), -shapeBits)
	variance *= variance
	least := s.least(noisy, standing*math.Sqrt(variance))
	rest, k := 0.0, 0.0
	for _, y := range noisy {
		if y <= least {
			rest += y*y - variance
			k++
		}
	}
	rest = max(rest/max(k, 1), 2*variance*math.Sqrt(2/max(k, 1)))
	rest = math.Sqrt(rest * max(rest, least*least))
	out, most := make([]float64, len(noisy)), rest
	for j, y := range noisy {
		if out[j] = rest; y > least {
			out[j] = max(rest, y*y-variance)
		}
		most = max(most, out[j])
	}
	for j := range out {
		out[j] /= most
	}
	return out
}

// least is the number that a sum is above to stand out: one of the top at most.
func (s shape) least(noisy []float64, least float64) float64 {
	if s.top <= 0 || s.top >= len(noisy) {
		return least
	}
	sorted := slices.Sorted(slices.Values(noisy))
	return max(least, sorted[len(sorted)-1-s.top])
}

// step describes the release.
func (s shape) step(dim int) estimator.Step {
	return estimator.Step{Name: "spreads", Mechanism: estimator.DiscreteGaussian, Sensitivity: "l2=sqrt(2)", Queries: dim, Rho: s.rho}
}

// ring releases the distance λ that most pairs of persons are within, from a noisy histogram of the
// weighted distances of matched persons (firstpass.Histogram, squared sensitivity 2).
type ring struct{ firstpass.Histogram }

// ringPer is the number of buckets an octave.
const ringPer = 16

// newRing covers distances up to limit.
func newRing(limit, rho float64) ring {
	return ring{firstpass.NewHistogram(firstpass.NewOctaves(ringPer, limit), 2, rho)}
}

// release returns λ for about so many pairs.
func (r ring) release(n noise.Noiser, b *estimator.Block, pairs []int32, weights []float64, count float64) float64 {
	v, values := firstpass.NewReader(b), make([]float64, len(pairs)/2)
	each(len(values), func(g int) {
		values[g] = math.Sqrt(distance2(math.Inf(1), v.Vector(int(pairs[2*g])), v.Vector(int(pairs[2*g+1])), weights))
	})
	noisy := r.Release(n, values)
	quarter, half, rest := r.Quantile(noisy, count, 0.25), r.Quantile(noisy, count, 0.5), r.Quantile(noisy, count, 0.75)
	return half * math.Pow(min(max(rest/quarter, 1), 4), learntTail/(2*quartile))
}

// learntTail is the normal point of the share of pairs that should be friends; quartile is that of
// a quarter. The quartiles are taken for those of a log-normal law: where a tenth of the persons
// are far away, four pairs in five are still near, and so are the quartiles.
const (
	learntTail = 1.645
	quartile   = 0.6744897501960817
)

// step describes the release.
func (r ring) step() estimator.Step {
	return estimator.Step{Name: "distance of friends", Mechanism: estimator.DiscreteGaussian, Use: "histogram", Sensitivity: "l2=sqrt(2)", Queries: r.Buckets, Rho: r.Rho}
}
