package privacy

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"sync"

	"scrim/accounting/internal/codec"
	"scrim/accounting/internal/roundup"
)

// curveOrders is the public grid on which the Rényi divergences of events are kept: order α = 1 + β
// for each β. All are exact in binary.
var curveOrders = [...]float64{
	1. / 8, 1. / 4, 3. / 8, 1. / 2, 3. / 4, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, math.Inf(1),
}

// divergence is a Rényi divergence in fixed point, a multiple of divergenceUnit, rounded up. The
// largest stands for "unbounded", and sums stop at it.
type divergence uint64

const divergenceUnit = 1.0 / (1 << 50)

// divergenceOf returns the smallest divergence that is at least x, for x >= 0.
func divergenceOf(x float64) divergence {
	if x = math.Ceil(x / divergenceUnit); x < 0x1p64 {
		return divergence(x)
	}
	return math.MaxUint64
}

func (d divergence) add(e divergence) divergence {
	if s := d + e; s >= d {
		return s
	}
	return math.MaxUint64
}

// floatUp returns the smallest float64 that is at least d, +Inf for the largest.
func (d divergence) floatUp() float64 {
	if d == math.MaxUint64 {
		return math.Inf(1)
	}
	return roundup.Float(uint64(d)) * divergenceUnit
}

// Curve is a sum of Rényi divergences, as functions of the order: α·ρ of the events of which no
// more than ρ-zCDP is known or true, exactly at every order, and of the others on the grid. Sums
// are exact, whatever their order. Slack is not in it: Loss has it.
type Curve struct {
	rho   Rho
	other [len(curveOrders)]divergence // at curveOrders; the last is the pure ε
	gdp   gdp                          // of all events
}

// Add returns the curve of doing both.
func (c Curve) Add(d Curve) Curve {
	c.Plus(&d)
	return c
}

// CurveOf returns the curve of events together.
func CurveOf(events []Event) Curve {
	var c Curve
	for _, e := range events {
		c = c.Add(e.Curve())
	}
	return c
}

// Curve returns the curve of all runs of the event.
func (e Event) Curve() Curve {
	c := Curve{gdp: e.gdp()}
	switch {
	case e.Kind == Threshold:
	case e.Epsilon == 0:
		c.rho = Rho(times(uint64(e.Rho), uint64(e.Count)))
	default:
		for i, beta := range curveOrders {
			c.other[i] = divergenceOf(roundup.Mul(e.divergence(beta), roundup.Float(uint64(e.Count))))
		}
	}
	return c
}

// What an encoded curve has besides ρ.
const (
	withOther = 1 << iota
	withGDP
	withBounded
)

// append encodes the curve: ρ as uvarint, then a byte that says what follows, the others as u64
// and the GDP as uvarints. One that is not known is not written, and neither is one of no event: so
// a curve that was written before GDP was kept reads as one that has none. Before bounded runs were
// summed apart they were counted as noise, at π/2 times their size, and that they stay.
func (c Curve) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(c.rho))
	has := byte(0)
	if c.other != (Curve{}).other {
		has |= withOther
	}
	if c != (Curve{}) && c.gdp.noise != unboundedGDP {
		has |= withGDP
		if c.gdp.bounded > 0 {
			has |= withBounded
		}
	}
	b = append(b, has)
	if has&withOther != 0 {
		for _, d := range c.other {
			b = binary.BigEndian.AppendUint64(b, uint64(d))
		}
	}
	if has&withGDP != 0 {
		b = binary.AppendUvarint(b, uint64(c.gdp.noise))
	}
	if has&withBounded != 0 {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(c.gdp.bounded)), uint64(c.gdp.most))
	}
	return b
}

// readCurve is Curve.append's inverse.
func readCurve(d *codec.Decoder) Curve {
	c := Curve{rho: Rho(d.Uvarint())}
	has := d.Byte()
	d.Bad = d.Bad || has&^(withOther|withGDP|withBounded) != 0 || has&(withGDP|withBounded) == withBounded
	if has&withOther != 0 {
		for i := range c.other {
			c.other[i] = divergence(d.Uint64())
		}
	}
	switch {
	case has&withGDP != 0:
		c.gdp.noise = Rho(d.Uvarint())
	case c != (Curve{}):
		c.gdp.noise = unboundedGDP
	}
	if has&withBounded != 0 {
		c.gdp.bounded, c.gdp.most = Rho(d.Uvarint()), Rho(d.Uvarint())
		d.Bad = d.Bad || c.gdp.most == 0 || c.gdp.most > c.gdp.bounded
	}
	return c
}

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

// CurvesPrint tells programs apart that compute the curve of an event otherwise: a checkpoint holds
// sums of curves.
var CurvesPrint = sync.OnceValue(func() [sha256.Size]byte {
	h := sha256.New()
	for _, beta := range curveOrders {
		h.Write(codec.AppendFloat(nil, beta))
	}
	for _, e := range []Event{
		{Kind: ZCDP, Rho: 1 << 30, Count: 1}, {Kind: ZCDP, Rho: 1 << 30, Epsilon: 1 << 38, Count: 3},
		{Kind: Gaussian, Rho: 12345, Count: 2}, {Kind: DiscreteGaussian, Rho: 1 << 36, Count: 1},
		{Kind: Laplace, Epsilon: 1 << 38, Count: 1}, {Kind: Laplace, Epsilon: 1 << 42, Count: 7},
		{Kind: DiscreteLaplace, Epsilon: 1 << 39, Steps: 1, Count: 1}, {Kind: DiscreteLaplace, Epsilon: 1 << 41, Steps: 9, Count: 2},
		{Kind: Exponential, Epsilon: 1 << 39, Count: 1}, {Kind: RandomizedResponse, Epsilon: 1 << 40, Count: 1},
		{Kind: Threshold, DeltaEvent: 1e-9, Count: 1}, {Kind: NoiseAndChoices, Rho: 1 << 33, Count: 3},
	} {
		h.Write(e.Curve().append(nil))
	}
	return [sha256.Size]byte(h.Sum(nil))
})

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
