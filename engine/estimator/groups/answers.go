package groups

import (
	"math"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/clipping"
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
			r.totals(&e, s, p, func(g int) (x, sigma float64) {
				at := g*r.layout.width + p.first
				return p.unit(s.sums[at]), p.unit(s.sigma[at])
			})
		}
	}
	for _, p := range r.layout.sums {
		r.totals(&e, s, p, r.fromMean(s, p, centres))
		r.agree(&e, p)
		r.rows(&e, s, p, centres)
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

// unit is a number of steps of a sum, or a count, as a value.
func (p part) unit(x float64) float64 {
	if p.Measure == Sum {
		return scalar.Scale(p.Grid, x)
	}
	return x
}

// partAt returns the part of the aggregate at a place.
func (r release) partAt(at int) int {
	return slices.IndexFunc(r.layout.parts, func(p part) bool { return p.at == at })
}

// countedBy returns the number of rows that a mean is divided by in the place of its own rows,
// where a sum is answered by both: all three agree then.
func (r release) countedBy(mean part) (part, bool) {
	for _, p := range r.layout.sums {
		if p.Mean == mean.at+1 {
			return r.layout.parts[r.partAt(p.Count-1)], true
		}
	}
	return part{}, false
}

// fromMean gives the sums of a part without columns: c·N + D of the mean's differences D from its
// centre c and the number of rows N, whose noises are independent. They have the same clip, so
// that it takes the same share of both.
func (r release) fromMean(s released, p part, centres []centring) func(g int) (x, sigma float64) {
	k := r.partAt(p.Mean - 1)
	mean, rows := r.layout.parts[k], r.layout.parts[r.partAt(p.Count-1)]
	c := mean.means.Value(float64(centres[k].centre))
	return func(g int) (x, sigma float64) {
		d, n := g*r.layout.width+mean.first, g*r.layout.width+rows.first
		return c*s.sums[n] + mean.means.Value(s.sums[d]), math.Hypot(c*s.sigma[n], mean.means.Value(s.sigma[d]))
	}
}

// agree makes the sums of a part the product of mean and number, where the mean is the group's own:
// what is added for the clip is then the same share of both, and what it may take is what it may
// take from both.
func (r release) agree(e *estimator.Estimate, p part) {
	for at := 0; at < len(e.Values); at += r.layout.values {
		mean, to := at+p.Mean-1, at+p.at
		if v := e.Values[mean] * e.Values[at+p.Count-1]; v == v && e.Error.Common[mean] == 0 {
			cut := clipping.Sum(clipping.Signed(e.Error.Cut[at+p.Count-1], e.Values[mean]), e.Error.Cut[mean].Times(max(0, e.Values[at+p.Count-1])))
			cut.Added = v - e.Values[to] + e.Error.Cut[to].Added
			e.Error.Cut[to] = cut
			e.Values[to], e.Error.Raw[to] = v, v
		}
	}
}

// rows tells what the noise of the sums of a part has of that of their number of rows, where all
// sums without columns have one number. All other noises are of columns of their own.
func (r release) rows(e *estimator.Estimate, s released, p part, centres []centring) {
	if slices.ContainsFunc(r.layout.sums, func(o part) bool { return o.Count != p.Count }) {
		return
	}
	if e.Error.Rows == nil {
		e.Error.Rows = make([]float64, len(e.Values))
	}
	k, rows := r.partAt(p.Mean-1), r.layout.parts[r.partAt(p.Count-1)]
	c := r.layout.parts[k].means.Value(float64(centres[k].centre))
	for g := range r.p.Groups {
		at, sigma := g*r.layout.values, s.sigma[g*r.layout.width+rows.first]
		e.Error.Rows[at+p.Count-1], e.Error.Rows[at+p.at] = sigma, c*sigma
	}
}

// totals sets the answers of a part that is a count or a sum; of gives those of a group, as they
// are released.
func (r release) totals(e *estimator.Estimate, s released, p part, of func(g int) (x, sigma float64)) {
	values, sigma, all := make([]float64, r.p.Groups), make([]float64, r.p.Groups), 0.0
	for g := range values {
		values[g], sigma[g] = of(g)
		if all += values[g]; p.Measure == Sum && p.total.lo < 0 {
			all += math.Abs(values[g]) - values[g]
		}
	}
	for g, size := range nearer(values, sigma) {
		to := g*r.layout.values + p.at
		v, d := values[g], sigma[g]
		cut := s.lost(p, size, d, max(0, all))
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
	n := r.p.Groups * r.layout.values
	e := estimator.Estimate{Values: make([]float64, n), StdErr: make([]float64, n), Error: &estimator.Error{Form: estimator.Quotient}}
	if slices.ContainsFunc(r.layout.parts, func(p part) bool { return p.Measure.mean() }) {
		for _, x := range []*[]float64{&e.Error.Noise, &e.Error.Under, &e.Error.Centre, &e.Error.Raw, &e.Error.Common} {
			*x = make([]float64, n)
		}
	}
	return e
}
