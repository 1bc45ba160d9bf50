package block

import (
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

func randomSigns(r *rand.Rand, dim int) []bool {
	s := make([]bool, dim)
	for j := range s {
		s[j] = r.IntN(2) == 0
	}
	return s
}

// slowRotate multiplies by the matrix: its entry (i, j) is −1 where i and j share an odd number of
// bits.
func slowRotate(x []int64, signs []bool) []int64 {
	y := make([]int64, Padded(len(x)))
	for i := range y {
		for j, v := range x {
			if (bits.OnesCount(uint(i&j))%2 == 1) != signs[j] {
				v = -v
			}
			y[i] += v
		}
	}
	return y
}

func TestRotateIsTheMatrixProduct(t *testing.T) {
	r := rand.New(stattest.Source(t, "rotate"))
	for _, dim := range []int{1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 32, 33, 64, 100, 128, 1000} {
		b := dense(r, dim, 3, randomRows(r, 6, dim, 50))
		signs := randomSigns(r, dim)
		before := fmt.Sprint(all(b))
		// leaves its numbers in the room that is used again
		Done(Rotate(b, randomSigns(r, dim), estimator.MaxUnits))
		got := Rotate(b, signs, estimator.MaxUnits)
		if got.Dim != Padded(dim) || fmt.Sprint(all(b)) != before {
			t.Fatalf("dimension %d of %d, or the block was written in", got.Dim, dim)
		}
		for i, x := range all(b) {
			y := all(got)[i]
			if !slices.Equal(y, slowRotate(x, signs)) {
				t.Fatalf("dim %d: %v became %v", dim, x, y)
			}
			want := new(big.Rat).Mul(rowNorm2(x, nil, nil), big.NewRat(int64(got.Dim), 1))
			if rowNorm2(y, nil, nil).Cmp(want) != 0 {
				t.Fatalf("dim %d: the norm of %v is not kept", dim, x)
			}
		}
	}
}

func TestUnrotateUndoesRotate(t *testing.T) {
	r := rand.New(stattest.Source(t, "unrotate"))
	for _, dim := range []int{1, 3, 8, 100, 1000} {
		b := dense(r, dim, 3, randomRows(r, 4, dim, 30))
		signs := randomSigns(r, dim)
		turned := all(Rotate(b, signs, estimator.MaxUnits))
		for i, x := range all(b) {
			y := make([]float64, len(turned[i]))
			for j, v := range turned[i] {
				y[j] = float64(v)
			}
			for j, v := range Unrotate(y, dim, signs) {
				if v != float64(x[j]) {
					t.Fatalf("dim %d: coordinate %d is %v, was %d", dim, j, v, x[j])
				}
			}
		}
	}
}

// TestRotationHasRoom checks the public bound at its edge, with the worst vectors: all entries at
// ±bound, all signs alike.
func TestRotationHasRoom(t *testing.T) {
	for _, c := range []struct {
		dim    int
		bound  int64
		coarse uint
	}{
		{1, estimator.MaxUnits, 0}, {2048, estimator.MaxUnits, 0}, {2049, estimator.MaxUnits, 1}, {1 << 20, estimator.MaxUnits, 9},
		{128, estimator.MaxUnits << 10, 6}, {1, 1 << 61, 0}, {1, 1<<61 + 1, 1}, {2, 1<<63 - 1, 3}, {2, 1<<60 - 1, 0}, {3, 1, 0},
	} {
		if got := Coarse(c.dim, c.bound); got != c.coarse {
			t.Errorf("Coarse(%d, %d) = %d, want %d", c.dim, c.bound, got, c.coarse)
		}
		if c.dim > 4096 {
			continue
		}
		for _, v := range []int64{c.bound, -c.bound, 1<<63 - 1, -1 << 63} {
			b := &estimator.Block{Dim: c.dim, Chunks: []estimator.Chunk{{Persons: 1, Dense: rowOfOnes(c.dim, v)}}}
			got, sum := Rotate(b, make([]bool, c.dim), c.bound).Chunks[0].Dense[0], new(big.Int)
			sum.Mul(big.NewInt(min(max(v, -c.bound), c.bound)), big.NewInt(int64(c.dim)))
			off := sum.Sub(sum, new(big.Int).Lsh(big.NewInt(got), c.coarse))
			if max(got, -got) > 1<<61 || off.CmpAbs(new(big.Int).Lsh(big.NewInt(int64(c.dim)), max(c.coarse, 1)-1)) > 0 {
				t.Errorf("dim %d, entries %d: got %d", c.dim, v, got)
			}
		}
	}
}

func TestShortenRoundsHalfToEven(t *testing.T) {
	x := []int64{-6, -5, -3, -2, -1, 0, 1, 2, 3, 5, 6, 7}
	want := []int64{-2, -1, -1, 0, 0, 0, 0, 0, 1, 1, 2, 2}
	if shorten(x, 2); !slices.Equal(x, want) {
		t.Errorf("got %v, want %v", x, want)
	}
}
