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
