package friendly

import (
	"fmt"
	"math"
	"slices"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/internal/sized"
	"scrim/engine/estimator/noise"
	"scrim/engine/estimator/vector"
)

// mean is the mean of the friendly core.
type mean struct {
	p       Params
	persons persons
	shape   shape // where spreads are learnt
	ring    ring
	core    Core
	rho     float64 // of the mean
	least   int64   // persons that the core needs
	enough  int64   // leastKept
	instead estimator.Estimator
}

// Shares of the loss. A friend count needs most of what the mean leaves: its noise decides from how
// many persons on there is an answer, and, under add-remove, how wide the margin can be.
const (
	personsShare   = 0.02
	secondShare    = 0.02
	keptShare      = 0.03
	filterShare    = 0.25
	exchangedShare = 0.45 // of the filter under replace-one, where it needs four times as much
	shapeShare     = 0.15
	ringShare      = 0.04
)

// NewMean returns the mean of one vector a person, the mean of the person's rows. Columns: Vector.
//
//	n_u     released upper bound of the number of persons, or the public number
//	sample  beyond what can be compared: about so many persons, by secret coins
//	w, λ    from the declared spreads; or learnt: relative spreads and a quantile of distances of matched pairs
//	core    persons with more than half of all within λ, and released κ (Core)
//	mean    of those, with noise of the shape of w. Where κ < 50: another method, with the loss that the mean would have had
//
// Every step but those of the core is ρ_k-zCDP by itself for both neighbour relations; the core
// with the mean, together, is within δ of a mechanism that is, on both sides
// (docs/proofs/friendly.md). So the loss is the sum, and DeltaTV = Delta bounds all slack.
func NewMean(p Params) (estimator.Estimator, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	m := mean{p: p, enough: leastKept}
	parts := m.split()
	instead, err := vector.NewMean(p.other(parts.mean))
	if err != nil {
		return nil, err
	}
	slack := (p.Delta - instead.Loss().DeltaTV) / 4 * (1 - 1e-9)
	m.instead, m.rho = instead, parts.mean
	m.persons = newPersons(p, parts.persons, parts.second, slack)
	m.core = NewCore(p.Relation, parts.filter, parts.kept, slack, slack)
	if p.Sigma == nil {
		m.shape = newShape(parts.shape, p.Top)
		lo, hi := p.ends()
		m.ring = newRing(firstpass.Farthest(lo, hi, p.Dim)*16, parts.ring)
	}
	m.least = m.core.Persons(m.persons.above())
	return m, nil
}

// parts are the losses of the steps, all > 0 but those that are not taken.
type parts struct{ persons, second, shape, ring, filter, kept, mean float64 }

// split divides the loss. Under replace-one with a number of persons that is not public, their
// count costs nothing extra: where an exchange changes it, by one, each friend count moves by 1
// instead of 2, which leaves three quarters of the filter's loss (scalar.Shares has the argument).
func (m *mean) split() parts {
	p, s := m.p, parts{persons: personsShare, second: secondShare, filter: filterShare, kept: keptShare}
	if p.Relation == estimator.ReplaceOne {
		s.persons, s.second, s.filter = 0, 0, exchangedShare
	}
	if p.Sigma == nil {
		s.shape, s.ring = shapeShare, ringShare
	}
	s.mean = 1 - s.persons - s.second - s.shape - s.ring - s.filter - s.kept
	w := scalar.Split(p.Rho, s.persons, s.second, s.shape, s.ring, s.filter, s.kept, s.mean)
	s = parts{w[0], w[1], w[2], w[3], w[4], w[5], w[6]}
	if p.Relation == estimator.ReplaceOne {
		s.persons = 0.375 * s.filter * (1 - 1e-12)
		s.second = s.persons
	}
	return s
}

// other are the parameters of what is answered instead where too few are kept.
func (p Params) other(rho float64) vector.Params {
	q := vector.Params{Params: p.Params, Dim: p.Dim}
	q.Rho = rho
	return q
}

// ends returns the public range of a coordinate in units.
func (p Params) ends() (lo, hi int64) {
	lo, hi = scalar.Range(p.Params)
	return lo << p.shift(), hi << p.shift()
}

// Columns implements estimator.Estimator.
func (mean) Columns() []estimator.Kind { return []estimator.Kind{estimator.Vector} }

// Loss implements estimator.Estimator.
func (m mean) Loss() privacy.Loss {
	l := scalar.Loss(m.p.Rho)
	l.DeltaTV = m.p.Delta
	return l
}

// MinPersons implements estimator.Estimator.
func (m mean) MinPersons() int64 { return min(m.least, m.instead.MinPersons()) }

