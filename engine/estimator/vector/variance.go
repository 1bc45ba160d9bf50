package vector

import (
	"fmt"
	"math"
	"math/big"
	"runtime"
	"slices"
	"sync"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/fork"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// NewVariance returns the private variance of each coordinate of one vector a person, the mean of
// the person's rows, or the standard deviations. Columns: Vector.
//
// A centre c and scales s_j are found as for a mean (dense, [ALP24] Algorithm 1). Then one release
// answers all coordinates: with D_j = x_j − c_j in units of u_j, a power of two at most max(1,
// s_j/1024), rounded and within ±2^24, and H_j = (s_j/u_j)², a person gives the integer vector of
// 2d entries
//
//	y = (D_1, …, D_d, D_1² − H_1, …, D_d² − H_d)
//
// which is clipped to a ball of a weighted norm like any other vector (block.ClipSum; the radius
// from a histogram of the norms), so that the sensitivity is that of a clipped sum: C for one
// person more or less, 2C for one exchanged. D and D² are whole numbers and clipping multiplies
// them by one dyadic factor: nothing is rounded after it. With S the noisy sums, n̂ the number of
// persons and τ_j the noise of S_j/n̂
//
//	m_j = S_j/n̂     variance_j = u_j²·max(0, H_j + S_{d+j}/n̂ − m_j² + τ_j²)·n̂/(n̂−1)   (without the last factor for a population)
//
// Weights: D_j² has s_j^−4, so that the error of each variance is in proportion to it (down to the
// least scale that is looked for), and D_j has s_j^−2/4. The first moments then take an eighth of
// the squared norm of a Gaussian's person, and as m_j is near 0 their larger noise hardly enters.
// Clipping the vector of squares in its own norm, which is √(2d)·s² for d alike coordinates, costs
// √d less noise than clipping x − c to a ball and squaring, which would put the sum of all squares,
// d·s², against the noise.
//
// What is beyond the radius is shortened: on heavy tails the answers are low. A sparse block is
// answered by the means of x and x² (sparseVariance).
func NewVariance(p Params, stddev, population bool) (estimator.Estimator, error) {
	if p.P == 0 {
		p.P = 2
	}
	p.Pairs = max(1, p.Pairs)
	if p.Scale == Unscaled || p.Scale == Binary {
		p.Scale = Direct
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.Sparse {
		return newSparseVariance(p, shown{stddev, population})
	}
	b := newBudget(p.Rho)
	count := newPersons(p, p.countLoss(b))
	m := moments{newDense(p, count, b.rest(), always, always), shown{stddev, population}}
	return mean{p: p, count: count, core: m, slack: m.slack()}, nil
}

// shown is what is shown of a variance.
type shown struct {
	stddev     bool // its root
	population bool // the sum of squares over n, not n−1
}

// moments is the core of NewVariance.
type moments struct {
	dense
	shown
}

// needs implements core: a mean's number, and enough for a radius in twice the dimension.
func (m moments) needs() int64 {
	return least(func(count float64) bool {
		rho := m.rho * max(m.plan(count, true).left(), 0.01)
		return m.enough(count) && count >= 4*firstpass.TailTarget(2*m.p.Dim, m.factor2(), rho)
	})
}

// factor2 is that of vectors of any sign.
func (m moments) factor2() int64 { return block.Factor2(m.p.Relation, false) }

// steps implements core.
func (m moments) steps() []estimator.Step {
	steps := m.dense.steps()
	last := &steps[len(steps)-1]
	last.Name, last.Queries, last.Sensitivity = "first and second moments", 2*m.p.Dim, sumSensitivity(m.factor2())
	return steps
}

// release implements core.
func (m moments) release(n noise.Noiser, g group, count float64) estimator.Estimate {
	left := newBudget(m.rho)
	s := m.spread(n, g.Block, count, left)
	all := m.lots(n, g.Block, count)
	centre, _ := m.choose(n, all, s, true, left)
	sq := newSquares(centre, m.scales(n, all, centre, s.norm, left))
	f2, rho := m.factor2(), left.rho*left.left
	target := min(firstpass.TailTarget(2*m.p.Dim, f2, rho), count/4)
	share := left.left * max(firstpass.RadiusShare(rho, target, count, m.p.Relation), leastRadius)
	h := m.histogram(firstpass.RadiusPer, sq.farthest(), m.delta2(), left.take(share))
	norms := sq.norms(g.Block)
	noisy := h.Release(n, norms)
	if _, seen := h.Top(noisy); !seen {
		// any radius would be a guess, and wrong by any factor
		return scalar.TooFew(m.p.Dim, scalar.Twice(count))
	}
	radius := h.Radius(noisy, target) * m.beyond(h, target)
	sums, sigma := addNoise(n, sq.sum(g.Block, norms, radius), sq.weights, radius, f2, left.rest())
	return m.answer(sq, g.shift, sums, sigma, count)
}

// answer turns noisy sums of moments into variances.
func (m moments) answer(q squares, shift uint, sums, sigma []float64, count float64) estimator.Estimate {
	d := m.p.Dim
	e := estimator.Estimate{Values: make([]float64, d), StdErr: make([]float64, d)}
	told := estimator.Moments{
		First: make([]float64, d), Second: make([]float64, d), Offset: make([]float64, d), Noise: make([]float64, d), Noise2: make([]float64, d),
		Root: m.stddev,
	}
	for j := range d {
		first, second := sums[j]/count, sums[d+j]/count
		tau, tau2 := sigma[j]/count, math.Hypot(sigma[d+j], second*m.count.sigma())/count
		v := float64(q.centre[d+j]) + second - first*first + tau*tau
		size := scalar.Scale(m.p.Grid, math.Ldexp(1, q.bits[j]-int(shift)))
		e.Values[j], e.StdErr[j] = m.show(v, math.Hypot(tau2, 2*first*tau), size, count)
		told.First[j], told.Second[j], told.Offset[j] = size*first, size*size*second, size*size*float64(q.centre[d+j])
		told.Noise[j], told.Noise2[j] = size*tau, size*size*sigma[d+j]/count
	}
	if !m.population {
		told.Count = count
	}
	e.Error = &estimator.Error{Form: estimator.Variance, Under: []float64{m.count.sigma() / count}, Moments: &told}
	return e
}

// show turns a variance of count persons (+Inf where the number is not to hand) in units of size²,
// with the deviation of its noise, into what is shown.
func (s shown) show(v, deviation, size, count float64) (value, stdErr float64) {
	v = max(v, 0)
	if !s.population && count < math.MaxFloat64 {
		v, deviation = v*count/(count-1), deviation*count/(count-1) // at least 20 persons
	}
	switch {
	case !s.stddev:
		v, deviation = v*size*size, deviation*size*size
	case v <= deviation:
		return scalar.Finite(size * math.Sqrt(v)), math.NaN() // the root is not near a line there
	default:
		v = math.Sqrt(v)
		v, deviation = size*v, size*deviation/(2*v)
	}
	return scalar.Finite(v), min(deviation, math.MaxFloat64)
}

// squares maps a vector x to y = (D, D²), about the point (0, H).
type squares struct {
	origin  []int64   // c
	bits    []int     // log2 u_j
	centre  []int64   // (0, H)
	weights []float64 // of the 2d entries
}

// Resolution and range of D: a scale is at least 2^fineBits units where the data's own are finer,
// and |D| at most 2^wideBits.
const (
	fineBits = 10
	wideBits = 24
)

// newSquares returns the map for released centre and scales; centre nil for 0.
func newSquares(centre []int64, scales []float64) squares {
	d := len(scales)
	if centre == nil {
		centre = make([]int64, d)
	}
	q := squares{centre, make([]int, d), make([]int64, 2*d), make([]float64, 2*d)}
	for j, s := range scales {
		q.bits[j] = min(max(0, int(math.Floor(math.Log2(s)))-fineBits), 60) // D is below 2^62
		s = math.Ldexp(s, -q.bits[j])
		q.centre[d+j] = int64(min(s*s, 1<<(2*wideBits)))
		q.weights[d+j] = bounded(typical / (s * s * s * s))
		q.weights[j] = bounded(typical / (s * s) / 4)
	}
	return q
}

// typical is the squared size of a scale in the weighted norm: norms are read off buckets that
// begin at 1.
const typical = 1 << 40

// bounded keeps a weight within what norms and variances are made for.
func bounded(w float64) float64 { return min(max(w, 0x1p-200), 0x1p200) }

// farthest is an upper end for the norms.
func (q squares) farthest() float64 {
	d, sum := len(q.bits), 0.0
	for j := range d {
		sum += q.weights[j]*(1<<(2*wideBits)) + q.weights[d+j]*(1<<(4*wideBits))
	}
	return math.Sqrt(sum) * (1 + 0x1p-20)
}

// norms returns ‖y − (0, H)‖ of every person, upper bounds as those of block.Norms.
func (q squares) norms(b *estimator.Block) []float64 {
	out := estimator.Make[float64](b.Memory, int(b.Persons()))
	eachPiece(b, func(piece estimator.Chunk, at int) {
		copy(out[at:], block.Norms(q.of(piece), q.centre, q.weights))
	})
	return out
}

// of returns the block of the vectors y of some persons.
func (q squares) of(piece estimator.Chunk) *estimator.Block {
	d := len(q.bits)
	y := make([]int64, 2*d*piece.Persons)
	for i := range piece.Persons {
		first, second := y[2*d*i:2*d*i+d], y[2*d*i+d:2*d*(i+1)]
		for j, v := range piece.Dense[i*d : (i+1)*d] {
			v -= q.origin[j]
			if k := q.bits[j]; k > 0 {
				v = (v + 1<<(k-1)) >> k
			}
			v = min(max(v, -1<<wideBits), 1<<wideBits)
			first[j], second[j] = v, v*v
		}
	}
	return &estimator.Block{Dim: 2 * d, Chunks: []estimator.Chunk{{Persons: piece.Persons, Dense: y}}}
}

// leastRadius is the least share of what is left of the loss for the radius. Squares have longer
// tails than the values.
const leastRadius = 0.03

// beyond is what the radius found is multiplied by: in few dimensions the histogram does not see
// the tail that the best radius, which leaves target persons out, would be in; with more the norms
// lie close together. At most 4; measured on uniform, normal, exponential and log-normal
// coordinates of dimension 1 to 30.
func (m moments) beyond(h firstpass.Histogram, target float64) float64 {
	return min(math.Pow(max(1, firstpass.FarZ*h.Sigma/target), 1/(2+float64(m.p.Dim))), 4)
}

// sum returns the exact sums of the clipped vectors y − (0, H) (block.ClipSum). The block of all y
// would be twice as large as the data: they are made piece by piece, once for the norms and once
// for the sums.
func (q squares) sum(b *estimator.Block, norms []float64, radius float64) []*big.Int {
	total := make([]*big.Int, len(q.centre))
	for j := range total {
		total[j] = new(big.Int)
	}
	var mu sync.Mutex
	eachPiece(b, func(piece estimator.Chunk, at int) {
		part := block.ClipSum(q.of(piece), q.centre, norms[at:at+piece.Persons], radius)
		mu.Lock()
		defer mu.Unlock()
		for j, s := range part {
			total[j].Add(total[j], s)
		}
	})
	return total
}

// pieceEntries is about how many entries a piece has: 2 MiB of them.
const pieceEntries = 1 << 18

// eachPiece calls work for runs of persons of a dense block, with the number of the first, on all
// cores.
func eachPiece(b *estimator.Block, work func(piece estimator.Chunk, at int)) {
	type run struct {
		piece estimator.Chunk
		at    int
	}
	next := make(chan run)
	var all fork.Group
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for r := range next {
				work(r.piece, r.at)
			}
		})
	}
	size, at := max(1, pieceEntries/b.Dim), 0
	for i := range b.Chunks {
		ch := &b.Chunks[i]
		for from := 0; from < ch.Persons; from += size {
			to := min(from+size, ch.Persons)
			next <- run{estimator.Chunk{Persons: to - from, Dense: ch.Dense[from*b.Dim : to*b.Dim]}, at + from}
		}
		at += ch.Persons
	}
	close(next)
	all.Wait()
}

