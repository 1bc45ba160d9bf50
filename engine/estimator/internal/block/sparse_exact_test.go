package block

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// TestExactLessIsTheClipSum: the sum as it is less what is taken from those beyond the radius is
// the sum of clipped vectors, for entries of any size.
func TestExactLessIsTheClipSum(t *testing.T) {
	r := rand.New(stattest.Source(t, "exact"))
	for range 60 {
		sparse, _ := randomSparse(r, 1+r.IntN(9), r.IntN(3) == 0, 1)
		norms := NormsIn(sparse, 1, nil, nil)
		radius := []float64{1, 100, 0x1p30, 0x1p60}[r.IntN(4)]
		for i := range norms {
			if r.IntN(10) == 0 {
				norms[i] = math.Inf(1)
			}
		}
		whole, less := NewExact(sparse.Dim), NewExact(sparse.Dim)
		EachPerson(sparse, func() (func(int, Person), func()) {
			own, short := NewExact(sparse.Dim), NewExact(sparse.Dim)
			return func(i int, p Person) {
					index, values := p.Entries()
					for e, j := range index {
						v := int64(1)
						if values != nil {
							v = values[e]
						}
						own.AddAt(int(j), []int64{v})
						short.AddTimes(int(j), v, Shortening(norms[i], radius))
					}
				}, func() {
					whole.AddAll(own)
					less.AddAll(short)
				}
		})
		for j, want := range ClipSumIn(sparse, 1, nil, norms, radius) {
			if got := whole.Less(less)[j]; got.Cmp(want) != 0 {
				t.Fatalf("coordinate %d: got %v, want %v", j, got, want)
			}
		}
	}
}

// TestExactHoldsWhatItSays: entries of ±2^62, times 2^24, 2^31 of them by doubling.
func TestExactHoldsWhatItSays(t *testing.T) {
	for _, v := range []int64{1 << 62, -1 << 62, -1, 1} {
		s, none := NewExact(1), NewExact(1)
		s.AddTimes(0, v, 1<<ClipBits)
		for range 31 {
			s.AddAll(s)
		}
		want := new(big.Int).Lsh(big.NewInt(v), ClipBits+31)
		if got := none.Less(s)[0]; got.Neg(got).Cmp(want) != 0 {
			t.Errorf("%d: got %v, want %v", v, got, want)
		}
	}
}

// TestSampleInKeepsPersons: those of the kept, in order, in chunks with and without values.
func TestSampleInKeepsPersons(t *testing.T) {
	b := &estimator.Block{Dim: 4, Sparse: true, Chunks: []estimator.Chunk{
		{Persons: 3, Starts: []int{0, 2, 2, 3}, Index: []int32{0, 3, 1}, Values: []int64{5, 6, 7}},
		{Starts: []int{0}},
		{Persons: 2, Starts: []int{0, 1, 3}, Index: []int32{2, 0, 1}},
	}}
	for kept := range 1 << 5 {
		keep := make([]bool, 5)
		for i := range keep {
			keep[i] = kept>>i&1 == 1
		}
		out, at := SampleIn(b, keep), 0
		next := func() ([]int32, []int64) {
			for i := at; ; i++ {
				if keep[i] {
					at = i + 1
					c, k := 0, i
					if i >= 3 {
						c, k = 2, i-3
					}
					return entries(&b.Chunks[c], k)
				}
			}
		}
		for c := range out.Chunks {
			for i := range out.Chunks[c].Persons {
				index, values := entries(&out.Chunks[c], i)
				wantIndex, wantValues := next()
				if len(index) != len(wantIndex) || len(values) != len(wantValues) {
					t.Fatalf("kept %v: got %v %v, want %v %v", keep, index, values, wantIndex, wantValues)
				}
				for e := range index {
					if index[e] != wantIndex[e] || values != nil && values[e] != wantValues[e] {
						t.Fatalf("kept %v: got %v %v, want %v %v", keep, index, values, wantIndex, wantValues)
					}
				}
			}
		}
		n := 0
		for _, k := range keep {
			if k {
				n++
			}
		}
		if out.Persons() != int64(n) || out.Dim != 4 || !out.Sparse {
			t.Errorf("kept %v: %+v", keep, out)
		}
	}
}
