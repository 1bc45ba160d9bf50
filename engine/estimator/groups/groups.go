package groups

import (
	"fmt"
	"math"
	"slices"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// release answers all groups' aggregates.
type release struct {
	p        Params
	layout   layout
	counting bool           // there is a number of persons: something other than counts is told
	persons  scalar.Persons // their number, where counting
	rest     *release       // of what is told of too few persons; nil if there is none
	searches []search       // one for each part
	looked   float64        // persons that do for the searches of centres and spreads
	factor2  int64
	delta2   int64   // of a histogram of persons
	fixed    float64 // the radius where it is public, otherwise 0
	profile  float64 // loss of the profile, 0 where there is none
	norms    float64 // loss of the histogram of norms
	planned  bool    // there is a first sum, and a second histogram after it
	first    float64 // loss of the first sum
	second   float64 // loss of the second histogram
	sum      float64 // loss of the sum
}

// New returns the release of all groups' aggregates. Columns: Vector.
//
// Person i is the vector y_i of its prepared entries over groups and columns (layout.put); the
// answer is made of
//
//	Σ_i y_i·min(1, C/‖y_i‖_w) + noise,   N_Z on every coordinate of every group with standard deviation f·C/√(2ρ₃·w_c)
//
// in column c, with f² = 1 under add-remove, and 4, or 2 where no entry can be negative, under
// replace-one (factor2). Steps:
//
//	n̂        1 %     number of persons, for TooFew alone; none where only counts are told; under replace-one besides, at half the loss (joining)
//	centre   8 %     of each mean: the median of the persons' means
//	κ        3 %     of each mean: how far a row is from the centre
//	scale    3 %     of each aggregate, where there are several: the radius that it would have alone
//	profile  2 %     from 4 to 255 groups: how much there is in each, for the shape of the noise (means.go)
//	norms    3–15 %  histogram of ‖y‖_w for C, the radius of least error (cost)
//	sum      the rest; from 256 groups on in two, with another histogram between them (plan.go)
//
// Declared bounds of a mean are what is searched within. Where n̂ is too small for a search for
// the centre, and one for κ after it, both are read off one histogram of the signed octaves of
// persons' means, at the loss of both (scalar.Coarse); where it shows nothing, the middle and half
// of a declared interval stand for them. One person is in one octave: 1 under add-remove, √2 where
// one is exchanged, and half of the loss where one comes or goes, as joining has it. Which it is
// follows from n̂, and all cost the same: no noisy step at ρ has more than the divergence α·ρ that
// the account takes all of them for.
//
// The searches of many aggregates together get no more than 20, 10 and 10 %. Of many persons,
// centres, κ and the profile are those of a secret sample (firstpass.go). A column's weight is
// 1/scale², so that the aggregates use the allowance C alike, and a mean's number of rows is
// weighed with κ or more (firstpass.go). The sensitivity of each step is that of one bucket, one
// rank or one vector a person; the loss of all is Rho, in either relation, and however many groups
// a person is in.
//
// With Persons alone and MaxGroups = 1 the radius is 1, and the sum has all of the loss.
//
// A sum with a mean over the same rows and their number beside it has no columns: it is c·N + D, of
// the number N and the differences D from the centre, and the mean is c + D/N (fromMean). That is
// post-processing; the vector is one of fewer columns.
//
// What the radius is expected to take from a count or a sum is added, and the error says what it
// may be (radius.go); they may be negative. A mean leans on those of all groups (common.go), and is
// NaN where its noisy number of rows (of persons, for PersonMean) is under 2 standard deviations
// and no count beside it tells that there are rows, or under 3 where no group has rows enough.
//
// Where n̂ is too small for the searches, or no norm stands out from the noise, means are NaN and
// the others are answered with what is left of the loss; where that does not do for sums either,
// the counts are. A sum in which no norm stands out is NaN, and the others are answered. It is
// TooFew where there is nothing else, or where no norm stands out of that either and the public
// limit of norms is not narrow.
func New(p Params) (estimator.Estimator, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	return build(p, false), nil
}

// build makes the release of checked parameters; counted says that the number of persons is
// released elsewhere.
func build(p Params, counted bool) release {
	l := newLayout(p)
	r := release{p: p, layout: l, factor2: block.Factor2(p.Relation, l.nonNegative()), delta2: firstpass.Delta2(p.Relation, false)}
	for _, a := range p.Aggregates {
		r.counting = r.counting || !a.Measure.count()
	}
	if p.MaxGroups == 1 && len(l.parts) == 1 && l.unit(l.parts[0]) {
		r.fixed = 1
	}
	r.share(counted)
	r.looked = r.enoughLooked()
	if r.counting {
		r.rest = restOf(p, r.sum)
	}
	return r
}

// unit reports whether a part's entry is 0 or 1.
func (l layout) unit(p part) bool { return p.Measure == Persons || p.Measure == Rows && l.maxRows == 1 }

// most is the public bound on the groups of one person.
func (r release) most() float64 {
	if m := r.p.MaxGroups; m > 0 && m < int64(r.p.Groups) {
		return float64(m)
	}
	return float64(r.p.Groups)
}

func (release) Columns() []estimator.Kind { return []estimator.Kind{estimator.Vector} }
func (r release) Loss() privacy.Loss      { return scalar.Loss(r.p.Rho) }

// Release implements estimator.Estimator.
func (r release) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	if r.layout.dim == 0 {
		return estimator.Estimate{}
	}
	count := 0.0
	if r.counting {
		count = r.persons.Release(n, in.Vectors.Persons())
	}
	return r.of(n, in.Vectors, count)
}

