package tree

import (
	"math"
	"math/rand/v2"
	"testing"

	"scrim/test/stattest"
)

// exactly is a tree of two levels over the shares of its 16 leaves, without noise.
func exactly(leaves []float64) *Hier {
	top := make([]float64, 4)
	for i, x := range leaves {
		top[i/4] += x
	}
	return NewHier([]Level{
		{values: top, variance: 1, reports: 1},
		{values: leaves, variance: 1, reports: 1},
	})
}

func TestQuantiles(t *testing.T) {
	leaves := make([]float64, 16)
	leaves[3], leaves[4], leaves[9] = 0.25, 0.25, 0.5
	tree := exactly(leaves)
	for _, c := range []struct {
		q    float64
		want float64
		leaf int
	}{
		{-1, 0, 0}, {0, 0, 0}, {0.125, 3.5 / 16, 3}, {0.25, 4.0 / 16, 3}, {0.5, 5.0 / 16, 4}, {0.75, 9.5 / 16, 9}, {1, 10.0 / 16, 9}, {2, 10.0 / 16, 9},
	} {
		if got := tree.Quantile(c.q); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("quantile %v: %v, want %v", c.q, got, c.want)
		}
		if got := tree.Leaf(c.q); got != c.leaf {
			t.Errorf("quantile %v: leaf %v, want %v", c.q, got, c.leaf)
		}
	}
}

// TestQuantilesOfNoise checks order, ends, and that the shares without negative ones sum to q below
// a quantile.
func TestQuantilesOfNoise(t *testing.T) {
	r := rand.New(stattest.Source(t, "quantiles"))
	for range 50 {
		tree := NewHier(randomLevels(r, 3))
		haar := randomHaar(r, 6)
		last, lastHaar := 0.0, 0.0
		for k := range 101 {
			q := float64(k) / 100
			x, y := tree.Quantile(q), haar.Quantile(q)
			if x < last || y < lastHaar || x > 1 || y > 1 {
				t.Fatalf("quantile %v: %v after %v, %v after %v", q, x, last, y, lastHaar)
			}
			last, lastHaar = x, y
			below := dot(tree.shares[2], overlap(64, 0, x))
			if math.Abs(below-q) > 1e-9 {
				t.Errorf("a share %v is below the quantile %v", below, q)
			}
		}
	}
}

// TestProject compares with the nearest point on the simplex as its definition has it: all that
// stay are moved by one amount, and whoever does not stay would be below 0 by it.
func TestProject(t *testing.T) {
	r := rand.New(stattest.Source(t, "project"))
	for range 1000 {
		x := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		whole := max(0, r.NormFloat64())
		y := append([]float64(nil), x...)
		project(y, whole)
		if s := sum4(y); math.Abs(s-whole) > 1e-12 {
			t.Fatalf("%v: sums to %v, want %v", x, s, whole)
		}
		move := math.Inf(1)
		for c := range y {
			if y[c] > 0 {
				move = x[c] - y[c]
			}
		}
		for c := range y {
			if y[c] > 0 && math.Abs(x[c]-y[c]-move) > 1e-9 || y[c] == 0 && whole > 0 && x[c]-move > 1e-9 {
				t.Fatalf("%v to %v: %v", x, whole, y)
			}
		}
	}
}
