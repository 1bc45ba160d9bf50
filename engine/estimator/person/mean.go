package person

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"sync"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/fork"
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

// Stages are how much of the paper's estimator runs.
type Stages uint8

// Stages, with the names that options use.
const (
	// coarse estimate, threaded clip-and-noise, a last clip-and-noise: Algorithm 4 ("full")
	Full     Stages = iota
	Threaded        // coarse estimate and Algorithm 3 ("threaded")
	// coarse estimate and one clip-and-noise: section 3.4 in one dimension, Algorithm 2 in more
	// ("single")
	Single
)

// Split is what stages share.
type Split uint8

// Splits.
const (
	Loss Split = iota // every stage sees all persons, with a share of the loss ("loss")
	// every stage has a third of the persons, drawn secretly, and the whole loss ("persons")
	Persons
)

// Params are the public facts of a person-level mean. Bounds and Grid hold for every coordinate of
// a row. With Epsilon > 0 the release is ε-DP and Rho is not used: in one dimension, and coordinate
// by coordinate in more.
type Params struct {
	estimator.Params
	Dim    int     // 1 to 2^20
	Moment float64 // k >= 2: the k-th central moment of a row is bounded in every direction; 0: 4
	Radius float64 // R: the mean's coordinates are within ±R, in values; 0: the public range
	// σ₂: bound on a row's standard deviation in any direction, in values; 0: learnt from the
	// persons' means
	Sigma float64
	// σ_k: bound on the k-th root of a row's k-th central moment in any direction; 0: that of the
	// normal law with σ₂
	SigmaK float64
	Rows   float64 // m: rows of a person; 0: learnt, a low quantile of what persons have
	// δ > 0: the range is found by a stability histogram (coarse.go), without any bound on it;
	// 0: without δ
	Delta  float64
	Stages Stages
	Split  Split
}

const (
	maxDim        = 1 << 20
	defaultMoment = 4
	maxMoment     = 100
	maxRows       = 1 << 40
)

// leastEpsilon is the least ε of a coordinate: shares of it are then far above what a pure choice
// among buckets needs.
const leastEpsilon = 1e-6

// check validates the parameters and fills in defaults.
func (p Params) check() (Params, error) {
	if err := scalar.CheckPure(p.Params, true); err != nil {
		return p, err
	}
	if p.Moment == 0 {
		p.Moment = defaultMoment
	}
	switch {
	case p.Dim < 1 || p.Dim > maxDim:
		return p, fmt.Errorf("person: want a dimension from 1 to %d, have %d", maxDim, p.Dim)
	case !(p.Moment >= 2 && p.Moment <= maxMoment):
		return p, fmt.Errorf("person: want 2 <= moment <= %d, have %v", maxMoment, p.Moment)
	case !positive(p.Radius) || !positive(p.Sigma) || !positive(p.SigmaK):
		return p, errors.New("person: want a finite radius, sigma and sigma_k > 0")
	case p.Rows != 0 && !(p.Rows >= 1 && p.Rows <= maxRows):
		return p, fmt.Errorf("person: want 1 <= rows <= 2^40, have %v", p.Rows)
	case p.Stages > Single || p.Split > Persons:
		return p, fmt.Errorf("person: unknown stages %d or split %d", p.Stages, p.Split)
	case p.Delta != 0 && !(p.Delta > 0 && p.Delta <= 0.1):
		return p, fmt.Errorf("person: want 0 < delta <= 0.1, have %v", p.Delta)
	case p.Delta > 0 && p.Pure():
		return p, errors.New("person: a stability histogram has a delta: it is not pure")
	case p.Pure() && p.Epsilon/float64(p.Dim) < leastEpsilon:
		return p, fmt.Errorf("person: want epsilon >= %v for each of %d coordinates, have %v for all", leastEpsilon, p.Dim, p.Epsilon)
	}
	return p.defaults(), nil
}

