package friendly

import (
	"fmt"
	"math"

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
