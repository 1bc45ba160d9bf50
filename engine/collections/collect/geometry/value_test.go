package geometry

import (
	"math"
	"slices"
	"testing"
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

func TestNumberIsTotal(t *testing.T) {
	for _, c := range []struct {
		name        string
		v, fallback []float64
		want        float64
	}{
		{"inside", []float64{3}, []float64{5}, 3},
		{"NULL", nil, []float64{5}, 5},
		{"NaN", []float64{nan}, []float64{5}, 5},
		{"two numbers", []float64{1, 2}, []float64{5}, 5},
		{"infinite", []float64{inf}, []float64{5}, 10},
		{"minus infinite", []float64{-inf}, []float64{5}, 0},
		{"above", []float64{11}, []float64{5}, 10},
		{"fallback outside", nil, []float64{50}, 10},
		{"no fallback", nil, nil, 5},
		{"bad fallback", nil, []float64{nan}, 5},
	} {
		if got := Number(c.v, c.fallback, 0, 10); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestVectorIsTotal(t *testing.T) {
	for _, c := range []struct {
		name              string
		v, fallback, want []float64
	}{
		{"good", []float64{1, 2}, []float64{7, 8}, []float64{1, 2}},
		{"NULL", nil, []float64{7, 8}, []float64{7, 8}},
		{"short", []float64{1}, []float64{7, 8}, []float64{7, 8}},
		{"long", []float64{1, 2, 3}, []float64{7}, []float64{7, 7}},
		{"NaN", []float64{1, nan}, []float64{7}, []float64{7, 7}},
		{"infinite", []float64{-inf, 1}, nil, []float64{0, 0}},
		{"bad fallback", nil, []float64{inf}, []float64{0, 0}},
	} {
		if got := Vector(c.v, c.fallback, 2); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// wild are numbers that floating-point code is apt to get wrong.
var wild = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 1e-320, 1e308, -1e308, math.MaxFloat64, -math.MaxFloat64, inf, -inf, nan, 1 << 53, 1e20}

// TestCodesStayInTheirDomains is what privacy needs of this package: whatever the value, its code
// is one that the randomiser has a row for.
func TestCodesStayInTheirDomains(t *testing.T) {
	for _, x := range wild {
		for _, lo := range wild {
			for _, hi := range wild {
				f := Fraction(x, lo, hi)
				if !(f >= 0 && f <= 1) {
					t.Fatalf("Fraction(%v, %v, %v) = %v", x, lo, hi, f)
				}
				if l := Leaf(x, lo, hi, 64); l >= 64 {
					t.Fatalf("Leaf(%v, %v, %v) = %d", x, lo, hi, l)
				}
				if b := (Buckets{lo, hi}).Of(x); b >= BucketCount {
					t.Fatalf("bucket of %v with %v, %v is %d", x, lo, hi, b)
				}
				if p := Position(x, lo, hi, 100, 8); !(p >= -8 && p <= 108) {
					t.Fatalf("Position(%v, %v, %v) = %v", x, lo, hi, p)
				}
			}
		}
		for _, n := range []uint64{1, 64, 1 << 20, 1 << 32} {
			if s := Steps(x, n); s > n {
				t.Fatalf("Steps(%v, %d) = %d", x, n, s)
			}
			if w, r := Split(x, n); w > n || r >= One || w == n && r > 0 {
				t.Fatalf("Split(%v, %d) = %d, %d", x, n, w, r)
			}
		}
		w, r := Grid([]float64{x}, 3, 100)
		if magnitude(w[0]) > 100 || r[0] >= One {
			t.Fatalf("Grid(%v) = %d, %d", x, w[0], r[0])
		}
		if z := Truncate([]float64{x}, 3, 100); magnitude(z[0]) > 100 {
			t.Fatalf("Truncate(%v) = %d", x, z[0])
		}
		for level := range 22 {
			if Residue(x, level) >= Residues {
				t.Fatalf("Residue(%v, %d)", x, level)
			}
		}
	}
}
