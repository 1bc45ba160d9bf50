package exact

import (
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"math/bits"

	"scrim/engine/estimator/noise"
)

// ErrRange says that a draw is beyond 64 bits. Nothing must be sent then.
var ErrRange = errors.New("exact: draw is beyond 64 bits")

// maxSteps is how many steps a loop takes before it gives up on the source.
const maxSteps = 1 << 40

// one62 is 2^62, what the integers of randomisers are over.
const one62 = uint64(1) << 62

// Rand draws from exact laws with the words of one source.
type Rand struct {
	bits  noise.Bits
	noise noise.Noiser
	limit uint64 // maxSteps, or less in tests

	pool uint64 // its lowest left bits are coins that were not tossed
	left int
}

// New returns a Rand on the words of a source. It panics if there is none.
func New(source noise.Bits) *Rand {
	if source == nil {
		panic("exact: no source of randomness")
	}
	return &Rand{bits: source, noise: noise.New(source), limit: maxSteps}
}

// Secure returns a Rand on the operating system's generator.
func Secure() *Rand { return New(new(system)) }

// system reads crypto/rand by blocks. A word is erased when it is given out.
type system struct {
	block [512]byte
	left  int // bytes at the block's end that were not given out
}

// Uint64 implements noise.Bits.
func (s *system) Uint64() uint64 {
	if s.left == 0 {
		crand.Read(s.block[:]) // never fails: it ends the program instead
		s.left = len(s.block)
	}
	word := s.block[len(s.block)-s.left:][:8]
	x := binary.LittleEndian.Uint64(word)
	clear(word)
	s.left -= 8
	return x
}

// step counts the steps of a loop and panics beyond the limit.
func (r *Rand) step(n *uint64) {
	if *n++; *n > r.limit {
		panic("exact: the source of randomness repeats itself")
	}
}

// Uint64 returns 64 uniform bits.
func (r *Rand) Uint64() uint64 { return r.bits.Uint64() }

// Coin is true with probability 1/2.
func (r *Rand) Coin() bool {
	r.fill()
	toss := r.pool&1 == 1
	r.take(1)
	return toss
}

// waits counts tails before the first head: P[k] = 2^-(k+1).
func (r *Rand) waits() uint64 {
	k := uint64(0)
	for n := uint64(0); ; r.step(&n) {
		r.fill()
		if zeros := bits.TrailingZeros64(r.pool); zeros < r.left {
			r.take(zeros + 1)
			return k + uint64(zeros)
		}
		k += uint64(r.left)
		r.left = 0
	}
}

// fill draws a word of coins if there are none.
func (r *Rand) fill() {
	if r.left == 0 {
		r.pool, r.left = r.bits.Uint64(), 64
	}
}

// take removes n <= left coins.
func (r *Rand) take(n int) {
	r.pool >>= n
	r.left -= n
}

// Uniform returns a uniform integer in [0, k). It panics if k = 0.
//
// The high word of a product of k with a uniform word is uniform once the words whose low part is
// under 2^64 mod k are drawn anew: ⌊2^64/k⌋ words remain for each result.
func (r *Rand) Uniform(k uint64) uint64 {
	if k == 0 {
		panic("exact: uniform of nothing")
	}
	hi, lo := bits.Mul64(r.bits.Uint64(), k)
	if lo < k {
		n := uint64(0)
		for least := -k % k; lo < least; r.step(&n) {
			hi, lo = bits.Mul64(r.bits.Uint64(), k)
		}
	}
	return hi
}

// Permute puts n things into a uniformly random order (Fisher and Yates).
func (r *Rand) Permute(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, int(r.Uniform(uint64(i+1))))
	}
}

// Bernoulli is true with probability min(1, a/b). It panics if b = 0.
func (r *Rand) Bernoulli(a, b uint64) bool {
	if b == 0 {
		panic("exact: probability over 0")
	}
	return a >= b || r.Uniform(b) < a
}

// Bernoulli62 is true with probability k/2^62. It panics if k > 2^62.
func (r *Rand) Bernoulli62(k uint64) bool {
	if k > one62 {
		panic("exact: probability beyond 1")
	}
	return r.bits.Uint64()>>2 < k
}

// sixtyFour returns 64 independent bits, each 1 with probability k/2^62, k < 2^62.
//
// Each bit stands for a uniform integer of 62 bits that is compared with k from its highest bit
// down: the first place where they differ decides, and one word holds this place for all that are
// still open. Half of them close at each place, so some eight words are drawn.
func (r *Rand) sixtyFour(k uint64) uint64 {
	ones, open := uint64(0), ^uint64(0)
	for place := 61; place >= 0 && open != 0; place-- {
		word := r.bits.Uint64()
		if k>>place&1 == 1 {
			ones |= open &^ word // a 0 under k's 1: less
			open &= word
		} else {
			open &^= word // a 1 over k's 0: more
		}
	}
	return ones
}
