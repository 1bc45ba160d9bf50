package block

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"scrim/engine/estimator"
)

// Totals are the exact sums of a block's coordinates, for a ClipSum that need not read the block
// again but for the persons that it clips. nil stands for sums that are not known. They are no
// released numbers.
type Totals struct{ sums *sums }

// Measure is Norms, with the Totals from the same reading of the block. They are nil for a sparse
// block, and where entries are outside ±2^52.
func Measure(b *estimator.Block, centre []int64, weights []float64) ([]float64, *Totals) {
	if b.Sparse {
		return Norms(b, centre, weights), nil
	}
	m, t := newMeasure(b, centre, weights), &Totals{newDenseSums(b.Dim)}
	norms, rs := estimator.Make[float64](b.Memory, int(b.Persons())), runs(b)
	var large atomic.Bool
	var mu sync.Mutex
	spread(len(rs), func(next func() (int, bool)) {
		own, plain := newDenseSums(b.Dim), make([]int64, b.Dim)
		for k, ok := next(); ok; k, ok = next() {
			m.run(norms, rs[k])
			if !own.addPlain(rs[k].rows(b.Dim), plain, summable) {
				large.Store(true)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		t.sums.addSums(own)
	})
	if large.Load() {
		return norms, nil
	}
	return norms, t
}

// Total returns the Totals of a dense block, in one reading, and whether all its entries are from
// lo to hi. The Totals are nil where entries are outside that, or ±2^52.
func Total(b *estimator.Block, lo, hi int64) (t *Totals, inRange bool) {
	t = &Totals{newDenseSums(b.Dim)}
	rs, w := runs(b), inside(lo, hi)
	var large, beyond atomic.Bool
	var mu sync.Mutex
	spread(len(rs), func(next func() (int, bool)) {
		own, plain := newDenseSums(b.Dim), make([]int64, b.Dim)
		for k, ok := next(); ok; k, ok = next() {
			x := rs[k].rows(b.Dim)
			if len(x) == 0 || own.addPlain(x, plain, w) {
				continue
			}
			switch least, most := slices.Min(x), slices.Max(x); {
			case least < lo || most > hi:
				beyond.Store(true)
			case !own.addPlain(x, plain, summable):
				large.Store(true)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		t.sums.addSums(own)
	})
	if large.Load() || beyond.Load() {
		t = nil
	}
	return t, !beyond.Load()
}

// inside returns a range of a power of two of integers that is within lo to hi and summable; one
// that no entry is in if there is none.
func inside(lo, hi int64) within {
	lo, hi = max(lo, summable.least), min(hi, -summable.least-1)
	if hi < lo {
		return within{least: math.MinInt64}
	}
	return within{lo, uint(bits.Len64(uint64(hi-lo+1)) - 1)}
}

// ClipSum is the function ClipSum, for the block that the totals are of.
func (t *Totals) ClipSum(b *estimator.Block, centre []int64, norms []float64, radius float64) []*big.Int {
	if t == nil {
		return ClipSum(b, centre, norms, radius)
	}
	return clipSum(b, centre, norms, radius, t.sums)
}