// sparseVariance is the variance of sparse vectors from the means of x and of x², each released by
// NewMean at half of the loss: the mean of x² less the square of that of x. Of vectors of 0 and 1,
// whose squares are themselves, the first mean has all of it.
//
// The factor n/(n−1) of a sample is left out: the number of persons is not to hand, and is hundreds
// at least.
//
// A square is brought to a coarser lattice where it would not fit, x² >> shift: a map of one person
// at a time, as squaring is, so the means' sensitivities hold as they stand.
type sparseVariance struct {
	p             Params
	shown         shown
	first, second estimator.Estimator // second nil: x² = x
	shift         uint
	hi            int64 // of a square, shifted
}

func newSparseVariance(p Params, o shown) (estimator.Estimator, error) {
	s := sparseVariance{p: p, shown: o}
	_, hi := scalar.Range(p.Params)
	if hi != 1 && p.MaxRows != 1 {
		return nil, fmt.Errorf("vector: the variance of sparse vectors other than of 0 and 1 wants one row a person")
	}
	b := newBudget(p.Rho)
	x, y := p, p
	if hi == 1 {
		x.Rho = b.rest()
	} else {
		x.Rho, y.Rho = b.take(0.5), b.rest()
	}
	var err error
	if s.first, err = NewMean(x); err != nil || hi == 1 {
		return s, err
	}
	for s.hi = square(hi, s.shift); s.hi > estimator.MaxUnits; s.hi = square(hi, s.shift) {
		s.shift++
	}
	lo := int64(0)
	y.Grid.Lo, y.Grid.Hi, y.Lower, y.Upper = 0, s.hi, nil, nil
	if p.Bounded() {
		y.Lower, y.Upper = &lo, &s.hi
	}
	y.Grid.Decimal, y.Grid.Step = false, 1 // squares are read in steps² · 2^shift
	y.Radius, y.SigmaMin, y.SigmaMax = 0, 0, 0
	s.second, err = NewMean(y)
	return s, err
}

