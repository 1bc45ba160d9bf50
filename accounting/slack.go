package accounting

import (
	"math"
	"math/bits"
)

// slack is a δ in fixed point, as a multiple of 2^-126: sums are exact, whatever their order, so what
// is spent can be derived again from the records to the last bit. Conversion from float64 rounds up.
// It saturates just below 4, far above any δ that a budget can have.
type slack struct{ hi, lo uint64 }

const slackBits = 126

var maxSlack = slack{math.MaxUint64, math.MaxUint64}

// slackOf returns the smallest slack that is at least d, for d >= 0.
func slackOf(d float64) slack {
	if d == 0 {
		return slack{}
	}
	if d >= 4 {
		return maxSlack
	}
	frac, exp := math.Frexp(d) // d = frac·2^exp, frac in [1/2, 1)
	m := uint64(math.Ldexp(frac, 53))
	shift := exp - 53 + slackBits // d = m·2^shift units
	if shift <= -64 {
		return slack{0, 1}
	}
	if shift < 0 {
		q := m >> -shift
		if q<<-shift != m {
			q++
		}
		return slack{0, q}
	}
	if shift >= 64 {
		return slack{m << (shift - 64), 0}
	}
	return slack{m >> (64 - shift), m << shift}
}

// add returns s+t, saturating.
func (s slack) add(t slack) slack {
	lo, c := bits.Add64(s.lo, t.lo, 0)
	hi, c := bits.Add64(s.hi, t.hi, c)
	if c != 0 {
		return maxSlack
	}
	return slack{hi, lo}
}

// float returns the smallest float64 that is at least s.
func (s slack) float() float64 {
	n := bits.Len64(s.hi)
	if n == 0 {
		return math.Ldexp(floatUp(s.lo), -slackBits)
	}
	top := s.hi<<(64-n) | s.lo>>n // the leading 64 bits; n = 64 shifts the low word out
	rest := s.lo << (64 - n)
	if rest != 0 && top != math.MaxUint64 {
		top++ // rounds up what follows below; floatUp then rounds up to 53 bits
	}
	return math.Ldexp(floatUp(top), n-slackBits)
}

// tally is a sum of losses in exact arithmetic.
type tally struct {
	rho       Rho
	pure      Pure // as in Loss
	event, tv slack
}

func tallyOf(l Loss) tally { return tally{l.Rho, l.Pure, slackOf(l.DeltaEvent), slackOf(l.DeltaTV)} }

func (t tally) add(u tally) tally {
	t.plus(&u)
	return t
}

// plus adds u to t.
func (t *tally) plus(u *tally) {
	if t.pure > 0 || u.pure > 0 { // none of two without is none
		t.pure = composed(t.pure, u.pure, *t == tally{}, *u == tally{})
	}
	t.rho, t.event, t.tv = t.rho.Add(u.rho), t.event.add(u.event), t.tv.add(u.tv)
}

// loss returns the tally as a Loss, rounded up.
func (t tally) loss() Loss { return Loss{t.rho, t.event.float(), t.tv.float(), t.pure} }
