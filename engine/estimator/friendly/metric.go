package friendly

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// metric is a weighted distance of two vectors, ‖x − y‖_w = √(Σ_j w_j·(x_j − y_j)²), with public or
// released weights, finite and > 0.
//
// Friends are those whose squared distance, formed in doubles by distance2, is at most limit2 =
// fl(λ²). (x_j − y_j)² is the same for both orders of the two and terms come in the order of the
// coordinates: it is a symmetric function of the two vectors, and of no other person's. It is off
// by less than (d+16)·2^-52 of itself, so the exact distance of friends is at most λ·(1+2^-30) for
// d ≤ 2^20.
type metric struct {
	weights []float64
	limit2  float64
}

// excess is by how much friends may be farther apart than λ, relatively.
const excess = 0x1p-30

func newMetric(weights []float64, lambda float64) *metric { return &metric{weights, lambda * lambda} }

// points are the persons of a block as the metric sees them. Beside the vectors x there are z_j =
// √w_j·(x_j − c_j) in doubles, for a common c near to most, in two parts: the head has the
// coordinates of least weight, which have most of a distance where weights are the inverse of
// spreads.
type points struct {
	*metric
	rows       [][]int64
	head, rest part
}

// part is some coordinates of all z.
type part struct {
	z     [][]float64 // nil where there is no room for it
	norms []float64
}

// headSize is the number of coordinates in the head.
const headSize = 128

// most64 is the number of doubles beyond which z is kept for the head alone: 1 GiB.
const most64 = 1 << 27

func (m *metric) points(b *estimator.Block) *points {
	n, r := int(b.Persons()), firstpass.NewReader(b)
	p := &points{metric: m, rows: make([][]int64, n)}
	for i := range p.rows {
		p.rows[i] = r.Vector(i)
	}
	order, c, scale := make([]int, b.Dim), middle(p.rows), make([]float64, b.Dim)
	for j := range order {
		order[j], scale[j] = j, math.Sqrt(m.weights[j])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.weights[a], m.weights[b]) })
	cut := min(headSize, b.Dim)
	p.head, p.rest = p.part(order[:cut], c, scale, true), p.part(order[cut:], c, scale, n*b.Dim <= most64)
	return p
}

// part makes a part of the given coordinates.
func (p *points) part(order []int, c []int64, scale []float64, keep bool) part {
	n := len(p.rows)
	out := part{norms: make([]float64, n)}
	if keep {
		out.z = make([][]float64, n)
	}
	slices.Sort(order)
	each(n, func(i int) {
		z := make([]float64, len(order))
		for k, j := range order {
			z[k] = scale[j] * float64(p.rows[i][j]-c[j])
		}
		out.norms[i] = math.Sqrt(f64(z, z))
		if keep {
			out.z[i] = z
		}
	})
	return out
}

// f64 is the inner product.
func f64(x, y []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(x), Data: x, Inc: 1}, blas64.Vector{N: len(y), Data: y, Inc: 1})
}

// middle returns a vector that is likely near to most of them: the medians of a few. It decides how
// fast the friends are found, not who they are.
func middle(rows [][]int64) []int64 {
	few := [][]int64{}
	for i := 0; i < len(rows); i += len(rows)/15 + 1 {
		few = append(few, rows[i])
	}
	if len(few) == 0 {
		return nil
	}
	c, column := make([]int64, len(few[0])), make([]int64, len(few))
	for j := range c {
		for i := range few {
			column[i] = few[i][j]
		}
		slices.Sort(column)
		c[j] = column[len(column)/2]
	}
	return c
}

// friends says whether the squared distance of persons i and k is at most limit2.
//
// Most pairs are told apart sooner. With h and t the norms of the two parts of z, the exact squared
// distance is within (a.t − b.t)² and (a.t + b.t)² of the head's a.h² + b.h² − 2⟨a,b⟩, and the
// rest's is found like the head's. All these are off by less than 2^-30 of h² + t² of both persons,
// added up, for d ≤ 2^20; so is distance2. Where limit2 is outside by a margin of 2^-27 of that,
// distance2 is on the same side of it. So the answer does not depend on c, which depends on other
// persons.
func (p *points) friends(i, k int) bool {
	a, b := p.head.norms[i], p.head.norms[k]
	s, t := p.rest.norms[i], p.rest.norms[k]
	whole := a*a + b*b + s*s + t*t
	room, q := p.limit2, a*a+b*b-2*f64(p.head.z[i], p.head.z[k])
	margin := whole * nearly
	switch {
	case q+(s+t)*(s+t)+margin <= room:
		return true
	case q+(s-t)*(s-t)-margin > room && whole <= math.MaxFloat64:
		return false
	}
	if p.rest.z != nil {
		switch q += s*s + t*t - 2*f64(p.rest.z[i], p.rest.z[k]); {
		case q+margin <= room:
			return true
		case q-margin > room && whole <= math.MaxFloat64:
			return false
		}
	}
	return distance2(p.limit2, p.rows[i], p.rows[k], p.weights) <= p.limit2
}

// nearly is the margin, far more than the error of sums.
const nearly = 0x1p-27

