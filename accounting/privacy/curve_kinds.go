package privacy

import (
	"math"

	"scrim/accounting/internal/roundup"
)

// The Rényi divergence of order α = 1+β of the kinds with a pure ε, for the worst pair of
// neighbours, both ways round. ln M stands for β times it.
//
// Bounded range: the logarithm of the quotient of the two laws lies in [t−ε, t] for a t in [0, ε]
// [CR21]. Given its mean under the second law, e^0, the mean of its α-th power is largest where
// only the ends occur (convexity), the upper with probability p = (e^{-t} − e^{-ε})/(1 − e^{-ε}):
//
//	M = p·e^{αt} + (1−p)·e^{α(t−ε)},  largest at e^t = (α−1)(1−e^{-αε}) / (α(e^{-ε}−e^{-αε}))
//	ln M = α·H(αε) − β·H(βε) − H(ε),  H(x) = ln(sinh(x/2)/(x/2))
//
// Pure: t is free, and the quotient lies in [-ε, ε]. Again only the ends occur, which is randomised
// response with ε [KOV15]. With c = α − 1/2
//
//	ln M = ln cosh(cε) − ln cosh(ε/2)
//
// Discrete Laplace, e^{-|y|h} at the integers y, moved by s steps, sε = h: three geometric sums
// give
//
//	M = w·e^{βε} + (1−w)·e^{-αε},  w = (1 + tanh(h/2)/tanh(ch))/2
//
// and Laplace is its limit w = α/(2α−1) for h → 0. M is a sum of exponentials of s with positive
// factors, 1 at s = 0: ln M is convex in s and 0 there, so moving several coordinates, s in all, is
// never worse than moving one by s, nor is a smaller s. At a fixed ε, w grows with h: the
// derivative of ln(tanh(h/2)/tanh(ch)) is 1/sinh h − 2c/sinh 2ch > 0, as x/sinh x falls and 2c > 1.
// So a lower bound of s will do, and s = 1 is randomised response.
//
// All three are added up over adaptive runs, order by order: the bound of a step holds whatever
// came before it.

// divergenceSlop covers rounding: a divergence is a sum of at most four terms, each within 8
// rounding units (2^-53) of its magnitude, which is at most 2^7 of the result on the grid of
// orders. That is below 2^-39 of the result.
const divergenceSlop = 1 + 0x1p-38

// divergence returns an upper bound of the Rényi divergence of order 1+beta of one run, for an
// event with a pure ε. That of the order +Inf is ε, and none is above.
func (e Event) divergence(beta float64) float64 {
	eps := float64(e.Epsilon.Epsilon())
	if math.IsInf(beta, 1) {
		return eps
	}
	var d float64
	switch e.Kind {
	case Exponential:
		d = boundedRange(eps, beta)
	case Laplace:
		d = laplace(eps, 0, beta)
	case DiscreteLaplace:
		if e.Steps > 1 {
			d = laplace(eps, eps/roundup.Float(e.Steps), beta)
			break
		}
		d = response(eps, beta)
	case ZCDP:
		d = math.Min(response(eps, beta), roundup.Mul(e.Rho.FloatUp(), 1+beta))
	default:
		d = response(eps, beta)
	}
	return math.Min(eps, d*divergenceSlop)
}

// response is the divergence of randomised response.
func response(eps, beta float64) float64 {
	return (logCosh((beta+0.5)*eps) - logCosh(eps/2)) / beta
}

// boundedRange is the divergence of a choice.
func boundedRange(eps, beta float64) float64 {
	return ((1+beta)*logSinhc((1+beta)*eps/2) - beta*logSinhc(beta*eps/2) - logSinhc(eps/2)) / beta
}

// laplace is the divergence of discrete Laplace noise on a lattice of h = ε/s, of Laplace noise for
// h = 0.
func laplace(eps, h, beta float64) float64 {
	alpha, c := 1+beta, beta+0.5
	excess := 0.0 // w − α/(2α−1)
	if h > 0 {
		u, v := tanhcGap(c*h), tanhcGap(h/2)
		excess = (u - v) / (1 - u) / (4 * c)
	}
	if beta*eps > 1 {
		w := alpha/(2*c) + excess
		return eps + math.Log(w+(1-w)*math.Exp(-2*c*eps))/beta
	}
	// M − 1 without a difference: of w = α/(2α−1), and of what w is more.
	m := alpha * beta / (2 * c) * eps * (expGap(beta*eps) + expGap(-alpha*eps))
	m += excess * (math.Expm1(beta*eps) - math.Expm1(-alpha*eps))
	return math.Log1p(m) / beta
}

// logCosh returns ln cosh x for x >= 0.
func logCosh(x float64) float64 {
	if x < 1 {
		s := math.Sinh(x / 2)
		return math.Log1p(2 * s * s)
	}
	return x - math.Ln2 + math.Log1p(math.Exp(-2*x))
}

// logSinhc returns ln(sinh x / x) for x >= 0.
func logSinhc(x float64) float64 {
	if x < 1 {
		sum, term := 0.0, 1.0
		for k := 1.0; k <= 9; k++ {
			term *= x * x / (2 * k * (2*k + 1))
			sum += term
		}
		return math.Log1p(sum)
	}
	return x - math.Log(2*x) + math.Log1p(-math.Exp(-2*x))
}

// expGap returns |(e^x − 1)/x − 1|.
func expGap(x float64) float64 {
	if x < -1 || x > 1 {
		return math.Abs((math.Expm1(x) - x) / x)
	}
	sum, term := 0.0, 1.0
	for k := 2.0; k <= 20; k++ {
		term *= x / k
		sum += term
	}
	return math.Abs(sum)
}

// tanhcGap returns 1 − tanh x / x for x >= 0.
func tanhcGap(x float64) float64 {
	if x > 1./8 {
		return 1 - math.Tanh(x)/x
	}
	y, sum := x*x, 0.0
	for _, c := range [...]float64{929569. / 638512875, -21844. / 6081075, 1382. / 155925, -62. / 2835, 17. / 315, -2. / 15, 1. / 3} {
		sum = c + y*sum
	}
	return y * sum
}
