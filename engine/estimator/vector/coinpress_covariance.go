package vector

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/mat"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/fork"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// CovarianceOptions say what is known of the vectors whose covariance is estimated.
type CovarianceOptions struct {
	Rounds   int  // 0: 3
	ZeroMean bool // the mean is 0: no pairs are formed
}

// Limits of covariances: d³ work a round and d² noisy numbers.
const (
	maxCovarianceDim = 512
	covarianceRounds = 3
)

// NewCovariance returns the private covariance matrix of one vector a person, the mean of the
// person's rows, as Dim² values row by row. Columns: Vector. It is the covariance estimator of
// [BDKU20] (MVCRec): Params.SigmaMax is needed, a declared bound on the standard deviation along
// every direction; data are taken for sub-Gaussian. Dense blocks of dimension at most 512.
//
// Unless the mean is 0 the vectors are differences of secretly matched pairs of persons, over √2.
// With n vectors, A = I/SigmaMax, γ = √(d + 2√(d·ln 10) + 2·ln 10), a round of loss ρ_i does
//
//	w = A·x, clipped to norm γ                  (beyond it: 10 % at most of a Gaussian's persons)
//	Z = (Σ wwᵀ + noise)/n, made positive        (outer: sensitivity γ² in the Frobenius norm, √2γ² where a vector can be exchanged)
//	A = (Z + (η+ν)·I)^(−1/2)·A                  η = √(d/n) + d/(2n), ν = 2√d·(deviation of the noise)/n
//
// so that the covariance of A·x stays under I: η is for the sample, ν for the noise's largest
// eigenvalue. The answer is A⁻¹·Z·A⁻ᵀ with the A and Z of the last round, which has three quarters
// of the loss. The paper's code leaves ν out and takes A⁻¹ZA⁻¹, which is the same only while A is
// symmetric.
//
// The number of persons is released at about 2 % of the loss unless it is public. TooFew where ν +
// η of the first round would pass ½.
func NewCovariance(p Params, o CovarianceOptions) (estimator.Estimator, error) {
	if err := p.checkCovariance(); err != nil {
		return nil, err
	}
	b := newBudget(p.Rho)
	count := newPersons(p, p.countLoss(b))
	c, err := newCovariance(p, o, b.rest())
	if err != nil {
		return nil, err
	}
	return covarianceMatrix{p, count, c}, nil
}

// countLoss takes the loss of the number of persons, nothing if it is public.
func (p Params) countLoss(b *budget) float64 { return b.take(p.countShare()) }

func (p Params) checkCovariance() error {
	if err := p.check(); err != nil {
		return err
	}
	switch {
	case p.Sparse:
		return errors.New("vector: a covariance needs dense vectors")
	case p.Dim > maxCovarianceDim:
		return fmt.Errorf("vector: want a covariance of dimension at most %d, have %d", maxCovarianceDim, p.Dim)
	case p.SigmaMax == 0:
		return errors.New("vector: a covariance needs a declared bound on the spread (sigma_max)")
	}
	return nil
}

// covariance is the rounds of NewCovariance.
type covariance struct {
	p      Params
	o      CovarianceOptions
	gamma  float64
	rounds []outer
}

func newCovariance(p Params, o CovarianceOptions, rho float64) (covariance, error) {
	rounds, err := checkRounds(o.Rounds, covarianceRounds)
	if err != nil {
		return covariance{}, err
	}
	d, l := float64(p.Dim), math.Log(10)
	c := covariance{p: p, o: o, gamma: math.Sqrt(d + 2*math.Sqrt(d*l) + 2*l)}
	delta2 := int64(1)
	if !o.ZeroMean || p.Relation == estimator.ReplaceOne {
		delta2 = 2
	}
	for _, r := range refining(rho, rounds) {
		c.rounds = append(c.rounds, newOuter(p.Dim, c.gamma, delta2, r))
	}
	return c, nil
}

// vectors is the number of vectors of count persons.
func (c covariance) vectors(count float64) float64 {
	if c.o.ZeroMean {
		return count
	}
	return max(1, math.Floor(count/2))
}

