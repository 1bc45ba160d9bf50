package groups

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// A mean is shown where its noisy number of rows, or of persons, is at least this many standard deviations of its noise, and leastRows.
const (
	meanZ     = 5
	leastRows = 1
)

// answers turns the released sums into the groups' answers.
func (r release) answers(s released, centres []centring) estimator.Estimate {
	size := len(r.layout.parts)
	e := estimator.Estimate{Values: make([]float64, r.p.Groups*size), StdErr: make([]float64, r.p.Groups*size)}
	for k, p := range r.layout.parts {
		for g := range r.p.Groups {
			at := g*r.layout.width + p.first
			v, d := s.sums[at], s.sigma[at]
			switch {
			case p.Measure == Sum:
				v, d = scalar.Scale(p.Grid, v), scalar.Scale(p.Grid, d)
			case p.Measure.mean():
				v, d = p.ratio(v, d, s.sums[at+1], s.sigma[at+1], centres[k])
			}
			e.Values[g*size+k], e.StdErr[g*size+k] = v, min(d, math.MaxFloat64)
			if v == v {
				e.Values[g*size+k] = scalar.Finite(v)
			}
		}
	}
	return e
}

// ratio returns c + differences/rows as a value within the public range, with the standard deviation of the noise; NaN where the rows
// are too few.
func (p part) ratio(differences, sigma, rows, sigmaRows float64, c centring) (v, stdErr float64) {
	if rows < max(meanZ*sigmaRows, leastRows) {
		return math.NaN(), math.NaN()
	}
	ratio := differences / rows
	v = min(max(float64(c.centre)+ratio, float64(p.means.Lo)), float64(p.means.Hi))
	return p.means.Value(v), p.means.Value(math.Hypot(sigma, ratio*sigmaRows) / rows)
}
