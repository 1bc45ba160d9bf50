package vector

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	scalarmean "scrim/engine/estimator/mean"
	"scrim/engine/estimator/noise"
)

// dense is the mean of dense vectors c + S/n̂, S the noisy sum of the vectors x_i − c, clipped to a
// ball about a centre c:
//
//	clipped   c is the public middle                                       [HLY21] sections 3.1 and 3.2
//	shifted   c is the vector of the coordinates' medians                  [HLY21] section 3.3; [ALP24] section 6
//	plan      and the ball is the ellipsoid that suits the coordinates' spreads  [ALP24] Algorithm 1
//
// Steps: the spread and the reach of the values (firstpass.go), the centre, the scales
// (scales.go), the radius (firstpass.Histogram), the sum. Each takes a share of the loss that
// depends on the number of persons and on released numbers only, and the sum takes what is left, so
// the loss is rho whatever the branch. [HLY21] and [ALP24] spend a quarter on the preparation and a
// quarter of the rest on the radius; here it is as much as the persons at hand make useful
// (centring, scaleShare).
type dense struct {
	p              Params
	rho            float64
	count          persons
	centred        choice
	scaled         choice
	shift          uint
	lo, hi, middle int64     // public range and middle, in units
	gain           float64   // units in a unit of the group
	sigma          []float64 // declared scales, in units; nil: none
	find, scale    medians
	turned         *rotation     // of the search for a centre; nil: none
	sizes          sizes         // of samples that do for the steps before the sum
	totals         *block.Totals // of the persons of one release, where they are known
}

// choice is whether a step is taken.
type choice uint8

const (
	never choice = iota
	always
	maybe // decided from released numbers
)

func newDense(p Params, count persons, rho float64, centred, scaled choice) dense {
	d := dense{p: p, count: count, rho: rho, centred: centred, scaled: scaled, shift: p.shift(), gain: 1}
	lo, hi := scalar.Range(p.Params)
	d.lo, d.hi, d.middle = lo<<d.shift, hi<<d.shift, middleOf(p, d.shift)
	d.find, d.scale = newMedians(p, false), newMedians(p, p.Scale == Pairs)
	if p.Scale == Unscaled {
		d.scaled = never
	}
	if p.Scale == Declared && scaled != never {
		d.sigma = make([]float64, p.Dim)
		for j := range d.sigma {
			d.sigma[j] = min(max(0.5, d.units(p.Sigma[min(j, len(p.Sigma)-1)])), 0x1p100)
		}
		d.scaled = always
	}
	if p.Rotate && centred != never {
		d.turned = newRotation(d)
	}
	d.sizes = d.enoughFor()
	return d
}

// places is the number of coordinates that a centre is searched in.
func (d dense) places() int {
	if d.turned != nil {
		return d.turned.d.p.Dim
	}
	return d.p.Dim
}

// units turns a value into units.
func (d dense) units(v float64) float64 {
	return d.gain * math.Ldexp(v/scalar.Scale(d.p.Grid, 1), int(d.shift))
}

// release implements core.
func (d dense) release(n noise.Noiser, g group, count float64) estimator.Estimate {
	d.totals = g.totals
	mean, sigma, moved := d.mean(n, g.Block, count)
	return d.count.told(d.p.estimate(g, mean, sigma), count, scalar.Scale(d.p.Grid, math.Ldexp(moved, -int(g.shift))))
}

// mean releases the mean, with the standard deviations of its noise and how far it is from the
// centre of the sum, in units.
func (d dense) mean(n noise.Noiser, b *estimator.Block, count float64) (mean, sigma []float64, moved float64) {
	left := newBudget(d.rho)
	var s spread
	if d.centred != never || d.scaled != never {
		s = d.spread(n, b, count, left)
	}
	all := d.lots(n, b, count)
	scaled := d.useScales(s, all.number(d.sizes.scales))
	centre, fixed := d.choose(n, all, s, scaled, left)
	var weights []float64
	if scaled {
		weights = d.p.weights(d.scales(n, all, centre, s.norm, left))
	}
	return d.sum(n, b, centre, weights, count, fixed && d.middle <= d.lo, left)
}

