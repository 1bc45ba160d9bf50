package geometry

import (
	"math"
	"slices"
	"testing"
)

func TestNormAndClipOfExtremes(t *testing.T) {
	if n := Norm([]float64{3e200, 4e200}); math.Abs(n/5e200-1) > 1e-15 {
		t.Errorf("norm %v", n)
	}
	if n := Norm([]float64{3e-200, 4e-200}); math.Abs(n/5e-200-1) > 1e-15 {
		t.Errorf("norm %v", n)
	}
	for _, x := range [][]float64{{0, 0}, {3, 4}, {30, 40}, {math.MaxFloat64, -math.MaxFloat64}, {1e-310, 0}} {
		y := slices.Clone(x)
		Clip(y, 5)
		if n := Norm(y); !(n <= 5*(1+1e-15)) {
			t.Errorf("%v clipped to %v, norm %v", x, y, n)
		}
		if Norm(x) <= 5 && !slices.Equal(x, y) {
			t.Errorf("%v within the ball changed to %v", x, y)
		}
		if Norm(x) > 5 && math.Abs(Norm(y)-5) > 1e-14 {
			t.Errorf("%v clipped to %v, inside", x, y)
		}
	}
}

func TestShrinkKeepsTheBoundExactly(t *testing.T) {
	for _, c := range []struct {
		z      []int64
		square uint64
		want   []int64
	}{
		{[]int64{3, -4}, 25, []int64{3, -4}},
		{[]int64{3, -5}, 25, []int64{3, -4}},
		{[]int64{4, 4}, 25, []int64{3, 4}},
		{[]int64{3, 4}, 24, []int64{3, 3}},
		{[]int64{-1, 0}, 0, []int64{0, 0}},
	} {
		z := slices.Clone(c.z)
		Shrink(z, c.square)
		if !slices.Equal(z, c.want) {
			t.Errorf("%v within the root of %d became %v, want %v", c.z, c.square, z, c.want)
		}
	}
	if !exceeds([]int64{math.MinInt64}, math.MaxUint64) || !exceeds([]int64{1 << 31, 1 << 32, -1}, math.MaxUint64) || exceeds([]int64{1<<32 - 1, 1}, math.MaxUint64) {
		t.Error("squares that sum to about 2^64")
	}
}
