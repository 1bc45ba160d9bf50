package groups

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"gonum.org/v1/gonum/stat"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
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
		rows := at + 1
		if n, ok := r.countedBy(p); ok {
			rows = g*width + n.first
		}
		sums[g] = groupSum{s.sums[at], s.sums[rows], s.sigma[at], s.sigma[rows]}
	}
	law, all := commonOf(sums, c.kappa), s.all(width, p, p.first+1)
	told := r.toldBeside(s, p, c, all)
	for g, sum := range sums {
		m := law.mean(sum, told(g))
		if !m.known {
			e.NeededRows = max(e.NeededRows, int64(math.Ceil(enoughRows(sum.sigmaRows))))
		}
		p.tell(e, g*r.layout.values+p.at, m, c)
		e.Error.Cut[g*r.layout.values+p.at] = s.lostOfMean(p.means.Value(c.weight), sum.rows, all)
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

// MinPersons implements estimator.Estimator: 0 where there are counts, which are told wherever
// norms stand out.
func (r release) MinPersons() int64 {
	if r.rest != nil {
		return min(r.rest.MinPersons(), r.enough())
	}
	return r.enough()
}

// AllPersons implements estimator.Partial: sums and means want more persons than counts do.
func (r release) AllPersons() int64 { return r.enough() }

// enough is the number of persons that do for sums and means: what the searches for centres need,
// and norms of which a half in one octave stands out from the noise.
func (r release) enough() int64 {
	return r.wanted(func(h firstpass.Histogram) float64 { return 2 * firstpass.FarZ * h.Sigma },
		func(s search) float64 { return two * float64(s.coarse.Persons()) })
}

// two is for persons whose means are in two octaves, which hold some more than half of them.
const two = 1.3

// least is the released number of persons under which sums and means are not tried: that of enough,
// with all norms in one octave. A search of more that sees nothing says so itself.
func (r release) least() int64 {
	return r.wanted(func(h firstpass.Histogram) float64 { return firstpass.NearZ * h.Sigma },
		func(s search) float64 { return float64(s.coarse.LeastPersons()) })
}

// wanted is the number of persons for the searches, seen for each of the histograms, centred for
// that of a centre.
func (r release) wanted(seen func(firstpass.Histogram) float64, centred func(search) float64) int64 {
	if !r.counting {
		return 0
	}
	most := 0.0
	for _, s := range r.searches {
		if s.Measure.mean() && !s.declared() {
			most = max(most, min(centred(s), max(float64(s.centre.MinPersons()), seen(s.spread))))
		}
		if len(r.searches) > 1 && !s.Measure.count() {
			most = max(most, seen(s.scale))
		}
	}
	if r.planned {
		most = max(most, seen(r.secondHistogram()))
	}
	return int64(min(math.Ceil(max(most, seen(r.histogram()))), 1<<62))
}

// Reason implements estimator.Reasoned.
func (r release) Reason() string {
	var reasons []string
	switch {
	case r.planned:
		reasons = append(reasons, fmt.Sprintf("noise shaped by a first sum, from %d groups on", leastPlanned))
	case r.profile > 0:
		reasons = append(reasons, "noise shaped by the groups' shares of persons' vectors")
	}
	searched := int64(0)
	for _, s := range r.searches {
		if s.Measure.mean() {
			searched = max(searched, s.least())
		}
	}
	if searched > 0 {
		reasons = append(reasons, fmt.Sprintf("under %d persons centre and spread are one histogram of octaves, at the loss of both", searched))
	}
	return strings.Join(reasons, "; ")
}

// seen is the number of persons of which a half in one octave stands out.
func seen(h firstpass.Histogram) int64 { return int64(min(math.Ceil(2*firstpass.FarZ*h.Sigma), 1<<62)) }

// ExpectedError implements estimator.Estimator: it is known where the radius is.
func (r release) ExpectedError() (float64, bool) {
	if r.fixed == 0 {
		return 0, false
	}
	return math.Ldexp(scalar.Root(variance(r.fixed, 1, r.factor2, r.sum)), -24), true
}

// Steps implements estimator.Estimator.
func (r release) Steps() []estimator.Step {
	var steps []estimator.Step
	if r.counting {
		steps = append(steps, r.persons.Step())
	}
	for k, s := range r.searches {
		name := ""
		if len(r.searches) > 1 {
			name = fmt.Sprintf(" of aggregate %d", k+1)
		}
		if s.Measure.mean() {
			centre := s.centre.Steps()[0]
			centre.Name += name
			steps = append(steps, centre, histogramStep("spread"+name, s.spread))
		}
		if len(r.searches) > 1 {
			steps = append(steps, histogramStep("scale"+name, s.scale))
		}
	}
	if r.profile > 0 {
		steps = append(steps, r.profileStep())
	}
	if r.fixed == 0 {
		steps = append(steps, histogramStep("clip radius", r.histogram()))
	}
	if r.planned {
		steps = append(steps, r.sumStep("first sum of all groups", r.first), histogramStep("clip radius by the first sum", r.secondHistogram()))
	}
	return append(steps, r.sumStep("clipped sum of all groups", r.sum))
}

// NoiseAlone implements estimator.NoiseAlone: all is noise but for centres that are drawn, which
// their steps say. Where persons are few a histogram takes the place of centre and spread, and the
// counts are those of a release of counts alone: both are noise. Whose centres and profile are
// looked at is decided by coins of their own.
func (r release) NoiseAlone() bool {
	for _, s := range r.Steps() {
		if s.Mechanism != estimator.DiscreteGaussian {
			return false
		}
	}
	return true
}

// profileStep describes the profile.
func (r release) profileStep() estimator.Step {
	s := estimator.Step{
		Name: "shares of the groups", Mechanism: estimator.DiscreteGaussian, Sensitivity: "l2=1", Queries: r.p.Groups * len(r.layout.parts), Rho: r.profile,
	}
	if m := r.profileMoved(); m > 1 {
		s.Sensitivity = fmt.Sprintf("l2=√%d", m)
	}
	return s
}

func (r release) sumStep(name string, rho float64) estimator.Step {
	return estimator.Step{
		Name: name, Mechanism: estimator.DiscreteGaussian, Sensitivity: r.sensitivity(), Queries: max(1, r.layout.dim), Rho: rho,
	}
}

func (r release) sensitivity() string {
	switch {
	case r.factor2 == 2:
		return "l2=√2·clip"
	case r.factor2 == 4:
		return "l2=2·clip"
	}
	return "l2=clip"
}

// histogramStep describes a histogram of one number a person.
func histogramStep(name string, h firstpass.Histogram) estimator.Step {
	s := estimator.Step{Name: name, Mechanism: estimator.DiscreteGaussian, Use: "histogram", Sensitivity: "l2=1", Queries: h.Buckets, Rho: h.Rho}
	if h.Delta2 == 2 {
		s.Sensitivity = "l2=√2"
	}
	return s
}

// Groups differ in size, and where they do, the same noise in all of them is more than need be.
// Coordinate j of an aggregate is weighed by
//
//	f_j = c/√m_j     m_j = max(profile_j, 2σ)
//
// so that its noise has a standard deviation in proportion to m_j^(1/4): PLAN [ALP24] for the ℓ2
// error, as from leastPlanned groups on (plan.go), but by a profile in place of a first sum, which
// would need a radius. The profile is the sum of the persons' vectors at length 1:
//
//	u_j = ⌊2^24·|x_j|/‖x‖⌋,  x the person's entries of one aggregate over all groups; the number of rows stands for a mean
//
// Sensitivity: no entry of u is negative, and ‖u‖ ≤ 2^24 whatever x is (profileUnit), so with A
// aggregates one person more or less moves the sum by √A·2^24, and one exchanged by √(2A)·2^24, as
// ‖u−u'‖² ≤ ‖u‖² + ‖u'‖². No histogram is needed first, and few persons tell: the sum of n of them
// is up to n long. Gaussian noise for that is ρ_p-zCDP [CKS20, Theorem 14], and what follows from
// the noisy sum is public.

// leastShaped is the number of groups from which on noise is shaped.
const leastShaped = 4

// profileShare is the share of the loss for the profile: 1 % of the error. Of 600 persons at ρ =
// 1/8 it tells the groups that have a twentieth of a vector's length.
const profileShare = 0.02

// profiled reports whether noise is shaped by a profile. It is not where the radius is public: then
// all persons have the same length.
func (r release) profiled() bool {
	return r.fixed == 0 && r.p.Groups >= leastShaped && r.p.Groups < leastPlanned
}

// profileMoved is the squared sensitivity of a profile, in vectors of length 1.
func (r release) profileMoved() int64 { return r.delta2 * int64(len(r.layout.parts)) }

// findProfile releases the profile: part k's in group g at g·parts + k, with the standard deviation
// of its noise.
func (r release) findProfile(n noise.Noiser, b *estimator.Block) (profile []float64, sigma float64) {
	sums := r.layout.profile(b)
	sigma2 := scalar.Sigma2(new(big.Int).Lsh(big.NewInt(r.profileMoved()), 2*block.ClipBits), 1, r.profile)
	profile = make([]float64, len(sums))
	for j, s := range sums {
		f, _ := new(big.Float).SetInt(n.Gaussian(s, sigma2)).Float64()
		profile[j] = math.Ldexp(f, -block.ClipBits)
	}
	return profile, math.Ldexp(scalar.Root(sigma2), -block.ClipBits)
}

// profileUnit is the length of a person's vector in a profile. The squares of entries are added up
// in doubles, whose sum is too small by (groups + 4)·2^-53 of itself at most, and a root, a
// quotient, a conversion and a product follow: together less than the (dim+16)·2^-50 that is taken
// off.
func profileUnit(dim int) float64 { return (1 << block.ClipBits) * (1 - float64(dim+16)*0x1p-50) }

// profile returns the sum of the persons' vectors at length 1, exactly.
func (l *layout) profile(b *estimator.Block) []*big.Int {
	parts := len(l.parts)
	less := block.NewExact(l.dim / l.width * parts)
	block.EachPerson(b, func() (func(int, block.Person), func()) {
		own, x, u := block.NewExact(l.dim/l.width*parts), make([]int64, l.width), make([]int64, parts)
		squares, scales := make([]float64, parts), make([]float64, parts)
		measure := func(_ int, x []int64) {
			for k := range l.parts {
				v := l.size(&l.parts[k], x)
				squares[k] += float64(v * v)
			}
		}
		add := func(g int, x []int64) {
			for k := range l.parts {
				u[k] = int64(float64(l.size(&l.parts[k], x) * scales[k]))
			}
			own.AddAt(g*parts, u)
		}
		return func(_ int, p block.Person) {
			clear(squares)
			l.groups(p, x, measure)
			for k, q := range squares {
				scales[k] = profileUnit(l.dim) / math.Sqrt(max(q, 1)) // what is not 0 is 1 at least
			}
			l.groups(p, x, add)
		}, func() { less.AddAll(own) }
	})
	sums := block.NewExact(l.dim / l.width * parts).Less(less)
	for _, s := range sums {
		s.Neg(s)
	}
	return sums
}

// size is how much one person has of a part in a group, within its public range.
func (l *layout) size(p *part, x []int64) float64 {
	switch x = x[p.first:]; p.Measure {
	case Persons:
		return float64(min(max(x[0], 0), 1))
	case Rows:
		return float64(l.rows(x[0]))
	case Sum:
		return math.Abs(float64(p.total.of(x[0])))
	case PersonMean:
		return float64(min(l.rows(x[1]), 1))
	}
	return float64(l.rows(x[1]))
}

// shape has a weight for each coordinate. By it, the variances of the noise add up to spare times
// as much for the same radius, and a vector is a longer-th as long.
type shape struct {
	weights       []float64
	spare, longer float64
}

// shapeOf returns the shape by a profile, with the greatest weight of each aggregate 1, or, of
// several aggregates, such that its noise adds up to the same.
//
// What a person loses counts by its length without the shape. A vector like the profile, whose
// squares are as m_j, is √(Σ m_j/Σ f_j·m_j) times as long without it.
func (r release) shapeOf(profile []float64, sigma float64) shape {
	l, parts := r.layout, len(r.layout.parts)
	s, mass, shaped := shape{weights: make([]float64, l.dim)}, 0.0, 0.0
	for k, p := range l.parts {
		m, c := sizes(profile[k:], parts, sigma), 1.0
		if parts > 1 {
			c = inverses(m) / float64(len(m))
		}
		for g, x := range m {
			f := c / math.Sqrt(x)
			mass, shaped = mass+x, shaped+x*f
			for i := range p.Measure.Columns() {
				s.weights[g*l.width+p.first+i] = f
				s.spare += 1 / (f * float64(l.dim))
			}
		}
	}
	s.longer = math.Sqrt(mass / shaped)
	return s
}

// inverses is Σ √m, the sum of the inverses of the weights 1/√m.
func inverses(m []float64) (sum float64) {
	for _, x := range m {
		sum += math.Sqrt(x)
	}
	return sum
}

// sizes returns the m of one part's groups, every step-th number of a profile, over the least of
// them; at most 2^60.
//
// Noise alone would make equal groups differ. So numbers are first brought nearer to their mean, by
// σ² over their variance: all the way where noise is all that there is to see, and hardly where
// groups differ by much more (the estimate of James and Stein).
func sizes(profile []float64, step int, sigma float64) []float64 {
	var m []float64
	for j := 0; j < len(profile); j += step {
		m = append(m, profile[j])
	}
	mean, variance := stat.MeanVariance(m, nil)
	kept, least := max(0, 1-sigma*sigma/variance), math.Inf(1)
	for g, x := range m {
		m[g] = max(mean+kept*(x-mean), 2*sigma)
		least = min(least, m[g])
	}
	for g := range m {
		m[g] = min(m[g]/least, 0x1p60)
	}
	return m
}

// shapeLimit is how much longer, at most, norms are by a shape, in units of planScale: the root of
// a weight, 2^30 at most.
const shapeLimit = 1 << 15

// by returns the weights of coordinates by a shape.
func (s shape) by(weights []float64) []float64 {
	out := make([]float64, len(weights))
	for j, w := range weights {
		out[j] = min(max(w*s.weights[j], 0x1p-200), 0x1p200)
	}
	return out
}

// cost returns the cost of a radius by the shape, of the one without.
func (s shape) cost(c cost) cost {
	return cost{c.noise * s.spare, c.alignment * s.longer, true}
}
