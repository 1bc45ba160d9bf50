package vector

import (
	"errors"
	"math"

	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/noise"
)

// rotation searches the centre of a shifted mean in vectors that are first rotated by a random
// public matrix [HLY21, section 3.3]: y = H·diag(ε)·x with random signs ε and the Hadamard matrix H
// of the next power of two d̄ ≥ d, on the integer grid (block.Rotate).
//
// Then every coordinate of x − μ is spread over all of them, which makes the bound on the centre's
// error hold for any data; [ALP24] Theorem 6.1 has the same bound without it, but for data with a
// few far-out coordinates a rotation helps.
//
// A rotation is a map of one person: the loss of the search is that of a search in d̄ dimensions.
// The signs need not be secret; they are drawn without a look at the data. The paper clips and adds
// noise to rotated vectors too, and turns the answer back. Here the centre is turned back, and the
// rest is done with the vectors as they are: H/√d̄ is orthogonal, so norms, radius and clip factors
// are the same but for rounding, and spherical noise has the same law in either space.
type rotation struct {
	// of rotated vectors, in units of which there are √d̄·2^-coarse in a unit of d: that is how
	// norms grow
	d      dense
	dim    int   // d
	lo, hi int64 // public range of a coordinate, in units
	middle int64 // public middle of it
	bound  int64 // on its absolute value
	coarse uint  // bits that the rotation drops
}

var errRotate = errors.New("vector: only the shifted mean is rotated, with one scale for all coordinates")

func newRotation(d dense) *rotation {
	r := &rotation{d: d, dim: d.p.Dim, lo: d.lo, hi: d.hi, middle: d.middle, bound: max(1, d.hi, -d.lo)}
	r.coarse = block.Coarse(r.dim, r.bound)
	r.d.p.Dim = block.Padded(r.dim)
	r.d.gain = math.Ldexp(math.Sqrt(float64(r.d.p.Dim)), -int(r.coarse))
	r.d.hi = int64(r.d.p.Dim) * ((r.bound-1)>>r.coarse + 1)
	r.d.lo, r.d.middle = -r.d.hi, 0
	return r
}

// choose is dense.choose. ratio is that of the distances from the middle and from the mean.
func (r *rotation) choose(n noise.Noiser, some sample, s spread, ratio float64, left *budget) (centre []int64, fixed bool) {
	signs := make([]bool, r.dim)
	for j := range signs {
		signs[j] = n.Uniform()>>63 == 1
	}
	turned := block.Rotate(some.Block, signs, r.bound)
	defer block.Done(turned)
	c := r.d.centring(some.count, s.norm*r.d.gain, r.d.reach(n, sample{turned, some.count}, left), false)
	if ratio*ratio < c.cost {
		return same(r.middle, r.dim), true
	}
	return r.back(r.d.centre(n, turned, c, left), signs), false
}

// back turns a centre back, into the public range.
func (r *rotation) back(centre []int64, signs []bool) []int64 {
	y := make([]float64, len(centre))
	for j, v := range centre {
		y[j] = float64(v)
	}
	x := make([]int64, r.dim)
	for j, v := range block.Unrotate(y, r.dim, signs) {
		x[j] = int64(math.Round(min(max(math.Ldexp(v, int(r.coarse)), float64(r.lo)), float64(r.hi))))
	}
	return x
}