// defaults fills in what follows from other facts. σ₂ ≤ σ_k holds for every law (Jensen's
// inequality), so the one that is not declared, or not as tight, follows from the other. One row a
// person is m = 1.
func (p Params) defaults() Params {
	if p.SigmaK > 0 && (p.Sigma == 0 || p.Sigma > p.SigmaK) {
		p.Sigma = p.SigmaK
	}
	if p.SigmaK == 0 {
		p.SigmaK = p.Sigma * normalMoment(p.Moment)
	}
	if p.MaxRows == 1 {
		p.Rows = 1
	}
	if p.MaxRows > 0 {
		p.Rows = min(p.Rows, float64(p.MaxRows))
	}
	return p
}

// positive reports whether x is 0, for undeclared, or positive and of a size that floats can
// square.
func positive(x float64) bool { return x == 0 || x > 1e-150 && x < 1e150 }

// normalMoment is the k-th root of the k-th absolute moment of a standard normal:
// √2·(Γ((k+1)/2)/√π)^(1/k), 3^(1/4) for k = 4.
func normalMoment(k float64) float64 {
	g, _ := math.Lgamma((k + 1) / 2)
	return math.Sqrt2 * math.Exp((g-math.Log(math.Pi)/2)/k)
}

// loss is the loss of a release: the slack is that of the exponential mechanism's draws, the event
// that of a stability histogram.
func (p Params) loss() privacy.Loss {
	if p.Pure() {
		return privacy.PureLoss(p.Epsilon)
	}
	l := scalar.Loss(p.Rho)
	if p.Delta > 0 {
		l.DeltaEvent = p.Delta
	} else {
		l.DeltaTV = float64(p.Dim) * choiceSlack
	}
	return l
}

// means returns the persons' means in units, clamped to the public range: a map of one person at a
// time. What follows needs numbers within ±2^61, which holds then whatever a block has in it.
func (m mean) means(b *estimator.Block) *estimator.Block {
	b = block.Means(b, m.shift)
	if most := int64(estimator.MaxUnits) << m.shift; m.shift > 0 && m.lo <= -most && m.hi >= most {
		return b // means of several rows are within that
	}
	if _, inRange := block.Total(b, m.lo, m.hi); inRange {
		return b
	}
	out := &estimator.Block{Dim: b.Dim, Chunks: make([]estimator.Chunk, len(b.Chunks)), Memory: b.Memory}
	var all fork.Group
	for i := range b.Chunks {
		all.Go(func() {
			ch := estimator.Chunk{Persons: b.Chunks[i].Persons, Dense: estimator.Make[int64](b.Memory, len(b.Chunks[i].Dense))}
			for k, v := range b.Chunks[i].Dense {
				ch.Dense[k] = min(max(v, m.lo), m.hi)
			}
			out.Chunks[i] = ch
		})
	}
	all.Wait()
	return out
}

// persons is the number of persons: released with sensitivity 1, which holds for one more or less
// and for one exchanged that comes into or goes out of the group; or public.
type persons struct {
	law    law
	loss   float64
	public bool
	gauss  scalar.Persons
	scale  *big.Rat // of Laplace noise
}

func newPersons(p Params, loss float64) persons {
	c := persons{law: p.law(), loss: loss, public: p.Sized}
	switch {
	case p.Sized:
	case p.Pure():
		c.scale = new(big.Rat).SetFloat64(loss)
		c.scale.Inv(c.scale)
	default:
		c.gauss = scalar.NewPersons(loss)
	}
	return c
}

// release returns a number of at least 1.
func (c persons) release(n noise.Noiser, count int64) float64 {
	switch {
	case c.public:
		return float64(max(1, count))
	case c.scale != nil:
		f, _ := new(big.Float).SetInt(n.Laplace(big.NewInt(count), c.scale.Num(), c.scale.Denom())).Float64()
		return min(max(1, f), 0x1p60)
	}
	return c.gauss.Release(n, count)
}

// sigma is the standard deviation of the noise, 0 where the number is public.
func (c persons) sigma() float64 {
	switch {
	case c.public:
		return 0
	case c.scale != nil:
		return math.Sqrt2 / c.loss
	}
	return c.gauss.Sigma()
}

// enough is the number of persons that makes the noise at most a fifth of it.
func (c persons) enough() int64 { return int64(math.Ceil(min(5*c.sigma(), 0x1p50))) }