// useScales decides whether coordinates are scaled. Where that is open it is done if scales may be
// unequal and can be afforded: a tenth of a loss where they are a little unequal, up to mostScale
// where very much so.
func (d dense) useScales(s spread, count float64) bool {
	if d.scaled != maybe {
		return d.scaled == always
	}
	if d.p.Dim < leastScaled || s.flat > nearlyFlat || !d.affordable(count) {
		return false
	}
	return s.flat < unequal || d.scaleShare(count) < fewScale
}

// Constants of the choice between shifted and plan.
const (
	leastScaled = 4 // coordinates: of fewer there is little to balance
	// of spread.flat: scales of (d/j)^(1/4) have 0.64 and would gain 6 % of noise
	nearlyFlat = 0.75
	unequal    = 0.3  // of (d/j)^(1/2), where a quarter is gained, 0.05 to 0.1
	fewScale   = 0.15 // shares of the loss
	mostScale  = 0.4
)

// affordable reports whether count persons are enough for centre and scales both.
func (d dense) affordable(count float64) bool {
	x := d.scalesNeed(count)
	return x <= mostScale && x+d.find.share(d.places(), plannedRounds, d.rho, count) <= mostPrepared
}

// choose releases the centre, or takes the middle: nil for 0. fixed says that it is the middle.
//
// Where that is open, and all coordinates weigh the same, the squared radius about the middle is
// that about the centre times (distance from the middle / spread)²: the middle is kept if that is
// less than what a centre costs.
func (d dense) choose(n noise.Noiser, all lots, s spread, scaled bool, left *budget) (centre []int64, fixed bool) {
	if d.centred == never {
		return same(d.middle, d.p.Dim), true
	}
	few, ratio := all.some(d.sizes.look), math.Inf(1)
	if d.centred == maybe && !scaled && d.sigma == nil {
		ratio = d.apart(n, few, left) / s.norm
	}
	some := all.some(d.sizes.centre)
	if d.turned != nil {
		return d.turned.choose(n, some, s, ratio, left)
	}
	c := d.centring(some.count, s.norm, d.reach(n, few, left), scaled)
	if ratio*ratio < c.cost {
		return same(d.middle, d.p.Dim), true
	}
	return d.centre(n, some.Block, c, left), false
}

// sum releases the mean about a centre with what is left of the loss: a radius, then the sum.
func (d dense) sum(n noise.Noiser, b *estimator.Block, centre []int64, weights []float64, count float64, nonNegative bool, left *budget) (mean, sigma []float64, moved float64) {
	f2 := block.Factor2(d.p.Relation, nonNegative)
	target := d.target(f2, left.rho*left.left, count)
	norms, totals := d.measure(b, centre, weights)
	radius := d.radius(n, norms, firstpass.NewOctaves(firstpass.RadiiPer(d.p.Dim), d.farthestNorm(weights, count)), target, count, f2, left)
	mean, sigma = addNoise(n, totals.ClipSum(b, centre, norms, radius), weights, radius, f2, left.rest())
	for j, s := range mean {
		s /= count
		mean[j] = s
		if centre != nil {
			mean[j] += float64(centre[j])
		}
		sigma[j] = math.Hypot(sigma[j], s*d.count.sigma()) / count
		moved = math.Hypot(moved, s)
	}
	return mean, sigma, moved
}

// measure returns the norms, and the totals where they are known.
func (d dense) measure(b *estimator.Block, centre []int64, weights []float64) ([]float64, *block.Totals) {
	if d.totals != nil {
		return block.Norms(b, centre, weights), d.totals
	}
	return block.Measure(b, centre, weights)
}

