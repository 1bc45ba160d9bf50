package friendly

import "math"

// tail returns a whole number a >= 1 with P[X ≥ a] ≤ beta for X from N_Z(0, σ²), and so P[X ≤ −a] ≤
// beta: a = 1 + ⌈z·σ⌉ with z the upper normal point of beta, 1e-100 ≤ beta ≤ 1/2.
//
// The sum of e^{−x²/2σ²} over whole x ≥ a is at most its integral from a − 1 on, as it falls; and
// over all whole x it is at least √(2πσ²), by Poisson's summation formula. So P[X ≥ a] ≤ P[N(0,σ²)
// ≥ a−1] ([CKS20, Proposition 25] has the same bound). z is rounded up by far more than the error
// of math.Erfc.
func tail(sigma, beta float64) int64 {
	return 1 + int64(math.Ceil(min(normalPoint(beta)*sigma, 1<<61)))
}

// normalPoint returns z, rounded up, with P[N(0,1) ≥ z] ≤ beta, by halving. (math.Erfcinv loses all
// digits of a small beta.)
func normalPoint(beta float64) float64 {
	lo, hi := 0.0, 40.0
	for range 60 {
		if mid := (lo + hi) / 2; math.Erfc(mid/math.Sqrt2)/2 > beta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi * (1 + 1e-9)
}
