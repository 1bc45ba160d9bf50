package privacy

import (
	"math/big"

	"scrim/test/bigref"
)

// The slow, obvious accountant: the formulas as they stand, with 256-bit numbers, and a minimiser
// that halves until nothing is left to halve.

// refDeltaZ returns δ_z(ρ, ε) by bisection on the derivative in log α−1.
func refDeltaZ(rho Rho, eps float64) *big.Float {
	if rho == 0 {
		return bigref.New()
	}
	r := bigref.New().SetMantExp(bigref.New().SetUint64(uint64(rho)), -40)
	e := bigref.Of(eps)
	f := func(beta *big.Float) *big.Float {
		alpha := bigref.Add(beta, bigref.Of(1))
		t := bigref.Mul(beta, bigref.Sub(bigref.Mul(alpha, r), e))
		// ln(1−1/α) = ln(β/α)
		t = bigref.Add(t, bigref.Mul(alpha, bigref.Log(bigref.Quo(beta, alpha))))
		return bigref.Quo(bigref.Exp(t), beta)
	}
	slope := func(beta *big.Float) *big.Float {
		alpha := bigref.Add(beta, bigref.Of(1))
		s := bigref.Sub(bigref.Mul(bigref.Add(alpha, beta), r), e)
		return bigref.Add(s, bigref.Log(bigref.Quo(beta, alpha)))
	}
	lo, hi := bigref.New().SetMantExp(bigref.Of(1), -900), bigref.New().SetMantExp(bigref.Of(1), 100)
	for range 72 {
		mid := bigref.New().Sqrt(bigref.Mul(lo, hi))
		if slope(mid).Sign() < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	z := f(hi)
	// Rounded up from absurdly small values, whose sums would be billions of bits long.
	if tiny := bigref.New().SetMantExp(bigref.Of(1), -4000); z.Cmp(tiny) < 0 {
		return tiny
	}
	return z
}

// refDelta returns δ_z(ρ, ε) + δ_event + (1+e^ε)·δ_tv.
func refDelta(l Loss, eps float64) *big.Float {
	d := bigref.Add(refDeltaZ(l.Rho, eps), bigref.Of(l.DeltaEvent))
	if l.DeltaTV == 0 {
		return d
	}
	return bigref.Add(d, bigref.Mul(bigref.Add(bigref.Of(1), bigref.Exp(bigref.Of(eps))), bigref.Of(l.DeltaTV)))
}