// margin is η + ν of a round with n vectors.
func (c covariance) margin(o outer, n float64) float64 {
	d := float64(c.p.Dim)
	return math.Sqrt(d/n) + d/(2*n) + 2*math.Sqrt(d)*o.deviation()/n
}

// needs is the number of persons with which the first round's margin is at most ½.
func (c covariance) needs() int64 {
	lo, hi := 1.0, 0x1p62
	for hi/lo > 1+1e-9 {
		if mid := math.Sqrt(lo * hi); c.margin(c.rounds[0], mid) > 0.5 {
			lo = mid
		} else {
			hi = mid
		}
	}
	if !c.o.ZeroMean {
		hi *= 2
	}
	return int64(math.Ceil(min(hi, 0x1p62)))
}

func (c covariance) steps() []estimator.Step {
	steps := make([]estimator.Step, len(c.rounds))
	for i, o := range c.rounds {
		s := "frobenius=γ²"
		if o.delta2 == 2 {
			s = "frobenius=√2·γ²"
		}
		steps[i] = estimator.Step{
			Name: fmt.Sprintf("second moments, round %d", i+1), Mechanism: estimator.DiscreteGaussian,
			Sensitivity: s, Queries: c.p.Dim * (c.p.Dim + 1) / 2, Rho: o.rho,
		}
	}
	return steps
}

// whitening is a linear map, by both it and its inverse.
type whitening struct{ a, inverse *mat.Dense }

// release returns the covariance in squared values, and a map after which it is under the identity.
func (c covariance) release(n noise.Noiser, g group, count float64) (*mat.SymDense, whitening) {
	step := scalar.Scale(c.p.Grid, 1)
	var data rows
	if c.o.ZeroMean {
		data = personRows(g, step)
	} else {
		data = pairRows(n, g, step)
	}
	m := c.vectors(count)
	w := scaled(c.p.Dim, c.p.SigmaMax)
	var sigma *mat.SymDense
	for _, o := range c.rounds {
		s := newSpectrum(o.release(n, data, w.a, m))
		sigma = s.back(w)
		w = s.refine(w, c.margin(o, m))
	}
	return sigma, w
}

// scaled is the map x/by.
func scaled(dim int, by float64) whitening {
	w := whitening{mat.NewDense(dim, dim, nil), mat.NewDense(dim, dim, nil)}
	for j := range dim {
		w.a.Set(j, j, 1/by)
		w.inverse.Set(j, j, by)
	}
	return w
}

// spectrum is a released symmetric matrix made positive: vectors·diag(values)·vectorsᵀ.
type spectrum struct {
	vectors *mat.Dense
	values  []float64
}

// newSpectrum sets negative eigenvalues to 0, which is the nearest positive matrix. Where the
// solver does not converge it takes the diagonal alone.
func newSpectrum(z *mat.SymDense) spectrum {
	d := z.SymmetricDim()
	s := spectrum{mat.NewDense(d, d, nil), make([]float64, d)}
	var e mat.EigenSym
	if e.Factorize(z, true) {
		e.VectorsTo(s.vectors)
		e.Values(s.values)
	} else {
		for j := range d {
			s.vectors.Set(j, j, 1)
			s.values[j] = z.At(j, j)
		}
	}
	for j, v := range s.values {
		s.values[j] = max(v, 0)
	}
	return s
}

// apply returns vectors·diag(f(values))·vectorsᵀ.
func (s spectrum) apply(f func(float64) float64) *mat.Dense {
	d := len(s.values)
	left := mat.NewDense(d, d, nil)
	for j, v := range s.values {
		x := f(v)
		for i := range d {
			left.Set(i, j, s.vectors.At(i, j)*x)
		}
	}
	out := mat.NewDense(d, d, nil)
	out.Mul(left, s.vectors.T())
	return out
}

// back returns A⁻¹·Z·A⁻ᵀ.
func (s spectrum) back(w whitening) *mat.SymDense {
	d := len(s.values)
	half := mat.NewDense(d, d, nil)
	half.Mul(w.inverse, s.apply(math.Sqrt))
	out := mat.NewSymDense(d, nil)
	out.SymOuterK(1, half)
	return out
}