// radius releases the radius with a share of what is left of the loss.
func (d dense) radius(n noise.Noiser, norms []float64, o firstpass.Octaves, target, count float64, f2 int64, left *budget) float64 {
	share := left.left * d.radiusShare(left.rho*left.left, target, count, f2)
	if d.p.Clip == Tails {
		return newTails(o, left.take(share)).radius(n, norms, target)
	}
	h := firstpass.NewHistogram(o, d.delta2(), left.take(share))
	return h.Extended(h.Release(n, norms), target, count)
}

// radiusShare is the share of a loss rho for the radius.
func (d dense) radiusShare(rho, target, count float64, f2 int64) float64 {
	if d.p.Clip == Tails {
		return tailsShare(d.p.Dim, f2)
	}
	return firstpass.RadiusShare(rho, target, count, d.p.Relation)
}

// target is the number of persons beyond the radius.
func (d dense) target(f2 int64, rho, count float64) float64 {
	if d.p.Tail == SqrtN {
		return math.Sqrt(count)
	}
	return min(firstpass.TailTarget(d.p.Dim, f2, rho), count/4)
}

// farthestNorm is the upper end of the radii: the farthest that two vectors of the public range can
// be apart, or, with declared spreads, two of count sub-Gaussian ones but for a probability of 1 %:
// both are within R' = 2σ_max·√(d + ln(4n/0.01)) of the mean, which is within the declared radius
// [HLY21, section 3.4].
func (d dense) farthestNorm(weights []float64, count float64) float64 {
	limit := firstpass.Farthest(d.lo, d.hi, d.p.Dim)
	if d.statistical() {
		limit = min(limit, 2*(d.units(d.p.Radius)+2*d.units(d.p.SigmaMax)*math.Sqrt(float64(d.p.Dim)+math.Log(400*count))))
	}
	if weights != nil {
		limit *= math.Sqrt(maximum(weights))
	}
	return limit
}

// statistical reports whether norm and spreads are declared, so that nothing is looked for: [HLY21]
// section 3.4.
func (d dense) statistical() bool {
	return d.p.Radius > 0 && d.p.SigmaMin > 0 && d.p.SigmaMax > 0 && d.middle == 0 && d.sigma == nil
}

func maximum(x []float64) float64 {
	m := x[0]
	for _, v := range x {
		m = max(m, v)
	}
	return m
}

// slack is the total-variation slack of the searches.
func (d dense) slack() float64 {
	s := 0.0
	if d.centred != never {
		s += d.find.slack(d.places())
	}
	if d.scaled != never && d.sigma == nil {
		s += d.scale.slack(d.p.Dim)
	}
	return s
}

// NewColumns returns the private means of several numbers a person, one row each, which are
// different things. Columns: Vector.
//
// With persons enough for it, that is PLAN with relative errors (Plan, Relative). With fewer, each
// column is answered by an estimator of its own with an equal share of what the number of persons
// leaves of the loss: alone(j, rho) builds that of column j, whose Columns are Rows and Sum and
// whose answer is in units of p.Grid. Which of the two it is follows from the released number of
// persons; both cost the same, so the loss is p.Rho by adaptive composition, in either relation.
//
// A column whose own number of persons comes out too small is NaN in an answer with others.
func NewColumns(p Params, alone func(j int, rho float64) (estimator.Estimator, error)) (estimator.Estimator, error) {
	p.Method, p.Relative, p.P, p.Pairs = Plan, true, 2, 1
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.Sparse || p.MaxRows != 1 {
		return nil, fmt.Errorf("vector: columns want one row a person in a dense block")
	}
	count, rho := p.counted()
	m := mean{p: p, count: count}
	together, slack, _, err := p.dense(m.count, rho)
	if err != nil {
		return nil, err
	}
	s, err := newSeparate(p.Dim, count.apart(rho), alone)
	if err != nil {
		return nil, err
	}
	s.parts = true
	var a auto
	a.add(together)
	m.reason = fmt.Sprintf("together from %d persons", together.needs())
	if a.add(s) {
		m.reason += fmt.Sprintf("; from %d, each column alone", s.needs())
	}
	m.core, m.slack, m.least = a, slack, 0
	m.least = m.MinPersons()
	return m, nil
}

