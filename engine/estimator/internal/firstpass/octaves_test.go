package firstpass

import (
	"math"
	"math/big"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// scales records the scales of Laplace noise, and adds none.
type scales struct {
	stattest.Zero
	seen []*big.Rat
}

func (s *scales) Laplace(v, num, den *big.Int) *big.Int {
	s.seen = append(s.seen, new(big.Rat).SetFrac(num, den))
	return new(big.Int).Set(v)
}

// TestPureHistogramsSpendEpsilon: with the scale that every bucket gets, the counts that one
// person, or one group, changes cost ε, exactly.
func TestPureHistogramsSpendEpsilon(t *testing.T) {
	const eps = 0.1
	for _, moved := range []int64{Delta2(estimator.AddRemove, false), Delta2(estimator.ReplaceOne, false), Delta2(estimator.AddRemove, true)} {
		rec, h := new(scales), NewPureHistogram(NewOctaves(2, 1000), moved, eps)
		counts := h.Release(rec, []float64{0, 3, 3, 500, math.Inf(1)})
		if len(rec.seen) != h.Buckets || counts[0] != 1 || counts[h.Bucket(3)] != 2 || counts[h.Buckets-1] != 1 {
			t.Errorf("%d draws, counts %v", len(rec.seen), counts)
		}
		for _, scale := range rec.seen {
			cost := new(big.Rat).Quo(new(big.Rat).SetInt64(moved), scale)
			if cost.Cmp(new(big.Rat).SetFloat64(eps)) != 0 {
				t.Errorf("%d counts moved by one at scale %v cost %v", moved, scale, cost)
			}
		}
	}
}

// TestEmptyBucketsRarelyStandOut: noise alone passes BulkZ deviations less than once in 10^5,
// Gaussian or Laplace; 2 deviations it passes often.
func TestEmptyBucketsRarelyStandOut(t *testing.T) {
	o := NewOctaves(64, 1e60)
	for name, h := range map[string]Histogram{"gaussian": NewHistogram(o, 1, 0.001), "laplace": NewPureHistogram(o, 1, 0.02)} {
		n, far, near := stattest.Noiser(t, name), 0, 0
		for range 4 {
			for _, c := range h.Release(n, nil) {
				if c >= BulkZ*h.Sigma {
					far++
				}
				if c >= h.Sigma {
					near++
				}
			}
		}
		if far > 2 || near < 4*h.Buckets/100 {
			t.Errorf("%s: %d and %d of %d empty buckets stand out", name, far, near, 4*h.Buckets)
		}
	}
}

var _ noise.Noiser = (*scales)(nil)
