package privacy

import "math"

// RenyiLimit returns the divergence of order 1+β within which (ε, c)-DP holds, rounded down. It is
// [CKS20, Proposition 12] solved for the divergence:
//
//	D = ε + (ln c + (1+β)·ln(1 + 1/β) + ln β) / β
//
// for β > 0 and 0 < c < 1. The result may be negative: nothing fits then.
func RenyiLimit(eps Epsilon, c Delta, beta float64) float64 {
	t1, t2, t3 := math.Log(float64(c)), (1+beta)*math.Log1p(1/beta), math.Log(beta)
	// Each term is within 6 rounding units (2^-53) of its magnitude, and sums and quotient add 4:
	// as in logDeltaZ.
	slop := 0x1p-49 * (math.Abs(t1) + t2 + math.Abs(t3) + beta*float64(eps))
	return float64(eps) + (t1+t2+t3-slop)/beta
}

// EpsilonWithin returns the largest ε for which a statement is charged at most r: RhoFor(ε, delta)
// <= r.
func EpsilonWithin(r Rho, delta Delta) Epsilon {
	if r == 0 {
		return 0
	}
	eps := EpsilonOf(Loss{Rho: r}, delta)
	above := Loss{Rho: r.Add(1)}
	for nudge := 0x1p-44; eps > 0 && DeltaOf(above, eps) <= delta; nudge *= 2 { // rounding only
		eps = max(0, eps*Epsilon(1-nudge))
	}
	return eps
}