// of is the release where count is the released number of persons, 0 where it is not wanted.
func (r release) of(n noise.Noiser, in *estimator.Block, count float64) estimator.Estimate {
	needed := r.enough()
	if r.counting {
		if count < float64(r.least()) {
			return r.few(n, in, count, needed)
		}
		needed = scalar.Twice(count)
	}
	some := r.some(n, in, count)
	b, centres, weights, ok := r.measured(n, in, some, count)
	if !ok {
		return r.few(n, in, count, needed)
	}
	weights, limit, unseen := r.scaled(n, b, weights)
	if !slices.Contains(unseen, false) {
		return r.few(n, in, count, needed)
	}
	v := vectors{measured: b, weights: r.layout.spread(weights)}
	least, c := r.unit(), newCost(r.layout.dim, r.factor2, r.first+r.sum)
	if r.profile > 0 {
		s := r.shapeOf(r.findProfile(n, some))
		v.weights, c = s.by(v.weights), s.cost(c)
	}
	unit := r.unitOf(v.weights, r.profile > 0)
	rescale(v.weights, unit)
	least, limit = max(1, least*unit), limit*unit
	if r.profile > 0 {
		v.norms = v.normsBy(&r.layout, v.weights)
		limit = min(limit*shapeLimit, r.farthestBy(v.weights))
	} else {
		weights = slices.Clone(weights)
		rescale(weights, unit)
		v.norms = r.layout.norms(b.Memory, b.squares, weights)
	}
	radius, ok := r.radius(n, v.Memory, v.norms, c, least, limit)
	switch {
	case !ok && r.counting:
		return r.few(n, in, count, needed)
	case !ok:
		return scalar.TooFew(r.p.Groups*r.layout.values, seen(r.histogram()))
	case r.planned:
		return r.without(r.answers(r.plan(n, v, radius, limit), centres), unseen, needed)
	}
	return r.without(r.answers(r.clipped(n, v, radius, r.sum), centres), unseen, needed)
}

// without takes away the answers of the parts that are unseen: they would be noise by a public
// limit.
func (r release) without(e estimator.Estimate, unseen []bool, needed int64) estimator.Estimate {
	for k, p := range r.layout.parts {
		for j := range e.Values {
			a := j % r.layout.values
			if unseen[k] && (a == p.at || r.p.Aggregates[a].Mean == p.at+1) {
				e.Values[j], e.StdErr[j], e.Needed = math.NaN(), math.NaN(), needed
			}
		}
	}
	return e
}

// clipped releases the sum of the vectors clipped to a radius, at loss rho.
func (r release) clipped(n noise.Noiser, v vectors, c clip, rho float64) released {
	out := r.release(n, v.clipSum(&r.layout, c.radius), v.weights, c.radius, rho)
	out.losses, out.whole = c.losses, c.known
	out.reached = r.reached(out.sums, v.weights, c.left())
	return out
}

// measured releases the centres and spreads of means, those of some of the persons, and returns
// what the prepared entries add up to, with the columns' weights by them. Where count persons are
// too few for two searches they are found coarsely; where nothing is, those of declared bounds are
// taken, and ok is false of a mean without.
func (r release) measured(n noise.Noiser, in, some *estimator.Block, count float64) (all measured, centres []centring, weights []float64, ok bool) {
	l := r.layout
	centres, rows := make([]centring, len(l.parts)), make([]float64, len(l.parts))
	for k, s := range r.searches {
		switch {
		case !s.Measure.mean():
			continue
		case s.few(count):
			if centres[k], ok = s.findCoarsely(n, l, some); !ok && !s.declared() {
				return all, nil, nil, false
			} else if !ok {
				centres[k] = s.reached()
			}
			rows[k] = centres[k].weight
		default:
			centres[k] = s.findCentre(n, l, some)
		}
	}
	all = l.measure(in, centres)
	looked := all
	if some != in {
		looked = l.measure(some, centres)
	}
	own := newCost(r.p.Groups, r.factor2, r.sum)
	for k, s := range r.searches {
		if s.Measure.mean() && rows[k] == 0 {
			centres[k].kappa, rows[k] = s.findSpread(n, l, looked, centres[k], min(count, r.looked), own)
			centres[k].weight = rows[k]
		}
	}
	return all, centres, l.weights(rows), true
}

