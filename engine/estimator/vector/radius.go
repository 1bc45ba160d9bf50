package vector

import (
	"math"

	"scrim/engine/estimator"
)

// radiusPer is the number of radii an octave: norms in high dimension lie close together, and a radius 4 % too large is
// 4 % more noise.
const radiusPer = 16

// farZ, nearZ: a window of empty buckets far above the data passes for a tail once in 10^9 (there may be ten thousand
// of them, and a radius far too large cannot be mended), one of the octave next to the data once in 3·10^5.
const (
	farZ  = 6
	nearZ = 4.5
)

// radius chooses a clipping radius from noisy counts of norms: the upper edge of the bucket above which about
// target persons are left.
//
// The top of the data is found first: the highest window of 1, 2, 4, … buckets whose count stands out from the noise. What is
// above counts as empty. From there counts are added up downwards until they pass target. So about
// max(target, 6σ) persons are shortened: the tail search of [HLY21] section 3.2 asks T adaptive tail counts of variance
// T/(2ρ) instead, and has to leave out z(T, β)·√(T/(2ρ)), twice that or more. The number of buckets does not matter: only those
// below the top add their noise to the tail.
func (h histogram) radius(noisy []float64, target float64) float64 {
	top, ok := h.top(noisy)
	tail := 0.0
	if !ok {
		return h.edge(float64(top)) // too few persons for any choice
	}
	for i := top; i > 0; i-- {
		if tail += noisy[i]; tail > target {
			return h.edge(float64(i))
		}
	}
	return h.edge(0)
}

// top returns the highest bucket that is taken for occupied, and whether anything stands out.
func (h histogram) top(noisy []float64) (top int, ok bool) {
	best, fullest := -1, 0
	for i := len(noisy) - 1; i >= 0; i-- {
		if noisy[i] > noisy[fullest] {
			fullest = i
		}
		if best < 0 {
			if w := h.window(noisy, i, 2*h.per, farZ); w > 0 {
				best = i + w - 1
			}
		}
	}
	if best < 0 {
		return fullest, false
	}
	for i := min(best+h.per, len(noisy)-1); i > best; i-- {
		if w := h.window(noisy, i, h.per/2, nearZ); w > 0 {
			return i + w - 1, true
		}
	}
	return best, true
}

// window returns the narrowest width w = 1, 2, 4, … ≤ widest for which the buckets i to i+w−1 hold more than z
// standard deviations of their noise; 0 if none does.
func (h histogram) window(noisy []float64, i, widest int, z float64) int {
	sum := 0.0
	for j, w := i, 1; j < len(noisy) && w <= widest; j++ {
		sum += noisy[j]
		if j-i+1 < w {
			continue
		}
		if sum >= z*h.sigma*math.Sqrt(float64(w)) {
			return w
		}
		w *= 2
	}
	return 0
}

// tailTarget is the number of persons beyond the radius that balances bias and noise of the mean of the data: with noise
// of norm f·C·√(d/(2ρ₃)) it is K* = f·√(d/(2ρ₃)) [HLY21, Theorem 2], where the derivative of Σ(‖y‖−C)₊, which is the number of persons beyond
// C, equals that of the noise. f = 2 gives the paper's √(2d/ρ).
func tailTarget(dim int, factor2 int64, rho float64) float64 {
	return math.Sqrt(float64(factor2) * float64(dim) / (2 * rho))
}

// radiusShare is the share of a loss rho that the histogram of norms gets: enough that a window of 5σ is no more than the
// target or one person in a hundred; from 1 % to 10 %.
func radiusShare(rho, target, count float64, r estimator.Relation) float64 {
	k := max(target, count/100)
	return min(max(25*float64(histogramDelta2(r, false))/(2*rho*k*k), 0.01), 0.1)
}
