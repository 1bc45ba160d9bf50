package vector

import (
	"cmp"
	"math"
	"math/big"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/mat"

	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/fork"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

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