// unitScale is the scaled norm of a vector of one aggregate that is as long as its scale: a power
// of two, so that shorter ones have room for buckets below.
const unitScale = 1 << 20

// scaled returns the weights divided by the squares of the parts' scales, which it releases, and a
// limit of the norms by them. Where no norm of a count stands out, its scale is 1, the least norm.
// Where no norm of a sum does, as of SUM(0), the sum is unseen: its scale is the public limit of
// its norms, so that it takes next to nothing of what the others share. Which are unseen is told by
// released numbers, and a person's vector is clipped by the weights, whatever they are.
func (r release) scaled(n noise.Noiser, v measured, weights []float64) (out []float64, limit float64, unseen []bool) {
	l := r.layout
	unseen = make([]bool, len(r.searches))
	if len(r.searches) == 1 {
		return weights, l.farthest(l.parts[0], r.most()), unseen
	}
	own, sum := newCost(r.p.Groups, r.factor2, r.sum), 0.0
	out = append(out, weights...)
	for k, s := range r.searches {
		farthest := l.farthest(s.part, r.most())
		scale, seen := s.findScale(n, l, v, weights, own, farthest)
		switch unseen[k] = !seen && !s.Measure.count(); {
		case unseen[k]:
			scale = farthest
		case !seen:
			scale = 1
		}
		f := unitScale / scale
		for c := s.first; c < s.first+s.Measure.Columns(); c++ {
			out[c] = min(max(out[c]*f*f, 0x1p-200), 0x1p200)
		}
		sum += farthest * farthest * f * f
	}
	return out, math.Sqrt(sum), unseen
}

// narrow is the public limit of norms up to which vectors are left as they are where no norm stands
// out, in norms of a person who is in one group once.
const narrow = 8

// radius releases the radius of the least cost. Where no norm stands out it is the limit, a public
// number that clips nobody, if that is narrow; otherwise ok is false.
func (r release) radius(n noise.Noiser, m estimator.Memory, norms []float64, c cost, least, limit float64) (found clip, ok bool) {
	if r.fixed > 0 {
		return clip{radius: r.fixed, known: true}, true
	}
	h := r.histogram()
	if found, ok = c.radius(h, releaseOf(n, h, m, norms), limit); !ok && limit <= narrow*least {
		return clip{radius: limit, known: true}, true
	}
	return found, ok
}

// unit is the least norm of a person's counts, scaled.
func (r release) unit() float64 {
	if len(r.layout.parts) == 1 {
		return 1
	}
	return unitScale
}

// normsPer is the number of buckets an octave of the histogram of the norms.
func (r release) normsPer() int {
	if r.planned {
		return plannedPer
	}
	return normsPer
}

// histogram is that of the norms.
func (r release) histogram() firstpass.Histogram {
	farthest := r.farthestIn(1)
	if r.profile > 0 {
		farthest = r.farthestIn(planScale * shapeLimit)
	}
	return firstpass.NewHistogram(firstpass.NewOctaves(r.normsPer(), farthest), r.delta2, r.norms)
}

// secondHistogram is that of the norms with planned weights.
func (r release) secondHistogram() firstpass.Histogram {
	return firstpass.NewHistogram(firstpass.NewOctaves(plannedPer, r.farthestIn(planScale)), r.delta2, r.second)
}

// farthest is a public limit of the norms: with scales that of parts of scale 1, the least.
func (r release) farthest() float64 {
	sum := 0.0
	for _, p := range r.layout.parts {
		f := r.layout.farthest(p, r.most()) * r.unit()
		sum += f * f
	}
	return math.Sqrt(sum)
}

// farthestIn is a public limit of the lengths that are told, which weights make this much longer at
// most. Of counts alone they are told in rows, of which none is longer than 1.
func (r release) farthestIn(longer float64) float64 {
	if slices.ContainsFunc(r.layout.parts, func(p part) bool { return !p.Measure.count() }) {
		return r.farthest() * longer
	}
	return r.farthest() / r.unit()
}