// refine returns the map (Z + margin·I)^(−1/2)·A.
func (s spectrum) refine(w whitening, margin float64) whitening {
	d := len(s.values)
	out := whitening{mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)}
	out.a.Mul(s.apply(func(v float64) float64 { return 1 / math.Sqrt(v+margin) }), w.a)
	out.inverse.Mul(w.inverse, s.apply(func(v float64) float64 { return math.Sqrt(v + margin) }))
	return out
}

// covarianceMatrix is the estimator of NewCovariance.
type covarianceMatrix struct {
	p     Params
	count persons
	c     covariance
}

func (covarianceMatrix) Columns() []estimator.Kind { return []estimator.Kind{estimator.Vector} }

func (m covarianceMatrix) Loss() privacy.Loss           { return scalar.Loss(m.p.Rho) }
func (m covarianceMatrix) MinPersons() int64            { return max(m.count.enough(), m.c.needs()) }
func (covarianceMatrix) ExpectedError() (float64, bool) { return 0, false }
func (m covarianceMatrix) Steps() []estimator.Step      { return append(m.count.steps(), m.c.steps()...) }

// Release implements estimator.Estimator.
func (m covarianceMatrix) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	d := m.p.Dim
	in = m.p.whole(in)
	count := m.count.release(n, in)
	if count < float64(m.MinPersons()) {
		return scalar.TooFew(d*d, m.MinPersons())
	}
	sigma, _ := m.c.release(n, m.p.group(in.Vectors), count)
	e := estimator.Estimate{Values: make([]float64, d*d), StdErr: make([]float64, d*d)}
	for j := range d {
		for k := range d {
			e.Values[j*d+k], e.StdErr[j*d+k] = scalar.Finite(sigma.At(j, k)), math.NaN()
		}
	}
	return e
}

// outerBits is the resolution of a whitened vector: its coordinates are multiples of 2^-outerBits,
// their products of 2^-2·outerBits.
const outerBits = 20

// outer releases Σ wwᵀ over vectors w of norm at most γ.
//
// Each vector is clipped and cut toward zero in floats, then its squared norm is checked in
// integers and the vector shortened until it passes, so ‖w‖² ≤ limit holds exactly in lattice
// units. ‖wwᵀ‖_F = ‖w‖² ≤ limit, and ‖wwᵀ − vvᵀ‖_F² = ‖w‖⁴ + ‖v‖⁴ − 2⟨w,v⟩² ≤ 2·limit²: delta2 = 1
// where a vector comes or goes, 2 where it may be exchanged for another. Noise: σ² =
// ⌈delta2·limit²/(2ρ)⌉ on the diagonal and ⌈delta2·limit²/(4ρ)⌉ on the entries above it, of which
// each counts twice in the Frobenius norm:
//
//	Σ_j Δ_jj²/(2σ²) + Σ_{j<k} Δ_jk²/σ² = ‖Δ‖_F²/(2σ²) ≤ ρ   [CKS20, Theorem 14]
//
// With the same σ² everywhere, as in [BDKU20], the noise above the diagonal has twice this
// variance.
type outer struct {
	dim    int
	gamma  float64
	limit  int64 // bound on the squared norm, in lattice units
	delta2 int64
	rho    float64
}

func newOuter(dim int, gamma float64, delta2 int64, rho float64) outer {
	// γ² < 2^10 for d ≤ 512
	return outer{dim, gamma, int64(gamma * gamma * (1 << (2 * outerBits))), delta2, rho}
}

// variance is that of the diagonal; with twice the loss, that of the other entries.
func (o outer) variance(rho float64) *big.Int {
	return scalar.Sigma2(scalar.Square(o.limit), o.delta2, rho)
}

// deviation is the standard deviation of the entries off the diagonal, as a matrix of products.
func (o outer) deviation() float64 {
	return math.Ldexp(scalar.Root(o.variance(2*o.rho)), -2*outerBits)
}

// clip writes w shortened to norm γ to dst, on the lattice.
func (o outer) clip(dst []int64, w []float64) {
	q := 0.0
	for _, x := range w {
		q += float64(x * x)
	}
	factor := math.Ldexp(1, outerBits)
	switch norm := math.Sqrt(q); {
	case !(norm < math.MaxFloat64):
		factor = 0
	case norm > o.gamma:
		factor *= o.gamma / norm
	}
	for j, x := range w {
		if dst[j] = 0; factor > 0 {
			dst[j] = int64(x * factor) // at most γ·2^20, but for rounding
		}
	}
	for squared(dst) > o.limit {
		for j, x := range dst {
			dst[j] -= int64(cmp.Compare(x, 0))
		}
	}
}