// ExpectedError implements estimator.Estimator: the number kept is not known before the data are
// read.
func (mean) ExpectedError() (float64, bool) { return 0, false }

// Steps implements estimator.Estimator.
func (m mean) Steps() []estimator.Step {
	steps, rho := m.persons.steps()
	if m.p.Sigma == nil {
		steps = append(steps, m.shape.step(m.p.Dim), m.ring.step())
	}
	steps = append(steps, m.core.Steps()...)
	return append(steps, estimator.Step{
		Name: "mean of the kept", Mechanism: estimator.DiscreteGaussian, Sensitivity: "l2=reach of friends/kept", Queries: m.p.Dim, Rho: m.rho + rho,
	})
}

// Bias implements estimator.Biased.
func (mean) Bias() string { return "that the answer is of the persons who are kept" }

// Reason implements estimator.Reasoned.
func (m mean) Reason() string {
	return fmt.Sprintf("friendly from %d persons, where most lie near to most others; otherwise another method with the loss of its mean; beyond %d persons, a secret sample of about so many",
		m.least, m.persons.most)
}

// Release implements estimator.Estimator.
func (m mean) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = sized.Vectors(m.p.Params, m.p.Dim, false, in)
	b := in.Vectors
	if b == nil {
		b = &estimator.Block{Dim: m.p.Dim}
	}
	some, ok := m.persons.release(n, m.p.vectors(b), m.least)
	if !ok {
		return m.other(n, in, m.least)
	}
	weights, lambda := m.measure(n, some)
	friends := newMetric(weights, lambda).points(some.Block).counts()
	kept := m.core.Choose(n, friends, some.atMost, some.about)
	if kept.AtLeast < m.enough {
		return m.other(n, in, math.MaxInt64)
	}
	a := average{m.rho + some.left, weights, lambda, kept.Reach(), float64(kept.AtLeast)}
	return m.p.estimate(a.release(n, some.Block, kept.Members))
}

// other answers by the other method. least is the number of persons with which there might have
// been an answer of this one.
func (m mean) other(n noise.Noiser, in estimator.Input, least int64) estimator.Estimate {
	e := m.instead.Release(n, in)
	if e.Status == estimator.TooFew {
		e.Needed = min(e.Needed, least)
	}
	return e
}

// measure returns weights and the distance λ of friends: from declared spreads, or learnt.
func (m mean) measure(n noise.Noiser, some sample) (weights []float64, lambda float64) {
	if sigma := m.p.sigma(); sigma != nil {
		weights = inverse(floored(sigma))
		return weights, clampDistance(distance(sigma, weights, declaredTail))
	}
	pairs := firstpass.Match(n, some.Memory, int(some.Persons()), 2, firstpass.MostPairs)
	weights = inverse(m.shape.release(n, some.Block, pairs))
	lambda = m.ring.release(n, some.Block, pairs, weights, firstpass.PairsOf(some.about))
	return weights, clampDistance(m.p.between(lambda, weights))
}

// declaredTail is the normal point of the share of pairs that should be friends.
const declaredTail = 1.645

// clampDistance keeps λ within what lattices are made for. Different vectors are a unit apart at
// least.
func clampDistance(lambda float64) float64 { return min(max(lambda, 1), 0x1p100) }

// between brings λ to what the declared bounds on spreads allow.
func (p Params) between(lambda float64, weights []float64) float64 {
	sum := 0.0
	for _, w := range weights {
		sum += 2 * w
	}
	if p.SigmaMax > 0 {
		lambda = min(lambda, 2*p.units(p.SigmaMax)*math.Sqrt(sum))
	}
	return max(lambda, p.units(p.SigmaMin)*math.Sqrt(sum))
}

// vectors brings every person to one vector within the public range, a map of one person at a time:
// the mean of the person's rows, rounded once.
func (p Params) vectors(b *estimator.Block) *estimator.Block {
	lo, hi := p.ends()
	b = block.Means(b, p.shift())
	out := &estimator.Block{Dim: b.Dim, Chunks: make([]estimator.Chunk, len(b.Chunks)), Memory: b.Memory}
	each(len(b.Chunks), func(i int) {
		ch := &b.Chunks[i]
		out.Chunks[i] = estimator.Chunk{Persons: ch.Persons, Dense: clamped(b.Memory, ch.Dense, lo, hi)}
	})
	return out
}

// clamped returns x itself where it is within the ends.
func clamped(m estimator.Memory, x []int64, lo, hi int64) []int64 {
	inside := true
	for _, v := range x {
		inside = inside && v >= lo && v <= hi
	}
	if inside {
		return x
	}
	out := estimator.Make[int64](m, len(x))
	for i, v := range x {
		out[i] = min(max(v, lo), hi)
	}
	return out
}

