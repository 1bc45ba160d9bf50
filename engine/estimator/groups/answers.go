package groups

import (
	"math"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// answers turns the released sums into the groups' answers.
func (r release) answers(s released, centres []centring) estimator.Estimate {
	e := r.blank()
	e.Error.Cut = make([]estimator.Cut, len(e.Values))
	for k, p := range r.layout.parts {
		if p.Measure.mean() {
			r.means(&e, s, k, centres[k])
		} else {
			r.totals(&e, s, k)
		}
	}
	for j, v := range e.Values {
		if e.StdErr[j] = min(e.StdErr[j], math.MaxFloat64); v == v {
			e.Values[j] = scalar.Finite(v)
		}
		if raw := e.Error.Raw; raw != nil && raw[j] == raw[j] {
			raw[j] = scalar.Finite(raw[j])
		}
	}
	return e
}

// totals sets the answers of a part that is a count or a sum.
func (r release) totals(e *estimator.Estimate, s released, k int) {
	p := r.layout.parts[k]
	all := s.all(r.layout.width, p, p.first)
	if p.Measure == Sum {
		all = scalar.Scale(p.Grid, all)
	}
	for g := range r.p.Groups {
		at, to := g*r.layout.width+p.first, g*len(r.layout.parts)+k
		v, d := s.sums[at], s.sigma[at]
		if p.Measure == Sum {
			v, d = scalar.Scale(p.Grid, v), scalar.Scale(p.Grid, d)
		}
		cut := s.lost(p, v, d, all)
		e.Values[to], e.StdErr[to], e.Error.Cut[to] = v+cut.Added, d, cut
		if e.Error.Noise != nil {
			e.Error.Noise[to], e.Error.Raw[to] = d, e.Values[to]
		}
	}
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
		for _, x := range []*[]float64{&e.Error.Noise, &e.Error.Under, &e.Error.Centre, &e.Error.Raw, &e.Error.Common} {
			*x = make([]float64, n)
		}
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
