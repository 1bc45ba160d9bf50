package accounting

import "math/big"

// The slow, obvious accountant: the formulas as they stand, with 256-bit numbers, and a minimiser that
// halves until nothing is left to halve.

const bigPrec = 256

func bf(x float64) *big.Float         { return new(big.Float).SetPrec(bigPrec).SetFloat64(x) }
func bnew() *big.Float                { return new(big.Float).SetPrec(bigPrec) }
func badd(a, b *big.Float) *big.Float { return bnew().Add(a, b) }
func bsub(a, b *big.Float) *big.Float { return bnew().Sub(a, b) }
func bmul(a, b *big.Float) *big.Float { return bnew().Mul(a, b) }
func bquo(a, b *big.Float) *big.Float { return bnew().Quo(a, b) }

// bexp returns e^x: the Taylor series at x/2^k, squared k times.
func bexp(x *big.Float) *big.Float {
	k := max(0, x.MantExp(nil)) + 16
	y := bnew().SetMantExp(x, -k)
	sum, term := bf(1), bf(1)
	for i := 1; i < 24; i++ {
		term = bquo(bmul(term, y), bf(float64(i)))
		sum = badd(sum, term)
	}
	for range k {
		sum = bmul(sum, sum)
	}
	return sum
}

var bln2 = func() *big.Float { return blnMant(bf(2)) }()

// bln returns ln x for x > 0.
func bln(x *big.Float) *big.Float {
	m := bnew()
	e := x.MantExp(m)
	return badd(blnMant(m), bmul(bf(float64(e)), bln2))
}

// blnMant returns ln m for m in [1/2, 2], as 2·artanh((m−1)/(m+1)) after eight square roots.
func blnMant(m *big.Float) *big.Float {
	r := m
	for range 8 {
		r = bnew().Sqrt(r)
	}
	z := bquo(bsub(r, bf(1)), badd(r, bf(1)))
	z2, p, sum := bmul(z, z), z, bnew()
	for i := 1; i < 36; i += 2 {
		sum = badd(sum, bquo(p, bf(float64(i))))
		p = bmul(p, z2)
	}
	return bmul(bf(512), sum)
}

// refDeltaZ returns δ_z(ρ, ε) by bisection on the derivative in log α−1.
func refDeltaZ(rho Rho, eps float64) *big.Float {
	if rho == 0 {
		return bnew()
	}
	r := bnew().SetMantExp(bnew().SetUint64(uint64(rho)), -40)
	e := bf(eps)
	f := func(beta *big.Float) *big.Float {
		alpha := badd(beta, bf(1))
		t := bmul(beta, bsub(bmul(alpha, r), e))
		t = badd(t, bmul(alpha, bln(bquo(beta, alpha)))) // ln(1−1/α) = ln(β/α)
		return bquo(bexp(t), beta)
	}
	slope := func(beta *big.Float) *big.Float {
		alpha := badd(beta, bf(1))
		s := bsub(bmul(badd(alpha, beta), r), e)
		return badd(s, bln(bquo(beta, alpha)))
	}
	lo, hi := bnew().SetMantExp(bf(1), -900), bnew().SetMantExp(bf(1), 100)
	for range 72 {
		mid := bnew().Sqrt(bmul(lo, hi))
		if slope(mid).Sign() < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	z := f(hi)
	// Rounded up from absurdly small values, whose sums would be billions of bits long.
	if tiny := bnew().SetMantExp(bf(1), -4000); z.Cmp(tiny) < 0 {
		return tiny
	}
	return z
}

// refDelta returns δ_z(ρ, ε) + δ_event + (1+e^ε)·δ_tv.
func refDelta(l Loss, eps float64) *big.Float {
	d := badd(refDeltaZ(l.Rho, eps), bf(l.DeltaEvent))
	if l.DeltaTV == 0 {
		return d
	}
	return badd(d, bmul(badd(bf(1), bexp(bf(eps))), bf(l.DeltaTV)))
}
