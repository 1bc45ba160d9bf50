package accuracy

import (
	"cmp"
	"errors"
	"math"
	"math/big"

	"gonum.org/v1/gonum/mat"

	"scrim/bench/dataset"
	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/engine/estimator/vector"
)

// covariance is the covariance estimator of [BDKU20] (MVCRec) for one vector of mean 0 a person,
// with a declared bound on the standard deviation along every direction. The server has no such
// estimator: the papers compare with it, and theirs do better from some tens of dimensions on.
//
// With n vectors, A = I/sigmaMax, γ = √(d + 2√(d·ln 10) + 2·ln 10), a round of loss ρ_i does
//
//	w = A·x, clipped to norm γ                  (beyond it: 10 % at most of a Gaussian's persons)
//	Z = (Σ wwᵀ + noise)/n, made positive        (sensitivity γ² in the Frobenius norm, √2γ² where a vector can be exchanged)
//	A = (Z + (η+ν)·I)^(−1/2)·A                  η = √(d/n) + d/(2n), ν = 2√d·(deviation of the noise)/n
//
// so that the covariance of A·x stays under I: η is for the sample, ν for the noise's largest
// eigenvalue. The answer is A⁻¹·Z·A⁻ᵀ with the A and Z of the last round, which has three quarters
// of the loss. The paper's code leaves ν out and takes A⁻¹ZA⁻¹, which is the same only while A is
// symmetric.
//
// The noise has the variance ⌈delta2·limit²/(2ρ)⌉ on the diagonal and half of it above, where each
// entry counts twice in the Frobenius norm. Vectors are clipped on a lattice of 2^-outerBits.
type covariance struct {
	dim            int
	step, sigmaMax float64
	count          float64 // loss of the number of persons, 0 where it is public
	rhos           []float64
	gamma          float64
	limit, factor  int64 // of the squared norm, in lattice units; of its square in the sensitivity
	needed         float64
}

// outerBits is the resolution of a whitened vector.
const outerBits = 20

// part is a share of a loss, rounded down by more than the error of the shares' sum.
func part(rho, share float64) float64 { return rho * share * (1 - 1e-12) }

func newCovariance(s *dataset.Set, c Conditions, rho float64, rounds int, sigmaMax float64) (covariance, error) {
	switch {
	case s.Sparse || s.MostRows > 1:
		return covariance{}, errors.New("works on dense sets of one row a person only")
	case s.Dim > 512 || sigmaMax <= 0:
		return covariance{}, errors.New("works on at most 512 dimensions, with a bound on the spread")
	}
	d, l := float64(s.Dim), math.Log(10)
	v := covariance{dim: s.Dim, step: s.Grid.Step, sigmaMax: sigmaMax, gamma: math.Sqrt(d + 2*math.Sqrt(d*l) + 2*l), factor: 2}
	if c.Relation == estimator.AddRemove {
		share := 0.02 + 0.04/d
		v.factor, v.count, rho = 1, part(rho, share), part(rho, 1-share)
	}
	v.limit = int64(v.gamma * v.gamma * (1 << (2 * outerBits)))
	left := 1.0
	for range rounds - 1 {
		early := 0.25 / float64(rounds-1)
		v.rhos, left = append(v.rhos, part(rho, early)), left-early
	}
	v.rhos = append(v.rhos, part(rho, left))
	lo, hi := 1.0, 0x1p62 // the number of persons from which the first round's margin is at most ½
	for hi/lo > 1+1e-9 {
		if mid := math.Sqrt(lo * hi); v.margin(v.rhos[0], mid) > 0.5 {
			lo = mid
		} else {
			hi = mid
		}
	}
	v.needed = math.Ceil(min(hi, 0x1p62))
	return v, nil
}

// margin is η + ν of a round with n vectors.
func (v covariance) margin(rho, n float64) float64 {
	d := float64(v.dim)
	sigma2, _ := new(big.Float).SetInt(v.variance(2 * rho)).Float64()
	return math.Sqrt(d/n) + d/(2*n) + 2*math.Sqrt(d)*math.Ldexp(math.Sqrt(sigma2), -2*outerBits)/n
}

