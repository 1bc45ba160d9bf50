package person

import (
	"math"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/internal/sized"
	"scrim/engine/estimator/noise"
)

// mean is the estimator with all public facts fixed.
type mean struct {
	p      Params
	law    law
	number bool // the columns are Rows and Sum
	shift  uint // persons' means are in units of 2^-shift steps
	lo, hi int64
	count  persons
	core   float64 // loss of what follows the number of persons
	least  int64
	// newFullest, but in tests that force the choice
	pick func(l law, buckets uint64, loss float64) chooser
}

// NewMean returns the private mean of one vector a person, the mean of the person's rows. Columns:
// Vector.
func NewMean(p Params) (estimator.Estimator, error) { return newMean(p, false) }

// NewNumber is NewMean for a number a row: Dim is 1. Columns: Rows, Sum.
func NewNumber(p Params) (estimator.Estimator, error) {
	p.Dim = 1
	return newMean(p, true)
}

func newMean(p Params, number bool) (estimator.Estimator, error) {
	p, err := p.check()
	if err != nil {
		return nil, err
	}
	m := mean{p: p, law: p.law(), number: number, shift: scalar.MeanBits, pick: newFullest}
	if p.MaxRows == 1 {
		m.shift = 0
	}
	lo, hi := scalar.Range(p.Params)
	m.lo, m.hi = lo<<m.shift, hi<<m.shift
	left := budget{p.Params.Loss(), 1}
	m.count = newPersons(p, left.take(p.countShare()))
	m.core = left.rest()
	m.least = max(m.count.enough(), m.needs())
	return m, nil
}

// countShare is the share of the loss for the number of persons, 0 where it is public. About a
// centre it has an effect of second order only: 2 %, more in low dimension, where the other steps
// get by with few persons.
func (p Params) countShare() float64 {
	switch {
	case p.Sized:
		return 0
	case p.Pure():
		return 0.05
	}
	return 0.02 + 0.04/float64(p.Dim)
}

// Columns implements estimator.Estimator.
func (m mean) Columns() []estimator.Kind {
	if m.number {
		return []estimator.Kind{estimator.Rows, estimator.Sum}
	}
	return []estimator.Kind{estimator.Vector}
}

// Loss implements estimator.Estimator.
func (m mean) Loss() privacy.Loss { return m.p.loss() }

// MinPersons implements estimator.Estimator.
func (m mean) MinPersons() int64 { return m.least }

// ExpectedError implements estimator.Estimator: the noise depends on n̂ at least.
func (mean) ExpectedError() (float64, bool) { return 0, false }

// Steps implements estimator.Estimator.
func (m mean) Steps() []estimator.Step { return append(m.count.steps(), m.steps()...) }

// Release implements estimator.Estimator.
func (m mean) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	b, persons := m.block(in)
	count := m.count.release(n, persons)
	if count < float64(m.least) {
		return scalar.TooFew(m.p.Dim, m.least)
	}
	return m.release(n, b, count)
}

// release answers a group of count persons, a released number or a public one.
func (m mean) release(n noise.Noiser, b *estimator.Block, count float64) estimator.Estimate {
	means := m.means(b)
	left := &budget{m.core, 1}
	rows := m.rows(n, b, count, left)
	s := m.shapeOf(m.spread(n, means, count, rows, left), rows)
	return m.fine(n, m.batches(n, means, count), s, left.rest())
}

// block returns the persons present as a block, and their number, or the public one.
func (m mean) block(in estimator.Input) (b *estimator.Block, persons int64) {
	if m.number {
		in = sized.Columns(m.p.Params, m.Columns(), in)
		b = ofColumns(in.Memory, in.Columns[0], in.Columns[1])
	} else {
		in = sized.Vectors(m.p.Params, m.p.Dim, false, in)
		if b = in.Vectors; b == nil {
			b = &estimator.Block{Dim: m.p.Dim}
		}
	}
	if m.p.Sized {
		return b, in.Persons
	}
	return b, b.Persons()
}

// chunkPersons is the length of the chunks that columns are laid out in.
const chunkPersons = 1 << 14

// ofColumns returns the persons with a row as vectors of length 1, in memory from m.
func ofColumns(m estimator.Memory, rows, sums []int64) *estimator.Block {
	b := &estimator.Block{Dim: 1, Memory: m}
	for at := 0; at < len(rows); at += chunkPersons {
		end := min(at+chunkPersons, len(rows))
		ch := estimator.Chunk{Rows: estimator.Make[int64](m, end-at)[:0], Dense: estimator.Make[int64](m, end-at)[:0]}
		for i, r := range rows[at:end] {
			if r > 0 {
				ch.Rows, ch.Dense = append(ch.Rows, r), append(ch.Dense, sums[at+i])
			}
		}
		ch.Persons = len(ch.Rows)
		b.Chunks = append(b.Chunks, ch)
	}
	return b
}

