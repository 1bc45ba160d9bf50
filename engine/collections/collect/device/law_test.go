package device

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"scrim/engine/collections/collect/exact"
)

// law gives the probability of every output of a draw.
type law map[string]*big.Rat

// tape gives out its words, and then those of a fixed stream.
type tape struct {
	words []uint64
	then  uint64
	used  int
}

func (t *tape) Uint64() uint64 {
	t.used++
	if t.used <= len(t.words) {
		return t.words[t.used-1]
	}
	t.then += 0x9e3779b97f4a7c15 // a Weyl sequence through a mixer
	z := t.then
	z = (z ^ z>>31) * 0xd6e8feb86659fd93
	z = (z ^ z>>29) * 0xa0761d6478bd642f
	return z ^ z>>32
}

// lawOf returns the law of a draw after the given words, by following every range of the next word
// over which the draw goes on alike. It needs few such ranges, each with one of 16 equidistant
// words or the first. Words that uniform draws reject are followed twice; what is left then, less
// than 2^-100, is left out.
func lawOf(t *testing.T, first []uint64, draw func(*exact.Rand) string) law {
	t.Helper()
	all := law{}
	follow(t, first, len(first)+4, big.NewRat(1, 1), draw, all)
	return all
}

func follow(t *testing.T, words []uint64, most int, p *big.Rat, draw func(*exact.Rand) string, all law) {
	t.Helper()
	source := &tape{words: words}
	output := draw(exact.New(source))
	if source.used <= len(words) {
		if all[output] == nil {
			all[output] = new(big.Rat)
		}
		all[output].Add(all[output], p)
		return
	}
	if len(words) == most {
		if p.Cmp(tiny) > 0 {
			t.Fatal("the draw takes more words than expected")
		}
		return
	}
	// outputs after this word, and words used, over some streams
	alike := func(word uint64) string {
		all := ""
		for then := range uint64(3) {
			source := &tape{words: append(slices.Clone(words), word), then: then}
			all += draw(exact.New(source))
			all += string(rune(source.used))
		}
		return all
	}
	for lo := uint64(0); ; {
		hi := lastAlike(lo, alike)
		width := new(big.Int).SetUint64(hi - lo)
		share := new(big.Rat).SetFrac(width.Add(width, big.NewInt(1)), new(big.Int).Lsh(big.NewInt(1), 64))
		follow(t, append(slices.Clone(words), lo), most, share.Mul(share, p), draw, all)
		if hi == math.MaxUint64 {
			return
		}
		lo = hi + 1
	}
}

// lastAlike returns the last word of the range, beginning at lo, over which alike does not change.
func lastAlike(lo uint64, alike func(uint64) string) uint64 {
	const stride = 1 << 60
	want := alike(lo)
	for at := lo; ; {
		next := at/stride*stride + stride
		if next < at { // beyond the last word
			next = math.MaxUint64
		}
		if alike(next) != want {
			return lastBefore(at, next, want, alike)
		}
		if at = next; at == math.MaxUint64 {
			return at
		}
	}
}

// lastBefore bisects: alike(lo) is want, alike(hi) is not.
func lastBefore(lo, hi uint64, want string, alike func(uint64) string) uint64 {
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; alike(mid) == want {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// tiny is 2^-100.
var tiny = new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 100))

// worst returns the largest ratio of the probabilities of an output under two laws. All must add up
// to 1, but for what is tiny, and have the same outputs.
func worst(t *testing.T, laws []law) *big.Rat {
	t.Helper()
	largest := new(big.Rat)
	for _, x := range laws {
		total := new(big.Rat)
		for output, p := range x {
			total.Add(total, p)
			for _, y := range laws {
				if y[output] == nil {
					t.Fatalf("output %x is possible under some values only", output)
				}
				if q := new(big.Rat).Quo(p, y[output]); q.Cmp(largest) > 0 {
					largest = q
				}
			}
		}
		if lost := total.Sub(big.NewRat(1, 1), total); lost.Sign() < 0 || lost.Cmp(tiny) > 0 {
			t.Fatalf("probabilities add up to 1 less %v", lost)
		}
	}
	return largest
}

// exponential returns a lower bound of e^ε that is less than 1e-30 off for ε up to 8.
func exponential(eps exact.Epsilon) *big.Rat {
	sum, term := big.NewRat(1, 1), big.NewRat(1, 1)
	for i := int64(1); i <= 80; i++ {
		term.Mul(term, big.NewRat(int64(eps), 10_000)).Quo(term, big.NewRat(i, 1))
		sum.Add(sum, term)
	}
	return sum
}