// estimate turns a mean in units into an answer, brought into the public range of the values.
func (p Params) estimate(mean, sigma []float64) estimator.Estimate {
	lo, hi := scalar.Range(p.Params)
	e := estimator.Estimate{Values: make([]float64, len(mean)), StdErr: make([]float64, len(mean))}
	for j, m := range mean {
		steps := min(max(math.Ldexp(m, -int(p.shift())), float64(lo)), float64(hi))
		e.Values[j] = scalar.Finite(scalar.Scale(p.Grid, steps))
		e.StdErr[j] = min(scalar.Scale(p.Grid, math.Ldexp(sigma[j], -int(p.shift()))), math.MaxFloat64)
	}
	return e
}

// Params are the public facts of a friendly mean.
type Params struct {
	estimator.Params
	Dim int // 1 to 2^20
	// total-variation slack that a release may have (privacy.Loss.DeltaTV), from
	// privacy.LeastFailure to 0.1
	Delta float64
	// declared spreads of persons' vectors, one for each coordinate or one for all, in values; nil:
	// they are learnt
	Sigma    []float64
	SigmaMin float64 // where spreads are learnt: public bounds on them, in values; 0: none
	SigmaMax float64
	Top      int // how many spreads are learnt at most; 0: as many as the persons allow
}

// maxDim is the largest dimension.
const maxDim = 1 << 20

// check validates the parameters.
func (p Params) check() error {
	if err := scalar.Check(p.Params, true); err != nil {
		return err
	}
	switch {
	case p.Dim < 1 || p.Dim > maxDim:
		return fmt.Errorf("friendly: want a dimension from 1 to %d, have %d", maxDim, p.Dim)
	case !(p.Delta >= privacy.LeastFailure) || p.Delta > 0.1:
		return fmt.Errorf("friendly: want a slack from %v to 0.1, have %v", privacy.LeastFailure, p.Delta)
	case !measure(p.SigmaMin) || !measure(p.SigmaMax):
		return fmt.Errorf("friendly: want finite bounds on spreads > 0")
	case p.SigmaMin > 0 && p.SigmaMax > 0 && p.SigmaMin > p.SigmaMax:
		return fmt.Errorf("friendly: want sigma_min <= sigma_max, have %v and %v", p.SigmaMin, p.SigmaMax)
	case len(p.Sigma) > 1 && len(p.Sigma) != p.Dim:
		return fmt.Errorf("friendly: want 1 or %d spreads, have %d", p.Dim, len(p.Sigma))
	case slices.ContainsFunc(p.Sigma, func(s float64) bool { return !(s > 0) || !measure(s) }):
		return fmt.Errorf("friendly: want finite spreads > 0")
	case p.Top < 0:
		return fmt.Errorf("friendly: want a number of spreads >= 0, have %d", p.Top)
	}
	return nil
}

// measure reports whether x is 0, for undeclared, or positive and of a size that floats can square.
func measure(x float64) bool { return x == 0 || x > 1e-100 && x < 1e100 }

// shift is the fraction of a step that vectors are rounded to.
func (p Params) shift() uint { return scalar.VectorShift(p.Params) }

// units turns a length in values into units of 2^-shift steps.
func (p Params) units(x float64) float64 {
	return x / scalar.Scale(p.Grid, 1) * float64(int64(1)<<p.shift())
}

// sigma returns the declared spreads of all coordinates in units, brought up to a floor; nil where
// they are learnt.
func (p Params) sigma() []float64 {
	if len(p.Sigma) == 0 {
		return nil
	}
	all := make([]float64, p.Dim)
	for j := range all {
		all[j] = p.units(p.Sigma[min(j, len(p.Sigma)-1)])
	}
	return all
}

// floorShare: a spread counts as at least this share of the mean of all. It costs 1/32 of the
// squared noise at most, and keeps weights within a range where a spread that was declared too
// small does little harm.
const floorShare = 1.0 / 32

// floored returns the spreads brought up to the floor.
func floored(sigma []float64) []float64 {
	mean := 0.0
	for _, s := range sigma {
		mean += s / float64(len(sigma))
	}
	out := make([]float64, len(sigma))
	for j, s := range sigma {
		out[j] = max(s, floorShare*mean)
	}
	return out
}

// inverse returns the weights w_j = 1/s_j of the distance for spreads s, which give noise of
// variances in proportion to s_j: the Σ^{1/4} of [DJY24]. Of all weights they make
// (Σσ_j²·w_j)·(Σ1/w_j) least, the squared noise: Cauchy and Schwarz. They are from 1 to 2^60.
func inverse(sigma []float64) []float64 {
	most := 0.0
	for _, s := range sigma {
		most = max(most, s)
	}
	w := make([]float64, len(sigma))
	for j, s := range sigma {
		w[j] = min(most/s, 0x1p60)
	}
	return w
}

