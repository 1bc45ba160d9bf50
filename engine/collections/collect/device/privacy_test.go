package device

import (
	"math/big"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
)

// numbers and vectors are values whose codes are as different as they can be, bad input included.
var (
	numbers = []collect.Value{nil, {nan}, {inf}, {-inf}, {-2}, {0}, {3.999}, {4}, {7}, {12.5}, {16}, {31}, {1e300}, {1, 2}}
	vectors = []collect.Value{nil, {1}, {nan, 0, 0}, {0, 0, 0}, {1e308, -1e308, 1e308}, {-3, 1, 2}, {9, 0, 0}, {0, -9, 0}, {5, 5, 5}, {inf, 0, 0}}
)

func valuesOf(p *collect.Params) []collect.Value {
	if p.Declaration.Dimension > 0 {
		return vectors
	}
	return numbers
}

// TestReportsAreWithinEpsilon enumerates the law of every cell's report for many values, by
// following every word that the device reads: the ratio of any two laws is at most e^ε, and nearly
// that for some. Unary encoding and noise, which read too many words, have tests of their own.
func TestReportsAreWithinEpsilon(t *testing.T) {
	rounds(t, collect.Local, func(t *testing.T, p *collect.Params) {
		enumerated := 0
		largest := new(big.Rat)
		for i, c := range p.Cells {
			if c.Randomiser == collect.OUE || c.Randomiser == collect.DLAP || c.Randomiser == collect.DGAUSS {
				continue
			}
			if last := i == len(p.Cells)-1 || kind(p.Cells[i+1]) != kind(c); enumerated > 0 && !last {
				continue // between the first and the last of a kind only levels differ
			}
			enumerated++
			if w := worst(t, lawsOf(t, p, c)); w.Cmp(largest) > 0 {
				largest = w
			}
		}
		if enumerated == 0 {
			// unary and noisy integers have too many outputs: package exact enumerates their parts
			return
		}
		eps := p.Declaration.Epsilon
		if largest.Cmp(exponential(eps)) > 0 {
			t.Errorf("ratio %s is more than e^%v", largest.FloatString(20), eps)
		}
		if slack := new(big.Rat).Mul(exponential(eps), big.NewRat(1e9-1, 1e9)); largest.Cmp(slack) < 0 {
			t.Errorf("ratio %s is far below e^%v: the values do not reach all codes", largest.FloatString(20), eps)
		}
		if largest.Cmp(exponential(eps-1)) <= 0 {
			t.Error("a report of a larger epsilon than declared would not be noticed")
		}
	})
}

func lawsOf(t *testing.T, p *collect.Params, c collect.Cell) []law {
	t.Helper()
	var first []uint64
	// a seed: independent of the value, as it is read first and as it stands
	if c.Randomiser == collect.Sphere {
		first = []uint64{1234, 5678}
	}
	seen := map[uint64]bool{}
	var laws []law
	on := New(p)
	for _, v := range valuesOf(p) {
		if c.Randomiser != collect.Sphere {
			if k := on.code(c, v); seen[k] {
				continue
			} else {
				seen[k] = true
			}
		}
		laws = append(laws, lawOf(t, first, func(r *exact.Rand) string {
			b, err := on.Report(r, c.Cell, v)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}))
	}
	return laws
}

// TestWeakerParametersAreRefused checks that the device computes the integers of randomisers
// itself.
func TestWeakerParametersAreRefused(t *testing.T) {
	rounds(t, collect.Local, func(t *testing.T, p *collect.Params) {
		for i, c := range p.Cells {
			if c.Randomiser == collect.DLAP || c.Randomiser == collect.DGAUSS {
				continue // no integer is published; scales come from the declaration
			}
			for _, keep := range []uint64{0, c.Keep - 1, c.Keep + 1, 1 << 62} {
				q := p.Clone()
				q.Cells[i].Keep = keep
				if b, err := Report(exact.Secure(), q, c.Cell, nil); err == nil {
					t.Errorf("cell %d with %d instead of %d reports %x", i, keep, c.Keep, b)
				}
			}
		}
	})
}
