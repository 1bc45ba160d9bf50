package reconcile

import (
	"scrim/engine/estimator"
)

// risks are those at which what clips take away is carried along, in falling order.
var risks = [...]float64{0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001, 1e-4, 1e-6, 1e-9}

type ends [len(risks)]float64

// guess is a linear combination of released numbers that estimates one exact number.
type guess struct {
	value    float64
	variance float64 // of noise, as it is weighed
	// root mean square of what clips take away, about what was added; of a sum, of all together
	cut   float64
	noise float64 // variance of the noise in it
	added float64 // of what was added for clips
	// how far the exact number may be above value − added, and under it, for what clips take away
	above, under *ends
}

// total is what a guess is weighed by. What clips take away is taken to be large together: a person
// with many rows is cut in many groups.
func (g guess) total() float64 { return g.variance + g.cut*g.cut }

// times multiplies by a factor that is not negative.
func (g guess) times(a float64) guess {
	return guess{a * g.value, a * a * g.variance, a * g.cut, a * a * g.noise, a * g.added, g.above.times(a), g.under.times(a)}
}

// plus is the sum with a guess of another number, made of different released numbers.
func (g guess) plus(h guess) guess {
	return guess{g.value + h.value, g.variance + h.variance, g.cut + h.cut, g.noise + h.noise, g.added + h.added, g.above.plus(h.above, 1), g.under.plus(h.under, 1)}
}

// minus is the difference: what lifts the one lowers the other.
func (g guess) minus(h guess) guess {
	return guess{g.value - h.value, g.variance + h.variance, g.cut + h.cut, g.noise + h.noise, g.added - h.added, g.above.plus(h.under, 1), g.under.plus(h.above, 1)}
}

// without takes one of the guesses that a sum is made of out of it again.
func (g guess) without(h guess) guess {
	return guess{g.value - h.value, max(0, g.variance-h.variance), max(0, g.cut-h.cut), max(0, g.noise-h.noise), g.added - h.added, g.above.plus(h.above, -1), g.under.plus(h.under, -1)}
}

func (e *ends) times(a float64) *ends {
	if e == nil {
		return nil
	}
	out := *e
	for k := range out {
		out[k] *= a
	}
	return &out
}

func (e *ends) plus(h *ends, sign float64) *ends {
	if e == nil && h == nil {
		return nil
	}
	out := ends{}
	if e != nil {
		out = *e
	}
	for k := range out {
		if h != nil {
			out[k] = max(0, out[k]+sign*h[k])
		}
	}
	return &out
}

// law is what clips take away as an estimate has it: at each of the risks, and between two of them
// the larger end.
func (g guess) law() estimator.Cut {
	return estimator.Cut{Added: g.added, Up: g.above.parts(), Down: g.under.parts()}
}

func (e *ends) parts() []estimator.CutPart {
	if e == nil {
		return nil
	}
	return estimator.CutOf(risks[:], e[:])
}
