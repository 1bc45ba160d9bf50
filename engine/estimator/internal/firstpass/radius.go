package firstpass

import (
	"math"

	"scrim/engine/estimator"
)

// RadiusPer is the number of radii an octave: norms in high dimension lie close together, and a
// radius 4 % too large is 4 % more noise.
const RadiusPer = 16

// RadiiPer is the number of radii an octave for norms of d coordinates: a quarter of their relative
// standard deviation 1/√(2d) about, so that most of the data are in some twelve buckets, also in
// one dimension.
func RadiiPer(dim int) int { return min(max(int(2*math.Sqrt(float64(dim))), 4), RadiusPer) }

// BulkBuckets is the number of buckets that hold most of the data.
const BulkBuckets = 12

// FarZ, NearZ: a window of empty buckets far above the data passes for a tail once in 10^9 (there
// may be ten thousand of them, and a radius far too large cannot be mended), one of the octave next
// to the data once in 3·10^5.
const (
	FarZ  = 6
	NearZ = 4.5
)

// Radius chooses a clipping radius from noisy counts of norms: the upper edge of the bucket above
// which about target persons are left.
//
// The top of the data is found first: the highest window of 1, 2, 4, … buckets whose count stands
// out from the noise. What is above counts as empty. From there counts are added up downwards until
// they pass target. So about max(target, 6σ) persons are shortened: the tail search of [HLY21]
// section 3.2 asks T adaptive tail counts of variance T/(2ρ) instead, and has to leave out z(T,
// β)·√(T/(2ρ)), twice that or more. The number of buckets does not matter: only those below the top
// add their noise to the tail.
func (h Histogram) Radius(noisy []float64, target float64) float64 {
	r, _ := h.EdgeOf(noisy, target)
	return h.Edge(float64(r))
}

// EdgeOf returns the bucket whose upper edge has about target persons beyond it, and the noisy
// number at or beyond it.
func (h Histogram) EdgeOf(noisy []float64, target float64) (bucket int, tail float64) {
	top, ok := h.Top(noisy)
	if !ok {
		return top, 0 // too few persons for any choice
	}
	for i := top; i > 0; i-- {
		if tail += noisy[i]; tail > target {
			return i, tail
		}
	}
	return 0, tail
}

// Extended is Radius where the noise hides the tail: if k > target persons had to be seen before
// they stood out, the radius is made longer, as for a tail that goes on like that from the quarter
// farthest out to there, of index α:
//
//	radius·(k/target)^(1/(2α))     at most three times
//
// The exponent of such a tail would be 1/α; half of it is a compromise with tails that end, whose
// radius should not be touched. In high dimension, where norms lie close together, α is large and
// nothing happens. For log-normal data in one dimension it halves the error.
func (h Histogram) Extended(noisy []float64, target, count float64) float64 {
	far, k := h.EdgeOf(noisy, target)
	near, quarter := h.EdgeOf(noisy, count/4)
	r := h.Edge(float64(far))
	if k <= target || quarter <= k || near >= far || target <= 0 {
		return r
	}
	alpha := math.Log(quarter/k) / math.Log(r/h.Edge(float64(near)))
	return min(r*min(math.Pow(k/target, 1/(2*alpha)), 3), max(r, h.Edge(float64(h.Buckets-1))))
}

// Top returns the highest bucket that is taken for occupied. ok is false if no window stands out;
// then it is the upper end of the one that comes nearest to that.
func (h Histogram) Top(noisy []float64) (top int, ok bool) {
	best, score := 0, math.Inf(-1)
	for i := len(noisy) - 1; i >= 0 && score < FarZ*h.Sigma; i-- {
		if w, z := h.window(noisy, i, 4*h.Per, FarZ); z > score {
			best, score = i+w-1, z
		}
	}
	if score < FarZ*h.Sigma {
		return best, false
	}
	for i := min(best+h.Per, len(noisy)-1); i > best; i-- {
		if w, z := h.window(noisy, i, h.Per/2, NearZ); z >= NearZ*h.Sigma {
			return i + w - 1, true
		}
	}
	return best, true
}

// window returns the narrowest width w = 1, 2, 4, … ≤ widest for which the buckets i to i+w−1 hold
// at least z standard deviations of their noise, and that number over √w; if none does, the width
// for which that is greatest.
func (h Histogram) window(noisy []float64, i, widest int, z float64) (width int, score float64) {
	sum, score := 0.0, math.Inf(-1)
	for j, w := i, 1; j < len(noisy) && w <= widest; j++ {
		sum += noisy[j]
		if j-i+1 < w {
			continue
		}
		if x := sum / math.Sqrt(float64(w)); x > score {
			width, score = w, x
		}
		if score >= z*h.Sigma {
			break
		}
		w *= 2
	}
	return width, score
}

// TailTarget is the number of persons beyond the radius that balances bias and noise of the mean of
// the data: with noise of norm f·C·√(d/(2ρ₃)) it is K* = f·√(d/(2ρ₃)) [HLY21, Theorem 2], where the
// derivative of Σ(‖y‖−C)₊, which is the number of persons beyond C, equals that of the noise. f = 2
// gives the paper's √(2d/ρ).
func TailTarget(dim int, factor2 int64, rho float64) float64 {
	return math.Sqrt(float64(factor2) * float64(dim) / (2 * rho))
}

// RadiusShare is the share of a loss rho that the histogram of norms gets: enough that a window of
// 5σ is no more than the target or one person in a hundred; from 1 % to 10 %.
func RadiusShare(rho, target, count float64, r estimator.Relation) float64 {
	k := max(target, count/100)
	return min(max(25*float64(Delta2(r, false))/(2*rho*k*k), 0.01), 0.1)
}
