package groups

import (
	"math"
	"slices"

	"scrim/engine/estimator"
)

// Without a common law of the groups' means, one is shown where its noisy number of rows, or of
// persons, is at least this many standard deviations of its noise, and leastRows.
const (
	meanZ     = 3
	leastRows = 1
)

// shrunkWider is how much wider than the law says the interval of a group is that the law answers
// for: the law is not known, and mixtures of normal laws have longer tails than one.
const shrunkWider = 1.2

// leastFilled is how many times as many rows as a mean has may be counted beside it for counts to
// tell that a group has rows.
const leastFilled = 1.25

// means sets the answers of a part that is a mean: its groups' ratios, brought nearer to what they
// have in common (common.go).
func (r release) means(e *estimator.Estimate, s released, k int, c centring) {
	p, width := r.layout.parts[k], r.layout.width
	sums := make([]groupSum, r.p.Groups)
	for g := range sums {
		at := g*width + p.first
		sums[g] = groupSum{s.sums[at], s.sums[at+1], s.sigma[at], s.sigma[at+1]}
	}
	law, all := commonOf(sums, c.kappa), s.all(width, p, p.first+1)
	counts := r.countsBeside(s, all)
	for g, sum := range sums {
		m := law.mean(sum, counts(g))
		if !m.known {
			e.NeededRows = max(e.NeededRows, int64(math.Ceil(enoughRows(sum.sigmaRows))))
		}
		p.tell(e, g*len(r.layout.parts)+k, m, c)
		e.Error.Cut[g*len(r.layout.parts)+k] = s.lostOfMean(p.means.Value(c.weight), sum.rows, all)
	}
}

// groupMean is a group's mean in units of the part's means from the centre.
type groupMean struct {
	value, stdErr float64
	noise, under  float64 // of the ratio: of the differences and of the rows, over the rows
	known, common bool    // common: there is no interval of its own ratio
}

// countsBeside returns what tells of a group whether it has rows by counts in the same release:
// those of which the rows of a mean, all of them together, are most.
func (r release) countsBeside(s released, all float64) func(g int) bool {
	width := r.layout.width
	var counts []int
	for _, p := range r.layout.parts {
		if p.Measure.count() && s.all(width, p, p.first) <= leastFilled*all {
			counts = append(counts, p.first)
		}
	}
	return func(g int) bool {
		return slices.ContainsFunc(counts, func(c int) bool {
			at := g*width + c
			return s.sums[at] >= max(meanZ*s.sigma[at], leastRows)
		})
	}
}

// mean returns the mean of a group; counted says that counts tell that it has rows.
func (c common) mean(s groupSum, counted bool) groupMean {
	own := groupMean{known: true, value: s.differences / s.rows, noise: s.sigma / s.rows, under: s.sigmaRows / s.rows}
	own.stdErr = math.Hypot(own.noise, own.value*own.under)
	unknown := groupMean{value: math.NaN(), stdErr: math.NaN()}
	if z := s.stands(); !(z >= shrunkZ && s.rows >= leastRows || counted && z >= -shrunkZ) {
		return unknown
	}
	if s.stands() >= commonZ && s.rows >= leastRows {
		return own
	}
	mean, stdDev, ok := c.given(s)
	switch {
	case !ok && s.stands() < meanZ:
		return unknown
	case !ok:
		return own
	}
	return groupMean{value: mean, stdErr: stdDev, noise: shrunkWider * stdDev, known: true, common: true}
}

// tell sets value to of an estimate.
func (p part) tell(e *estimator.Estimate, to int, m groupMean, c centring) {
	value := func(x float64) float64 {
		return p.means.Value(min(max(float64(c.centre)+x, float64(p.means.Lo)), float64(p.means.Hi)))
	}
	x := e.Error
	e.Values[to], x.Raw[to] = value(m.value), value(m.value)
	e.StdErr[to], x.Noise[to], x.Under[to] = p.means.Value(m.stdErr), p.means.Value(m.noise), m.under
	x.Centre[to] = p.means.Value(float64(c.centre))
	if m.common {
		x.Common[to] = 1
	}
}

// enoughRows is the noisy number of rows or persons of a group from which a mean is shown.
func enoughRows(sigma float64) float64 { return max(shrunkZ*sigma, leastRows) }
