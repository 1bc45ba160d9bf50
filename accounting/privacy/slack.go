package privacy

import (
	"math"
	"math/bits"

	"scrim/accounting/internal/roundup"
)

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
