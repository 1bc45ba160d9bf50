package person

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/test/stattest"
)

// TestBucketsCoverTheRange: every number is in the bucket that its neighbours say, the ends count
// for what is beyond them, and middles are in their own bucket and within the range.
func TestBucketsCoverTheRange(t *testing.T) {
	for _, c := range []struct {
		lo, hi, width int64
		count         uint64
	}{{-10, 10, 5, 5}, {0, 0, 7, 1}, {-7, -1, 3, 3}, {5, 9, 100, 1}, {-farEnd, farEnd, 1, 1<<62 + 1}, {-farEnd, farEnd, farEnd, 3}} {
		b := newBuckets(c.lo, c.hi, c.width)
		if b.count != c.count {
			t.Errorf("%+v: %d buckets", c, b.count)
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			x := c.lo
			if c.hi > c.lo {
				x += r.Int64N(c.hi - c.lo + 1)
			}
			k := b.of(x)
			start := (b.first + int64(k)) * b.width
			if k >= b.count || x < start || x-start >= b.width {
				t.Errorf("%+v: %d is in bucket %d", c, x, k)
			}
			if m := b.middle(k); m < c.lo || m > c.hi || b.of(m) != k {
				t.Errorf("%+v: bucket %d has the middle %d", c, k, m)
			}
		}
		if b.of(math.MinInt64) != 0 || b.of(math.MaxInt64) != b.count-1 {
			t.Errorf("%+v: beyond the ends are the buckets %d and %d", c, b.of(math.MinInt64), b.of(math.MaxInt64))
		}
	}
}

// TestRangeEstimator finds the mean within 2r in all of 200 runs with the persons that it is
// planned for, on the widest range, pure or not; with a twentieth of them it does not.
func TestRangeEstimator(t *testing.T) {
	r := rand.New(stattest.Source(t, "range"))
	for _, pure := range []bool{false, true} {
		v := variant{"range", Params{Params: variants()[0].p.Params}}
		m := v.at(t, 2, 0.5, pure, estimator.ReplaceOne, true)
		s := m.shapeOf(1000, 10)
		found := func(count int, loss float64) int {
			ok := 0
			for range 100 {
				b := blockOf(2, count, nil, func(_, j int) int64 { return int64(1e9*float64(1+j) + 1000*r.NormFloat64()) })
				c := m.newCoarse(s, loss).release(stattest.Noiser(t, "range"), b)
				if math.Abs(float64(c[0])-1e9) <= 2*s.width() && math.Abs(float64(c[1])-2e9) <= 2*s.width() {
					ok++
				}
			}
			return ok
		}
		const count = 300
		loss := m.coarseNeed(count, m.bucketsOf(s))
		if ok := found(count, loss); ok < 95 {
			t.Errorf("pure=%v: with %d persons at the planned loss of %v, %d of 100", pure, count, loss, ok)
		}
		if ok := found(count/20, loss); ok > 50 {
			t.Errorf("pure=%v: with %d persons at a loss of %v, %d of 100", pure, count/20, loss, ok)
		}
	}
}

// TestStabilityHistogram: without bounds on the range the bucket is found, and no bucket of few
// persons is ever taken. A bucket that one person alone is in passes with probability δ' at most,
// as the threshold is so many standard deviations away.
func TestStabilityHistogram(t *testing.T) {
	const rho, delta = 0.1, 1e-6
	p := Params{Dim: 2, Delta: delta, Params: estimator.Params{Rho: rho, Grid: grid}}
	e, err := NewMean(p)
	m := must(t, e, err).(mean)
	if l := m.Loss(); l.DeltaEvent != delta || l.DeltaTV != 0 {
		t.Errorf("loss %+v", l)
	}
	s := newStability(m.p, 0.02)
	sigma := scalar.Root(s.sigma2.Big())
	if tail := math.Erfc(float64(s.threshold-1)/sigma/math.Sqrt2) / 2; tail > delta/2 || tail < delta/10 || sigma < math.Sqrt(1/(2*0.01)) {
		t.Errorf("σ = %v, threshold %d: a person alone passes with probability %g", sigma, s.threshold, tail)
	}
	few := slices.Repeat([]uint64{3, 9}, 5)
	slices.Sort(few)
	if k, ok := s.choose(stattest.Zero{}, nil, few); ok {
		t.Errorf("bucket %d of five persons was taken, the threshold is %d", k, s.threshold)
	}
	many := append(few, slices.Repeat([]uint64{1 << 61}, int(s.threshold)+1)...)
	if k, ok := s.choose(stattest.Zero{}, nil, many); !ok || k != 1<<61 {
		t.Errorf("bucket %d, %v", k, ok)
	}
	b := blockOf(2, 4000, nil, func(i, j int) int64 { return int64(1<<40*(1-2*j) + i%50) })
	a := m.Release(stattest.Noiser(t, "stability"), estimator.Input{Vectors: b})
	for j, v := range a.Values {
		if want := (float64(int64(1)<<40)*float64(1-2*j) + 24.5) * grid.Step; math.Abs(v-want) > 20*grid.Step+6*a.StdErr[j] {
			t.Errorf("coordinate %d is %v, want %v", j, v, want)
		}
	}
}

// TestOnePersonAloneChangesAStabilityHistogram enumerates neighbours of up to four persons on two
// buckets: counts that both have differ by one person, and a bucket that only one of them has holds
// one person.
func TestOnePersonAloneChangesAStabilityHistogram(t *testing.T) {
	e, err := NewMean(Params{Dim: 1, Delta: 1e-6, Params: estimator.Params{Rho: 0.1, Grid: grid, Relation: estimator.ReplaceOne}})
	s := newStability(must(t, e, err).(mean).p, 0.02)
	for a := range 5 {
		for b := range 5 {
			if a == 0 {
				continue
			}
			x := append(slices.Repeat([]uint64{1}, a), slices.Repeat([]uint64{2}, b)...)
			y := append(slices.Repeat([]uint64{1}, a-1), slices.Repeat([]uint64{2}, b+1)...)
			one, two := counts(s, x), counts(s, y)
			loss := new(big.Rat)
			for bucket, c := range one {
				d, ok := two[bucket]
				if !ok && c != 1 {
					t.Errorf("%d and %d persons: bucket %d has %d persons on one side alone", a, b, bucket, c)
				}
				if ok {
					loss.Add(loss, new(big.Rat).SetFrac(big.NewInt((c-d)*(c-d)), new(big.Int).Lsh(s.sigma2.Big(), 1)))
				}
			}
			if loss.Cmp(new(big.Rat).SetFloat64(0.02)) > 0 {
				t.Errorf("%d and %d persons: loss %v", a, b, loss)
			}
		}
	}
}

// counts are the queries of a choice by bucket.
func counts(s stability, sorted []uint64) map[uint64]int64 {
	rec := &stattest.Recorder{Answer: func(_ int, v, _ *big.Int) *big.Int { return v }}
	s.choose(rec, nil, sorted)
	out := map[uint64]int64{}
	for i, k := range slices.Compact(slices.Clone(sorted)) {
		out[k] = rec.Queries[i].Value.Int64()
	}
	return out
}