// steps describes the release: nothing where the number is public.
func (c persons) steps() []estimator.Step {
	if c.public {
		return nil
	}
	mechanism, norm := c.law.noisy()
	return []estimator.Step{c.law.step(estimator.Step{Name: "number of persons", Mechanism: mechanism, Sensitivity: norm + "=1", Queries: 1}, c.loss)}
}

// clipAndNoise is Clip-and-Noise [AKM25, Algorithm 2] about an integer centre c at a loss: S/n̂
// with S the noisy sum of the x_i − c, clipped to a radius P, all in units. It returns S/n̂ and the
// standard deviation of the noise in every coordinate of it.
//
//	zCDP   ℓ2 ball; the sum moves by s·P in ℓ2, and each coordinate gets N_Z(0, ⌈(s·P)²·2^48/(2ρ)⌉) in units of 2^-24 [CKS20, Theorem 14]
//	pure   interval of each coordinate (section 3.4); each sum moves by s·P and gets Lap_Z(s·P·d/ε)
//
// s is 1 under add-remove, where a person's vector comes or goes, and 2 under replace-one, where it
// is exchanged; a person who starts or stops to match under replace-one moves the sum by P at most.
// The paper divides by a public n and has 2P/n; here the sum is centred, so that it does not move
// by more when a person comes.
func (l law) clipAndNoise(n noise.Noiser, b *estimator.Block, centre []int64, radius int64, count, loss float64) (shift []float64, sigma float64) {
	var sums []*big.Int
	unit := 1.0 // of the sums
	if l.pure {
		sums = clampedSums(b, centre, radius)
		l.addLaplace(n, sums, radius, loss)
	} else {
		sums = block.ClipSum(b, centre, block.Norms(b, centre, nil), float64(radius))
		l.addGaussian(n, sums, radius, loss)
		unit = 0x1p-24
	}
	shift = make([]float64, b.Dim)
	for j, s := range sums {
		f, _ := new(big.Float).SetInt(s).Float64()
		shift[j] = f * unit / count
	}
	return shift, float64(radius) * l.unit(loss) / count
}

// addGaussian replaces exact sums by noisy ones.
func (l law) addGaussian(n noise.Noiser, sums []*big.Int, radius int64, loss float64) {
	moved := scalar.Square(l.relation.Factor() * radius)
	sigma2 := scalar.Sigma2(moved.Lsh(moved, 2*block.ClipBits), 1, loss)
	for j, s := range sums {
		sums[j] = n.Gaussian(s, sigma2)
	}
}

// addLaplace is addGaussian for a pure law. The scale is exact.
func (l law) addLaplace(n noise.Noiser, sums []*big.Int, radius int64, loss float64) {
	moved := big.NewInt(l.relation.Factor() * radius)
	t := laplaceScale(moved.Mul(moved, big.NewInt(int64(l.dim))), loss)
	for j, s := range sums {
		sums[j] = n.Laplace(s, t.Num(), t.Denom())
	}
}

// clampedSums returns Σ_i min(max(x_ij − c_j, −P), P), exactly. Entries and centre are within
// ±2^60, P is at most 2^61.
func clampedSums(b *estimator.Block, centre []int64, radius int64) []*big.Int {
	sums := make([]*big.Int, b.Dim)
	for j := range sums {
		sums[j] = new(big.Int)
	}
	var all fork.Group
	var mu sync.Mutex
	for i := range b.Chunks {
		all.Go(func() {
			own := make([]scalar.Sum, b.Dim)
			for x := b.Chunks[i].Dense; len(x) > 0; x = x[b.Dim:] {
				for j, v := range x[:b.Dim] {
					own[j].Add(min(max(v-centre[j], -radius), radius))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for j, s := range own {
				sums[j].Add(sums[j], s.Big())
			}
		})
	}
	all.Wait()
	return sums
}

// moved returns a centre moved by a released shift, rounded to units and kept within the public
// range.
func moved(centre []int64, shift []float64, lo, hi int64) []int64 {
	out := make([]int64, len(centre))
	for j, c := range centre {
		out[j] = int64(math.RoundToEven(min(max(float64(c)+shift[j], float64(lo)), float64(hi))))
	}
	return out
}
