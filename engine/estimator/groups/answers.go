package groups

import (
	"math"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// A mean is shown where its noisy number of rows, or of persons, is at least this many standard
// deviations of its noise, and leastRows.
const (
	meanZ     = 3
	leastRows = 1
)

// answers turns the released sums into the groups' answers.
func (r release) answers(s released, centres []centring) estimator.Estimate {
	size := len(r.layout.parts)
	e := r.blank()
	e.Error.Cut = make([]estimator.Cut, len(e.Values))
	for k, p := range r.layout.parts {
		all := s.all(r.layout.width, p, p.first)
		if p.Measure.mean() {
			all = s.all(r.layout.width, p, p.first+1)
		}
		for g := range r.p.Groups {
			at, to := g*r.layout.width+p.first, g*size+k
			v, d := s.sums[at], s.sigma[at]
			cut := estimator.Cut{}
			noise := d
			if p.Measure.mean() {
				rows, x := s.sums[at+1], e.Error
				v, d = p.ratio(v, d, rows, s.sigma[at+1], centres[k])
				if v != v {
					e.NeededRows = max(e.NeededRows, int64(math.Ceil(enoughRows(s.sigma[at+1]))))
				}
				noise, x.Under[to] = p.means.Value(s.sigma[at]/rows), s.sigma[at+1]/rows
				x.Centre[to] = p.means.Value(float64(centres[k].centre))
				cut = s.lostOfMean(p.means.Value(centres[k].kappa), rows, all)
			} else {
				of := all
				if p.Measure == Sum {
					v, d, of = scalar.Scale(p.Grid, v), scalar.Scale(p.Grid, d), scalar.Scale(p.Grid, all)
				}
				noise = d
				cut = s.lost(p, v, d, of)
				v += cut.Added
			}
			if e.Error.Noise != nil {
				e.Error.Noise[to] = noise
			}
			e.Values[to], e.StdErr[to], e.Error.Cut[to] = v, min(d, math.MaxFloat64), cut
			if v == v {
				e.Values[to] = scalar.Finite(v)
			}
		}
	}
	return e
}

// all adds up what a column of a part has in all groups.
func (s released) all(width int, p part, column int) float64 {
	sum := 0.0
	for at := column; at < len(s.sums); at += width {
		if x := s.sums[at]; p.Measure == Sum && p.total.lo < 0 {
			sum += math.Abs(x)
		} else {
			sum += x
		}
	}
	return max(0, sum)
}

// blank is an answer of all groups yet to be filled in. Where there are no means, the standard
// errors are all that is to be told.
func (r release) blank() estimator.Estimate {
	n := r.p.Groups * len(r.layout.parts)
	e := estimator.Estimate{Values: make([]float64, n), StdErr: make([]float64, n), Error: &estimator.Error{Form: estimator.Quotient}}
	if slices.ContainsFunc(r.layout.parts, func(p part) bool { return p.Measure.mean() }) {
		e.Error.Noise, e.Error.Under, e.Error.Centre = make([]float64, n), make([]float64, n), make([]float64, n)
	}
	return e
}

// AllowsForBias implements estimator.Allowing.
func (release) AllowsForBias() bool { return true }

// Bias implements estimator.Biased.
func (r release) Bias() string {
	if r.fixed > 0 {
		return ""
	}
	return "what persons beyond the joint clip lose"
}

// ratio returns c + differences/rows as a value within the public range, with the standard
// deviation of the noise; NaN where the rows are too few.
func (p part) ratio(differences, sigma, rows, sigmaRows float64, c centring) (v, stdErr float64) {
	if rows < enoughRows(sigmaRows) {
		return math.NaN(), math.NaN()
	}
	ratio := differences / rows
	v = min(max(float64(c.centre)+ratio, float64(p.means.Lo)), float64(p.means.Hi))
	return p.means.Value(v), p.means.Value(math.Hypot(sigma, ratio*sigmaRows) / rows)
}

// enoughRows is the noisy number of rows or persons of a group from which a mean is shown.
func enoughRows(sigma float64) float64 { return max(meanZ*sigma, leastRows) }
