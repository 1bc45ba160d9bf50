package vector

import (
	"math"

	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// tails chooses a radius by noisy tail counts in turn: [HLY21] Algorithm 1, on geometric radii
// instead of all integers, since a radius need only be precise in proportion. Of the edges of the
// octaves it finds the first with at most K persons beyond it.
//
// Each of T = ⌈log2 buckets⌉ rounds asks #{i: v_i > edge} with N_Z(0, ⌈T/(2ρ)⌉): sensitivity 1
// under both relations. With K = max(target, z·σ), z = √(2 ln(T/0.01)), no round takes an empty
// tail for an occupied one, but for a probability of 1 %: one such turn would multiply the noise.
// Where K is more than the target, the radius is made longer by (K/target)^(1/3), at most twice, as
// for a tail of index 3.
//
// The histogram (firstpass.Histogram) needs about half as many persons beyond the radius for the
// same loss.
type tails struct {
	firstpass.Octaves
	rho    float64
	sigma2 noise.Variance
	sigma  float64
}

func newTails(o firstpass.Octaves, rho float64) tails {
	v := scalar.SmallSigma2(1, int64(o.Rounds()), rho)
	return tails{o, rho, v, scalar.Root(v.Big())}
}

// beyond is the number K of persons.
func (s tails) beyond(target float64) float64 {
	return max(target, math.Sqrt(2*math.Log(float64(s.Rounds())/0.01))*s.sigma)
}

// radius releases the radius for the norms.
func (s tails) radius(n noise.Noiser, norms []float64, target float64) float64 {
	above := make([]int64, s.Buckets) // persons in buckets above each
	for _, v := range norms {
		if i := s.Bucket(v); i > 0 {
			above[i-1]++
		}
	}
	for i := s.Buckets - 2; i >= 0; i-- {
		above[i] += above[i+1]
	}
	k, lo, hi := s.beyond(target), 0, s.Buckets-1
	for lo < hi {
		mid := (lo + hi) / 2
		if float64(n.GaussianInt(above[mid], s.sigma2)) >= k {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return s.Edge(float64(lo)) * min(max(math.Cbrt(k/max(target, 0.5)), 1), 2)
}

// tailsShare is the share of a loss for tail counts: what makes K the target, from 2 to 25 %.
func tailsShare(dim int, factor2 int64) float64 {
	const rounds = 10 // 2^10 radii
	z2 := 2 * math.Log(rounds/0.01)
	return min(max(rounds*z2/(float64(factor2)*float64(dim)), 0.02), 0.25)
}
