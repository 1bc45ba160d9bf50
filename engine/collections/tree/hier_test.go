package tree

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"scrim/test/stattest"
)

// randomLevels are noisy shares of a tree of h levels; missing ones, counted from 1, are so.
func randomLevels(r *rand.Rand, h int, missing ...int) []Level {
	levels := make([]Level, h)
	for l := range levels {
		n := 1 << (2 * (l + 1))
		values := make([]float64, n)
		for v := range values {
			values[v] = 1/float64(n) + 0.3*r.NormFloat64()
		}
		s := 0.01 + r.Float64()
		levels[l] = Level{values: values, variance: s, reports: 1, law: law{each: s}}
	}
	for _, l := range missing {
		levels[l-1] = Missing(len(levels[l-1].values))
	}
	return levels
}

var shapes = [][]int{{1}, {2}, {3}, {3, 1}, {3, 2}, {3, 1, 2}, {2, 1}}

// leastSquares solves for the leaves with the normal equations, root 1 by a very heavy weight.
func leastSquares(levels []Level) []float64 {
	h := len(levels)
	n := 1 << (2 * h)
	a, b := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	add := func(from, to int, value, weight float64) {
		for i := from; i < to; i++ {
			b.SetVec(i, b.AtVec(i)+weight*value)
			for j := i; j < to; j++ {
				a.SetSym(i, j, a.At(i, j)+weight)
			}
		}
	}
	add(0, n, 1, 1e6)
	for l, level := range levels {
		width := n >> (2 * (l + 1))
		for v, x := range level.values {
			if level.reports > 0 {
				add(v*width, (v+1)*width, x, 1/level.variance)
			}
		}
	}
	var x mat.VecDense
	if err := x.SolveVec(a, b); err != nil {
		panic(err)
	}
	return x.RawVector().Data
}

// TestLeavesAreLeastSquares compares the two passes with the normal equations. Exchanging the
// variances of two levels must show.
func TestLeavesAreLeastSquares(t *testing.T) {
	r := rand.New(stattest.Source(t, "least squares"))
	for _, shape := range shapes {
		for range 3 {
			levels := randomLevels(r, shape[0], shape[1:]...)
			want := leastSquares(levels)
			if d := distance(NewHier(levels).leaves, want); d > 1e-5 {
				t.Errorf("tree %v: %v from the least squares", shape, d)
			}
			if len(shape) > 1 || shape[0] < 2 {
				continue
			}
			levels[0].variance, levels[1].variance = levels[1].variance, levels[0].variance
			if d := distance(NewHier(levels).leaves, want); d < 1e-5 {
				t.Errorf("tree %v: exchanged variances did not show", shape)
			}
		}
	}
}

func distance(a, b []float64) (d float64) {
	for i := range a {
		d = max(d, math.Abs(a[i]-b[i]))
	}
	return d
}

// TestConsistent checks sums of children, in the leaves and without negative shares.
func TestConsistent(t *testing.T) {
	r := rand.New(stattest.Source(t, "consistent"))
	for _, shape := range append(shapes, []int{4}, []int{4, 4}, []int{4, 1, 2, 3, 4}) {
		tree := NewHier(randomLevels(r, shape[0], shape[1:]...))
		if s := sum(tree.leaves); math.Abs(s-1) > 1e-9 {
			t.Errorf("tree %v: leaves sum to %v", shape, s)
		}
		above := []float64{1}
		for l, y := range tree.shares {
			for v, m := range above {
				if s := sum4(y[fanout*v:]); math.Abs(s-m) > 1e-12 {
					t.Errorf("tree %v level %d: children sum to %v, want %v", shape, l+1, s, m)
				}
			}
			for _, share := range y {
				if share < 0 {
					t.Errorf("tree %v: share %v", shape, share)
				}
			}
			above = y
		}
	}
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// TestWeights checks the transposed passes by moving one value of a level at a time.
func TestWeights(t *testing.T) {
	r := rand.New(stattest.Source(t, "weights"))
	for _, shape := range shapes {
		levels := randomLevels(r, shape[0], shape[1:]...)
		tree := NewHier(levels)
		g := make([]float64, len(tree.leaves))
		for i := range g {
			g[i] = r.NormFloat64()
		}
		before, _ := tree.Linear(g)
		for l, c := range tree.weights(g) {
			if levels[l].reports == 0 {
				continue
			}
			for v := range c {
				old := levels[l].values
				levels[l].values = append([]float64(nil), old...)
				levels[l].values[v]++
				after, _ := NewHier(levels).Linear(g)
				levels[l].values = old
				if math.Abs(after-before-c[v]) > 1e-9 {
					t.Fatalf("tree %v level %d node %d: weight %v, moves by %v", shape, l+1, v, c[v], after-before)
				}
			}
		}
	}
}

// TestRanges checks ranges, prefixes and means against the leaves, at edges, within leaves and
// beyond the ends.
func TestRanges(t *testing.T) {
	tree := NewHier(randomLevels(rand.New(stattest.Source(t, "ranges")), 2))
	x := tree.leaves
	for _, c := range []struct{ a, b, want float64 }{
		{0, 1, 1}, {-3, 7, 1}, {0, 0, 0}, {0.5, 0.25, 0}, {1, 2, 0},
		{0, 1.0 / 16, x[0]}, {0.25, 0.5, x[4] + x[5] + x[6] + x[7]},
		{1.0 / 32, 3.0 / 32, x[0]/2 + x[1]/2}, {0.51, 0.52, x[8] * 0.16},
	} {
		got, stderr := tree.Range(c.a, c.b)
		if math.Abs(got-c.want) > 1e-12 {
			t.Errorf("[%v, %v]: %v, want %v", c.a, c.b, got, c.want)
		}
		if trivial := c.want == 0 || c.want == 1; trivial != (stderr < 1e-12) {
			t.Errorf("[%v, %v]: standard error %v", c.a, c.b, stderr)
		}
	}
	want := 0.0
	for i, share := range x {
		want += share * (float64(i) + 0.5) / 16
	}
	if got, stderr := tree.Mean(); math.Abs(got-want) > 1e-12 || !(stderr > 0) {
		t.Errorf("mean %v ± %v, want %v", got, stderr, want)
	}
}

func TestShapesThatAreNone(t *testing.T) {
	for name, f := range map[string]func(){
		"no levels":   func() { NewHier(nil) },
		"level":       func() { NewHier([]Level{Missing(4), Missing(15)}) },
		"no levels H": func() { NewHaar(nil) },
		"level H":     func() { NewHaar([]Level{Missing(2), Missing(2)}) },
		"weights":     func() { NewHier([]Level{Missing(4)}).Linear(make([]float64, 5)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