// distance2 returns Σ_j w_j(x_j − y_j)², or any number above limit as soon as the sum so far is
// above it: terms are not negative, so partial sums never fall, and then the whole is above it,
// too.
func distance2(limit float64, x, y []int64, w []float64) float64 {
	from := 0.0
	for len(x) > piece {
		if from = block.Distance2(from, x[:piece], y, w); from > limit {
			return from
		}
		x, y, w = x[piece:], y[piece:], w[piece:]
	}
	return block.Distance2(from, x, y, w)
}

// piece is the number of terms between two comparisons.
const piece = 64

// average releases the mean of the kept persons at loss rho, where one person moves it by a vector
// of weighted norm at most reach·λ(1+2^-30) before rounding (Core, metric).
//
// Each coordinate is rounded once to a lattice of its own, of step h_j = 2^e_j ≤
// fine·λ/(κ√(d·w_j)), a function of released numbers. So the rounded means move by a vector of
// weighted norm at most
//
//	Δ = reach·λ(1+2^-30) + √(Σ_j w_j·h_j²) ≤ reach·λ(1+2^-30) + fine·λ/κ
//
// as each of two roundings is off by half a step at most. With σ_j² = ⌈Δ²/(2ρ·w_j·h_j²)⌉ in lattice
// units the loss Σ_j Δ_j²/(2h_j²σ_j²) is at most ρ [CKS20, Theorem 14]. Δ² is computed in doubles
// and made larger by far more than their error.
type average struct {
	rho     float64
	weights []float64
	lambda  float64
	reach   float64 // Kept.Reach
	atLeast float64 // κ
}

// fine is the rounding's part in the sensitivity: a thousandth or less.
const fine = 0x1p-10

// release returns the noisy mean and the standard deviations of its noise, in units of the block; 0
// and the noise if nobody is kept.
func (a average) release(n noise.Noiser, b *estimator.Block, members []bool) (mean, sigma []float64) {
	kept := block.Sample(b, members)
	count := kept.Persons()
	sums := block.ClipSum(kept, nil, make([]float64, count), 1)
	delta := a.lambda * (a.reach*(1+excess) + fine/a.atLeast) * (1 + 0x1p-40)
	mean, sigma = make([]float64, b.Dim), make([]float64, b.Dim)
	for j, s := range sums {
		e := a.exponent(j)
		h := math.Ldexp(1, e)
		d := delta / h
		variance := ceil(d * d / (2 * a.rho * a.weights[j]) * (1 + 0x1p-40))
		mean[j] = math.Ldexp(scalar.Float(n.Gaussian(round(s, count, block.ClipBits+e), variance)), e)
		sigma[j] = h * math.Sqrt(scalar.Float(variance))
	}
	return mean, sigma
}

// exponent returns e_j. λ is from 1 to 2^100 and weights from 1 to 2^60, so it is a small number.
func (a average) exponent(j int) int {
	h := fine * a.lambda / (a.atLeast * math.Sqrt(float64(len(a.weights))*a.weights[j]))
	_, e := math.Frexp(h)
	return e - 1
}

// round returns sum/(count·2^shift) rounded to the nearest whole number, halves up; 0 for no
// persons.
func round(sum *big.Int, count int64, shift int) *big.Int {
	if count == 0 {
		return new(big.Int)
	}
	num, den := new(big.Int).Lsh(sum, 1), big.NewInt(2*count)
	if shift >= 0 {
		den.Lsh(den, uint(shift))
	} else {
		num.Lsh(num, uint(-shift))
	}
	num.Add(num, new(big.Int).Rsh(den, 1))
	return num.Div(num, den) // Euclidean: rounds down for den > 0
}

// ceil returns the least whole number at least x, and at least 1, for a finite x.
func ceil(x float64) *big.Int {
	v, _ := new(big.Float).SetFloat64(math.Ceil(max(x, 1))).Int(nil)
	return v
}

// tail returns a whole number a >= 1 with P[X ≥ a] ≤ beta for X from N_Z(0, σ²), and so P[X ≤ −a] ≤
// beta: a = 1 + ⌈z·σ⌉ with z the upper normal point of beta, 1e-100 ≤ beta ≤ 1/2.
//
// The sum of e^{−x²/2σ²} over whole x ≥ a is at most its integral from a − 1 on, as it falls; and
// over all whole x it is at least √(2πσ²), by Poisson's summation formula. So P[X ≥ a] ≤ P[N(0,σ²)
// ≥ a−1] ([CKS20, Proposition 25] has the same bound). z is rounded up by far more than the error
// of math.Erfc.
func tail(sigma, beta float64) int64 {
	return 1 + int64(math.Ceil(min(normalPoint(beta)*sigma, 1<<61)))
}

// normalPoint returns z, rounded up, with P[N(0,1) ≥ z] ≤ beta, by halving. (math.Erfcinv loses all
// digits of a small beta.)
func normalPoint(beta float64) float64 {
	lo, hi := 0.0, 40.0
	for range 60 {
		if mid := (lo + hi) / 2; math.Erfc(mid/math.Sqrt2)/2 > beta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi * (1 + 1e-9)
}
