package stattest

import (
	crand "crypto/rand"
	"encoding/binary"
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
)

// Alpha is the false-alarm rate of one assertion.
const Alpha = 1e-9

var seedFlag = flag.Uint64("stat.seed", 1, "seed of statistical tests; 0 picks one")

var pick = sync.OnceValue(func() uint64 {
	if *seedFlag != 0 {
		return *seedFlag
	}
	var b [8]byte
	crand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:]) | 1
})

// Seed returns the seed of this run and prints it when it was picked.
func Seed(t testing.TB) uint64 {
	t.Helper()
	if *seedFlag == 0 {
		t.Logf("stat.seed=%d", pick())
	}
	return pick()
}

// Source returns a stream of words for one use, named so that uses in one test differ.
func Source(t testing.TB, name string) *rand.ChaCha8 {
	t.Helper()
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], Seed(t))
	copy(key[8:], name)
	for i, c := range []byte(name) {
		key[8+i%24] ^= c * byte(i/24+1)
	}
	return rand.NewChaCha8(key)
}
