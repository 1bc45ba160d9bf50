package block

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// fewCells returns an axis of few cells: even ones, or those of scales, near 2^53 or beyond at
// times.
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

// borders puts numbers about the limits of cells, on either side of the centre, and beyond the
// axis: most of them about few limits, those at which an axis is split late and its ends, so that
// levels have many numbers about the ends of their bins.
func borders(r *rand.Rand, rows [][]int64, axis Axis, centre []int64) {
	cell := r.Int64N(axis.cells)
	for _, row := range rows {
		for j := range row {
			at := max(1, min(cell+(r.Int64N(9)-4)<<r.IntN(10), axis.cells-1))
			if r.IntN(3) == 0 {
				at = []int64{1, axis.cells - 1, max(1, r.Int64N(axis.cells))}[r.IntN(3)]
			}
			v := min(max(axis.lowest(at)+r.Int64N(3)-1, -1<<61), 1<<61)
			switch r.IntN(20) {
			case 0:
				v = 1<<61 - r.Int64N(2)
			case 1:
				v = -1<<61 + r.Int64N(2)
			}
			if row[j] = v; centre != nil {
				row[j] = centre[j] + v*(1-2*r.Int64N(2))
			}
		}
	}
}

// kinds counts the questions that each kind of level has answered.
type kinds struct{ steps, nearest, scaled, inside, other, again int }

func (k *kinds) note(l *levels) {
	switch v := l.level; {
	case v.steps != nil:
		k.steps++
	case v.rest && v.even != nil:
		k.inside++
	case v.even != nil:
		k.nearest++
	case !v.rest && uint(v.shifts[0]) <= v.axis.bits:
		k.scaled++
	default:
		k.other++
	}
	if l.read > 2 {
		k.again++
	}
}

// TestLevelsAskWhatTheSlowOneAsks has numbers about the limits of bins, axes of many cells and of
// few, one core and two.
func TestLevelsAskWhatTheSlowOneAsks(t *testing.T) {
	r := rand.New(stattest.Source(t, "levels"))
	var seen kinds
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for k := range 900 {
		runtime.GOMAXPROCS(1 + k%2)
		distances := r.IntN(2) == 0
		axis, dim, n := fewCells(r, distances), dims[r.IntN(4)], r.IntN(30)
		if r.IntN(2) == 0 {
			axis = randomAxis(r, distances)
		}
		if k%50 == 0 {
			n = 2*runPersons + r.IntN(9)
		}
		rows := randomRows(r, n, dim, []int{3, 10, 30, 50, 54, 60}[r.IntN(6)])
		var centre []int64
		if distances {
			centre = rowOfOnes(dim, r.Int64N(2000)-1000)
		}
		borders(r, rows[:n-n/4], axis, centre)
		b := dense(r, dim, n/2+1, rows)
		l, seed := newLevels(b, axis, centre), r.Uint64()
		var asked, wanted []string
		answer := asker(seed, int64(n), &asked)
		got := l.run(l.atMost, func(j int, m int64) bool {
			seen.note(l)
			return answer(j, m)
		})
		want := slowBisect(b, axis, centre, asker(seed, int64(n), &wanted))
		if !slices.Equal(got, want) || !slices.Equal(asked, wanted) {
			t.Fatalf("%+v, n %d, dim %d, centre %v, rows %v: got %v after %v, want %v after %v", axis, n, dim, centre, rows, got, asked, want, wanted)
		}
	}
	for _, n := range []int{seen.steps, seen.nearest, seen.scaled, seen.inside, seen.other, seen.again} {
		if n < 100 {
			t.Errorf("questions to each kind of level: %+v", seen)
		}
	}
}

// TestReadings counts them: as few as the number of cells asks for where an axis is a whole run of
// them, and of any axis where no interval ends at its ends; a few more otherwise.
func TestReadings(t *testing.T) {
	r := rand.New(stattest.Source(t, "readings"))
	b := dense(r, 3, 9, randomRows(r, 30, 3, 30))
	for range 1000 {
		size := int64(1) << r.IntN(31)
		lo := (r.Int64N(9) - 4) * size
		whole, part := NewAxis(lo, lo+size-1, 0, 63), NewAxis(lo+r.Int64N(size), lo+size+r.Int64N(size), 0, 63)
		if read, most := readings(b, whole, r, false), (whole.Rounds()+5)/6; read > most {
			t.Fatalf("%d readings for 2^%d cells", read, whole.Rounds())
		}
		most := (part.Rounds() + 5) / 6
		if read := readings(b, part, r, true); read > most {
			t.Fatalf("%+v: %d readings in the middle", part, read)
		}
		if read := readings(b, part, r, false); read > 3*most {
			t.Fatalf("%+v: %d readings", part, read)
		}
	}
}

// readings returns the readings of a search with random answers; in the middle, the first two of a
// coordinate lead away from both ends.
func readings(b *estimator.Block, axis Axis, r *rand.Rand, middle bool) int {
	l, asked := newLevels(b, axis, nil), make([]int, b.Dim)
	l.run(l.atMost, func(j int, _ int64) bool {
		asked[j]++
		if middle && asked[j] < 3 {
			return asked[j] == 2
		}
		return r.IntN(2) == 0
	})
	return l.read
}

// TestStepsAreThoseOfTheAxis compares every step's bin with that of the distances that are counted
// there.
func TestStepsAreThoseOfTheAxis(t *testing.T) {
	r := rand.New(stattest.Source(t, "steps"))
	seen := 0
	for range 3000 {
		axis, centre := fewCells(r, true), []int64{0}
		if axis.cells > 64 {
			continue
		}
		l := newLevel(&search{axis, []uint32{0}, []uint32{uint32(axis.cells - 1)}}, centre, 65, false)
		if l.steps == nil {
			continue
		}
		seen++
		for cell := range axis.cells {
			for _, v := range []int64{axis.lowest(max(1, cell)), axis.lowest(max(1, cell)) - 1, axis.Value(uint32(cell)), 0, 1, 2, 1 << 61} {
				for _, d := range []int64{v, -v} {
					if got, want := l.steps[stepOf(d)], l.bin(0, axis.cell(min(v, axis.hi))); int64(got) != want {
						t.Fatalf("%+v: %d counts in bin %d, not %d", axis, d, got, want)
					}
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d axes with steps", seen)
	}
}
