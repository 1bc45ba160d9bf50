package noise

import (
	crand "crypto/rand"
	"math/rand/v2"
)

// Bits is a source of independent uniform 64-bit words.
type Bits interface{ Uint64() uint64 }

// New returns a Noiser that draws from bits. It is not safe for concurrent use.
func New(bits Bits) Noiser { return newSampler(bits) }

// Secure returns a Noiser on a ChaCha8 stream with a fresh key from the operating system. It is not
// safe for concurrent use: give each goroutine its own.
func Secure() Noiser {
	var key [32]byte
	crand.Read(key[:]) // never fails: it ends the program instead
	return New(rand.NewChaCha8(key))
}
