package block

import (
	"math"

	"scrim/engine/estimator"
)

// Norms returns, for each person in the order of the chunks, an upper bound on the weighted distance from a
// centre,
//
//	‖x − c‖_w = √(Σ_j w_j·(x_j − c_j)²)
//
// that is at most 1 + (Dim+16)·2^-50 times it. centre may be nil for 0, weights nil for 1; weights are
// positive and finite. It is a function of one person at a time: coordinates are added in index order.
// What is not finite comes out as +Inf.
func Norms(b *estimator.Block, centre []int64, weights []float64) []float64 {
	out := make([]float64, 0, b.Persons())
	slack := 1 + float64(b.Dim+16)*0x1p-50
	for _, ch := range b.Chunks {
		for i := range ch.Persons {
			x, q := ch.Dense[i*b.Dim:(i+1)*b.Dim], 0.0
			for j, v := range x {
				if centre != nil {
					v -= centre[j]
				}
				d, w := float64(v), 1.0
				if weights != nil {
					w = weights[j]
				}
				q += float64(w * float64(d*d))
			}
			if q = math.Sqrt(q * slack); q != q {
				q = math.Inf(1)
			}
			out = append(out, q)
		}
	}
	return out
}
