package estimator_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator/noise"
)

// BenchmarkRelease sizes one release on a group of a million persons with one row each, beside the
// exact median by sorting and the exact mean of the same block.
func BenchmarkRelease(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	group := make([]person, 1e6)
	for i := range group {
		x := r.Int64N(1e6) - 2e5
		group[i] = person{rows: 1, sum: x, lo: x * x, median: x}
	}
	for _, v := range variants() {
		if v.p.MaxRows != 0 {
			continue
		}
		e := v.at(b, 0.05)
		in, n := input(e, group, 1), noise.Secure()
		b.Run(v.name, func(b *testing.B) {
			for b.Loop() {
				e.Release(n, in)
			}
		})
	}
	in := input(variants()[1].at(b, 1), group, 1)
	b.Run("exact mean", func(b *testing.B) {
		for b.Loop() {
			s := int64(0)
			for _, x := range in.Columns[1] {
				s += x
			}
			sink = s
		}
	})
	b.Run("exact median", func(b *testing.B) {
		for b.Loop() {
			x := slices.Clone(in.Columns[1])
			slices.Sort(x)
			sink = x[len(x)/2]
		}
	})
}

var sink int64