func squared(x []int64) int64 {
	q := int64(0)
	for _, v := range x {
		q += v * v
	}
	return q
}

// sum returns the exact upper triangle of Σ wwᵀ, row by row, in units of 2^-2·outerBits, where
// vector i is a·(row i). Products are below 2^51, so 2^11 of them are added in 64 bits.
func (o outer) sum(rows rows, a *mat.Dense) []*big.Int {
	total := make([]*big.Int, o.dim*(o.dim+1)/2)
	for i := range total {
		total[i] = new(big.Int)
	}
	var mu sync.Mutex
	var all fork.Group
	next := make(chan [2]int)
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			x, w, v := make([]float64, o.dim), make([]float64, o.dim), make([]int64, o.dim)
			for part := range next {
				own := make([]int64, len(total))
				for i := part[0]; i < part[1]; i++ {
					rows.read(x, i)
					multiply(w, a, x)
					o.clip(v, w)
					addOuter(own, v)
				}
				mu.Lock()
				for i, s := range own {
					total[i].Add(total[i], big.NewInt(s))
				}
				mu.Unlock()
			}
		})
	}
	for from := 0; from < rows.count; from += 1 << 11 {
		next <- [2]int{from, min(from+1<<11, rows.count)}
	}
	close(next)
	all.Wait()
	return total
}

// addOuter adds the upper triangle of vvᵀ.
func addOuter(sum, v []int64) {
	at := 0
	for j, x := range v {
		for k, y := range v[j:] {
			sum[at+k] += x * y
		}
		at += len(v) - j
	}
}

// multiply writes a·x to dst, coordinates in index order.
func multiply(dst []float64, a *mat.Dense, x []float64) {
	for j := range dst {
		s := 0.0
		for k, v := range a.RawRowView(j) {
			s += float64(v * x[k])
		}
		dst[j] = s
	}
}

// release returns the noisy mean of wwᵀ over count vectors, a released number.
func (o outer) release(n noise.Noiser, rows rows, a *mat.Dense, count float64) *mat.SymDense {
	diagonal, above := o.variance(o.rho), o.variance(2*o.rho)
	out, at := mat.NewSymDense(o.dim, nil), 0
	sums := o.sum(rows, a)
	for j := range o.dim {
		for k := j; k < o.dim; k++ {
			v := above
			if j == k {
				v = diagonal
			}
			out.SetSym(j, k, math.Ldexp(scalar.Float(n.Gaussian(sums[at], v)), -2*outerBits)/count)
			at++
		}
	}
	return out
}

// rows are vectors of values: of every person, or of secretly matched pairs.
type rows struct {
	count int
	read  func(dst []float64, i int)
}

// personRows are the vectors of a group in values.
func personRows(g group, step float64) rows {
	r := firstpass.NewReader(g.Block)
	unit := math.Ldexp(step, -int(g.shift))
	return rows{int(g.Persons()), func(dst []float64, i int) {
		for j, v := range r.Vector(i) {
			dst[j] = float64(float64(v) * unit)
		}
	}}
}

// pairRows are (x−y)/√2 of secretly matched persons: mean 0 and the covariance of a person,
// whatever the mean. Replaced, added or dropped: one pair, in either neighbour relation (match).
func pairRows(n noise.Noiser, g group, step float64) rows {
	r := firstpass.NewReader(g.Block)
	unit := math.Ldexp(step, -int(g.shift)) / math.Sqrt2
	pairs := firstpass.Match(n, g.Memory, int(g.Persons()), 2, math.MaxInt32)
	return rows{len(pairs) / 2, func(dst []float64, i int) {
		x, y := r.Vector(int(pairs[2*i])), r.Vector(int(pairs[2*i+1]))
		for j, v := range x {
			dst[j] = float64(float64(v-y[j]) * unit)
		}
	}}
}