// farthestBy is a public limit of the norms by weights of the coordinates that are released.
func (r release) farthestBy(weights []float64) float64 {
	sum := 0.0
	for _, p := range r.layout.parts {
		own := make([]float64, 0, r.p.Groups)
		for at := p.first; at < len(weights); at += r.layout.width {
			own = append(own, weights[at])
		}
		slices.Sort(own)
		f := r.layout.farthest(p, 1)
		for _, w := range own[len(own)-int(r.most()):] {
			sum += f * f * w
		}
	}
	return math.Sqrt(sum) * (1 + 0x1p-20)
}

// Measure is what is told of each group.
type Measure uint8

// Measures, with the columns that a person has for each group.
const (
	Persons Measure = iota // number of persons: 1
	Rows                   // number of rows: the person's rows
	Sum                    // sum over rows: the sum of k(x)
	RowMean                // mean over rows: the sum of k(x), the number of rows with x
	// mean of the persons' means in the group: the sum of k(x), the number of rows with x
	PersonMean
)

// Columns is the number of a measure's columns.
func (m Measure) Columns() int {
	if m.mean() {
		return 2
	}
	return 1
}

// Kinds lists what a person has for each group.
func (m Measure) Kinds() []estimator.Kind {
	switch {
	case m.count():
		return []estimator.Kind{estimator.Rows}
	case m == Sum:
		return []estimator.Kind{estimator.Sum}
	}
	return []estimator.Kind{estimator.Sum, estimator.Rows}
}

// mean reports whether a measure is a mean.
func (m Measure) mean() bool { return m == RowMean || m == PersonMean }

// count reports whether a measure is a count, which has no grid.
func (m Measure) count() bool { return m == Persons || m == Rows }

// Aggregate is one aggregate of all groups.
type Aggregate struct {
	Measure      Measure
	Grid         estimator.Grid // of x
	Lower, Upper *int64         // declared bounds of a row's x, in steps; both or neither
	// Mean and Count are set of a Sum that a mean over the same rows and their number answer: one
	// more than their places among the aggregates. It has no columns of its own.
	Mean, Count int
}

// Params are the public facts of a release. Its input is a sparse block of Groups·Width entries,
// Width the number of all columns: entry g·Width + c of a person is column c of group g, the
// aggregates' columns in order; signed; what is 0 may be left out. Its answer has
// Groups·len(Aggregates) values: g·len(Aggregates) + a; NaN where a group has too few rows or
// persons for a mean, and for all sums and means where there are too few persons in all, which
// leaves the counts, or TooFew where there are none.
//
// What breaks a promise is brought into its range, person by person: a number of rows beyond
// MaxRows, a total beyond bounds. A sum of k(x) without rows is taken for none in a mean; entries
// out of order or of an index that comes twice are left out.
type Params struct {
	Rho        float64
	Relation   estimator.Relation
	Groups     int
	Aggregates []Aggregate
	MaxGroups  int64 // public bound on the groups of one person; 0: none
	MaxRows    int64 // public bound on the rows of one person in one group; 0: none
}

// Width is the number of columns of a group.
func (p Params) Width() int {
	w := 0
	for _, a := range p.Aggregates {
		if a.Mean == 0 {
			w += a.Measure.Columns()
		}
	}
	return w
}

// maxDim bounds Groups·Width: every coordinate gets noise, which takes a microsecond.
const maxDim = 1 << 22

// check validates the parameters.
func (p Params) check() error {
	switch {
	case len(p.Aggregates) == 0:
		return fmt.Errorf("groups: want an aggregate")
	case p.Groups < 0 || p.Groups > maxDim || p.Groups*p.Width() > maxDim:
		return fmt.Errorf("groups: want at most %d groups times columns, have %d times %d", maxDim, p.Groups, p.Width())
	case p.MaxGroups < 0 || p.MaxRows < 0:
		return fmt.Errorf("groups: want bounds >= 0, have %d groups and %d rows", p.MaxGroups, p.MaxRows)
	}
	for _, a := range p.Aggregates {
		if a.Measure > PersonMean {
			return fmt.Errorf("groups: unknown measure %d", a.Measure)
		}
		if err := scalar.Check(p.scalar(a, p.Rho), !a.Measure.count()); err != nil {
			return err
		}
	}
	return nil
}

// scalar are the parameters of an estimator of one number of each person.
func (p Params) scalar(a Aggregate, rho float64) estimator.Params {
	out := estimator.Params{Rho: rho, Relation: p.Relation, Grid: a.Grid}
	if !a.Measure.count() {
		out.Lower, out.Upper = a.Lower, a.Upper
	}
	return out
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