// distance returns the distance λ that normal vectors with the spreads sigma are within of each
// other but for the upper tail of a standard normal variable at z. The squared distance is Σ
// 2σ_j²w_j·χ²_1; it is taken for g·χ²_h with the same mean and variance, by Wilson and Hilferty's
// cube.
func distance(sigma, weights []float64, z float64) float64 {
	mean, square := 0.0, 0.0
	for j, s := range sigma {
		a := 2 * s * s * weights[j]
		mean += a
		square += a * a
	}
	h := mean * mean / square
	x := max(0.1, 1-2/(9*h)+z*math.Sqrt(2/(9*h)))
	return math.Sqrt(mean * x * x * x)
}

// persons is the number of persons, and the sample of those who are compared.
//
//	n̂ = n + N_Z(0, ⌈1/(2ρ_n)⌉), or n where it is public; n_u = n̂ + t with P[N_Z ≤ −t] ≤ δ_u: at least n but for δ_u
//
// Sensitivity 1 in either relation. Beyond most persons each is kept by a coin of their own, with a
// probability that follows from n̂. What is done with the sample has the loss that it has with all
// (firstpass.Coins). Their number is released anew, at a loss that goes to the mean where there is
// no sample; where n is public it is a function of the coins alone, and known.
type persons struct {
	public        bool
	first, second scalar.Persons
	rho           float64 // of the second
	slack         float64
	most          int64
	covered       bool
}

// newPersons returns the numbers at losses first and second, with slack for each in total
// variation.
func newPersons(p Params, first, second, slack float64) persons {
	out := persons{public: p.Sized, rho: second, slack: slack, most: mostPersons(p.Dim), covered: p.Relation == estimator.ReplaceOne}
	if !p.Sized {
		out.first, out.second = scalar.NewPersons(first), scalar.NewPersons(second)
	}
	return out
}

// Bounds on the work, all pairs of persons: 75 ns a pair, and 0.6 ns a coordinate where the head
// does not tell, on one core. That is 15 s of two cores at worst.
const (
	manyPersons = 20000
	manyTerms   = 1e11 // persons² · dimension
)

// mostPersons is the number of persons beyond which there is a sample.
func mostPersons(dim int) int64 {
	return int64(min(manyPersons, math.Sqrt(manyTerms/float64(dim))))
}

// sample is the persons who are compared.
type sample struct {
	*estimator.Block
	about  float64 // their number, released
	atMost int64   // n_u
	left   float64 // loss that was not needed
}

// release returns the persons to compare, or false where there are fewer than least.
func (p persons) release(n noise.Noiser, b *estimator.Block, least int64) (sample, bool) {
	about, above := p.count(n, b, p.first)
	if about < float64(least) {
		return sample{}, false
	}
	if about <= float64(p.most) {
		return sample{b, about, int64(about) + above, p.unused()}, true
	}
	b = p.coins(n, b, about)
	about, above = p.count(n, b, p.second)
	return sample{b, about, int64(about) + above, 0}, true
}

// count returns the number of persons and t. Where the number is public, the block has as many
// persons (package sized), or is a sample of them.
func (p persons) count(n noise.Noiser, b *estimator.Block, c scalar.Persons) (about float64, above int64) {
	if p.public {
		return float64(max(1, b.Persons())), 0
	}
	return c.Release(n, b.Persons()), tail(c.Sigma(), p.slack)
}

// above is t for the first number, and as much for its noise.
func (p persons) above() int64 {
	if p.public {
		return 0
	}
	return 2 * tail(p.first.Sigma(), p.slack)
}

// unused is the loss left where there is no sample. Under replace-one the second number is covered
// by other steps, and leaves none.
func (p persons) unused() float64 {
	if p.public || p.covered {
		return 0
	}
	return p.rho
}

// coins keeps about most of about so many persons.
func (p persons) coins(n noise.Noiser, b *estimator.Block, about float64) *estimator.Block {
	sides := uint64(float64(p.most) / about * firstpass.CoinSides)
	return block.Sample(b, firstpass.Toss(n, b.Memory, b.Persons()).Keep(b.Memory, sides))
}

// steps describes the numbers, and returns the loss of the second, which the mean gets where there
// is no sample.
func (p persons) steps() ([]estimator.Step, float64) {
	if p.public {
		return nil, 0
	}
	step := p.first.Step()
	if p.covered {
		step.Sensitivity, step.Rho = step.Sensitivity+" (covered by the other steps)", 0
	}
	return []estimator.Step{step}, p.unused()
}
