package exponential

import (
	"fmt"
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// Least chooses one of finitely many public candidates, one with a small score: P[i] ∝
// e^{−rate·score_i}. The scores of two neighbours differ by amounts that lie, over all candidates,
// in an interval of length span that holds 0; rate = ε/span. What is public may be part of a score.
//
// The weights are those of a pure choice (pure.go): ε-DP and ε-bounded-range, without slack. At a
// loss ρ it is a choice at ε = √(8ρ), which costs ρ [CR21, Lemma 3.2].
type Least struct {
	loss   loss
	rate   float64
	powers powers
}

// NewLeast returns the choice at the loss of p's kind, ρ or ε, for scores of this span. It returns
// an error where the loss is too small to be divided so.
func NewLeast(p estimator.Params, span, share float64) (Least, error) {
	c, eps := Least{}, share
	if p.Pure() {
		c.loss.epsilon = share
	} else {
		c.loss.rho = share
		eps = math.Sqrt(8*share) * (1 - 0x1p-51) // two roundings of 2^-53
	}
	rate, err := pureRate(eps, span)
	if err != nil {
		return Least{}, err
	}
	c.rate, c.powers = rate, newFloored(rate)
	return c, nil
}

// Rate is the rate at which a candidate's weight falls with its score.
func (c *Least) Rate() float64 { return c.rate }

// Step describes the choice; moves is the range of the scores' changes, in the units that EXPLAIN
// shows.
func (c *Least) Step(name string, moves float64) estimator.Step {
	return c.loss.of(1, estimator.Step{Name: name, Mechanism: estimator.Exponential, Sensitivity: fmt.Sprintf("range=%g", moves)})
}

// Floored reports whether a candidate so far from the best one has the least weight that there is.
// So has any farther one, but for a rounding that pure.go has room for: how far exactly does not
// matter.
func (c *Least) Floored(distance uint64) bool { return c.powers.at(distance) == least }

// Choose returns the number of a candidate.
func (c *Least) Choose(n noise.Noiser, scores []uint64) int {
	w := c.wheel(scores)
	return int(w.draw(n))
}

// wheel returns the choice among scores.
func (c *Least) wheel(scores []uint64) *wheel {
	best := scores[0]
	for _, s := range scores {
		best = min(best, s)
	}
	w := new(wheel)
	for i, s := range scores {
		w.add(uint64(i), 1, c.powers.at(s-best))
	}
	return w
}
