package vector

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/noise"
)

// squares releases the mean of the squares of every coordinate, in units of top², with the standard
// deviation of its noise, at loss rho: the vector (x_j²)_j of each person is clipped to a radius C
// that leaves out tailTarget persons.
//
// A square of 120 bits times a factor does not fit a word, so each is brought to a lattice that C
// decides:
//
//	y_j = ⌊x_j²·2^-k·min(1, C/N)·(1−2^-40)⌋, N ≥ ‖x²‖₂, C·2^-k ≤ 2^40
//
// in floats within one person, whose few roundings 2^-40 covers. Cutting toward 0 makes no
// coordinate greater, so ‖y‖₂ ≤ C·2^-k; and y ≥ 0, so that factor2 is that of vectors in one
// orthant. The sums of y are integers.
func (s sparse) squares(n noise.Noiser, r entries, count, rho float64) (mean, sigma []float64) {
	part := newBudget(rho)
	f2, top2 := block.Factor2(s.p.Relation, true), float64(r.top)*float64(r.top)
	target := firstpass.TailTarget(s.p.Dim, f2, rho)
	norms := squareNorms(r.Block)
	h := firstpass.NewHistogram(firstpass.NewOctaves(firstpass.RadiusPer, top2*math.Sqrt(float64(s.p.Dim))), firstpass.Delta2(s.p.Relation, false),
		part.take(firstpass.RadiusShare(rho, target, count, s.p.Relation)))
	radius := h.Radius(h.Release(n, norms), min(target, count/4))
	k := max(0, math.Ilogb(radius)-39)
	y := clippedSquares(r.Block, norms, radius, k)
	whole := estimator.Make[float64](r.Memory, len(norms)) // no y is clipped again
	mean, sigma = addNoise(n, block.ClipSumIn(y, 1, nil, whole, 1), nil, math.Ldexp(radius, -k), f2, part.rest())
	for j := range mean {
		mean[j] = math.Ldexp(mean[j]/(count*top2), k)
		sigma[j] = math.Ldexp(sigma[j]/(count*top2), k)
	}
	return mean, sigma
}

// squareNorms returns √(Σ_j x_j⁴) of every person, rounded up: four roundings a term, one for each
// addition.
func squareNorms(b *estimator.Block) []float64 {
	out := estimator.Make[float64](b.Memory, int(b.Persons()))[:0]
	for c := range b.Chunks {
		ch := &b.Chunks[c]
		for i := range ch.Persons {
			sum := 0.0
			for e := ch.Starts[i]; e < ch.Starts[i+1]; e++ {
				x := float64(ch.Values[e])
				x = float64(x * x)
				sum += float64(x * x)
			}
			slack := 1 + float64(ch.Starts[i+1]-ch.Starts[i]+16)*0x1p-50
			out = append(out, math.Sqrt(sum*slack))
		}
	}
	return out
}

// clippedSquares returns the block of y.
func clippedSquares(b *estimator.Block, norms []float64, radius float64, k int) *estimator.Block {
	out := &estimator.Block{Dim: b.Dim, Sparse: true, Chunks: make([]estimator.Chunk, len(b.Chunks)), Memory: b.Memory}
	at := 0
	for c := range b.Chunks {
		ch := &b.Chunks[c]
		y := estimator.Make[int64](b.Memory, len(ch.Values))
		for i := range ch.Persons {
			f := math.Ldexp(1-0x1p-40, -k)
			if norms[at] > radius {
				f *= radius / norms[at]
			}
			at++
			for e := ch.Starts[i]; e < ch.Starts[i+1]; e++ {
				x := float64(ch.Values[e])
				y[e] = int64(float64(float64(x*x) * f))
			}
		}
		out.Chunks[c] = estimator.Chunk{Persons: ch.Persons, Starts: ch.Starts, Index: ch.Index, Values: y}
	}
	return out
}
