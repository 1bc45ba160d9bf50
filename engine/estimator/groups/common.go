package groups

import (
	"math"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// A group of few rows says little of its mean by itself, and the means of the others say something.
// Groups are taken to be drawn from a common law:
//
//	mean of group g   θ_g ~ N(μ, τ²), or, a tenth of the groups, farther: N(μ, (4τ)² + (0.6κ)²)
//	its answer        (differences, rows) = (θ_g·N_g, N_g) + noise
//
// μ and τ are not known: τ is one of several sizes, from twice κ, how far a row is from the centre,
// downwards, each as likely as the groups that have rows enough make it, and μ what these groups
// tell for each τ (the normal model with random effects and restricted likelihood). Where no group
// has rows enough, all of them together are taken for one. All of it follows from released numbers.
//
//	rows of 4 standard deviations and more   the group's own ratio, whose interval it has
//	of 2 and more, or counted                mean and standard deviation of θ_g given all that
//
// So the interval of a group that has rows enough holds whatever the other groups are. That of one
// that has not holds as far as the group is one of them: that is what the outliers allow for, and
// that κ says more than the groups where they are few.

// commonZ is the noisy number of rows, in standard deviations, from which on a group's ratio says
// what the common law is, and has an interval of its own; shrunkZ that from which on the law
// answers for the group.
const (
	commonZ = 4
	shrunkZ = 2
)

// Outliers of the common law: their share, and how far they are out, in τ and in κ.
const (
	outliers     = 0.1
	outlierTimes = 4
	outlierKappa = 0.6
)

// The sizes of τ are κ·2^largestSpread, halved each.
const (
	largestSpread = 1
	spreads       = 6
)

// groupSum is what is released of a group for its mean: the differences from the centre and the
// rows, with the standard deviations of their noise.
type groupSum struct{ differences, rows, sigma, sigmaRows float64 }

// stands is the number of rows in standard deviations.
func (s groupSum) stands() float64 { return s.rows / s.sigmaRows }

// variance is that of the noise of differences − r·rows.
func (s groupSum) variance(r2 float64) float64 {
	return s.sigma*s.sigma + r2*s.sigmaRows*s.sigmaRows
}

// law is a normal law of the groups' means: its mean is off by a standard deviation.
type law struct{ weight, mean, spread, off float64 }

// common is a mixture of laws; nil if all groups together have too few rows.
type common []law

// commonOf returns the common law of the means of groups whose rows are about kappa from the
// centre.
func commonOf(sums []groupSum, kappa float64) common {
	seen, differences, rows := standing(sums), 0.0, 0.0
	if len(seen) == 0 {
		seen = standing([]groupSum{together(sums)})
	}
	for _, s := range seen {
		w := 1 / (s.sigma * s.sigma)
		differences, rows = differences+w*s.differences, rows+w*s.rows
	}
	if len(seen) == 0 {
		return nil
	}
	out, logs, most := make(common, 0, 2*spreads), [spreads]float64{}, math.Inf(-1)
	for k := range spreads {
		l := law{spread: math.Ldexp(kappa, largestSpread-k)}
		logs[k] = l.fit(seen, differences/rows)
		most = max(most, logs[k])
		out = append(out, l)
	}
	total := 0.0
	for k := range out {
		out[k].weight = math.Exp(logs[k] - most)
		total += out[k].weight
	}
	for k := range spreads {
		far := out[k]
		far.weight *= outliers / total
		far.spread = math.Hypot(outlierTimes*far.spread, outlierKappa*kappa)
		out[k].weight *= (1 - outliers) / total
		out = append(out, far)
	}
	return out
}

// standing returns the groups that have rows enough.
func standing(sums []groupSum) (seen []groupSum) {
	for _, s := range sums {
		if s.stands() >= commonZ && s.rows >= leastRows {
			seen = append(seen, s)
		}
	}
	return seen
}

// together is one group of all.
func together(sums []groupSum) (all groupSum) {
	for _, s := range sums {
		all.differences, all.rows = all.differences+s.differences, all.rows+s.rows
		all.sigma, all.sigmaRows = math.Hypot(all.sigma, s.sigma), math.Hypot(all.sigmaRows, s.sigmaRows)
	}
	return all
}

// fit sets the law's mean for its spread, and returns the logarithm of the restricted likelihood.
// about is what the means are about, for the noise of the rows.
func (l *law) fit(seen []groupSum, about float64) (log float64) {
	weights, sum, squares := 0.0, 0.0, 0.0
	for _, s := range seen {
		v := s.variance(about*about+l.spread*l.spread)/(s.rows*s.rows) + l.spread*l.spread
		y := s.differences/s.rows - about
		weights, sum, squares = weights+1/v, sum+y/v, squares+y*y/v
		log -= math.Log(v) / 2
	}
	l.mean, l.off = about+sum/weights, 1/math.Sqrt(weights)
	return log - math.Log(weights)/2 - (squares-sum*sum/weights)/2
}

// The exact rows of a group that has few are integrated over steps of half a standard deviation.
const (
	rowSteps = 7 // on either side
	rowStep  = 0.5
)

// given returns the mean and the standard deviation of a group's mean given its sums; ok is false
// where the law has next to no place for them.
func (c common) given(s groupSum) (mean, stdDev float64, ok bool) {
	type part struct{ log, mean, variance float64 }
	parts, most := make([]part, 0, len(c)*(2*rowSteps+1)), math.Inf(-1)
	add := func(l law, rows, variance, log float64) {
		t, off := l.spread*l.spread, l.off*l.off
		all := variance + (t+off)*rows*rows
		d := s.differences - l.mean*rows
		b := t * rows * rows / (variance + t*rows*rows)
		p := part{log - d*d/(2*all) - math.Log(all)/2 + math.Log(l.weight), l.mean + b*(s.differences/rows-l.mean), t*(1-b) + (1-b)*(1-b)*off}
		parts, most = append(parts, p), max(most, p.log)
	}
	for _, l := range c {
		if l.weight < leastLaw {
			continue
		}
		for i := -rowSteps; i <= rowSteps; i++ {
			z := rowStep * float64(i)
			if rows := s.rows + z*s.sigmaRows; rows >= leastRows {
				add(l, rows, s.sigma*s.sigma, -z*z/2)
			}
		}
	}
	weights, first, second := 0.0, 0.0, 0.0
	for _, p := range parts {
		w := math.Exp(p.log - most)
		weights, first = weights+w, first+w*p.mean
	}
	mean = first / weights
	for _, p := range parts {
		d := p.mean - mean
		second += math.Exp(p.log-most) * (p.variance + d*d)
	}
	stdDev = math.Sqrt(second / weights)
	return mean, stdDev, len(parts) > 0 && !math.IsNaN(mean) && !math.IsNaN(stdDev)
}

// leastLaw is the least weight of a law that counts.
const leastLaw = 1e-6

// Where there are too few persons for all that is asked, what is wanted less is left out: means,
// whose centres need most, then sums, and counts are told wherever norms stand out.

// restOf returns the release of what is left at loss rho; nil if nothing is. It uses the number of
// persons that is released already.
func restOf(p Params, rho float64) *release {
	kept := func(keep func(Measure) bool) []Aggregate {
		var out []Aggregate
		for _, a := range p.Aggregates {
			if keep(a.Measure) {
				a.Mean, a.Count = 0, 0
				out = append(out, a)
			}
		}
		return out
	}
	of := kept(func(m Measure) bool { return !m.mean() })
	if len(of) == len(p.Aggregates) {
		of = kept(Measure.count)
	}
	if len(of) == 0 || len(of) == len(p.Aggregates) {
		return nil
	}
	p.Rho, p.Aggregates = rho, of
	r := build(p, true)
	return &r
}

// leftOut reports whether a release of the rest has no place for an aggregate.
func (r release) leftOut(m Measure) bool {
	return m.mean() || !m.count() && !r.counting
}

// few answers where there are too few persons for sums and means: the rest alone, at the loss of
// the sum, which is then not taken. That it comes to this is known from released numbers. count is
// the released number of persons.
//
// Under replace-one a person who comes or goes costs half of Rho for that number, and half of each
// other step at most: of the steps before, and, in place of the sum, of the rest's.
func (r release) few(n noise.Noiser, in *estimator.Block, count float64, needed int64) estimator.Estimate {
	size := len(r.p.Aggregates)
	if r.rest == nil {
		return scalar.TooFew(r.p.Groups*size, needed)
	}
	e := r.blank()
	e.Needed = needed
	e.Error.Cut = make([]estimator.Cut, len(e.Values))
	for j := range e.Values {
		e.Values[j], e.StdErr[j] = math.NaN(), math.NaN()
	}
	own := r.rest.of(n, r.layout.rest(in, *r.rest), count)
	if own.Status != estimator.OK {
		return scalar.TooFew(r.p.Groups*size, max(needed, own.Needed))
	}
	at := 0
	for k, a := range r.p.Aggregates {
		if r.rest.leftOut(a.Measure) {
			continue
		}
		for g := range r.p.Groups {
			from, to := g*len(r.rest.p.Aggregates)+at, g*size+k
			e.Values[to], e.StdErr[to] = own.Values[from], own.StdErr[from]
			if e.Error.Noise != nil {
				e.Error.Noise[to], e.Error.Raw[to] = own.StdErr[from], own.Values[from]
			}
			e.Error.Cut[to] = own.Error.Cut[from]
		}
		at++
	}
	return e
}

// rest returns the entries of the rest's columns in their own layout: a map of one person at a
// time.
func (l layout) rest(b *estimator.Block, r release) *estimator.Block {
	firsts := make([]int, l.values) // by place among the aggregates
	for _, p := range l.parts {
		firsts[p.at] = p.first
	}
	for _, p := range l.sums {
		firsts[p.at] = firsts[p.Mean-1] // a mean's first column is the sum
	}
	var columns []int
	for _, p := range slices.SortedFunc(slices.Values(slices.Concat(l.parts, l.sums)), func(a, b part) int { return a.at - b.at }) {
		if !r.leftOut(p.Measure) {
			columns = append(columns, firsts[p.at])
		}
	}
	own := r.layout
	out := &estimator.Block{Dim: own.dim, Sparse: true, Chunks: make([]estimator.Chunk, len(b.Chunks)), Memory: b.Memory}
	x := make([]int64, l.width)
	for k := range b.Chunks {
		from, to := &b.Chunks[k], &out.Chunks[k]
		to.Persons, to.Starts = from.Persons, estimator.Make[int](b.Memory, from.Persons+1)[:1]
		put := func(g int, x []int64) {
			for c, column := range columns {
				if v := x[column]; v != 0 {
					to.Index = append(estimator.Grow(b.Memory, to.Index, 1), int32(g*own.width+c))
					to.Values = append(estimator.Grow(b.Memory, to.Values, 1), v)
				}
			}
		}
		for i := range from.Persons {
			l.groups(block.Person{Chunk: from, I: i}, x, put)
			to.Starts = append(to.Starts, len(to.Index))
		}
	}
	return out
}
