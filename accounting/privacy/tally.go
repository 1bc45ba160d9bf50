package privacy

import (
	"encoding/binary"
	"math"
	"math/bits"

	"scrim/accounting/internal/codec"
	"scrim/accounting/internal/roundup"
)

// Tally is a sum of losses in exact arithmetic.
type Tally struct {
	Rho       Rho
	Pure      Pure // as in Loss
	Event, TV Slack
}

// TallyOf returns a loss as a tally: each δ rounded up to a slack.
func TallyOf(l Loss) Tally { return Tally{l.Rho, l.Pure, slackOf(l.DeltaEvent), slackOf(l.DeltaTV)} }

// Add returns t with u added.
func (t Tally) Add(u Tally) Tally {
	t.Plus(&u)
	return t
}

// Plus adds u to t.
func (t *Tally) Plus(u *Tally) {
	if t.Pure > 0 || u.Pure > 0 { // none of two without is none
		t.Pure = composed(t.Pure, u.Pure, *t == Tally{}, *u == Tally{})
	}
	t.Rho, t.Event, t.TV = t.Rho.Add(u.Rho), t.Event.add(u.Event), t.TV.add(u.TV)
}

// Loss returns the tally as a Loss, rounded up.
func (t Tally) Loss() Loss { return Loss{t.Rho, t.Event.Float(), t.TV.Float(), t.Pure} }

// Append appends the encoded tally, tallySize bytes, to b.
func (t Tally) Append(b []byte) []byte {
	for _, v := range [...]uint64{uint64(t.Rho), uint64(t.Pure), t.Event.hi, t.Event.lo, t.TV.hi, t.TV.lo} {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

// tallySize is the length of an encoded tally.
const tallySize = 6 * 8

// ReadTally reads what Tally.Append wrote; the decoder tells of what is cut short.
func ReadTally(d *codec.Decoder) Tally {
	v := d.Take(tallySize)
	if len(v) != tallySize {
		return Tally{}
	}
	e := binary.BigEndian
	t := Tally{
		Rho: Rho(e.Uint64(v)), Pure: Pure(e.Uint64(v[8:])),
		Event: Slack{e.Uint64(v[16:]), e.Uint64(v[24:])}, TV: Slack{e.Uint64(v[32:]), e.Uint64(v[40:])},
	}
	d.Bad = d.Bad || t.Pure > 0 && (t.Event != Slack{} || t.TV != Slack{})
	return t
}

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

// Slack is a δ in fixed point, as a multiple of 2^-126: sums are exact, whatever their order, so
// what is spent can be derived again from the records to the last bit. Conversion from float64
// rounds up. It saturates just below 4, far above any δ that a budget can have.
type Slack struct{ hi, lo uint64 }

const slackBits = 126

var maxSlack = Slack{math.MaxUint64, math.MaxUint64}

// slackOf returns the smallest slack that is at least d, for d >= 0.
func slackOf(d float64) Slack {
	if d == 0 {
		return Slack{}
	}
	if d >= 4 {
		return maxSlack
	}
	frac, exp := math.Frexp(d) // d = frac·2^exp, frac in [1/2, 1)
	m := uint64(math.Ldexp(frac, 53))
	shift := exp - 53 + slackBits // d = m·2^shift units
	if shift <= -64 {
		return Slack{0, 1}
	}
	if shift < 0 {
		q := m >> -shift
		if q<<-shift != m {
			q++
		}
		return Slack{0, q}
	}
	if shift >= 64 {
		return Slack{m << (shift - 64), 0}
	}
	return Slack{m >> (64 - shift), m << shift}
}

// add returns s+t, saturating.
func (s Slack) add(t Slack) Slack {
	lo, c := bits.Add64(s.lo, t.lo, 0)
	hi, c := bits.Add64(s.hi, t.hi, c)
	if c != 0 {
		return maxSlack
	}
	return Slack{hi, lo}
}

// Float returns the smallest float64 that is at least s.
func (s Slack) Float() float64 {
	n := bits.Len64(s.hi)
	if n == 0 {
		return math.Ldexp(roundup.Float(s.lo), -slackBits)
	}
	top := s.hi<<(64-n) | s.lo>>n // the leading 64 bits; n = 64 shifts the low word out
	rest := s.lo << (64 - n)
	if rest != 0 && top != math.MaxUint64 {
		top++ // rounds up what follows below; roundup.Float then rounds up to 53 bits
	}
	return math.Ldexp(roundup.Float(top), n-slackBits)
}