// separate answers each column by an estimator of its own, with an equal share of the loss.
type separate struct {
	alone []estimator.Estimator
	unit  float64 // of their answers, in values
	parts bool    // a column with too few persons is NaN; otherwise there is no answer at all then
}

// newSeparate returns the core at loss rho for dim columns.
func newSeparate(dim int, rho float64, alone func(j int, rho float64) (estimator.Estimator, error)) (s separate, err error) {
	s = separate{alone: make([]estimator.Estimator, dim), unit: 1}
	for j := range s.alone {
		if s.alone[j], err = alone(j, rho/float64(dim)*(1-1e-12)); err != nil {
			return s, err
		}
	}
	return s, nil
}

// mostSeparate is the largest dimension of vectors whose coordinates auto answers one by one where
// the persons are too few for anything else: the noise of each grows with the root of the
// dimension.
const mostSeparate = 32

// coordinates is separate for the coordinates of vectors, by the mean of one number a person; false
// where they are too many, or where persons with several rows need a finer grid than numbers have
// room for.
func (p Params) coordinates(rho float64) (separate, bool) {
	lo, hi := scalar.Range(p.Params)
	shift := p.shift()
	if p.Dim > mostSeparate || max(hi, -lo) > estimator.MaxUnits>>shift {
		return separate{}, false
	}
	one := estimator.Params{MaxRows: 1, Relation: p.Relation, Sized: p.Sized}
	one.Grid = estimator.Grid{Step: 1, Lo: lo << shift, Hi: hi << shift}
	if p.Bounded() {
		one.Lower, one.Upper = &one.Grid.Lo, &one.Grid.Hi
	}
	s, err := newSeparate(p.Dim, rho, func(_ int, rho float64) (estimator.Estimator, error) {
		q := one
		q.Rho = rho
		return scalarmean.NewMean(q)
	})
	s.unit = scalar.Scale(p.Grid, math.Ldexp(1, -int(shift)))
	return s, err == nil
}

// needs implements core.
func (s separate) needs() int64 {
	most := int64(leastPersons)
	for _, e := range s.alone {
		most = max(most, e.MinPersons())
	}
	// each column's own number of persons comes out under most by chance otherwise
	return most + most/10
}

// steps implements core.
func (s separate) steps() []estimator.Step {
	var all []estimator.Step
	for _, e := range s.alone {
		all = append(all, e.Steps()...)
	}
	return all
}

// release implements core.
func (s separate) release(n noise.Noiser, g group, _ float64) estimator.Estimate {
	out := estimator.Estimate{Values: make([]float64, len(s.alone)), StdErr: make([]float64, len(s.alone))}
	told := estimator.Error{Form: estimator.Quotient}
	for _, x := range []*[]float64{&told.Noise, &told.Step, &told.Under, &told.Centre} {
		*x = make([]float64, len(s.alone))
	}
	told.Cut = make([]estimator.Cut, len(s.alone))
	out.Error = &told
	rows, column := estimator.Make[int64](g.Memory, int(g.Persons())), estimator.Make[int64](g.Memory, int(g.Persons()))
	defer estimator.Free(g.Memory, rows)
	defer estimator.Free(g.Memory, column)
	for i := range rows {
		rows[i] = 1
	}
	few := 0
	for j, e := range s.alone {
		i := 0
		for _, ch := range g.Chunks {
			for k := range ch.Persons {
				column[i] = ch.Dense[k*g.Dim+j]
				i++
			}
		}
		one := e.Release(n, estimator.Input{Persons: g.Persons(), Columns: [][]int64{rows, column}, Memory: g.Memory})
		if one.Status == estimator.TooFew {
			out.Values[j], out.StdErr[j] = math.NaN(), math.NaN()
			out.Needed = max(out.Needed, one.Needed)
			few++
			continue
		}
		one = one.Times(s.unit)
		x := one.Error
		out.Values[j], out.StdErr[j] = one.Values[0], one.StdErr[0]
		told.Noise[j], told.Step[j] = estimator.Entry(x.Noise, 0), estimator.Entry(x.Step, 0)
		told.Under[j], told.Centre[j] = estimator.Entry(x.Under, 0), estimator.Entry(x.Centre, 0)
		if x.Cut != nil {
			told.Cut[j] = x.Cut[0]
		}
	}
	if few == len(s.alone) || few > 0 && !s.parts {
		return scalar.TooFew(len(s.alone), out.Needed)
	}
	return out
}

