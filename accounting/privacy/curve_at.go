package privacy

import "scrim/accounting/internal/roundup"

// At returns the divergence of order 1+β, rounded up. Between two orders of the grid it is that of
// the chord, see mixture; above the last of them β·d(β) rises by at most d(∞) for each 1, as it is
// convex and d(β) at most d(∞).
func (c *Curve) At(beta float64) float64 {
	d := roundup.Mul(c.rho.FloatUp(), 1+beta)
	pure := c.other[len(c.other)-1]
	if pure == 0 {
		return d
	}
	lo, klo := 0.0, 0.0
	for i, hi := range curveOrders[:len(curveOrders)-1] {
		k := roundup.Mul(c.other[i].floatUp(), hi)
		if beta <= hi {
			return roundup.Add(d, chord(lo, klo, hi, k, beta))
		}
		lo, klo = hi, k
	}
	return roundup.Add(d, roundup.Add(klo, roundup.Mul(pure.floatUp(), beta-lo))/beta*(1+0x1p-50))
}

// chord returns the value at β, over β, of the line through (lo, klo) and (hi, khi), rounded up.
func chord(lo, klo, hi, khi, beta float64) float64 {
	w := (beta - lo) / (hi - lo)
	if w == 1 {
		return khi / beta * (1 + 0x1p-51)
	}
	// each of six operations rounds by 2^-53 of the sum at most
	return (klo*(1-w) + khi*w) / beta * (1 + 0x1p-48)
}
