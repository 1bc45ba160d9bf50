package clipping

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"
)

// keep has the fits that a test keeps; nil in a server.
var keep *keeper

// KeepFits makes the process keep its last n fits of counts, and take one of them where all that a
// fit depends on is equal. It is for tests, whose neighbours are released with the same noisy
// counts, and is called before they run: a server never has the same counts twice.
func KeepFits(n int) { keep = &keeper{last: make([]keptSide, n)} }

type keeper struct {
	mu   sync.Mutex
	last []keptSide
	next int
}

type keptSide struct {
	key string
	side
	ok bool
}

// newSide fits the library to counts; ok is false where nothing stands out.
func newSide(counts []float64, c Counts) (s side, ok bool) {
	if keep == nil {
		return fitSide(counts, c)
	}
	return keep.side(counts, c)
}

func (k *keeper) side(counts []float64, c Counts) (s side, ok bool) {
	key := keyOf(counts, c)
	k.mu.Lock()
	at := slices.IndexFunc(k.last, func(s keptSide) bool { return s.key == key })
	if at >= 0 {
		s, ok = k.last[at].side, k.last[at].ok
	}
	k.mu.Unlock()
	if at >= 0 {
		return s, ok
	}
	s, ok = fitSide(slices.Clone(counts), c)
	k.mu.Lock()
	k.last[k.next] = keptSide{key, s, ok}
	k.next = (k.next + 1) % len(k.last)
	k.mu.Unlock()
	return s, ok
}

// keyOf holds all that a fit of counts depends on.
func keyOf(counts []float64, c Counts) string {
	var key []byte
	for _, x := range append([]float64{c.sigma, c.tail, float64(c.groups)}, counts...) {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(x))
	}
	for _, is := range []bool{c.real, c.about, c.squares} {
		if key = append(key, 0); is {
			key[len(key)-1] = 1
		}
	}
	return string(key)
}
