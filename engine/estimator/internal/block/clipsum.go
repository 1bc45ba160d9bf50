package block

import (
	"math"
	"math/big"

	"scrim/engine/estimator"
)

// ClipBits is the resolution of a clip factor: sums of clipped vectors are integers in units of 2^-ClipBits.
const ClipBits = 24

// ClipSum returns Σ_i a_i·(x_i − c) for every coordinate, exactly, in units of 2^-ClipBits steps, where
//
//	a_i = 2^24                              if norms[i] ≤ radius
//	      ⌊2^24·(radius/norms[i])·(1−2^-40)⌋ otherwise, 0 where the norm is not finite
//
// With norms from Norms, which are never under the true ones, a_i/2^24·‖x_i − c‖_w ≤ radius exactly: the factor is
// one dyadic number a person, rounded down, and no coordinate is rounded. So one person more or less moves the sum
// by a vector of weighted norm at most radius·2^24, and one person exchanged by at most twice that.
func ClipSum(b *estimator.Block, centre []int64, norms []float64, radius float64) []*big.Int {
	sum := make([]*big.Int, b.Dim)
	for j := range sum {
		sum[j] = new(big.Int)
	}
	at := 0
	for _, ch := range b.Chunks {
		for i := range ch.Persons {
			a := big.NewInt(factor(norms[at], radius))
			at++
			for j, v := range ch.Dense[i*b.Dim : (i+1)*b.Dim] {
				if centre != nil {
					v -= centre[j]
				}
				d := big.NewInt(v)
				sum[j].Add(sum[j], d.Mul(d, a))
			}
		}
	}
	return sum
}

// factor returns the clip factor of a person in units of 2^-ClipBits.
func factor(norm, radius float64) int64 {
	switch {
	case norm <= radius:
		return 1 << ClipBits
	case math.IsInf(norm, 0) || norm != norm || !(radius > 0):
		return 0
	}
	return int64((1 << ClipBits) * (radius / norm) * (1 - 0x1p-40))
}
