package friendly

import (
	"math"
	"math/big"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

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