// square returns x²·2^-shift cut toward zero, or more than 2^50 if that is more.
func square(x int64, shift uint) int64 {
	q := math.Ldexp(float64(x)*float64(x), -int(shift)) // a function of x alone, monotone in it
	if q > 2*estimator.MaxUnits {
		return 2 * estimator.MaxUnits
	}
	return int64(q)
}

func (sparseVariance) Columns() []estimator.Kind      { return []estimator.Kind{estimator.Vector} }
func (sparseVariance) ExpectedError() (float64, bool) { return 0, false }

// Loss implements estimator.Estimator.
func (s sparseVariance) Loss() privacy.Loss {
	l := scalar.Loss(s.p.Rho)
	for _, m := range s.means() {
		l.DeltaTV += m.Loss().DeltaTV
	}
	return l
}

func (s sparseVariance) means() []estimator.Estimator {
	if s.second == nil {
		return []estimator.Estimator{s.first}
	}
	return []estimator.Estimator{s.first, s.second}
}

// MinPersons implements estimator.Estimator.
func (s sparseVariance) MinPersons() int64 {
	n := int64(leastPersons)
	for _, m := range s.means() {
		n = max(n, m.MinPersons())
	}
	return n
}

// Steps implements estimator.Estimator.
func (s sparseVariance) Steps() []estimator.Step {
	var steps []estimator.Step
	for i, m := range s.means() {
		for _, step := range m.Steps() {
			step.Name = []string{"mean: ", "mean of squares: "}[i] + step.Name
			steps = append(steps, step)
		}
	}
	return steps
}