// shapeOf returns the shape for a spread and a number of rows. Only the ratio of σ_k to σ₂ is taken
// from what is declared, so that both hold for the spread as it is.
func (m mean) shapeOf(tau, rows float64) shape {
	gamma := normalMoment(m.p.Moment)
	if m.p.Sigma > 0 {
		gamma = m.p.SigmaK / m.p.Sigma
	}
	return shape{tau: tau, gamma: gamma, k: m.p.Moment, m: rows, dim: m.law.together()}
}

// fine runs the stages: coarse estimate, rounds, last sum [AKM25, Algorithm 4].
func (m mean) fine(n noise.Noiser, thirds [3]batch, s shape, loss float64) estimator.Estimate {
	p := m.plan(s, thirds[0].count, loss)
	centre := m.newCoarse(s, p.coarse).release(n, sampled(n, thirds[0], m.coarseSample(s, loss)).Block)
	for i, r := range p.radii {
		shift, _ := m.law.clipAndNoise(n, thirds[1].Block, centre, integer(r), thirds[1].count, p.rounds[i])
		centre = moved(centre, shift, m.lo, m.hi)
	}
	end := thirds[2]
	radius := m.lastRadius(n, end, centre, s, p)
	shift, sigma := m.law.clipAndNoise(n, end.Block, centre, radius, end.count, p.last)
	return m.estimate(centre, shift, sigma, end.count)
}

// coarseSample is the number of persons of whom the least loss of a coarse estimate needs no more,
// or leastSample.
func (m mean) coarseSample(s shape, loss float64) float64 {
	const leastSample = 1 << 15
	if m.p.Split == Persons || m.p.Delta > 0 {
		return math.Inf(1)
	}
	return max(leastSample, 3*m.rateNeed(m.bucketsOf(s))/m.law.rate(leastStage*loss))
}

// estimate turns a centre and a shift in units into an answer, with the standard deviation of its
// noise: that of the sum, and that of n̂ (and of the number of persons in a third), which moves the
// shift in proportion. The answer is brought into the public range, which can only bring it nearer
// to the truth.
func (m mean) estimate(centre []int64, shift []float64, sigma, count float64) estimator.Estimate {
	lo, hi := scalar.Range(m.p.Params)
	off := m.count.sigma() / count
	if m.p.Split == Persons {
		off = math.Hypot(off/3, math.Sqrt(2/(3*count)))
	}
	e := estimator.Estimate{Values: make([]float64, m.p.Dim), StdErr: make([]float64, m.p.Dim)}
	for j, c := range centre {
		steps := math.Ldexp(float64(c)+shift[j], -int(m.shift))
		e.Values[j] = scalar.Finite(scalar.Scale(m.p.Grid, min(max(steps, float64(lo)), float64(hi))))
		noise := math.Ldexp(math.Hypot(sigma, shift[j]*off), -int(m.shift))
		e.StdErr[j] = min(scalar.Scale(m.p.Grid, noise), math.MaxFloat64)
	}
	if m.p.Split != Persons { // a third of the persons is a sample of them
		e.Error = m.told(centre, shift, sigma, off)
	}
	return e
}

// told is the law of the answer's error: sigma and off are the deviations of the noise of the sum
// over n̂ and of n̂ over itself.
func (m mean) told(centre []int64, shift []float64, sigma, off float64) *estimator.Error {
	value := func(units float64) float64 { return scalar.Scale(m.p.Grid, math.Ldexp(units, -int(m.shift))) }
	x := &estimator.Error{Form: estimator.Quotient, Under: []float64{off}, Noise: []float64{value(sigma)}, Centre: make([]float64, len(centre))}
	if m.law.pure {
		x.Law, x.Under[0], x.Noise[0] = estimator.Laplace, off/math.Sqrt2, x.Noise[0]/math.Sqrt2
	}
	norm := 0.0
	for j, c := range centre {
		x.Centre[j], norm = value(float64(c)), math.Hypot(norm, shift[j])
	}
	x.Shift = value(norm) * off
	return x
}

// Bias implements estimator.Biased.
func (m mean) Bias() string {
	if m.p.Split == Persons {
		return "that the answer is of a third of the persons"
	}
	return "the clip about the centre"
}
