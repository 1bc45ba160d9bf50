package block

import (
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// TestTotalKnowsSumsAndRanges compares Total with a look at every entry, for ranges that a power of
// two just fits or does not, and entries at their ends.
func TestTotalKnowsSumsAndRanges(t *testing.T) {
	r := rand.New(stattest.Source(t, "total"))
	in, out, large := 0, 0, 0
	for range 3000 {
		lo, hi := -r.Int64N(1<<r.IntN(62)), r.Int64N(1<<r.IntN(62))
		if r.IntN(4) == 0 {
			lo = hi - r.Int64N(1<<r.IntN(30))
		}
		rows := make([][]int64, r.IntN(9))
		for i := range rows {
			rows[i] = []int64{near(r, lo, hi), near(r, lo, hi)}
		}
		if len(rows) > 0 && r.IntN(2) == 0 {
			rows[r.IntN(len(rows))][r.IntN(2)] = []int64{lo - 1, hi + 1, lo, hi}[r.IntN(4)]
		}
		b := dense(r, 2, 3, rows)
		least, most, small := lo, hi, true
		for _, x := range rows {
			least, most = min(least, x[0], x[1]), max(most, x[0], x[1])
			small = small && max(x[0], x[1]) < 1<<sumBits && min(x[0], x[1]) >= -1<<sumBits
		}
		totals, inRange := Total(b, lo, hi)
		if want := least == lo && most == hi; inRange != want {
			t.Fatalf("%v in %d to %d: %v", rows, lo, hi, inRange)
		}
		switch {
		case !inRange:
			out++
		case !small:
			large++
		default:
			in++
		}
		if known := totals != nil; known != (inRange && small) {
			t.Fatalf("%v in %d to %d: totals known: %v", rows, lo, hi, known)
		}
		if totals == nil {
			continue
		}
		centre := []int64{r.Int64N(100), -r.Int64N(100)}
		norms := Norms(b, centre, nil)
		got, want := totals.ClipSum(b, centre, norms, 50), ClipSum(b, centre, norms, 50)
		if got[0].Cmp(want[0]) != 0 || got[1].Cmp(want[1]) != 0 {
			t.Fatalf("%v: %v, not %v", rows, got, want)
		}
	}
	if min(in, out, large) < 100 {
		t.Errorf("%d within, %d beyond, %d too large for 64 bits", in, out, large)
	}
}

// near returns a number from lo to hi, often near an end.
func near(r *rand.Rand, lo, hi int64) int64 {
	v := lo + r.Int64N(hi-lo+1)
	switch r.IntN(3) {
	case 0:
		v = min(hi, lo+r.Int64N(3))
	case 1:
		v = max(lo, hi-r.Int64N(3))
	}
	return v
}

// TestSampleIsTheVectorsKept compares a sample with the vectors that are kept, in order, over
// chunks of any length.
func TestSampleIsTheVectorsKept(t *testing.T) {
	r := rand.New(stattest.Source(t, "sample"))
	for range 200 {
		dim, n := dims[r.IntN(5)], r.IntN(3000)
		b := dense(r, dim, max(1, n/3), randomRows(r, n, dim, 20))
		kept, want := make([]bool, n), [][]int64{}
		for i, x := range all(b) {
			if kept[i] = r.IntN(3) == 0; kept[i] {
				want = append(want, x)
			}
		}
		some := Sample(b, kept)
		if got := all(some); some.Dim != dim || int(some.Persons()) != len(want) || !slices.EqualFunc(got, want, slices.Equal[[]int64]) {
			t.Fatalf("%d of %d persons of %d coordinates: %v, not %v", len(want), n, dim, got, want)
		}
	}
	if none := Sample(&estimator.Block{Dim: 3}, nil); none.Persons() != 0 {
		t.Error("a sample of nobody")
	}
}
