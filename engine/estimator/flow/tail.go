package flow

import (
	"math"
	"math/big"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// tail is a noisy look at what is beyond a cap τ: (Q(2τ) − Q(τ))/τ, about the number of persons
// whom τ cuts. Q is concave, so that this bounds how fast Q grows from 2τ on, and, beyond any cap
// from τ on, what is missing:
//
//	Q(∞) − Q(τ′) ≤ (max(M, 2τ) − τ′)·(Q(2τ) − Q(τ))/τ    τ′ >= τ, M the most that one person has
type tail struct {
	cap     int64
	persons float64 // (Q(2τ) − Q(τ))/τ, with noise
	noise   scalar.Noise
	step    float64 // of the noise, in persons
}

// tailOctaves is how far beyond the cap, where no M is known, persons' weights are taken to go on,
// the persons beyond a cap falling at least as fast as the cap grows.
const tailOctaves = 5

// look draws the noise. moved is the sensitivity of Q(2τ) − Q(τ) in units of τ·parts.
func look(n noise.Noiser, p estimator.Params, share, moved float64, cap, parts int64, excess *big.Int) tail {
	hidden := scalar.Single(p, int64(math.Ceil(moved))*cap*parts, share)
	t := tail{cap: cap, noise: hidden, step: 1 / float64(cap*parts)}
	t.persons = hidden.Big(n, excess) * t.step
	return t
}

// sigma is the standard deviation of the noise, in persons.
func (t tail) sigma() float64 { return t.noise.Sigma() * t.step }

const (
	// A look that shows fewer persons than this many standard deviations of its noise changes
	// nothing. With more the cap grows by this power of their number over it: 1/α would bring them
	// down to it where the persons beyond a cap fall as its α-th power.
	clearTail, growth = 1, 0.7
)

// raised is the cap for what the look has shown.
func (t tail) raised() float64 {
	return float64(t.cap) * math.Pow(max(1, t.persons/(clearTail*t.sigma())), growth)
}

// risks are those at which the ends of what is beyond the cap are told.
var risks = [...]float64{1, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.035, 0.02, 0.01, 0.003, 0.001, 1e-4, 1e-5, 1e-7, 1e-9}

// beyond is the law of what a cap takes away, cap >= t.cap; most is M, or 0. Each end holds as
// surely as the noise of the look, which has the part of an interval's risk that estimator.CutOf
// gives.
func (t tail) beyond(cap, most int64) []estimator.CutPart {
	reach := float64(max(most, 2*t.cap) - cap)
	if most == 0 {
		reach = tailOctaves * float64(t.cap)
	}
	if reach <= 0 {
		return nil
	}
	ends := make([]float64, len(risks))
	for k, risk := range risks {
		ends[k] = reach * max(0, max(0, t.persons)+t.noise.Quantile(estimator.CutRisk(risk))*t.step)
	}
	return estimator.CutOf(risks[:], ends)
}

// most reports whether half of so many persons, or more, may be beyond the cap, as far as the look
// shows: then nothing says how far, and an answer has no upper end unless M is known. That half of
// them are is missed once in 40 times. Numbers of results of few persons are such answers, of whom
// the look sees nothing.
func (t tail) most(persons float64) bool { return t.persons+2*t.sigma() >= persons/2 }

// enough is the number of persons of whom most reports false where none is beyond the cap.
func (t tail) enough() float64 { return 4 * t.sigma() }

// seen is the most that a person may have for beyond to hold; most is M, or 0.
func (t tail) seen(most int64) int64 {
	if most > 0 {
		return most
	}
	return t.cap << tailOctaves
}

// missing is what the look shows to be missing at least, or nearly so: of what its persons have, as
// much as is between the cap and its double.
func (t tail) missing() float64 { return float64(t.cap) * max(0, t.persons-t.sigma()) }
