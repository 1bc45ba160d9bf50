package mix

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"scrim/engine/collections/collect/internal/strict"
)

// Limits of the claim and of this package. MaxBits leaves room for sums of signed windows in an
// int64; MaxShares is beyond what any accepted parameters need for a useful δ.
const (
	MinHonest = 64
	MinShares = 4
	MaxShares = 64
	MaxBits   = 62
	MinEps10k = 500   // ε = 0.05
	MaxEps10k = 80000 // ε = 8
)

// ErrParameter is wrapped by every error of this package: a public parameter is out of range.
var ErrParameter = errors.New("mix: parameter out of range")

// slack is on the private side and covers every rounding here, each of which is below 1e-12,
// relative.
const slack = 1.01

// Shares returns the least number m of shares, at least MinShares, for which splitting and mixing
// coords numbers of Z_q, q = 2^bits, among h honest contributors costs at most deltaMix beside the
// (ε, δ) of the noisy sums themselves:
//
//	coords·(1 + e^ε)·1.01·Eta(h, bits, m) ≤ deltaMix
//
// eps10k is ε in ten-thousandths. The result is the same on every machine. Errors: ε outside [0.05,
// 8], deltaMix outside (0, 1), h < 64, bits outside [1, 62], coords < 1, or no m up to MaxShares
// will do. Neighbours replace one value. Source: the package documentation.
func Shares(eps10k uint32, deltaMix float64, h uint64, bits, coords int) (int, error) {
	if err := check(eps10k, deltaMix, h, bits, coords); err != nil {
		return 0, err
	}
	for m := MinShares; m <= MaxShares; m++ {
		if Slack(eps10k, h, bits, m, coords) <= deltaMix {
			return m, nil
		}
	}
	return 0, fmt.Errorf("%w: more than %d shares needed for delta %g among %d honest contributors", ErrParameter, MaxShares, deltaMix, h)
}

func check(eps10k uint32, deltaMix float64, h uint64, bits, coords int) error {
	switch {
	case eps10k < MinEps10k || eps10k > MaxEps10k:
		return fmt.Errorf("%w: want epsilon in [0.05, 8], have %g", ErrParameter, float64(eps10k)/1e4)
	case !(deltaMix > 0 && deltaMix < 1):
		return fmt.Errorf("%w: want delta in (0, 1), have %g", ErrParameter, deltaMix)
	case h < MinHonest:
		return fmt.Errorf("%w: want at least %d honest contributors, have %d", ErrParameter, MinHonest, h)
	case bits < 1 || bits > MaxBits:
		return fmt.Errorf("%w: want sums of 1 to %d bits, have %d", ErrParameter, MaxBits, bits)
	case coords < 1:
		return fmt.Errorf("%w: want at least one coordinate, have %d", ErrParameter, coords)
	}
	return nil
}

// Slack returns the δ that mixing with m shares costs, coords·(1 + e^ε)·1.01·Eta(h, bits, m), +Inf
// where Eta has no bound.
func Slack(eps10k uint32, h uint64, bits, m, coords int) float64 {
	both := 1 + strict.Exp(float64(eps10k)/1e4)
	return float64(float64(float64(float64(coords)*both)*slack) * Eta(h, bits, m))
}

// Eta returns the bound √B of the total variation between the bags of any two honest inputs with
// equal sums, for h honest contributors, q = 2^bits and m shares; +Inf where the claim does not
// hold (h < 64, m < 4, bits outside [1, 62]) or is void. Source: the package documentation.
func Eta(h uint64, bits, m int) float64 {
	if h < MinHonest || m < MinShares || bits < 1 || bits > MaxBits {
		return math.Inf(1)
	}
	n, s := float64(h), float64(m-2)
	lnQ, lnH, lnHalf := float64(float64(bits)*math.Ln2), strict.Log(n), strict.Log(n/2)
	single := float64(strict.Exp(lnQ-float64(s*lnH)) * larger(lnHalf, s, strict.Log(2/(n-1))))
	lnX := lnQ + float64(s*(1-lnH)) + strict.Log(larger(lnHalf, s, 1-lnHalf))
	if lnX > 6.5 { // x > 665: the bound is void long before
		return math.Inf(1)
	}
	return math.Sqrt(single + strict.Rest(strict.Exp(lnX)))
}

// larger returns 1 + (h/2)·e^(s·l): one term of one row, and fewer than h/2 of larger sets, each
// e^(s·l) of it.
func larger(lnHalf, s, l float64) float64 { return 1 + strict.Exp(lnHalf+float64(s*l)) }

// Batch is how many contributors a batch of a shuffled collection needs and may have.
type Batch struct {
	Expected uint64 // contributors planned for
	Min      uint64 // fewer than these: the batch is destroyed unseen
	// that follow the protocol and keep their secrets, whichever Min or more report; noise is sized
	// for them
	Honest uint64
	Max    uint64 // reached: the batch closes and another begins
}

// Margin returns the sizes of a batch with n expected contributors: a fifth of them may stay away,
// and a tenth of the least number may be dishonest.
//
//	Min = n − ⌊n/5⌋,  Honest = Min − ⌊Min/10⌋,  Max = 2·Honest
//
// All in integers: rounding 0.9·Min in floats may come out one too high, and then the noise is
// short. n is at most 2^62.
func Margin(n uint64) Batch {
	least := n - n/5
	honest := least - least/10
	return Batch{Expected: n, Min: least, Honest: honest, Max: 2 * honest}
}

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
