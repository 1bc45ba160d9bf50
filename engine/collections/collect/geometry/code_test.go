package geometry

import (
	"math"
	"testing"
)

func TestSplitAndGrid(t *testing.T) {
	for _, c := range []struct {
		f           float64
		n           uint64
		whole, rest uint64
	}{
		{0, 64, 0, 0}, {1, 64, 64, 0}, {0.5, 64, 32, 0}, {0.25 + 1.0/1024, 64, 16, One / 16}, {1 - 1.0/256, 64, 63, 3 * One / 4},
	} {
		if w, r := Split(c.f, c.n); w != c.whole || r != c.rest {
			t.Errorf("Split(%v, %d) = %d, %d, want %d, %d", c.f, c.n, w, r, c.whole, c.rest)
		}
	}
	w, r := Grid([]float64{-0.3125, 0.3125, -1}, 4, 4)
	if w[0] != -2 || r[0] != 3*One/4 || w[1] != 1 || r[1] != One/4 || w[2] != -4 || r[2] != 0 {
		t.Errorf("Grid = %d, %d", w, r)
	}
	if z := Truncate([]float64{-1.9, 1.9, 7}, 1, 5); z[0] != -1 || z[1] != 1 || z[2] != 5 {
		t.Errorf("Truncate = %d", z)
	}
}

func TestResidues(t *testing.T) {
	for _, c := range []struct {
		t     float64
		level int
		want  uint64
	}{{0, 0, 0}, {3.9, 0, 3}, {4, 0, 0}, {-0.1, 0, 3}, {-4, 0, 0}, {-5, 0, 3}, {7, 1, 3}, {8, 1, 0}, {-0.1, 5, 3}, {1000, 3, 1}} {
		if got := Residue(c.t, c.level); got != c.want {
			t.Errorf("Residue(%v, %d) = %d, want %d", c.t, c.level, got, c.want)
		}
	}
}

// TestOffsetsAreAllSides checks that an offset four further would tell nothing new, and where sides
// change.
func TestOffsetsAreAllSides(t *testing.T) {
	for o := range 4 {
		for x := -20.125; x < 20; x += 0.25 {
			if Above(x, o) == Above(x, o+4) {
				t.Fatalf("offset %d and %d agree at %v", o, o+4, x)
			}
			if Above(x, o) != Above(x+8, o) {
				t.Fatalf("offset %d has not period 8 at %v", o, x)
			}
		}
	}
	if !Above(0, 0) || Above(-0.1, 0) || !Above(3.9, 0) || Above(4, 0) {
		t.Error("offset 0 changes side elsewhere than at multiples of 4")
	}
}

func TestTreeNumbering(t *testing.T) {
	next := uint64(0)
	for level := 1; level <= 5; level++ {
		for v := range Leaves(level) {
			if Node(level, v) != next {
				t.Fatalf("node %d of level %d is %d, want %d", v, level, Node(level, v), next)
			}
			next++
		}
		if Nodes(level) != next {
			t.Fatalf("%d nodes in %d levels, want %d", Nodes(level), level, next)
		}
	}
	if Nodes(5) != 1364 {
		t.Errorf("five levels have %d nodes", Nodes(5))
	}
	for leaf := range Leaves(3) {
		if Ancestor(leaf, 3, 3) != leaf || Ancestor(leaf, 3, 2) != leaf/4 || Ancestor(leaf, 3, 1) != leaf/16 {
			t.Fatalf("ancestors of %d", leaf)
		}
	}
}

func TestLeafLiesBetweenItsEdges(t *testing.T) {
	const n, lo, hi = 256, -3.5, 12.25
	for x := -4.0; x < 13; x += 0.0371 {
		i := Leaf(x, lo, hi, n)
		if in := min(max(x, lo), hi); in < Edge(i, n, lo, hi)-1e-12 || in > Edge(i+1, n, lo, hi)+1e-12 {
			t.Fatalf("%v is not in leaf %d", x, i)
		}
		if m := Middle(i, n, lo, hi); Leaf(m, lo, hi, n) != i {
			t.Fatalf("the middle of leaf %d lies elsewhere", i)
		}
	}
	if Edge(0, n, lo, hi) != lo || Edge(n, n, lo, hi) != hi {
		t.Error("outer edges")
	}
}

func TestBlocks(t *testing.T) {
	for leaf := range uint64(64) {
		for level := 1; level <= 6; level++ {
			width := uint64(1) << level
			want := 1
			if leaf%width >= width/2 {
				want = -1
			}
			if v, side := Block(leaf, level); v != leaf/width || side != want {
				t.Fatalf("Block(%d, %d) = %d, %d", leaf, level, v, side)
			}
		}
	}
}

func TestBuckets(t *testing.T) {
	b := NewBuckets(0.5, 800)
	if e := b.Edge(BucketCount - 1); math.Abs(e/800-1) > 1e-12 {
		t.Errorf("last edge %v", e)
	}
	for k := uint64(1); k < BucketCount; k++ {
		if got := b.Of(b.Edge(k) * (1 - 1e-9)); got != k {
			t.Errorf("just below edge %d: bucket %d", k, got)
		}
	}
	if b.Of(0) != 0 || b.Of(0.5) != 0 || b.Of(900) != BucketCount-1 || b.Of(nan) != BucketCount-1 {
		t.Error("ends")
	}
	flat := NewBuckets(5, 2)
	if flat.Of(4) != 0 || flat.Edge(BucketCount-1) != 5 {
		t.Error("buckets that start beyond their end")
	}
	if got, want := ShiftedBuckets(8, 2, 10, []float64{3, 0, 0, 4}), NewBuckets(2, 15); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
