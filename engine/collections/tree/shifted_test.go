package tree

import (
	"math"
	"slices"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/geometry"
)

// sharesOf is a tree of three levels whose counts have no noise, and whose levels claim that of n
// reports of the shuffle model.
func sharesOf(leaves []uint64, flip uint64) *Hier {
	n := uint64(0)
	for _, c := range leaves {
		n += c
	}
	levels := make([]Level, 3)
	for l := range levels {
		counts := make([]uint64, geometry.Leaves(l+1))
		for v := range counts {
			counts[v] = n * flip >> 32
		}
		for leaf, c := range leaves {
			counts[geometry.Ancestor(uint64(leaf), 3, l+1)] += c
		}
		levels[l] = Binomial(counts, n, flip)
	}
	return NewHier(levels)
}

// TestClip takes norms that are known. The clip is the upper edge of the bucket beyond which κ of
// them lie, or two prefix errors where noise is larger, but never more than nine tenths.
func TestClip(t *testing.T) {
	p := &collect.Params{
		Derived:   collect.Derived{Box: 32, BoxLevels: 3, Ball: 50, Padded: 2},
		Published: collect.Published{Centre: []float64{3, 4}},
	}
	leaves := make([]uint64, 64)
	for i := range 50 {
		leaves[i+5] = 20000 // 2 % a bucket
	}
	first, last := math.Sqrt2, 55.0 // the leaves of round 1 are 64/64 wide
	edge := func(bucket float64) float64 { return first * math.Pow(last/first, bucket/63) }
	for _, c := range []struct {
		target float64
		flip   uint64
		bucket float64
	}{
		{0.011, 4, 54}, {0.11, 4, 49}, {0.49, 4, 30}, {0.95, 4, 9}, // κ alone
		{0.011, 1 << 30, 54}, // prefixes are known to a thousandth
	} {
		p.Derived.ClipTarget = c.target
		if got := Clip(p, sharesOf(leaves, c.flip)); math.Abs(got/edge(c.bucket)-1) > 1e-9 {
			t.Errorf("target %v: clip %v, want that of bucket %v, %v", c.target, got, c.bucket, edge(c.bucket))
		}
	}
	few := make([]uint64, 64) // the same norms of 200 contributors, prefixes known to 0.05
	for i, c := range leaves {
		few[i] = c / 5000
	}
	p.Derived.ClipTarget = 0.011
	h := sharesOf(few, 1<<30)
	bucket := math.Ceil(50*(1-2*h.PrefixError())) + 4
	if got := Clip(p, h); math.Abs(got/edge(bucket)-1) > 1e-9 || bucket > 51 {
		t.Errorf("prefix error %v: clip %v, want that of bucket %v, %v", h.PrefixError(), got, bucket, edge(bucket))
	}
}

// TestCentre takes the middle of the leaf of each median.
func TestCentre(t *testing.T) {
	p := &collect.Params{Derived: collect.Derived{Box: 32}}
	at := func(leaf int) *Hier {
		leaves := make([]uint64, 64)
		leaves[leaf], leaves[0], leaves[63] = 200, 300, 400
		return sharesOf(leaves, 4)
	}
	if got := Centre(p, []*Hier{at(1), at(40), at(62)}); !slices.Equal(got, []float64{-30.5, 8.5, 30.5}) {
		t.Errorf("centre %v", got)
	}
}

// TestRestore undoes what a device does to a vector, and keeps the result in the ball.
func TestRestore(t *testing.T) {
	p := &collect.Params{
		Declaration: collect.Declaration{Dimension: 3},
		Derived:     collect.Derived{Ball: 10, Padded: 4},
		Published:   collect.Published{Centre: []float64{1, -2, 0.5, 3}},
		Signs:       []byte("12345678901234567890123456789012"),
	}
	for _, x := range [][]float64{{1, 2, 3}, {0, 0, 0}, {-9, 4, 1}, {30, 0, 40}} {
		y := geometry.NewRotation(3, p.Signs).Apply(x)
		geometry.Shift(y, p.Published.Centre)
		kept := slices.Clone(y)
		got := Restore(p, y)
		want := slices.Clone(x)
		geometry.Clip(want, 10)
		geometry.Shift(want, got)
		if geometry.Norm(want) > 1e-12 || !slices.Equal(y, kept) {
			t.Errorf("%v comes back as %v", x, got)
		}
	}
}