// Release implements estimator.Estimator.
func (s sparseVariance) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = s.p.whole(in)
	e := s.first.Release(n, in)
	if e.Status != estimator.OK {
		return scalar.TooFew(s.p.Dim, s.MinPersons())
	}
	step := scalar.Scale(s.p.Grid, 1)
	second := estimator.Estimate{Values: e.Values, StdErr: e.StdErr}
	unit := step
	if s.second != nil {
		second = s.second.Release(n, estimator.Input{Persons: in.Persons, Vectors: s.squared(in.Vectors)})
		if unit = math.Ldexp(step*step, int(s.shift)); second.Status != estimator.OK {
			return scalar.TooFew(s.p.Dim, s.MinPersons())
		}
	}
	return s.answer(e, second, unit, step)
}

// answer combines the released means. Those of the squares are in unit, or, of 0 and 1, those of x
// itself.
func (s sparseVariance) answer(first, second estimator.Estimate, unit, step float64) estimator.Estimate {
	d := s.p.Dim
	e := estimator.Estimate{Values: make([]float64, d), StdErr: make([]float64, d)}
	for j := range d {
		m, tau, tau2 := first.Values[j], first.StdErr[j], second.StdErr[j]*unit
		v := second.Values[j]*unit - m*m
		deviation := math.Hypot(tau2, 2*m*tau)
		if s.second == nil {
			deviation = math.Abs(step-2*m) * tau
		}
		e.Values[j], e.StdErr[j] = s.shown.show(v, deviation, 1, math.Inf(1))
	}
	return e
}

// squared returns the block of squares.
func (s sparseVariance) squared(b *estimator.Block) *estimator.Block {
	_, hi := scalar.Range(s.p.Params)
	out := *b
	out.Chunks = slices.Clone(b.Chunks)
	for i := range out.Chunks {
		ch := &out.Chunks[i]
		x := ch.Values
		if x == nil {
			x = estimator.Make[int64](b.Memory, len(ch.Index))
			for e := range x {
				x[e] = 1
			}
		}
		ch.Values = estimator.Make[int64](b.Memory, len(x))
		for e, v := range x {
			ch.Values[e] = square(min(max(v, 0), hi), s.shift)
		}
	}
	return &out
}