// variance is that of the noise on the diagonal; at twice the loss, that of the other entries.
func (v covariance) variance(rho float64) *big.Int {
	limit := big.NewInt(v.limit)
	return sigma2(limit.Mul(limit, limit), v.factor, rho)
}

// sigma2 is ⌈factor·sensitivity²/(2ρ)⌉.
func sigma2(sensitivity2 *big.Int, factor int64, rho float64) *big.Int {
	r := new(big.Rat).SetFloat64(2 * rho)
	r.Quo(new(big.Rat).SetInt(new(big.Int).Mul(sensitivity2, big.NewInt(factor))), r)
	up := new(big.Int).Sub(r.Denom(), big.NewInt(1))
	return up.Add(up, r.Num()).Quo(up, r.Denom())
}

// release returns the covariance in squared values, and a map after which it is under the identity,
// with its inverse. It refuses where the persons are too few.
func (v covariance) release(n noise.Noiser, rows [][]float64) (sigma *mat.SymDense, a, inverse *mat.Dense, ok bool) {
	count := float64(max(1, len(rows)))
	if v.count > 0 {
		noisy, _ := n.Gaussian(big.NewInt(int64(len(rows))), sigma2(big.NewInt(1), 1, v.count)).Float64()
		count = max(1, noisy)
	}
	if count < v.needed {
		return nil, nil, nil, false
	}
	a, inverse = mat.NewDense(v.dim, v.dim, nil), mat.NewDense(v.dim, v.dim, nil)
	for j := range v.dim {
		a.Set(j, j, 1/v.sigmaMax)
		inverse.Set(j, j, v.sigmaMax)
	}
	for _, rho := range v.rhos {
		vectors, values := positive(v.outer(n, rows, a, rho, count))
		half, next, back := new(mat.Dense), new(mat.Dense), new(mat.Dense)
		half.Mul(inverse, spectral(vectors, values, math.Sqrt))
		sigma = mat.NewSymDense(v.dim, nil)
		sigma.SymOuterK(1, half)
		margin := v.margin(rho, count)
		next.Mul(spectral(vectors, values, func(x float64) float64 { return 1 / math.Sqrt(x+margin) }), a)
		back.Mul(inverse, spectral(vectors, values, func(x float64) float64 { return math.Sqrt(x + margin) }))
		a, inverse = next, back
	}
	return sigma, a, inverse, true
}

// outer releases the mean of wwᵀ over count vectors. The sums are exact: products are below 2^51,
// so 2^11 of them are added in 64 bits.
func (v covariance) outer(n noise.Noiser, rows [][]float64, a *mat.Dense, rho, count float64) *mat.SymDense {
	own, total := make([]int64, v.dim*(v.dim+1)/2), make([]big.Int, v.dim*(v.dim+1)/2)
	w, x := make([]float64, v.dim), make([]int64, v.dim)
	for i, row := range rows {
		multiply(w, a, row)
		v.clip(x, w)
		at := 0
		for j, s := range x {
			for k, t := range x[j:] {
				own[at+k] += s * t
			}
			at += len(x) - j
		}
		if i%(1<<11) == 1<<11-1 || i == len(rows)-1 {
			for k, s := range own {
				total[k].Add(&total[k], big.NewInt(s))
			}
			clear(own)
		}
	}
	diagonal, above := v.variance(rho), v.variance(2*rho)
	out, at := mat.NewSymDense(v.dim, nil), 0
	for j := range v.dim {
		for k := j; k < v.dim; k++ {
			variance := above
			if j == k {
				variance = diagonal
			}
			noisy, _ := n.Gaussian(&total[at], variance).Float64()
			out.SetSym(j, k, math.Ldexp(noisy, -2*outerBits)/count)
			at++
		}
	}
	return out
}

