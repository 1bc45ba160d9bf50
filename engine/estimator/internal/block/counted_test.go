package block

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/internal/stattest"
)

// fewCells returns an axis of few cells: even ones, or those of scales, near 2^53 or beyond at times.
func fewCells(r *rand.Rand, distances bool) Axis {
	for {
		lo, hi, shift, bits := int64(0), int64(1)<<r.IntN(62)+r.Int64N(3)-1, r.IntN(56), []int{1, 2, 3, 63}[r.IntN(4)]
		if r.IntN(3) == 0 {
			hi = 1<<53 + r.Int64N(3) - 1
		}
		if !distances || r.IntN(4) == 0 {
			lo = r.Int64N(hi+2) - hi - 1
		}
		if bits == 63 && (hi-lo)>>shift > 500 || hi < lo {
			continue
		}
		if a := NewAxis(lo, hi, shift, bits); a.cells > 1 && a.cells < 500 {
			return a
		}
	}
}

// TestCountedBisectAsksWhatTheSlowOneAsks has persons enough for every cell to be counted, at the edges of cells too.
func TestCountedBisectAsksWhatTheSlowOneAsks(t *testing.T) {
	r := rand.New(stattest.Source(t, "counted"))
	steps := 0
	for range 150 {
		distances := r.IntN(2) == 0
		axis, dim := fewCells(r, distances), dims[r.IntN(4)]
		rows := randomRows(r, 8*int(axis.cells)+r.IntN(9), dim, []int{3, 10, 30, 50, 54, 61}[r.IntN(6)])
		var centre []int64
		if distances {
			centre = rowOfOnes(dim, r.Int64N(2000)-1000)
		}
		for i := range rows { // about the limit of a cell, on either side of the centre
			if i%3 == 0 {
				j, v := r.IntN(dim), axis.lowest(max(1, r.Int64N(axis.cells)))+r.Int64N(3)-1
				if rows[i][j] = v; distances {
					rows[i][j] = centre[j] + v*(1-2*r.Int64N(2))
				}
			}
		}
		b := dense(r, dim, len(rows)/2+1, rows)
		if !mustCount(b, axis) {
			t.Fatalf("%+v: %d persons are too few", axis, len(rows))
		}
		if newCounter(axis, centre).floats {
			steps++
		}
		seed := r.Uint64()
		var asked, wanted []string
		got := Bisect(b, axis, centre, asker(seed, int64(len(rows)), &asked))
		want := slowBisect(b, axis, centre, asker(seed, int64(len(rows)), &wanted))
		if !slices.Equal(got, want) || !slices.Equal(asked, wanted) {
			t.Fatalf("%+v, n %d, dim %d, centre %v: got %v after %v, want %v after %v", axis, len(rows), dim, centre, got, asked, want, wanted)
		}
	}
	if steps < 10 {
		t.Errorf("steps of floating-point numbers were counted %d times", steps)
	}
}

// mustCount reports whether b is counted, on no more than two cores.
func mustCount(b *estimator.Block, axis Axis) bool {
	return countable(b, axis) || runtime.GOMAXPROCS(0) > 2
}

// TestCountedCellsAreThoseOfTheAxis compares every count's cell with that of the numbers that are counted there.
func TestCountedCellsAreThoseOfTheAxis(t *testing.T) {
	r := rand.New(stattest.Source(t, "counted cells"))
	for range 2000 {
		axis := fewCells(r, true)
		c := newCounter(axis, []int64{0})
		for cell := range axis.cells {
			for _, v := range []int64{axis.lowest(max(1, cell)), axis.lowest(max(1, cell)) - 1, axis.Value(uint32(cell)), 1 << 61} {
				counts := make([]uint32, c.size)
				c.count(counts, []int64{v})
				if k := slices.Index(counts, 1); c.cell(k) != axis.Cell(max(v, -v)) {
					t.Fatalf("%+v: %d counts for cell %d, not %d", axis, v, c.cell(k), axis.Cell(max(v, -v)))
				}
			}
		}
	}
}
