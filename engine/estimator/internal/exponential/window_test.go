package exponential

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

func TestNthIsThatOfTheSortedList(t *testing.T) {
	r := rand.New(stattest.Source(t, "nth"))
	for range 2000 {
		cells := make([]uint32, 1+r.IntN(50))
		for i := range cells {
			cells[i] = r.Uint32() >> r.IntN(32)
		}
		sorted := slices.Sorted(slices.Values(cells))
		for k, want := range sorted {
			if got := nth(cells, int64(k)); got != want {
				t.Fatalf("place %d of %v: got %d", k, sorted, got)
			}
		}
	}
}

// TestWindowChangesNoWeight: with the window alone, every point has the weight that it has with all
// values, and the same words give the same answer.
func TestWindowChangesNoWeight(t *testing.T) {
	const cells = 1 << 12
	r := rand.New(stattest.Source(t, "window"))
	cut := 0
	for range 400 {
		of := make([]uint32, r.IntN(3000))
		for i := range of {
			if of[i] = uint32(r.IntN(cells)); r.IntN(4) == 0 {
				of[i] = cells / 3
			}
		}
		den := 2 + r.Int64N(9)
		q := NewQuantile(1+r.Int64N(den-1), den, 1+r.Int64N(2), 10, estimator.AddRemove)
		if r.IntN(2) == 0 {
			q, _ = NewPureQuantile(q.num, q.den, 1, 9, estimator.ReplaceOne)
		}
		near := q.near(nil, of)
		all := runs(nil, nil, slices.Sorted(slices.Values(of)))
		if len(near.runs) < len(all) {
			cut++
		}
		var full, some wheel
		q.fill(&full, all, 0, cells-1)
		q.fillWindow(&some, near, 0, cells-1)
		if full.sum != some.sum {
			t.Fatalf("%d/%d of %d: the weights sum to %v, with all values to %v", q.num, q.den, len(of), some.sum, full.sum)
		}
		for range 20 {
			u := r.Uint64N(cells)
			if weightAt(&full, u) != weightAt(&some, u) {
				t.Fatalf("%d/%d of %d: point %d has another weight", q.num, q.den, len(of), u)
			}
		}
		want := q.pick(stattest.Noiser(t, "words"), new(wheel), all, 0, cells-1)
		if got := q.Choose(stattest.Noiser(t, "words"), nil, of, cells); uint64(got) != want {
			t.Fatalf("%d/%d of %d: got %d, want %d", q.num, q.den, len(of), got, want)
		}
	}
	if cut < 100 {
		t.Errorf("only %d windows leave anything out", cut)
	}
}

// weightAt is the weight of a point, "0" of one that no category has.
func weightAt(w *wheel, point uint64) string {
	before := new(big.Int)
	for _, p := range w.parts {
		end := new(big.Int)
		for i := len(p.end) - 1; i >= 0; i-- {
			end.Or(end.Lsh(end, 64), new(big.Int).SetUint64(p.end[i]))
		}
		if point >= p.first && point < p.first+p.points {
			return new(big.Int).Quo(before.Sub(end, before), new(big.Int).SetUint64(p.points)).String()
		}
		before = end
	}
	return "0"
}
