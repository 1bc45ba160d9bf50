package vector

import (
	"errors"
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/noise"
)

// rotation is the shifted mean of vectors that are first rotated by a random public matrix [HLY21, section 3.3]: y = H·diag(ε)·x with
// random signs ε and the Hadamard matrix H of the next power of two d̄ ≥ d, on the integer grid (block.Rotate).
//
// Then every coordinate of x − μ is spread over all of them, which makes the bound on the centre's error hold for any data;
// [ALP24] Theorem 6.1 has the same bound without it, but for data with a few far-out coordinates a rotation helps.
// A rotation is a map of one person: the loss is that of the mean of rotated vectors, in dimension d̄. Norms grow by
// √d̄, so noise of standard deviation σ in each rotated coordinate is σ/√d̄ in each of the answer's. The signs need not be
// secret; they are drawn before anything is read.
type rotation struct {
	dense
	dim    int   // d
	bound  int64 // public bound on the absolute values, in units
	coarse uint  // bits that the rotation drops
}

var errRotate = errors.New("vector: only the shifted mean is rotated, with one scale for all coordinates")

func newRotation(d dense) rotation {
	r := rotation{dense: d, dim: d.p.Dim, bound: max(1, d.hi, -d.lo)}
	r.coarse = block.Coarse(r.dim, r.bound)
	r.p.Dim = block.Padded(r.dim)
	r.gain = math.Ldexp(math.Sqrt(float64(r.p.Dim)), -int(r.coarse))
	r.hi = int64(r.p.Dim) * ((r.bound-1)>>r.coarse + 1)
	r.lo, r.middle = -r.hi, 0
	return r
}

// release implements core.
func (r rotation) release(n noise.Noiser, g group, count float64) estimator.Estimate {
	signs := make([]bool, r.dim)
	for j := range signs {
		signs[j] = n.Uniform()>>63 == 1
	}
	turned := block.Rotate(g.Block, signs, r.bound)
	mean, sigma := r.mean(n, turned, count)
	block.Done(turned)
	mean = block.Unrotate(mean, r.dim, signs)
	square := 0.0
	for _, s := range sigma {
		square += float64(s * s)
	}
	each := math.Sqrt(square) / float64(r.p.Dim)
	sigma = sigma[:r.dim]
	for j := range mean {
		mean[j] = math.Ldexp(mean[j], int(r.coarse))
		sigma[j] = math.Ldexp(each, int(r.coarse))
	}
	return r.p.estimate(g, mean, sigma)
}
