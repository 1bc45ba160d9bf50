package groups

import (
	"math"
	"math/big"

	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/clipping"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// variance is that of the noise on a coordinate of weight w of a sum of vectors clipped to a radius
// C (block.ClipSum), at loss rho for the sum:
//
//	σ² = ⌈⌈f²·C²·2^(2·ClipBits)/w⌉/(2ρ)⌉
//
// One person moves the sum by Δ with Σ_j w_j·Δ_j² ≤ f²·C²·2^(2·ClipBits), so Σ_j Δ_j²/(2σ_j²) ≤ ρ
// [CKS20, Theorem 14]. C and w are finite and positive: the quotient is exact, and rounding is up.
func variance(radius, weight float64, factor2 int64, rho float64) *big.Int {
	c, w := new(big.Rat).SetFloat64(radius), new(big.Rat).SetFloat64(weight)
	c.Mul(c, c).Quo(c, w)
	num := new(big.Int).Mul(c.Num(), big.NewInt(factor2))
	num.Lsh(num, 2*block.ClipBits)
	q, m := num.QuoRem(num, c.Denom(), new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return scalar.Sigma2(q, 1, rho)
}

// released is a noisy sum, with the standard deviation of the noise of each coordinate, in units of
// the prepared entries, and what its clip takes.
type released struct {
	sums, sigma []float64
	losses      []clipping.Loss // nil where nothing is known of them
	whole       bool            // nothing is lost
	groups      float64
}

// release adds the noise to every coordinate, those of empty groups included. weights are those of
// the coordinates, of which many are equal.
func (r release) release(n noise.Noiser, sums []*big.Int, weights []float64, radius, rho float64) released {
	type width struct {
		variance *big.Int
		sigma    float64
	}
	widths := map[float64]width{}
	out := released{sums: make([]float64, len(sums)), sigma: make([]float64, len(sums)), groups: float64(r.p.Groups)}
	f := new(big.Float)
	for j, s := range sums {
		w, ok := widths[weights[j]]
		if !ok {
			v := variance(radius, weights[j], r.factor2, rho)
			w = width{v, math.Ldexp(scalar.Root(v), -block.ClipBits)}
			widths[weights[j]] = w
		}
		x, _ := f.SetInt(n.Gaussian(s, w.variance)).Float64()
		out.sums[j], out.sigma[j] = math.Ldexp(x, -block.ClipBits), w.sigma
	}
	return out
}
