package groups

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
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

// alikeBeside is how many times as many rows as a mean has may be counted beside it, or how many
// times as much may be added up, for these to tell that a group has rows.
const alikeBeside = 1.25

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
	told := r.toldBeside(s, p, c, all)
	for g, sum := range sums {
		m := law.mean(sum, told(g))
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

// toldBeside returns what tells of a group whether it has rows beside a mean of all of them, in
// standard deviations: counts in the same release of which the rows of the mean, all of them
// together, are most, and sums that are what its values add up to in all groups together.
func (r release) toldBeside(s released, p part, c centring, all float64) func(g int) float64 {
	width := r.layout.width
	values, sigma := r.valuesOf(s, p, c)
	columns := map[int]float64{} // with the sign of what they add up to
	for _, q := range r.layout.parts {
		switch {
		case q.Measure.count() && s.all(width, q, q.first) <= alikeBeside*all:
			columns[q.first] = 1
		case q.Measure == Sum && p.Measure == RowMean:
			sum, noise := r.valuesOf(s, q, centring{})
			seen, ratio := math.Abs(values) >= meanZ*sigma && math.Abs(sum) >= meanZ*noise, sum/values
			if seen && ratio <= alikeBeside && ratio >= 1/alikeBeside {
				columns[q.first] = math.Copysign(1, sum)
			}
		}
	}
	return func(g int) float64 {
		most := 0.0
		for c, sign := range columns {
			if x := sign * s.sums[g*width+c]; x >= leastRows {
				most = max(most, x/s.sigma[g*width+c])
			}
		}
		return most
	}
}

// valuesOf is what the values of a mean about its centre, or of a sum, add up to in all groups
// together, with the standard deviation of its noise, in values of the argument.
func (r release) valuesOf(s released, p part, c centring) (sum, sigma float64) {
	unit := func(x float64) float64 { return scalar.Scale(p.Grid, x) }
	if p.Measure.mean() {
		unit = p.means.Value
	}
	for at := p.first; at < len(s.sums); at += r.layout.width {
		sum, sigma = sum+s.sums[at], math.Hypot(sigma, s.sigma[at])
		if p.Measure.mean() {
			sum, sigma = sum+float64(c.centre)*s.sums[at+1], math.Hypot(sigma, float64(c.centre)*s.sigma[at+1])
		}
	}
	return unit(sum), unit(sigma)
}

// mean returns the mean of a group; told is what counts or sums beside say of its rows, in standard
// deviations: these and the rows, which have noise of their own, tell together that there are some.
func (c common) mean(s groupSum, told float64) groupMean {
	own := groupMean{known: true, value: s.differences / s.rows, noise: s.sigma / s.rows, under: s.sigmaRows / s.rows}
	own.stdErr = math.Hypot(own.noise, own.value*own.under)
	unknown := groupMean{value: math.NaN(), stdErr: math.NaN()}
	if z := s.stands(); !(z >= shrunkZ && s.rows >= leastRows || math.Hypot(max(0, z), told) >= meanZ && z >= -shrunkZ) {
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
