package exact

import (
	"math"
	"math/big"
	"slices"
	"testing"
)

// A law gives the probability of every output.
type law map[string]*big.Rat

func (l law) add(output string, p *big.Rat) {
	if l[output] == nil {
		l[output] = new(big.Rat)
	}
	l[output].Add(l[output], p)
}

// tape gives out its words and then those of more; used counts them.
type tape struct {
	words []uint64
	more  interface{ Uint64() uint64 }
	used  int
}

func (t *tape) Uint64() uint64 {
	t.used++
	if t.used <= len(t.words) {
		return t.words[t.used-1]
	}
	return t.more.Uint64()
}

// counter is SplitMix64: a fixed stream that no library change moves.
type counter struct{ x uint64 }

func (c *counter) Uint64() uint64 {
	c.x += 0x9e3779b97f4a7c15
	z := c.x
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// enumerate returns the exact law of a draw that reads a fixed number of words, each of which
// matters by a few thresholds only: the places where the behaviour changes are found by bisection
// over all 2^64 words. It is the law of the code, not of its formula.
func enumerate(t *testing.T, draw func(*Rand) string) law {
	t.Helper()
	all := law{}
	enumerateFrom(t, draw, nil, big.NewRat(1, 1), all)
	return all
}

func enumerateFrom(t *testing.T, draw func(*Rand) string, prefix []uint64, p *big.Rat, all law) {
	source := &tape{words: prefix, more: &counter{}}
	output := draw(New(source))
	switch {
	case source.used == len(prefix):
		all.add(output, p)
		return
	case len(prefix) == 4:
		t.Fatal("the draw reads more than four words")
	}
	behaviour := func(word uint64) string { // what follows a word, over some continuations
		s := ""
		for start := range uint64(8) {
			source := &tape{words: append(slices.Clone(prefix), word), more: &counter{start}}
			s += draw(New(source)) + "/"
		}
		return s
	}
	for _, piece := range pieces(behaviour) {
		width := new(big.Int).SetUint64(piece[1] - piece[0])
		share := new(big.Rat).SetFrac(width.Add(width, big.NewInt(1)), new(big.Int).Lsh(big.NewInt(1), 64))
		enumerateFrom(t, draw, append(slices.Clone(prefix), piece[0]), share.Mul(share, p), all)
	}
}

// pieces splits all words into ranges of one behaviour. Each must hold one of 64 equidistant words
// or an end.
func pieces(behaviour func(uint64) string) [][2]uint64 {
	grid := []uint64{0}
	for i := uint64(1); i < 64; i++ {
		grid = append(grid, i<<58)
	}
	grid = append(grid, math.MaxUint64)
	found := [][2]uint64{{0, 0}}
	for _, x := range grid[1:] {
		last := &found[len(found)-1]
		if behaviour(x) == behaviour(last[1]) {
			last[1] = x
			continue
		}
		lo, hi := last[1], x // the behaviour changes in (lo, hi]
		for hi-lo > 1 {
			if mid := lo + (hi-lo)/2; behaviour(mid) == behaviour(lo) {
				lo = mid
			} else {
				hi = mid
			}
		}
		last[1] = lo
		found = append(found, [2]uint64{hi, x})
	}
	return found
}

// exponential returns rationals lo < e^ε < hi, 10^-60 apart or nearer.
func exponential(eps Epsilon) (lo, hi *big.Rat) {
	lo, term := big.NewRat(1, 1), big.NewRat(1, 1)
	for i := int64(1); i <= 100; i++ {
		term.Mul(term, eps.Rat()).Quo(term, big.NewRat(i, 1))
		lo.Add(lo, term)
	}
	// the terms halve from 16 on, and the 100th is below 10^-67
	return lo, new(big.Rat).Add(lo, term)
}

// ratio returns the largest ratio of the probabilities of one output under two of the laws. Outputs
// that are not possible under all of them fail the test.
func ratio(t *testing.T, laws []law) *big.Rat {
	t.Helper()
	largest := new(big.Rat)
	for _, x := range laws {
		total := new(big.Rat)
		for output, p := range x {
			total.Add(total, p)
			for _, y := range laws {
				q := y[output]
				if q == nil || q.Sign() == 0 {
					t.Fatalf("output %s is not possible under every input", output)
				}
				if quotient := new(big.Rat).Quo(p, q); quotient.Cmp(largest) > 0 {
					largest = quotient
				}
			}
		}
		if total.Cmp(big.NewRat(1, 1)) != 0 {
			t.Fatalf("the probabilities add up to %v", total)
		}
	}
	return largest
}

// checkTight fails unless e^ε(1 − 10^-9) < ratio <= e^ε.
func checkTight(t *testing.T, name string, eps Epsilon, got *big.Rat) {
	t.Helper()
	lo, hi := exponential(eps)
	if got.Cmp(lo) > 0 {
		t.Errorf("%s: ratio %s at epsilon %v, more than e^epsilon", name, got.FloatString(25), eps)
	}
	if hi.Mul(hi, big.NewRat(1e9-1, 1e9)); got.Cmp(hi) <= 0 {
		t.Errorf("%s: ratio %s at epsilon %v is far under e^epsilon", name, got.FloatString(25), eps)
	}
}

// checkBroken fails unless ratio > e^ε.
func checkBroken(t *testing.T, name string, eps Epsilon, got *big.Rat) {
	t.Helper()
	if _, hi := exponential(eps); got.Cmp(hi) <= 0 {
		t.Errorf("%s: a broken variant has ratio %s at epsilon %v", name, got.FloatString(25), eps)
	}
}

var epsilons = []Epsilon{500, 5000, 10_000, 20_000, 33_333, 80_000}
