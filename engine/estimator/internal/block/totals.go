package block

import (
	"math/big"
	"sync"
	"sync/atomic"

	"scrim/engine/estimator"
)

// Totals are the exact sums of a block's coordinates, for a ClipSum that need not read the block again but for the
// persons that it clips. nil stands for sums that are not known. They are no released numbers.
type Totals struct{ sums *sums }

// Measure is Norms, with the Totals from the same reading of the block. They are nil for a sparse block, and where entries
// are outside ±2^52.
func Measure(b *estimator.Block, centre []int64, weights []float64) ([]float64, *Totals) {
	if b.Sparse {
		return Norms(b, centre, weights), nil
	}
	m, t := newMeasure(b, centre, weights), &Totals{newDenseSums(b.Dim)}
	norms, rs := make([]float64, b.Persons()), runs(b)
	var large atomic.Bool
	var mu sync.Mutex
	spread(len(rs), func(next func() (int, bool)) {
		own, plain := newDenseSums(b.Dim), make([]int64, b.Dim)
		for k, ok := next(); ok; k, ok = next() {
			m.run(norms, rs[k])
			if !own.addPlain(rs[k].rows(b.Dim), plain) {
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

// ClipSum is the function ClipSum, for the block that the totals are of.
func (t *Totals) ClipSum(b *estimator.Block, centre []int64, norms []float64, radius float64) []*big.Int {
	if t == nil {
		return ClipSum(b, centre, norms, radius)
	}
	return clipSum(b, centre, norms, radius, t.sums)
}