// plannedRounds are the rounds of a centre on which the least number of persons is computed: 256
// cells over the reach of the values. Where more would be needed than the persons allow, the cells
// are made coarser.
const plannedRounds = 8

// mostRounds bounds the rounds of any search.
const mostRounds = 24

// centring is how a centre is searched: cells of width 2^shift, and the share of the loss.
type centring struct {
	axis  block.Axis
	share float64
	// what the squared norm of the noise is multiplied by, against a centre known for nothing
	cost float64
}

// centring chooses cells and share for a centre within ±reach of the middle, from released numbers.
//
// The centre's error adds to the squared radius, and its loss is taken from the sum. With cells of
// width h, spread σ a coordinate and the share x of the loss ρ, T rounds,
//
//	squared noise ~ (1 + h²/(12σ²) + 2π·r²/n̂²) / (1 − x)     r = (delta/2)·√(T·d/(2xρ)) the rank's error
//
// (a median of a Gaussian is off by √(2π)·σ times the error of its rank's share). For each h the
// best share is near the square root of the third term at x = 1, but not under what keeps the
// search from turning the wrong way (medians.share). Where coordinates are scaled, those of small
// spread count as much as the others: σ is a third of the root mean square then.
func (d dense) centring(count, spread float64, reach int64, scaled bool) centring {
	most := mostCentre
	lo, hi := d.within(reach)
	sigma := spread / math.Sqrt(float64(d.p.Dim))
	if scaled {
		sigma *= 0.35
		if d.sigma == nil {
			most = min(most, mostPrepared-d.scaleShare(count))
		}
	}
	if d.p.Relative {
		return d.relativeCentring(count, lo, hi, most)
	}
	sigma = max(sigma, 0.5)
	best := centring{cost: math.Inf(1)}
	for step := -finest; step <= 62; step++ {
		shift := max(0, int(math.Floor(math.Log2(sigma)))+step)
		rounds := bits.Len64(uint64(hi-lo) >> shift)
		if rounds > mostRounds {
			continue
		}
		h := math.Ldexp(1, shift) / sigma
		error2 := 2 * math.Pi * math.Pow(d.find.rank(d.p.Dim, max(1, rounds), d.rho)/count, 2)
		share := max(math.Sqrt(error2), d.find.share(d.p.Dim, max(1, rounds), d.rho, count))
		if share > most && rounds > 1 {
			continue
		}
		share = min(share, most)
		cost := (1 + h*h/12 + error2/share) / (1 - share)
		if cost < best.cost {
			best = centring{block.NewAxis(lo, hi, shift, 63), share, cost}
		}
		if rounds <= 1 {
			break
		}
	}
	return best
}

// relativeCentring is centring where coordinates are different things, whose spreads may differ by
// any factor: cells of one unit near 0 and of a relative width of 2^-bits beyond, as fine as the
// persons allow at a quarter of the loss.
func (d dense) relativeCentring(count float64, lo, hi int64, most float64) centring {
	for bits := mostRounds - 4; ; bits-- {
		axis := block.NewAxis(lo, hi, 0, bits)
		rounds := max(1, axis.Rounds())
		share := max(0.05, d.find.share(d.p.Dim, rounds, d.rho, count))
		if rounds <= mostRounds && share <= 0.25 || bits == 2 {
			return centring{axis: axis, share: min(share, most)}
		}
	}
}

