package shuffler

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/seal"
	"scrim/test/stattest"
)

// numberedBag has n messages that hold their number.
func numberedBag(n int) []byte {
	b := make([]byte, n*seal.SealedSize)
	for i := range n {
		binary.BigEndian.PutUint32(b[i*seal.SealedSize:], uint32(i))
	}
	return b
}

func numbersOf(bag []byte) (out []int) {
	for ; len(bag) > 0; bag = bag[seal.SealedSize:] {
		out = append(out, int(binary.BigEndian.Uint32(bag)))
	}
	return out
}

// permuter makes a permuted copy of a bag.
type permuter func(t testing.TB, random *exact.Rand, bag []byte) []byte

// scattered permutes with so much memory: less than the bag needs makes piles.
func scattered(memory int64) permuter {
	return func(t testing.TB, random *exact.Rand, bag []byte) []byte {
		s, err := newScatter(random, os.TempDir(), int64(len(bag)), memory)
		must(t, err)
		defer s.close()
		must(t, s.add(bag))
		var out bytes.Buffer
		must(t, s.writeTo(&out))
		return out.Bytes()
	}
}

// careless swaps every message with any other, which favours some orders: 4^4 ways make 24.
func careless(_ testing.TB, random *exact.Rand, bag []byte) []byte {
	out := bytes.Clone(bag)
	n := len(bag) / seal.SealedSize
	for i := range n {
		j := int(random.Uniform(uint64(n)))
		a, b := out[i*seal.SealedSize:][:seal.SealedSize], bytes.Clone(out[j*seal.SealedSize:][:seal.SealedSize])
		copy(out[j*seal.SealedSize:], a)
		copy(a, b)
	}
	return out
}

// orders counts which of the 24 orders of four messages come out.
func orders(t testing.TB, name string, permute permuter, draws int) stattest.Fit {
	random := exact.New(stattest.Source(t, name))
	ranks := map[string]int{}
	for a := range 4 {
		for b := range 4 {
			for c := range 4 {
				if d := 6 - a - b - c; a != b && b != c && a != c {
					ranks[fmt.Sprint([]int{a, b, c, d})] = len(ranks)
				}
			}
		}
	}
	counts, probabilities := make([]int64, 24), make([]float64, 24)
	bag := numberedBag(4)
	for range draws {
		rank, ok := ranks[fmt.Sprint(numbersOf(permute(t, random, bag)))]
		if !ok {
			t.Fatal("messages were lost")
		}
		counts[rank]++
	}
	for i := range probabilities {
		probabilities[i] = 1.0 / 24
	}
	return stattest.ChiSquare(name, counts, probabilities)
}

func TestAllOrdersAreEquallyLikely(t *testing.T) {
	stattest.Accept(t, orders(t, "in memory", scattered(1<<20), 40_000))
	stattest.Accept(t, orders(t, "in piles", scattered(2*int64(seal.SealedSize)), 5_000))
	stattest.Reject(t, orders(t, "careless", careless, 40_000))
}

// TestPlacesOfMessages checks, of a bag of many messages, where one of each tenth ends up.
func TestPlacesOfMessages(t *testing.T) {
	for name, permute := range map[string]permuter{"memory": scattered(1 << 20), "piles": scattered(1000)} {
		random := exact.New(stattest.Source(t, name))
		bag := numberedBag(100)
		counts, probabilities := make([]int64, 100), make([]float64, 100)
		for range 300 {
			for at, i := range numbersOf(permute(t, random, bag)) {
				counts[i/10*10+at/10]++
			}
		}
		for i := range probabilities {
			probabilities[i] = 0.01
		}
		stattest.Accept(t, stattest.ChiSquare(name, counts, probabilities))
	}
}
