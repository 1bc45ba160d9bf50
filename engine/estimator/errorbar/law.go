package errorbar

import (
	"math"

	"scrim/engine/estimator"
)

// point is the two-sided standard normal point: a normal number is beyond it, on either side, with
// probability alpha.
func point(alpha float64) float64 { return math.Sqrt2 * math.Erfcinv(min(alpha, 1)) }

// beyond is the y that |E − e| is beyond with probability alpha, for independent E and e of one law
// and of sizes a and b.
func beyond(law estimator.Law, alpha, a, b float64) float64 {
	if law == estimator.Gaussian {
		return point(alpha) * math.Hypot(a, b)
	}
	a, b = max(a, b), min(a, b)
	lo, hi := 0.0, (a+b)*(math.Log(1/alpha)+2)
	for range 100 {
		if y := lo + (hi-lo)/2; tail(y, a, b) > alpha {
			lo = y
		} else {
			hi = y
		}
	}
	return hi
}

// tail is P[|X + Y| > y] for Laplace variables of scales a ≥ b ≥ 0:
//
//	(a²e^{−y/a} − b²e^{−y/b})/(a² − b²)
//
// a function that grows with b; near b = a its limit (1 + y/2a)·e^{−y/a} stands for it, from above.
func tail(y, a, b float64) float64 {
	switch {
	case a == 0:
		return 0
	case b <= 1e-9*a:
		return math.Exp(-y / a)
	case b > 0.999*a:
		return (1 + y/(2*a)) * math.Exp(-y/a)
	}
	u, v := a*a, b*b
	return (u*math.Exp(-y/a) - v*math.Exp(-y/b)) / (u - v)
}