// finest is the power of two under σ of the finest cells.
const finest = 2

// mostCentre is the largest share of the loss for a centre.
const mostCentre = 0.4

// within returns the part of the public range that is within ±reach of the middle.
func (d dense) within(reach int64) (lo, hi int64) {
	return max(d.lo, d.middle-reach), min(d.hi, d.middle+reach)
}

// centre releases the medians of all coordinates.
func (d dense) centre(n noise.Noiser, b *estimator.Block, c centring, left *budget) []int64 {
	cells := d.find.cells(n, b, c.axis, nil, left.take(c.share))
	centre := make([]int64, b.Dim)
	for j, cell := range cells {
		centre[j] = c.axis.Value(cell)
	}
	return centre
}

// rotation searches the centre of a shifted mean in vectors that are first rotated by a random
// public matrix [HLY21, section 3.3]: y = H·diag(ε)·x with random signs ε and the Hadamard matrix H
// of the next power of two d̄ ≥ d, on the integer grid (block.Rotate).
//
// Then every coordinate of x − μ is spread over all of them, which makes the bound on the centre's
// error hold for any data; [ALP24] Theorem 6.1 has the same bound without it, but for data with a
// few far-out coordinates a rotation helps.
//
// A rotation is a map of one person: the loss of the search is that of a search in d̄ dimensions.
// The signs need not be secret; they are drawn without a look at the data. The paper clips and adds
// noise to rotated vectors too, and turns the answer back. Here the centre is turned back, and the
// rest is done with the vectors as they are: H/√d̄ is orthogonal, so norms, radius and clip factors
// are the same but for rounding, and spherical noise has the same law in either space.
type rotation struct {
	// of rotated vectors, in units of which there are √d̄·2^-coarse in a unit of d: that is how
	// norms grow
	d      dense
	dim    int   // d
	lo, hi int64 // public range of a coordinate, in units
	middle int64 // public middle of it
	bound  int64 // on its absolute value
	coarse uint  // bits that the rotation drops
}

var errRotate = errors.New("vector: only the shifted mean is rotated, with one scale for all coordinates")

func newRotation(d dense) *rotation {
	r := &rotation{d: d, dim: d.p.Dim, lo: d.lo, hi: d.hi, middle: d.middle, bound: max(1, d.hi, -d.lo)}
	r.coarse = block.Coarse(r.dim, r.bound)
	r.d.p.Dim = block.Padded(r.dim)
	r.d.gain = math.Ldexp(math.Sqrt(float64(r.d.p.Dim)), -int(r.coarse))
	r.d.hi = int64(r.d.p.Dim) * ((r.bound-1)>>r.coarse + 1)
	r.d.lo, r.d.middle = -r.d.hi, 0
	return r
}

// choose is dense.choose. ratio is that of the distances from the middle and from the mean.
func (r *rotation) choose(n noise.Noiser, some sample, s spread, ratio float64, left *budget) (centre []int64, fixed bool) {
	signs := make([]bool, r.dim)
	for j := range signs {
		signs[j] = n.Uniform()>>63 == 1
	}
	turned := block.Rotate(some.Block, signs, r.bound)
	defer block.Done(turned)
	c := r.d.centring(some.count, s.norm*r.d.gain, r.d.reach(n, sample{turned, some.count}, left), false)
	if ratio*ratio < c.cost {
		return same(r.middle, r.dim), true
	}
	return r.back(r.d.centre(n, turned, c, left), signs), false
}

// back turns a centre back, into the public range.
func (r *rotation) back(centre []int64, signs []bool) []int64 {
	y := make([]float64, len(centre))
	for j, v := range centre {
		y[j] = float64(v)
	}
	x := make([]int64, r.dim)
	for j, v := range block.Unrotate(y, r.dim, signs) {
		x[j] = int64(math.Round(min(max(math.Ldexp(v, int(r.coarse)), float64(r.lo)), float64(r.hi))))
	}
	return x
}