// clip writes w shortened to norm γ to dst, on the lattice: exactly within the limit.
func (v covariance) clip(dst []int64, w []float64) {
	factor := math.Ldexp(1, outerBits)
	if norm := math.Sqrt(dot(w, w)); norm > v.gamma {
		factor *= v.gamma / norm
	}
	for j, x := range w {
		dst[j] = int64(x * factor)
	}
	for squared(dst) > v.limit {
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

// positive returns the eigenvectors and eigenvalues of a released matrix, with 0 for negative ones:
// those of the nearest positive matrix.
func positive(z *mat.SymDense) (vectors *mat.Dense, values []float64) {
	var e mat.EigenSym
	if !e.Factorize(z, true) {
		panic("accuracy: a covariance has no eigenvalues")
	}
	vectors, values = new(mat.Dense), e.Values(nil)
	e.VectorsTo(vectors)
	for j, x := range values {
		values[j] = max(x, 0)
	}
	return vectors, values
}

// spectral returns vectors·diag(f(values))·vectorsᵀ.
func spectral(vectors *mat.Dense, values []float64, f func(float64) float64) *mat.Dense {
	var left, out mat.Dense
	left.Apply(func(_, j int, x float64) float64 { return x * f(values[j]) }, vectors)
	out.Mul(&left, vectors.T())
	return &out
}

// multiply writes a·x to dst.
func multiply(dst []float64, a *mat.Dense, x []float64) {
	for j := range dst {
		dst[j] = dot(a.RawRowView(j), x)
	}
}

// whitened returns the mean of [BDKU20] for an unknown covariance: the covariance at half of the
// loss, and the mean of A·x by refined clipping at the other half, mapped back.
func whitened(s *dataset.Set, c Conditions, tcov, t int, sigmaMax float64) (runner, error) {
	half := part(c.Rho, 0.5)
	v, err := newCovariance(s, c, half, tcov, sigmaMax)
	if err != nil {
		return nil, err
	}
	// refined is the mean of A·x where ‖A·x‖ and each of its coordinates are at most largest, on a
	// lattice within ±2^49 that is no finer than 2^-24 of a spread.
	refined := func(largest float64) (estimator.Estimator, estimator.Grid, error) {
		q := vector.Params{Dim: s.Dim, Method: vector.Coinpress, Rounds: t, Sigma: []float64{1}, Radius: largest}
		q.Grid = estimator.Grid{Step: math.Ldexp(1, -min(49-int(math.Ceil(math.Log2(largest))), 24)), Lo: -1 << 49, Hi: 1 << 49}
		q.MaxRows, q.Rho, q.Relation, q.Sized = 1, half, c.Relation, c.Relation == estimator.ReplaceOne
		e, err := vector.NewMean(q)
		return e, q.Grid, err
	}
	first, _, err := refined(1)
	if err != nil {
		return nil, err
	}
	v.needed = max(v.needed, float64(first.MinPersons()))
	return func(n noise.Noiser, sample dataset.Sample) Answer {
		rows := floats(sample.Block, s.Grid.Step)
		_, a, inverse, ok := v.release(n, rows)
		if !ok {
			return Answer{Refused: true}
		}
		root := math.Sqrt(float64(s.Dim))
		reach := float64(max(s.Grid.Hi, -s.Grid.Lo)) * s.Grid.Step * root
		if s.Radius > 0 {
			reach = min(reach, s.Radius+sigmaMax*root*8)
		}
		e, grid, err := refined(min(max(1, mat.Norm(a, 2)*reach), 1e100))
		if err != nil {
			panic(err) // the method was built
		}
		image := estimator.Chunk{Persons: len(rows), Dense: make([]int64, len(rows)*s.Dim)}
		y := make([]float64, s.Dim)
		for i, row := range rows {
			multiply(y, a, row)
			for j, x := range y {
				x = math.RoundToEven(x / grid.Step)
				image.Dense[i*s.Dim+j] = int64(min(max(x, float64(grid.Lo)), float64(grid.Hi)))
			}
		}
		mean := e.Release(n, estimator.Input{Persons: int64(len(rows)), Vectors: &estimator.Block{Dim: s.Dim, Chunks: []estimator.Chunk{image}}})
		if mean.Status != estimator.OK {
			return Answer{Refused: true}
		}
		multiply(y, inverse, mean.Values)
		return Answer{Values: y}
	}, nil
}
