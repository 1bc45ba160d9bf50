package mix

import (
	"fmt"
	"math/bits"
)

// Ring is the arithmetic of a shuffled sum of one number a contributor.
type Ring struct {
	// a contributor's value is an integer from 0 to Delta: the sensitivity of the sum to replacing
	// it
	Delta uint64
	Tail  uint64 // the noise of a batch is beyond ±Tail with probability below 1e-23
	Bits  int    // sums are taken mod 2^Bits
}

// MaxExpected bounds the expected contributors of a batch.
const MaxExpected = 1 << 40

// spareBits are bits of a ring beyond the window of possible sums: a sum that is off by a random
// number lands outside with probability 255/256.
const spareBits = 8

// RingOf returns the ring of a sum at ε = eps10k/10⁴ with discrete Laplace noise of ratio
// e^(−ε/Delta), for the batch b.
//
//	Delta = the least power of two that is at least 64 and 4ε√Expected   (rounding adds less than 0.8 % to the noise's variance)
//	Tail  = ⌈60·Delta/ε⌉
//	Bits  = ⌈log₂(Max·Delta + 2·Tail + 1)⌉ + 8
//
// in exact integers. Errors: ε outside [0.05, 8], more than MaxExpected contributors, fewer than
// MinHonest honest ones.
func RingOf(eps10k uint32, b Batch) (Ring, error) {
	switch {
	case eps10k < MinEps10k || eps10k > MaxEps10k:
		return Ring{}, fmt.Errorf("%w: want epsilon in [0.05, 8], have %g", ErrParameter, float64(eps10k)/1e4)
	case b.Honest < MinHonest:
		return Ring{}, fmt.Errorf("%w: want at least %d honest contributors, have %d", ErrParameter, MinHonest, b.Honest)
	case b.Expected > MaxExpected || b.Max > 2*MaxExpected:
		return Ring{}, fmt.Errorf("%w: want at most %d contributors, have %d", ErrParameter, uint64(MaxExpected), b.Expected)
	}
	e := uint64(eps10k)
	delta := uint64(64)
	for !fine(delta, e, b.Expected) {
		delta *= 2
	}
	tail := (600_000*delta + e - 1) / e
	r := Ring{Delta: delta, Tail: tail, Bits: bits.Len64(b.Max*delta+2*tail) + spareBits}
	if r.Bits > MaxBits {
		return Ring{}, fmt.Errorf("%w: sums need %d bits, at most %d are possible", ErrParameter, r.Bits, MaxBits)
	}
	return r, nil
}

// fine reports delta ≥ 4ε√n, as delta²·10⁸ ≥ 16·e²·n.
func fine(delta, e, n uint64) bool {
	leftHigh, left := bits.Mul64(delta*delta, 1e8)
	rightHigh, right := bits.Mul64(16*e*e, n)
	return leftHigh > rightHigh || leftHigh == rightHigh && left >= right
}
