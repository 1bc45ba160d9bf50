package stattest

import (
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// Alpha is the false-alarm rate of one assertion.
const Alpha = 1e-9

var seedFlag = flag.Uint64("stat.seed", 1, "seed of statistical tests; 0 picks one")

var whole = flag.Bool("stat.whole", false, "repeat statistical and soundness tests as often as CI does beside the tests")

// Runs says how often something is repeated: some times, which is enough for the false-alarm rate
// and for a broken variant to be noticed, or more often with -stat.whole, as
// .ci/checks/statistics.sh does.
func Runs(some, often int) int {
	if *whole {
		return often
	}
	return some
}

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
	return rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%d %s", Seed(t), name)))
}
