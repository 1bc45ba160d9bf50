package block

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// slowBisect reads the block once a round.
func slowBisect(b *estimator.Block, axis Axis, centre []int64, right func(j int, atMost int64) bool) []uint32 {
	lo, hi := make([]uint32, b.Dim), slices.Repeat([]uint32{uint32(axis.cells - 1)}, b.Dim)
	for range axis.Rounds() {
		for j := range lo {
			if lo[j] == hi[j] {
				continue
			}
			mid, count := axis.split(lo[j], hi[j]), int64(0)
			for _, x := range all(b) {
				v := x[j]
				if centre != nil {
					v = max(v-centre[j], centre[j]-v)
				}
				if axis.Cell(v) <= mid {
					count++
				}
			}
			if right(j, count) {
				lo[j] = mid + 1
			} else {
				hi[j] = mid
			}
		}
	}
	return lo
}

// randomAxis returns an axis of values or distances, of even cells or not, often shorter than the
// data.
func randomAxis(r *rand.Rand, distances bool) Axis {
	for {
		hi := int64(1)<<r.IntN(62) - r.Int64N(2)
		lo := -(int64(1)<<r.IntN(62) - r.Int64N(2))
		if distances {
			lo = 0
		} else if r.IntN(3) == 0 {
			lo = hi - 1 - r.Int64N(hi+1)
		}
		shift, bits := r.IntN(50), []int{1, 2, 5, 10, 18, 63}[r.IntN(6)]
		if size := float64(hi) - float64(lo); lo < hi && (bits < 20 || size < float64(int64(1)<<min(62, shift+24))) {
			return NewAxis(lo, hi, shift, bits)
		}
	}
}

// asker answers at random, or as a search for some quantile would, and writes down what it was
// asked.
func asker(seed uint64, n int64, log *[]string) func(int, int64) bool {
	r := rand.New(rand.NewPCG(seed, 1))
	q, chance := r.Float64(), []float64{0, 0.1, 1}[r.IntN(3)]
	return func(j int, atMost int64) bool {
		*log = append(*log, fmt.Sprint(j, atMost))
		if r.Float64() < chance {
			return r.IntN(2) == 0
		}
		return float64(atMost) < q*float64(n)
	}
}

func TestBisectAsksWhatTheSlowOneAsks(t *testing.T) {
	r := rand.New(stattest.Source(t, "dense bisect"))
	for k := range 600 {
		dim, n, distances := dims[r.IntN(6)], r.IntN(40), r.IntN(2) == 0
		if k%100 == 0 {
			dim, n = 2, 3*runPersons
		}
		b := dense(r, dim, max(n/2, 1), randomRows(r, n, dim, []int{0, 3, 10, 30, 50, 61}[r.IntN(6)]))
		var centre []int64
		if distances {
			centre = rowOfOnes(dim, r.Int64N(2000)-1000)
		}
		axis, seed := randomAxis(r, distances), r.Uint64()
		var asked, wanted []string
		got := Bisect(b, axis, centre, asker(seed, int64(n), &asked))
		want := slowBisect(b, axis, centre, asker(seed, int64(n), &wanted))
		if !slices.Equal(got, want) || !slices.Equal(asked, wanted) {
			t.Fatalf("%+v, n %d, dim %d: got %v after %v, want %v after %v", axis, n, dim, got, asked, want, wanted)
		}
	}
}

// TestBisectOfManyAndFarValues has many runs, and values far from the others.
func TestBisectOfManyAndFarValues(t *testing.T) {
	r := rand.New(stattest.Source(t, "far"))
	rows := make([][]int64, 40*runPersons)
	for i := range rows {
		heavy := math.Exp(3 * r.NormFloat64())
		rows[i] = []int64{int64(1e4 * heavy), int64(1e6*r.NormFloat64()) - 5e7}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b := dense(r, 2, len(rows)/2, rows)
	for _, centre := range [][]int64{nil, {1e4, -5e7}} {
		for _, q := range []float64{0.5, 0.05, 0.6827} {
			var asked, wanted []string
			axis := NewAxis(-1<<50, 1<<50, 0, 14)
			ask := func(log *[]string) func(int, int64) bool {
				return func(j int, atMost int64) bool {
					*log = append(*log, fmt.Sprint(j, atMost))
					return float64(atMost) < q*float64(len(rows))
				}
			}
			got, want := Bisect(b, axis, centre, ask(&asked)), slowBisect(b, axis, centre, ask(&wanted))
			if !slices.Equal(got, want) || !slices.Equal(asked, wanted) {
				t.Fatalf("q %v, centre %v: got %v, want %v", q, centre, got, want)
			}
		}
	}
}

// TestBisectOfAlikeAndOfManyCoordinates has persons who are all in one bin of every level, and more
// coordinates than persons.
func TestBisectOfAlikeAndOfManyCoordinates(t *testing.T) {
	for _, c := range []struct{ n, dim int }{{3000, 2}, {3, 1 << 16}} {
		rows := make([][]int64, c.n)
		for i := range rows {
			rows[i] = rowOfOnes(c.dim, 12345678)
		}
		b := dense(rand.New(rand.NewPCG(1, 1)), c.dim, 2000, rows)
		axis := NewAxis(-1<<50, 1<<50, 0, 18)
		for j, cell := range Bisect(b, axis, nil, func(_ int, atMost int64) bool { return 2*atMost < int64(c.n) }) {
			if cell != axis.Cell(12345678) {
				t.Fatalf("n %d: coordinate %d is in cell %d, want %d", c.n, j, cell, axis.Cell(12345678))
			}
		}
	}
}

func TestSplitHalvesInRounds(t *testing.T) {
	for n := uint32(1); n < 300; n++ {
		axis := NewAxis(0, int64(n-1), 0, 63)
		for cell := range n {
			lo, hi, rounds := uint32(0), uint32(axis.cells-1), 0
			for ; lo < hi; rounds++ {
				mid := axis.split(lo, hi)
				if mid < lo || mid >= hi {
					t.Fatalf("[%d, %d] is split at %d", lo, hi, mid)
				}
				if cell > mid {
					lo = mid + 1
				} else {
					hi = mid
				}
			}
			if lo != cell || rounds > axis.Rounds() {
				t.Fatalf("%d cells: cell %d took %d rounds of %d", n, cell, rounds, axis.Rounds())
			}
		}
	}
}

func TestAxisCellsAreIntervals(t *testing.T) {
	r := rand.New(stattest.Source(t, "axis"))
	for range 3000 {
		a := randomAxis(r, r.IntN(2) == 0)
		for range 5 {
			c := int64(r.Uint64N(uint64(a.cells)))
			if r.IntN(3) == 0 {
				c = max(0, min(a.cells-1, -a.first+r.Int64N(7)-3))
			}
			from, to, v := max(a.lowest(c), a.lo), min(a.lowest(c+1), a.hi+1), a.Value(uint32(c))
			for _, k := range []int64{from, to - 1, v} {
				if a.Cell(k) != uint32(c) {
					t.Fatalf("%+v: %d is in cell %d, not in %d = [%d, %d)", a, k, a.Cell(k), c, from, to)
				}
			}
			if c > 0 && a.Cell(from-1) != uint32(c-1) || c < a.cells-1 && a.Cell(to) != uint32(c+1) {
				t.Fatalf("%+v: cell %d is not [%d, %d)", a, c, from, to)
			}
		}
	}
}
