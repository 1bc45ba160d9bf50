package block

import (
	"math"
	"math/big"
	"sync"

	"scrim/engine/estimator"
)

// ClipBits is the resolution of a clip factor: sums of clipped vectors are integers in units of
// 2^-ClipBits.
const ClipBits = 24

// ClipSum returns Σ_i a_i·(x_i − c) for every coordinate, exactly, in units of 2^-ClipBits steps,
// where
//
//	a_i = 2^24                              if norms[i] ≤ radius
//	      ⌊2^24·(radius/norms[i])·(1−2^-40)⌋ otherwise, 0 where the norm is not finite
//
// With norms from Norms, which are never under the true ones, a_i/2^24·‖x_i − c‖_w ≤ radius
// exactly: the factor is one dyadic number a person, rounded down, and no coordinate is rounded. So
// one person more or less moves the sum by a vector of weighted norm at most radius·2^24, and one
// person exchanged by at most twice that.
//
// It is formed as Σ a_i·x_i − c·Σ a_i in integers of 128 bits, which have room for 2^31 persons
// with any entries within ±2^62; so neither the order of persons nor the number of cores matters.
func ClipSum(b *estimator.Block, centre []int64, norms []float64, radius float64) []*big.Int {
	if b.Sparse {
		return ClipSumIn(b, 1, centre, norms, radius)
	}
	return clipSum(b, centre, norms, radius, nil)
}

// clipSum makes the sum from that of the block where it is known already.
func clipSum(b *estimator.Block, centre []int64, norms []float64, radius float64, known *sums) []*big.Int {
	rs := runs(b)
	var mu sync.Mutex
	total := newDenseSums(b.Dim)
	spread(len(rs), func(next func() (int, bool)) {
		own, plain := newDenseSums(b.Dim), make([]int64, b.Dim)
		for k, ok := next(); ok; k, ok = next() {
			x := rs[k].rows(b.Dim)
			summed := known != nil || own.addPlain(x, plain, summable)
			own.addClipped(x, norms[rs[k].at:], radius, summed)
		}
		mu.Lock()
		defer mu.Unlock()
		total.addSums(own)
	})
	if known != nil {
		total.addSums(known)
	}
	return total.minus(1, centre)
}

// factor returns the clip factor of a person in units of 2^-ClipBits. The three roundings of the
// quotient are less than the 2^-40 that it is shortened by.
func factor(norm, radius float64) int64 {
	switch {
	case !(norm <= math.MaxFloat64) || !(radius > 0):
		return 0
	case norm <= radius:
		return 1 << ClipBits
	}
	return int64((1 << ClipBits) * (radius / norm) * (1 - 0x1p-40))
}

func newDenseSums(dim int) *sums {
	s := newSums(dim)
	s.lo, s.hi = make([]uint64, dim), make([]int64, dim)
	return s
}

// addPlain adds the vectors of a run as they are, in 64 bits, and reports whether it did: not those
// with entries outside w. plain is room for one vector.
func (s *sums) addPlain(x, plain []int64, w within) bool {
	if !sumRun(plain, x, w) {
		return false
	}
	for j, v := range plain {
		s.addProduct(j, v, 1<<ClipBits)
	}
	return true
}

// addClipped adds the clipped vectors of a run; or, as few are clipped, corrects for those where
// all are added as they are.
func (s *sums) addClipped(x []int64, norms []float64, radius float64, summed bool) {
	dim := len(s.ones)
	for i := 0; len(x) > 0; i, x = i+1, x[dim:] {
		a := factor(norms[i], radius)
		s.factors += a
		switch {
		case !summed:
			for j, v := range x[:dim] {
				s.addProduct(j, v, a)
			}
		case a < 1<<ClipBits:
			for j, v := range x[:dim] {
				s.addProduct(j, -v, 1<<ClipBits-a)
			}
		}
	}
}

// sumBits bounds the entries of a run that is added up in 64 bits: within ±2^52, of which
// runPersons make at most 2^62.
const sumBits = 52

// within is a range of 2^bits integers from the least on, which a sum checks by the way.
type within struct {
	least int64
	bits  uint
}

// summable is the widest range that is added up in 64 bits.
var summable = within{-1 << sumBits, sumBits + 1}

// sumRun sets sum to the sum of the vectors in x, and reports whether all entries are within w,
// part of summable; only then it is right.
func sumRun(sum, x []int64, w within) bool {
	clear(sum)
	dim, seen := len(sum), uint64(0)
	for ; len(x) >= 4*dim; x = x[4*dim:] {
		seen |= sumFour(sum, x[:dim], x[dim:2*dim], x[2*dim:3*dim], x[3*dim:4*dim], w.least)
	}
	for ; len(x) > 0; x = x[dim:] {
		for j, v := range x[:dim] {
			seen |= uint64(v - w.least)
			sum[j] += v
		}
	}
	return seen>>w.bits == 0
}

// sumFour adds four vectors to sum. In the result bits from k on are 0 if all entries are in
// [least, least + 2^k).
func sumFour(sum, x, y, z, w []int64, least int64) uint64 {
	sum, y, z, w = sum[:len(x)], y[:len(x)], z[:len(x)], w[:len(x)]
	seen := uint64(0)
	for j, a := range x {
		b, c, d := y[j], z[j], w[j]
		seen |= uint64(a-least) | uint64(b-least) | uint64(c-least) | uint64(d-least)
		sum[j] += a + b + c + d
	}
	return seen
}

// Factor2 is the square of the factor by which one person moves a sum of vectors of weighted norm
// at most C, in units of C:
//
//	add-remove    1: one vector comes or goes
//	replace-one   4: one vector is exchanged for another; 2 if no coordinate of any vector is negative:
//	              ‖a−b‖² = ‖a‖² + ‖b‖² − 2⟨a,b⟩ ≤ 2C²
//
// One that comes or goes under replace-one, because it starts or stops to match, moves the sum by C
// at most.
func Factor2(r estimator.Relation, nonNegative bool) int64 {
	switch {
	case r != estimator.ReplaceOne:
		return 1
	case nonNegative:
		return 2
	}
	return 4
}
