package privacy

import "scrim/accounting/internal/codec"

// Amount is a sum of losses: what is charged, and the curve of the events that it was charged for.
type Amount struct {
	Tally
	Curve Curve
}

// Plus adds b to a.
func (a *Amount) Plus(b *Amount) {
	a.Tally.Plus(&b.Tally)
	a.Curve.Plus(&b.Curve)
}

// With returns the amount and, beside it, one charge of a loss of which nothing else is known.
func (a *Amount) With(l Loss) *Amount {
	sum := *a
	sum.Plus(&Amount{TallyOf(l), CurveOf(EventsOf(l))})
	return &sum
}

// Times returns the sum of n amounts like a, n >= 1.
func (a *Amount) Times(n int) *Amount {
	sum, power, first := Amount{}, *a, true
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			if first {
				sum, first = power, false
			} else {
				sum.Plus(&power)
			}
		}
		twice := power
		power.Plus(&twice)
	}
	return &sum
}

// Plus adds d to c.
func (c *Curve) Plus(d *Curve) {
	c.rho, c.gdp = c.rho.Add(d.rho), c.gdp.add(d.gdp)
	if pure := len(d.other) - 1; d.other[pure] == 0 {
		return // no event has another divergence than α·ρ, as it would have a pure ε
	}
	for i := range d.other {
		c.other[i] = c.other[i].add(d.other[i])
	}
}

// Covers reports whether a has b's tally and a curve that is nowhere below b's.
func (a *Amount) Covers(b *Amount) bool {
	for i := range a.Curve.other {
		if a.Curve.other[i] < b.Curve.other[i] {
			return false
		}
	}
	return a.Tally == b.Tally && a.Curve.rho >= b.Curve.rho && a.Curve.gdp.covers(b.Curve.gdp)
}

// Append appends the encoded amount to b.
func (a *Amount) Append(b []byte) []byte { return a.Curve.append(a.Tally.Append(b)) }

// ReadAmount reads what Amount.Append wrote; the decoder tells of what is cut short.
func ReadAmount(d *codec.Decoder) Amount { return Amount{ReadTally(d), readCurve(d)} }
