package flow

import (
	"math"
	"slices"

	"scrim/engine/estimator/internal/exponential"
	"scrim/engine/estimator/noise"
)

// choice is the private choice of a cap: P(τ) ∝ τ^−p·e^{−rate·score(τ)}.
//
// A cap is too small where the score is large, that is where many persons have more; a score of 0
// says no more than that it is large enough, and of those the power of τ prefers the small ones. A
// steep power wastes little noise where the score falls steeply; where there are few persons it
// must be a flat one, or no score weighs against it. So p follows from a noisy number of persons.
type choice struct {
	least      exponential.Least
	candidates int
	caps       []int64
}

const (
	// flattest and steepest bound p. At 2 the expected square of a cap that is too large has no
	// end.
	flattest, steepest = 2, 12
	// A power takes up this part of what the scores of small caps say, for caps up to this part of
	// all octaves.
	powerShare, powerReach = 0.8, 0.75
)

// farAway is a distance at which every rate of a choice has the least weight.
const farAway = 1 << 56

// power returns p for a noisy number of persons, which is about the score of the smallest caps.
func (c choice) power(persons float64) float64 {
	far := powerReach * math.Log(float64(c.caps[c.candidates-1]))
	if far <= 0 {
		return steepest
	}
	return min(max(powerShare*c.least.Rate()*unit*persons/far, flattest), steepest)
}

// choose returns the number of a cap. The scores of small caps need no flow where their weight is
// the least that a choice has: a score only grows as a cap falls.
func (c choice) choose(n noise.Noiser, q *profile, power float64) int {
	public := make([]uint64, c.candidates) // what the power adds to scores
	for i := range public {
		public[i] = uint64(math.Round(power * math.Log(float64(c.caps[i])) / c.least.Rate()))
	}
	low := c.lowest(q, public)
	q.from(low)
	scores := make([]uint64, c.candidates)
	for i := c.candidates - 1; i >= 0; i-- {
		if i < low {
			scores[i] = scores[low] + farAway
			continue
		}
		scores[i] = uint64(q.score(i)) + public[i]
	}
	return c.least.Choose(n, scores)
}

// lowest returns the number of a cap such that all below have the least weight. It looks at the
// powers of two.
func (c choice) lowest(q *profile, public []uint64) int {
	var octaves []int
	for i := range q.caps {
		if q.caps[i]&(q.caps[i]-1) == 0 {
			octaves = append(octaves, i)
		}
	}
	q.fill(octaves)
	best := uint64(math.MaxUint64)
	for _, i := range octaves {
		if i < c.candidates {
			best = min(best, uint64(q.score(i))+public[i])
		}
	}
	for _, i := range slices.Backward(octaves) {
		if i >= c.candidates {
			continue
		}
		if s := uint64(q.score(i)); s > best && c.least.Floored(s-best) {
			return i
		}
	}
	return 0
}
